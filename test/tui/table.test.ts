import { describe, expect, test } from 'vitest';
import { widthOf } from '../../src/output/width.ts';
import type { ViewAction } from '../../src/tui/actions.ts';
import { titleLine } from '../../src/tui/bar-lines.ts';
import { detailLines } from '../../src/tui/detail-lines.ts';
import type { State } from '../../src/tui/state.ts';
import { copyLines, deleteLines, editLine, useLine } from '../../src/tui/table-commands.ts';
import { keyOfRow, tableRows } from '../../src/tui/table-rows.ts';
import { tableView } from '../../src/tui/table-view.ts';
import { after, readOf, stateOf, user } from './table-fixture.ts';

function press(state: State, ...actions: readonly ViewAction[]): State {
  return after(
    { ...state, focus: 'table' },
    ...actions.map((action) => ({ kind: 'view', action }) as const),
  );
}

function type(state: State, text: string): State {
  return after(state, { kind: 'edit', key: { kind: 'insert', text } });
}

const lines = (state: State, width = 100): string[] => {
  const { header, rows } = tableView(state, width, 10);
  return [header, ...rows.map(({ text }) => text)];
};

const current = (state: State): string => {
  const { rows, keyField } = tableRows(state);
  const row = rows[state.table.cursor];
  return row === undefined ? '' : keyOfRow(row, keyField);
};

const fleet = stateOf({
  fw1: [user('alice'), user('bob', 'de'), user('carol')],
  fw2: [user('alice', 'en', 'id-2'), user('bob'), user('dave')],
});

describe('the rows', () => {
  test('equal records are one row, with a note where devices differ', () => {
    expect(lines(fleet)).toMatchInlineSnapshot(`
      [
        "  DEVICE  USERNAME ▲  FIRST NAME  LANG  UUID        NOTE",
        "▸ all     alice       ALICE       en    (2 values)",
        "  fw1     bob         BOB         de    id-bob      differs: lang",
        "  fw2     bob         BOB         en    id-bob      differs: lang",
        "  fw1     carol       CAROL       en    id-carol    only here",
        "  fw2     dave        DAVE        en    id-dave     only here",
      ]
    `);
  });

  test('unfolded, each device has its own row, and the cursor stays on its record', () => {
    const moved = press(fleet, 'last', 'fold');
    expect(current(moved)).toBe('dave');
    expect(tableRows(moved).rows).toHaveLength(6);
    expect(current(press(moved, 'fold'))).toBe('dave');
  });

  test('narrow screens lose ids first, then fields, never the key', () => {
    expect(lines(fleet, 58)[0]).not.toContain('UUID');
    expect(lines(fleet, 40)[0]).toContain('USERNAME');
    for (let width = 20; width < 80; width++) {
      for (const line of lines(fleet, width)) expect(widthOf(line)).toBeLessThanOrEqual(width);
    }
  });

  test('text from a device is made harmless before it is measured', () => {
    const state = stateOf({ fw1: [user('a\x1b[2Jb'), user('田中')] });
    expect(lines(state)[1]).toContain('a^[[2Jb');
    expect(lines(state).join('')).not.toContain('\x1b');
  });

  test('a device that answers again replaces its records alone', () => {
    const state = after(fleet, { kind: 'reads', reads: [readOf('fw2', [user('eve')])] });
    expect(tableRows(state).rows.map((row) => row.record['username'])).toEqual([
      'alice',
      'bob',
      'carol',
      'eve',
    ]);
  });

  test('only the window is drawn, wherever the cursor goes', () => {
    const many = stateOf({ fw1: Array.from({ length: 500 }, (_, n) => user(`u${n}`)) });
    const end = press(many, 'last');
    expect(current(end)).toBe('u499');
    expect(tableView(end, 80, 10).rows).toHaveLength(9);
    expect(end.table.top).toBeGreaterThan(480);
    expect(press(end, 'page-up', 'first').table).toMatchObject({ cursor: 0, top: 0 });
  });
});

