import { rowLine } from '../../../src/tui/table/view.ts';
import { rowText } from './table-fixture.ts';
import { describe, expect, test } from 'vitest';
import { RefusedError } from '../../../src/errors.ts';
import { withAsciiSigns } from '../../../src/tui/screen/theme.ts';
import type { State } from '../../../src/tui/state.ts';
import { SIGNS } from '../../../src/tui/table/signs.ts';
import { tableView } from '../../../src/tui/table/view.ts';
import { after, readOf, stateOf, user } from './table-fixture.ts';

/** Each row without the cursor, with single blanks. */
const lines = (state: State): string[] =>
  tableView(state, 100, 20).rows.map((row) =>
    rowText(row)
      .slice(1)
      .replace(/(?<=\S) {2,}/g, ' '),
  );

/** The texts in the tone of a warning. */
const warned = (state: State): string[][] =>
  tableView(state, 100, 20)
    .rows.map(rowLine)
    .map((pieces) => pieces.flatMap(({ tone, text }) => (tone === 'warning' ? [text.trim()] : [])));

const bobs = (...langs: readonly string[]): State =>
  stateOf(Object.fromEntries(langs.map((lang, index) => [`fw${index + 1}`, [user('bob', lang)]])));

describe('the odd value', () => {
  test('is marked if more than half of the devices have another one', () => {
    expect(lines(bobs('de', 'en', 'de'))).toEqual(['≠ bob BOB de fw1,fw3', '≠ bob BOB en≠ fw2']);
    expect(warned(bobs('de', 'en', 'de'))).toEqual([[], ['≠', 'en≠']]);
  });

  test('a tie has none: each of the values stands out', () => {
    expect(lines(bobs('de', 'en')).join()).not.toMatch(/(de|en)≠/);
    expect(warned(bobs('de', 'en'))).toEqual([
      ['≠', 'de'],
      ['≠', 'en'],
    ]);
  });

  test('is not marked while devices that were not read could change it', () => {
    const { fleet, ...rest } = bobs('de', 'en', 'de');
    const absent = { ...rest, fleet: { ...fleet, selected: [...fleet.selected, 'fw4'] } };
    expect(lines(absent).join()).not.toContain('en≠');
  });

  test('last values of a device that does not answer prove nothing', () => {
    const refused = new RefusedError('no answer');
    const down = { ...readOf('fw3', []), outcome: { ok: false, error: refused } } as const;
    const state = after(bobs('de', 'en', 'de'), { kind: 'reads', reads: [down] });
    expect(lines(state).join()).not.toContain('en≠');
  });

  test('a filter may hide other values: those devices count against it', () => {
    const state = bobs('de', 'en', 'de');
    const empty = readOf('fw4', []);
    const view = { ...state.table.view, filtered: true };
    const { fleet } = state;
    const four = { ...state, fleet: { ...fleet, selected: [...fleet.selected, 'fw4'] } };
    const read = after(four, { kind: 'reads', reads: [empty] });
    expect(lines(read).join()).toContain('en≠');
    const filtered = after(four, { kind: 'reads', reads: [{ ...empty, view }] });
    expect(lines(filtered).join()).not.toContain('en≠');
  });

  test('a record that one device has twice is not counted', () => {
    const twice = [user('bob', 'de', 'id-1'), user('bob', 'fr', 'id-2')];
    const state = stateOf({ fw1: twice, fw2: [user('bob', 'de')], fw3: [user('bob', 'de')] });
    expect(lines(state).join()).not.toContain('fr≠');
  });

  test('is marked in unfolded rows, too, and in a full cell beside it', () => {
    const state = bobs('de', 'Klingon-of-the-north', 'de');
    const unfolded = after({ ...state, focus: 'table' }, { kind: 'view', action: 'fold' });
    expect(lines(unfolded)).toContain('≠ bob BOB Klingon-of-the-north≠ fw2');
  });
});

describe('the sign of a row', () => {
  const fleet = stateOf({ fw1: [user('alice'), user('carol')], fw2: [user('alice')] });

  test('tells what is not on all devices from what is', () => {
    expect(lines(fleet).map((line) => line.slice(0, 4))).toEqual(['  al', '· ca']);
  });

  test('says nothing where a filter or a device that was not read may hide the record', () => {
    const view = { ...fleet.table.view, filtered: true };
    const filtered = { ...fleet, table: { ...fleet.table, view } };
    expect(lines(filtered)[1]).toMatch(/^ {2}ca/);
    const one = stateOf({ fw1: [user('carol')] });
    const absent = { ...one, fleet: { ...one.fleet, selected: ['fw1', 'fw2'] } };
    expect(lines(absent)[0]).toMatch(/^ {2}ca/);
  });

  test('is that of a change until it was seen', () => {
    const again = after(fleet, { kind: 'reads', reads: [readOf('fw1', [user('alice', 'de')])] });
    expect(lines(again).map((line) => line.slice(0, 1))).toEqual(['~', '≠']);
    const seen = after(again, { kind: 'changes-seen' });
    expect(lines(seen).map((line) => line.slice(0, 1))).toEqual(['≠', '≠']);
  });

  test('is stale if no device of the row answers', () => {
    const refused = new RefusedError('no answer');
    const down = { ...readOf('fw1', []), outcome: { ok: false, error: refused } } as const;
    const state = after(fleet, { kind: 'reads', reads: [down] });
    expect(lines(state).map((line) => line.slice(0, 1))).toEqual([' ', '?']);
  });

  test('is another one for each kind, also in ASCII', () => {
    const signs = Object.values(SIGNS).map(({ sign }) => withAsciiSigns(sign));
    expect(new Set(signs).size).toBe(signs.length);
    expect(signs.join('')).toMatch(/^[!-~]+$/);
  });
});
