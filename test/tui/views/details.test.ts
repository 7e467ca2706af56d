import fc from 'fast-check';
import { expect, test } from 'vitest';
import { driftOf } from '../../../src/fleet/drift.ts';
import { detailLines as linesOf, paneLines } from '../../../src/tui/views/details.ts';
import { textOfLine } from '../../../src/tui/screen/theme.ts';
import { columnLayout, paneWidth } from '../../../src/tui/table/columns.ts';
import type { State } from '../../../src/tui/state.ts';
import { after, readOf, stateOf, user } from '../table/table-fixture.ts';

const NAMES = ['fw1', 'fw2', 'fw3', 'fw4', 'fw5', 'fw6'];
const WIDE = { columns: 140, rows: 30 };

/** bob has another language on fw6; carol is missing on fw2. */
const fleet = stateOf(
  Object.fromEntries(
    NAMES.map((name) => [
      name,
      [
        { ...user('bob', name === 'fw6' ? 'en' : 'de'), uuid: `id-${name}` },
        ...(name === 'fw2' ? [] : [{ ...user('carol'), uuid: 'id' }]),
      ],
    ]),
  ),
  WIDE,
);

const detailLines = (...about: Parameters<typeof linesOf>): string[] =>
  linesOf(...about).map(textOfLine);

function pane(state: State, width = 50, height = 20): string[] {
  return paneLines(state, width, height).map((spans) => spans.map(({ text }) => text).join(''));
}

test('the pane groups the record at the cursor by value, what differs first', () => {
  expect(pane(fleet)).toMatchInlineSnapshot(`
    [
      "bob · on all 6",
      "≠ lang        de  fw1 +4",
      "              en  fw6 ◂ odd",
      "  first_name  BOB",
      "  uuid        (6 values)",
    ]
  `);
});

test('the pane follows the cursor, and says where the record is not', () => {
  const next = after(fleet, { kind: 'view', action: 'last' });
  expect(pane(next)[0]).toBe('carol · on 5 of 6');
  expect(pane(next).at(-1)).toBe('not on fw2');
});

test('the pane does not say that a record is not on a device whose list may leave it out', () => {
  const reads = new Map(
    [...fleet.table.reads].map(([name, read]) => [name, { ...read, mayLack: true }]),
  );
  const doubted = { ...fleet, table: { ...fleet.table, reads } };
  const next = after(doubted, { kind: 'view', action: 'last' });
  expect(pane(next)[0]).toBe('carol · on 5 of 6');
  expect(pane(next).at(-1)).toBe('not in the list, which may leave it out: fw2');
});

test('the pane shows the same of a record, whichever others it has shown before', () => {
  const name = fc.constantFrom('bob', 'carol', 'dave', '');
  const records = fc.array(fc.tuple(name, fc.constantFrom('de', 'en')), { maxLength: 4 });
  const at = fc.nat(11);
  fc.assert(
    fc.property(fc.tuple(records, records, records), fc.array(at, { minLength: 2 }), (all, way) => {
      const open = () => {
        const held = all.map((own) => own.map(([username, lang]) => user(username, lang)));
        return stateOf(Object.fromEntries(held.map((own, index) => [`fw${index}`, own])), WIDE);
      };
      const shown = (state: State, cursor: number) =>
        pane({ ...state, table: { ...state.table, cursor } });
      const state = open();
      const panes = way.map((cursor) => shown(state, cursor));
      expect(panes).toEqual(way.map((cursor) => shown(open(), cursor)));
    }),
  );
});

test('a device that was not read is never counted, and left to the title', () => {
  const { reads } = fleet.table;
  const few = new Map([...reads].filter(([name]) => ['fw5', 'fw6'].includes(name)));
  const state = { ...fleet, table: { ...fleet.table, reads: few } };
  expect(pane(state)[0]).toBe('bob · on 2 of 2 read');
  expect(pane(state).join('\n')).not.toContain('not read');
  expect(pane(state).join('\n')).not.toContain('odd');
});

test('after a filter by the device, the record may be there without having matched', () => {
  const view = { ...fleet.table.view, filtered: true };
  const state = after(
    { ...fleet, table: { ...fleet.table, view } },
    { kind: 'view', action: 'last' },
  );
  expect(pane(state)[0]).toBe('carol · matches on 5 of 6');
  expect(pane(state).at(-1)).toBe('no match on fw2');
});

test('devices keep their names beside values that differ on a narrow pane, and ids are counted', () => {
  const names = ['10.20.30.41:8443', '10.20.30.42:8443', '10.20.30.43:8443'];
  const held = names.map((name, index) => {
    const bob = { ...user('bob', index === 2 ? 'a-very-long-language' : 'de'), uuid: `id-${name}` };
    return [name, [bob]] as const;
  });
  const shown = pane(stateOf(Object.fromEntries(held)), 38).join('\n');
  expect(shown).toMatch(/lang +de *\n +10\.20\.30\.41:8443 \+1\n/);
  expect(shown).toMatch(/a-very-.*… +◂ odd\n +10\.20\.30\.43:8443\n/);
  expect(shown).toContain('uuid        (3 values)');
});

