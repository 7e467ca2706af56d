import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RUN_COLUMNS } from '../../../src/tui/views/runs.ts';
import { columnLines } from './list-rows.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: new Date(2026, 10, 21), toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const RUN = {
  run: '20260314-091500-a1b27m',
  at: new Date(2026, 2, 14, 9, 15).toISOString(),
  devices: '12',
  state: 'stopped: cancelled',
  verdicts: '3 done, 9 skipped',
  command: 'user delete bob',
};

function runLines(runs: readonly (typeof RUN)[], width: number): string[] {
  return columnLines(runs, RUN_COLUMNS, width).map((line) => line.trimEnd());
}

test('what the command was stays in sight on a narrow screen, and how the run ended', () => {
  expect(runLines([RUN], 120)).toEqual([
    'BEGAN   DEVICES  STATE               VERDICTS           COMMAND',
    '14 Mar  12       stopped: cancelled  3 done, 9 skipped  user delete bob',
  ]);
  expect(runLines([RUN], 70)[1]).toBe(
    '14 Mar  stopped: cancelled  3 done, 9 skipped  user delete bob',
  );
  expect(runLines([RUN], 60)[1]).toBe('14 Mar  stopped: cancelled  user delete bob');
  expect(runLines([RUN], 38)[1]).toBe('stopped: cancelled  user delete bob');
});
