import { rowText } from './table-fixture.ts';
import { textOfLine } from '../../../src/tui/screen/theme.ts';
import { expect, test } from 'vitest';
import { UnreachableError } from '../../../src/device/errors.ts';
import { titleLine } from '../../../src/tui/screen/bar-lines.ts';
import type { State } from '../../../src/tui/state.ts';
import { tableView } from '../../../src/tui/table/view.ts';
import { viewLines } from '../../../src/tui/views/views.ts';
import { after, readOf, stateOf, user } from './table-fixture.ts';

const AT = new Date(2020, 2, 4, 7, 46);

function readAt(name: string, users: readonly string[]) {
  const records = users.map((username) => user(username));
  return { ...readOf(name, records), at: AT };
}

function failed(name: string) {
  const device = { name, address: `${name}:443` };
  const error = new UnreachableError(device, 'no answer');
  return { ...readOf(name, []), outcome: { ok: false, error } } as const;
}

/** Three devices that have answered, of which these do so no more. */
function stopped(...names: readonly string[]): State {
  const base = stateOf({ fw1: [], fw2: [], fw3: [] });
  const reads = ['fw1', 'fw2', 'fw3'].map((name) => readAt(name, ['alice', `own-${name}`]));
  return after(base, { kind: 'reads', reads }, { kind: 'reads', reads: names.map(failed) });
}

function rowsOf(state: State): { text: string; isStale: boolean }[] {
  return tableView(state, 100, 20).rows.map((row) => ({
    text: rowText(row),
    isStale: row.isStale,
  }));
}

test('the records of a device that answers no more stay, with their age', () => {
  const state = stopped('fw3');
  const own = rowsOf(state).find(({ text }) => text.includes('own-fw3'));
  expect(own).toMatchObject({ isStale: true });
  expect(own?.text).toContain('as of 4 Mar 2020');
  const alice = rowsOf(state).find(({ text }) => text.includes('alice'));
  expect(alice).toMatchObject({ isStale: false });
  expect(alice?.text).toContain('fw3 as of 4 Mar 2020');
  expect(titleLine(state).left).toContain('2 of 3 devices read, 1 as of 4 Mar 2020 · 6 records');
});

test('a reading that fails again and again keeps what was read last', () => {
  const state = after(stopped('fw1', 'fw2', 'fw3'), { kind: 'reads', reads: [failed('fw1')] });
  expect(rowsOf(state)).toHaveLength(4);
  expect(titleLine(state).left).toContain('0 of 3 devices read, 3 as of');
});

test('the next answer takes the place of what was old', () => {
  const state = after(stopped('fw3'), { kind: 'reads', reads: [readAt('fw3', [])] });
  expect(
    rowsOf(state)
      .map(({ text }) => text)
      .join('\n'),
  ).not.toContain('as of');
});

test('nothing is said to be the same on all devices while one of them does not answer', () => {
  expect(titleLine(stopped()).left).toContain(': 1 same');
  expect(titleLine(stopped('fw3')).left).not.toContain('same');
});

test('the fields of a record tell of which devices they are old', () => {
  const details = { kind: 'of-table', key: 'alice' } as const;
  const state = after(stopped('fw3'), {
    kind: 'view-over',
    overlay: { kind: 'details', details, top: 0 },
  });
  expect(viewLines(state).map(textOfLine)).toContain('as of 4 Mar 2020, not responding now: fw3');
});
