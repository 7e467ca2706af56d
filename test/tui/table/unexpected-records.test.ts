import { expect, test } from 'vitest';
import { readBaseline } from '../../../src/change/record-file/baseline.ts';
import { unexpectedRecords } from '../../../src/shell/records/baseline-file.ts';
import type { State } from '../../../src/tui/state.ts';
import { tableView } from '../../../src/tui/table/view.ts';
import { detailLines } from '../../../src/tui/views/details.ts';
import { after, stateOf, user } from './table-fixture.ts';

const fleet = stateOf({
  fw1: [user('bob'), user('eve')],
  fw2: [user('bob'), user('B0b')],
  fw3: [user('eve')],
});

/** The table with this baseline; fw1 and fw2 are in the group berlin, fw3 has left. */
function withBaseline(text: string, state: State = fleet): State {
  const unexpected = unexpectedRecords(readBaseline(text, 'expected.csv'), (name) =>
    name === 'fw3' ? undefined : { name, address: `${name}:443`, groups: ['berlin'] },
  );
  return after(state, { kind: 'facts', facts: { unexpected } });
}

const signs = (state: State): string[] =>
  tableView(state, 100, 20).rows.map(({ text }) => text.slice(1, 8).trim());

test('a record that the baseline does not have on a device is marked', () => {
  const state = withBaseline('DEVICE,username\nall,bob\nfw2,eve\n');
  expect(signs(state)).toEqual(['∉ B0b', '· bob', '∉ eve']);
});

test('the details say why, and what the name could be confused with', () => {
  const state = withBaseline('DEVICE,username\n@berlin,bob\n');
  const lines = (key: string): string => detailLines(state, { kind: 'of-table', key }).join('\n');
  expect(lines('B0b')).toContain('∉ not in expected.csv, looks like "bob" in the file: fw2');
  expect(lines('eve')).toContain('∉ not in expected.csv: fw1\n');
  expect(lines('bob')).not.toContain('∉');
});

test('nothing is marked on a device that no row is for, or without a baseline', () => {
  expect(signs(withBaseline('DEVICE,username\nfw9,zoe\n')).join()).not.toContain('∉');
  const state = after(withBaseline('username\nzoe\n'), {
    kind: 'facts',
    facts: { unexpected: undefined },
  });
  expect(signs(state).join()).not.toContain('∉');
});
