import { expect, test } from 'vitest';
import { LoginInDoubtError } from '../../../src/errors.ts';
import { emptyLines } from '../../../src/tui/table/view.ts';
import type { State } from '../../../src/tui/state.ts';
import { stateOf, user } from './table-fixture.ts';

function withCommandFilter(state: State): State {
  return { ...state, table: { ...state.table, commandFilter: 'lang=zz' } };
}

test('an empty table says whether the filter, the device or a missing response is the reason', () => {
  const none = stateOf({ fw1: [] });
  const unread = { ...none, table: { ...none.table, reads: new Map() } };
  expect(emptyLines(none)).toEqual(['', 'no records']);
  expect(emptyLines(withCommandFilter(stateOf({ fw1: [user('a')] })))).toEqual([
    '',
    'no record matches the filter',
  ]);
  expect(emptyLines(withCommandFilter(unread)).join()).toContain('nothing read yet');
});

test('while devices wait for an answer, the key that shows their questions is named', () => {
  const { table, ...state } = stateOf({ fw1: [] });
  const about = { name: 'fw1', address: 'fw1:443', presented: undefined, pinned: undefined };
  const question = { ...about, kind: 'certificate', reason: '' } as const;
  const fleet = { ...state.fleet, questions: [question, { ...question, kind: 'login' } as const] };
  const asked = { ...state, fleet, table: { ...table, reads: new Map() } };
  expect(emptyLines(asked)[1]).toBe(
    'nothing read yet; F2 shows what is asked: 1 certificate, 1 login',
  );
});

test('a login in doubt names the line that finds out which one works', () => {
  const { table, ...state } = stateOf({ fw1: [] });
  const error = new LoginInDoubtError('fw1', 'R1');
  const devices = state.fleet.devices.map((one) => ({ ...one, kind: 'failed' as const, error }));
  const doubted = { ...state, fleet: { ...state.fleet, devices }, table };
  const unread = { ...doubted, table: { ...table, reads: new Map() } };
  expect(emptyLines(unread)[1]).toMatch(/^nothing read yet; fw1: "resume R1" finds out/);
});

test('without a device it has the first steps', () => {
  expect(emptyLines(stateOf({})).join('\n')).toContain('demo');
});
