import { expect, test } from 'vitest';
import { sessionSummary } from '../../src/tui/run.ts';
import type { StepResult, Verdict } from '../../src/change/verdict.ts';
import { stateOf } from './table/table-fixture.ts';

function resultOn(name: string, verdict: Verdict): StepResult {
  const device = { name, address: `${name}:443` };
  return { device, resource: 'user', key: 'bob', action: 'delete', verdict };
}

test('the last words say what was done, not sent, unknown and pending, and how to go on', () => {
  const done = ['fw1', 'fw2'].map((name) => resultOn(name, 'done'));
  const unreached = resultOn('fw4', 'failed');
  const changes = [...done, resultOn('fw3', 'unknown'), unreached, resultOn('fw5', 'skipped')];
  const { fleet } = stateOf({ fw3: [], fw4: [], fw5: [] });
  const pending = new Map([
    ['fw4', 1],
    ['fw5', 1],
  ]);
  expect(
    sessionSummary(changes, new Set([unreached]), { fleet, pending, rollOut: undefined }),
  ).toEqual([
    'In this session: 2 done · 1 unknown · 2 not sent',
    '  ✓ bob  deleted  fw1 fw2',
    '  ? bob  delete unknown  fw3',
    '2 changes pending on fw4, fw5: "devsh resume" continues',
  ]);
  const nothing = { fleet, pending: new Map(), rollOut: undefined };
  expect(sessionSummary([], new Set(), nothing)).toEqual([]);
});