describe('filter and sort', () => {
  test('the filter works on each key, Enter keeps it, Esc clears it', () => {
    const typed = type(press(fleet, 'filter'), 'lang=de');
    expect(tableRows(typed).rows).toHaveLength(1);
    expect(tableRows(press(typed, 'keep-filter')).rows).toHaveLength(1);
    expect(tableRows(press(typed, 'clear-filter')).rows).toHaveLength(5);
  });

  test('only where nothing contains the words, similar records are shown, and it says so', () => {
    const exact = type(press(fleet, 'filter'), 'bob');
    expect(tableRows(exact)).toMatchObject({ isSimilar: false });
    expect(tableRows(exact).rows.every(({ record }) => record['username'] === 'bob')).toBe(true);
    const similar = type(press(fleet, 'filter'), 'alce');
    expect(tableRows(similar).rows.map(({ record }) => record['username'])).toContain('alice');
    expect(titleLine(similar).left).toMatch(/filter: alce \(\d similar rows?\)/);
  });

  test('half a pattern keeps what was filtered before, and says what is wrong', () => {
    const typed = type(type(press(fleet, 'filter'), 'bob'), ' lang~[');
    expect(tableRows(typed).rows).toHaveLength(2);
    expect(typed.table.filter.problem).toBeDefined();
  });

  test('a device can be filtered by, also where rows are folded', () => {
    const typed = type(press(fleet, 'filter'), 'device=fw2');
    expect(tableRows(typed).rows.map((row) => row.record['username'])).toEqual([
      'alice',
      'bob',
      'dave',
    ]);
  });

  test('s goes through the columns, S turns the order around', () => {
    const sorted = press(fleet, 'sort');
    expect(sorted.table.sort).toEqual({ field: 'first_name', isDown: false });
    expect(press(sorted, 'reverse').table.sort).toEqual({ field: 'first_name', isDown: true });
    const back = press(fleet, 'sort', 'sort', 'sort', 'sort', 'sort');
    expect(back.table.sort?.field).toBe('username');
  });
});

test('Esc in the table clears the filter, then the marks, then goes to the prompt', () => {
  const state = press(type(press(fleet, 'mark-all', 'filter'), 'bob'), 'keep-filter');
  const unfiltered = press(state, 'back');
  expect(tableRows(unfiltered).rows).toHaveLength(5);
  expect(unfiltered.table.marks.size).toBe(6);
  const unmarked = press(unfiltered, 'back');
  expect(unmarked).toMatchObject({ focus: 'table', table: { marks: new Set() } });
  expect(press(unmarked, 'back').focus).toBe('prompt');
});

describe('keys as commands', () => {
  test('delete names the devices that hold the current record', () => {
    expect(deleteLines(fleet)).toEqual(['user delete alice --on fw1,fw2']);
    expect(deleteLines(press(fleet, 'down'))).toEqual(['user delete bob --on fw1']);
  });

  test('marks make one command for each set of devices', () => {
    expect(deleteLines(press(fleet, 'mark-all'))).toEqual([
      'user delete alice bob --on fw1,fw2',
      'user delete carol --on fw1',
      'user delete dave --on fw2',
    ]);
  });

  test('marks of records that are gone are forgotten', () => {
    const state = after(press(fleet, 'mark-all'), { kind: 'reads', reads: [readOf('fw2', [])] });
    expect(deleteLines(state)).toEqual(['user delete alice bob carol --on fw1']);
  });

  test('names that mean something to the parser are quoted', () => {
    const state = stateOf({ fw1: [user("o'neil x"), user('-rf')] });
    expect(deleteLines(press(state, 'mark-all'))).toEqual([
      `user delete --on fw1 -- -rf "o'neil x"`,
    ]);
  });

  test('edit and copy hold all fields but ids', () => {
    expect(editLine(fleet)).toEqual({
      before: 'user set alice first_name=ALICE lang=en',
      after: '',
    });
    expect(editLine(press(fleet, 'down'))).toEqual({
      before: 'user set bob first_name=BOB lang=de',
      after: ' --on fw1',
    });
    expect(copyLines(fleet)).toEqual(['user add first_name=ALICE username=alice lang=en']);
  });

  test('Tab goes through the devices and back to all', () => {
    expect(useLine(fleet, 1)).toBe('use fw1');
    expect(useLine(fleet, -1)).toBe('use fw2');
    const narrowed = after(fleet, {
      kind: 'fleet',
      fleet: { ...fleet.fleet, selected: ['fw2'], isNarrowed: true },
    });
    expect(useLine(narrowed, 1)).toBe('use all');
    expect(tableRows(narrowed).rows).toHaveLength(3);
  });
});

test('details stand side by side, with a sign where devices differ', () => {
  expect(detailLines(fleet, 'bob')).toMatchInlineSnapshot(`
    [
      "              fw1     fw2",
      "  uuid        id-bob  id-bob",
      "  first_name  BOB     BOB",
      "  username    bob     bob",
      "≠ lang        de      en",
      "",
      "≠ differs between the devices",
    ]
  `);
  expect(detailLines(fleet, 'carol').at(-1)).toBe('not on fw2');
});