test('a long record is cut with a hint, and its notes stay', () => {
  const next = after(fleet, { kind: 'view', action: 'last' });
  expect(pane(next, 50, 4)).toEqual([
    'carol · on 5 of 6',
    '  first_name  CAROL',
    '… more with Enter',
    'not on fw2',
  ]);
  for (let height = 1; height < 10; height += 1)
    expect(pane(next, 50, height)).toHaveLength(Math.min(height, 5));
});

test('a hostile value and name stay harmless and inside', () => {
  const evil = '\x1b[31mroot\n';
  const read = readOf('fw1', [
    { ...user('x'), username: evil, first_name: `${evil}${'W'.repeat(90)}` },
  ]);
  const state = after(stateOf({ fw1: [] }, WIDE), { kind: 'reads', reads: [read] });
  const lines = pane(state, 40);
  expect(lines.join('')).not.toContain('\x1b');
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(40);
});

test('of a very long value, the start is shown, and its length', () => {
  const read = readOf('fw1', [{ ...user('x'), first_name: '漢'.repeat(300_000) }]);
  const state = after(stateOf({ fw1: [] }, WIDE), { kind: 'reads', reads: [read] });
  const lines = detailLines(state, { kind: 'of-table', key: 'x' });
  expect(lines.length).toBeLessThan(60);
  expect(lines.join('').replaceAll(/\s/g, '')).toContain('漢…(300000characters;--jsonhasall)');
});

test('details stand beside the table from 120 columns on, unless hidden', () => {
  const at = (columns: number): number => paneWidth({ ...fleet, size: { columns, rows: 30 } });
  // It has what the columns of the table leave.
  const [narrow, wide] = [at(120), at(200)];
  expect([at(119), wide - narrow, at(300) - wide]).toEqual([0, 80, 100]);
  expect(columnLayout(fleet, 120 - narrow)).toEqual(columnLayout(fleet, 300));
  expect(paneWidth(after(fleet, { kind: 'view', action: 'pane' }))).toBe(0);
  expect(paneWidth(stateOf({ fw1: [] }, WIDE))).toBe(0);
});

test('more than four devices are grouped by value in the view of Enter, too', () => {
  expect(detailLines(fleet, { kind: 'of-table', key: 'bob' })).toMatchInlineSnapshot(`
    [
      "on all 6",
      "",
      "  username    bob",
      "≠ lang        de  fw1 +4",
      "              en  fw6 ◂ odd",
      "  first_name  BOB",
      "  uuid        id-fw1  fw1",
      "              id-fw2  fw2",
      "              id-fw3  fw3",
      "              id-fw4  fw4",
      "              id-fw5  fw5",
      "              id-fw6  fw6",
    ]
  `);
});

test('the odd value has a colour of its own, and the others have none', () => {
  const langs = fc.array(fc.constantFrom('de', 'en', 'it'), { minLength: 2, maxLength: 9 });
  fc.assert(
    fc.property(langs, (all) => {
      const held = all.map((lang, index) => [`fw${index}`, [user('bob', lang)]] as const);
      const state = stateOf(Object.fromEntries(held), WIDE);
      const lines = [
        ...paneLines(state, 50, 20),
        ...linesOf(state, { kind: 'of-table', key: 'bob' }),
      ];
      const isValue = (text = ''): boolean => all.some((lang) => lang === text.trim());
      const values = lines.filter((line) => line.length > 2 && isValue(line[1]?.text));
      for (const line of values)
        expect(line[1]?.tone).toBe(textOfLine(line).endsWith('◂ odd') ? 'warning' : 'plain');
    }),
  );
});

test('the pane calls no value odd while more devices may have it', () => {
  const { reads } = fleet.table;
  const few = new Map([...reads].filter(([name]) => ['fw4', 'fw5', 'fw6'].includes(name)));
  const state = { ...fleet, table: { ...fleet.table, reads: few } };
  expect(pane(state).join('\n')).toContain('≠ lang');
  expect(pane(state).join('\n')).not.toContain('odd');
});

test('times of a comparison are shown for each device, and never as odd', () => {
  const reads = NAMES.map((name, index) => ({
    device: { name, address: `${name}:443` },
    records: [
      { username: 'bob', lang: index === 0 ? 'de' : 'en', modified: `2026-01-0${index + 1}` },
    ],
  }));
  const drift = driftOf(reads, { keyField: 'username', perDevice: [] });
  const output = { kind: 'drift', resource: 'user', drift, perDevice: [] } as const;
  const [row] = drift.rows;
  if (row === undefined) throw new Error('no row');
  const lines = detailLines(fleet, { kind: 'of-drift', key: 'bob', drift: output, row });
  expect(lines.filter((line) => line.includes('odd'))).toEqual(['            de  fw1 ◂ odd']);
  expect(lines.filter((line) => line.includes('2026-01'))).toHaveLength(NAMES.length);
});
