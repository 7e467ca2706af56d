import { expect, test } from 'vitest';
import { RUN_COLUMNS } from '../../../src/tui/views/runs.ts';
import { listLines } from '../../../src/tui/views/view.ts';

const RUN = {
  id: '20260314-091500-a1b27m',
  began: '2026-03-14 09:15',
  devices: '12',
  state: 'stopped: cancelled',
  verdicts: '3 done, 9 skipped',
  command: 'user delete bob',
};

function runLines(runs: readonly (typeof RUN)[], width: number): string[] {
  const { header, lines } = listLines(runs, RUN_COLUMNS, width);
  return [header, ...lines];
}

test('what the command was stays in sight on a narrow screen, and how the run ended', () => {
  expect(runLines([RUN], 120)).toEqual([
    'BEGAN (UTC)       DEVICES  STATE               VERDICTS           COMMAND',
    '2026-03-14 09:15  12       stopped: cancelled  3 done, 9 skipped  user delete bob',
  ]);
  expect(runLines([RUN], 80)[1]).toBe(
    '2026-03-14 09:15  stopped: cancelled  3 done, 9 skipped  user delete bob',
  );
  expect(runLines([RUN], 60)[1]).toBe('2026-03-14 09:15  stopped: cancelled  user delete bob');
  expect(runLines([RUN], 38)[1]).toBe('stopped: cancelled  user delete bob');
});
