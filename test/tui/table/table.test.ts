import { rowLine } from '../../../src/tui/table/view.ts';
import { rowText } from './table-fixture.ts';
import { countComputing } from '../../contention.ts';
import { describe, expect, test } from 'vitest';
import { RefusedError } from '../../../src/errors.ts';
import { valueText } from '../../../src/device/record.ts';
import { widthOf } from '../../../src/text/visible.ts';
import type { ViewAction } from '../../../src/tui/keys/key-binding.ts';
import { shownHints, titleLine } from '../../../src/tui/screen/bar-lines.ts';
import { textOfLine } from '../../../src/tui/screen/theme.ts';
import { detailLines as linesOf } from '../../../src/tui/views/details.ts';
import type { State } from '../../../src/tui/state.ts';
import { copiedCommands, deleteLine, editForm, useLine } from '../../../src/tui/table/commands.ts';
import { emptyLines, tableView } from '../../../src/tui/table/view.ts';
import { countMarks, tableRows } from '../../../src/tui/table/rows.ts';
import { KEYMAP } from '../../../src/tui/keys/default-keymap.ts';
import { after, lineOf, readOf, stateOf, user } from './table-fixture.ts';

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
  return [header, ...rows.map(rowText)];
};

/** As after `--columns`. */
const asking = (state: State, columns: readonly string[]): State => ({
  ...state,
  table: { ...state.table, view: { ...state.table.view, columns } },
});

const current = (state: State): string => {
  const { rows, keyField } = tableRows(state);
  return valueText(rows[state.table.cursor]?.record[keyField]);
};

const fleet = stateOf({
  fw1: [user('alice'), user('bob', 'de'), user('carol')],
  fw2: [user('alice', 'en', 'id-2'), user('bob'), user('dave')],
});

const detailLines = (...about: Parameters<typeof linesOf>): string[] =>
  linesOf(...about).map(textOfLine);

describe('the rows', () => {
  test('equal records are one row, with a note where devices differ', () => {
    expect(lines(fleet)).toMatchInlineSnapshot(`
      [
        "   USERNAME ↑  FIRST NAME  LANG  DEVICE  NOTE",
        "▸  alice       ALICE       en    all",
        " ≠ bob         BOB         de    fw1     differs: lang",
        " ≠ bob         BOB         en    fw2     differs: lang",
        " · carol       CAROL       en    fw1",
        " · dave        DAVE        en    fw2",
      ]
    `);
  });

  test('a narrow cell of devices keeps their number', () => {
    const names = Array.from({ length: 10 }, (_, index) => `127.0.0.${index + 1}:37401`);
    const some = names.slice(1).map((name) => [name, [user('bob')]] as const);
    const state = stateOf({ [names[0] ?? '']: [], ...Object.fromEntries(some) });
    expect(lines(state, 90).join('\n')).toContain('127.0.0.2:37401 +8');
    expect(lines(state, 30).join('\n')).toMatch(/127.*… \+8/);
  });

  test('unfolded, each device has its own row, and the cursor stays on its record', () => {
    const moved = press(fleet, 'last', 'fold');
    expect(current(moved)).toBe('dave');
    expect(tableRows(moved).rows).toHaveLength(6);
    expect(current(press(moved, 'fold'))).toBe('dave');
  });

  test('ids are hidden until they are asked for', () => {
    expect(lines(fleet)[0]).not.toContain('UUID');
    expect(lines(asking(fleet, ['username', 'uuid', 'lang']))[0]).toMatch(/USERNAME ↑ +UUID +LANG/);
  });

  test('narrow screens lose ids first, then fields, never the key', () => {
    const asked = asking(fleet, ['username', 'uuid', 'first_name', 'lang']);
    expect(lines(asked, 58)[0]).not.toContain('UUID');
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

  test('records that are read again without a change are not folded and sorted again', () => {
    const reads = [...fleet.table.reads.values()].map((read) => ({ ...read, at: new Date() }));
    const again = after(fleet, { kind: 'reads', reads });
    expect(again.table.reads.get('fw1')?.at).toBeInstanceOf(Date);
    expect(tableRows(again).rows).toBe(tableRows(fleet).rows);
  });

  test('a device that responds again replaces its records alone', () => {
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
    expect(titleLine(similar).left).toMatch(/filter: alce \(\d of 5 similar rows\)/);
  });

  test('half a pattern keeps the last filter, and shows the problem', () => {
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

  test('s goes through the columns, o turns the last one around', () => {
    const sorted = press(fleet, 'sort');
    expect(sorted.table.sort).toEqual(['first_name']);
    expect(press(sorted, 'reverse').table.sort).toEqual(['-first_name']);
    expect(press(sorted, 'sort').table.sort).toEqual(['lang']);
    const back = press(fleet, 'sort', 'sort', 'sort', 'sort');
    expect(back.table.sort).toEqual(['username']);
  });

  test('a title that is cut keeps the sign of its order', () => {
    const units = ['a', 'b', 'c'].map((one) => ({ username: one, organisational_unit: one }));
    const state = stateOf({ fw1: units });
    expect(lines(press(state, 'sort'), 30)[0]).toMatch(/ORGAN\w*… ↑/);
    expect(lines(press(state, 'sort', 'reverse'), 30)[0]).toMatch(/ORGAN\w*… ↓/);
  });

  test('--sort of the line and the keys are the same order, shown the same way', () => {
    const read = readOf('fw1', [user('u10', 'de'), user('u9', 'de'), user('u1', 'en')]);
    const state = after(stateOf({ fw1: [] }), {
      kind: 'reads',
      reads: [{ ...read, view: { ...read.view, sort: ['-lang', 'username'] } }],
    });
    expect(lines(state)[0]).toMatch(/USERNAME 2↑.* LANG 1↓/);
    expect(tableRows(state).rows.map(({ record }) => record['username'])).toEqual([
      'u1',
      'u9',
      'u10',
    ]);
    expect(press(state, 'sort').table.sort).toEqual(['device', 'username']);
  });

  test('what was found is marked in the line, and counted', () => {
    const typed = type(press(fleet, 'filter'), 'bo');
    const { rows } = tableView(typed, 100, 10);
    const found = rows.map((row) =>
      rowLine(row).flatMap(({ tone, text }) => (tone === 'match' ? [text] : [])),
    );
    expect(found[0]).toEqual(['bo', 'BO']);
    expect(titleLine(typed).left).toContain('filter: bo (2 of 5 rows)');
  });

  test('in a long table the letter shows at once, the rows when they have been found', () => {
    const many = stateOf({ fw1: Array.from({ length: 6_000 }, (_, n) => user(`u${n}`)) });
    const typed = type(press(many, 'filter'), 'u5999');
    expect(tableRows(typed).rows).toHaveLength(6_000);
    expect(titleLine(typed).left).toContain('filter: u5999 (searching 6000 rows …)');
    const found = after(typed, { kind: 'apply-filter', filter: typed.table.filter.parsed });
    expect(tableRows(found).rows).toHaveLength(1);
    const late = after(type(typed, 'x'), {
      kind: 'apply-filter',
      filter: typed.table.filter.parsed,
    });
    expect(tableRows(late).rows).toHaveLength(6_000);
  });
});

describe('marks', () => {
  const marked = (state: State): string[] =>
    tableView(state, 100, 20)
      .rows.filter(({ isMarked }) => isMarked)
      .map((row) => rowText(row).slice(3).split(/ +/)[0] ?? '');

  test('a folded row is marked on all its devices, and the title says so', () => {
    const state = press(fleet, 'mark');
    expect(Object.fromEntries(state.table.marks)).toEqual({
      fw1: new Set(['alice']),
      fw2: new Set(['alice']),
    });
    expect(titleLine(state).right).toBe('[1 marked = 2 records on 2 devices] ');
    expect(titleLine({ ...state, size: { columns: 50, rows: 20 } }).right).toBe('[1 marked] ');
  });

  test('* marks all that is shown besides what was marked', () => {
    const bobs = type(press(fleet, 'mark', 'filter'), 'bob');
    const all = press(bobs, 'keep-filter', 'mark-all', 'clear-filter');
    expect(marked(all)).toEqual(['alice', 'bob', 'bob']);
  });

  test('the title counts the marks that the filter hides', () => {
    const carol = press(type(press(fleet, 'mark', 'filter'), 'carol'), 'keep-filter', 'mark');
    expect(titleLine(carol).right).toBe(
      '[2 marked = 3 records on 2 devices, 1 hidden by the filter] ',
    );
  });

  test('records that share a key on one device share a mark, and count once', () => {
    const twice = stateOf({ fw1: [user('bob'), user('bob', 'de'), user('carol')], fw2: [] });
    expect(countMarks(press(twice, 'mark-all'))).toMatchObject({
      names: 2,
      records: 2,
      devices: 1,
    });
    const left = { ...press(fleet, 'mark-all'), fleet: { ...fleet.fleet, selected: ['fw2'] } };
    expect(countMarks(left)).toMatchObject({ names: 4, records: 6, devices: 2 });
  });

  test('with very many marks, keys that change none of them count none of them', () => {
    const many = stateOf({ fw1: Array.from({ length: 100_000 }, (_, n) => user(`u${n}`)) });
    let state = press(many, 'mark-all');
    expect(titleLine(state).right).toBe('[100000 marked] ');
    const computedMs = countComputing();
    for (let times = 0; times < 50; times += 1) {
      state = press(state, 'down');
      titleLine(state);
      shownHints(state, 100);
    }
    expect(computedMs() / 50).toBeLessThan(50);
  });

  test('marks outlive a refresh, and those of devices that say nothing stay', () => {
    const state = after(press(fleet, 'mark-all'), {
      kind: 'reads',
      reads: [readOf('fw1', [user('alice'), user('bob', 'de')])],
    });
    expect(marked(state)).toEqual(['alice', 'bob', 'bob', 'dave']);
  });
});

describe('a table that is read again', () => {
  const again = after(press(fleet, 'last'), {
    kind: 'reads',
    reads: [readOf('fw2', [user('aaron'), user('alice', 'de', 'id-2'), user('bob'), user('dave')])],
  });

  test('the cursor stays on its record', () => {
    expect(current(again)).toBe('dave');
  });

  test('new and changed records have a sign, and are counted in words', () => {
    expect(titleLine(again).left).toContain('1 changed, 1 new');
    expect(lines(again).filter((line) => /^[▸ ][~+]/.test(line))).toEqual([
      expect.stringMatching(/^ \+ aaron .* fw2/),
      expect.stringMatching(/^ ~ alice .* fw2/),
    ]);
    const both = after(again, { kind: 'reads', reads: [readOf('fw1', [user('alice')])] });
    expect(titleLine(both).left).toContain('1 changed, 1 new, 2 gone on 2 devices');
    const seen = after(again, { kind: 'changes-seen' });
    expect(titleLine(seen).left).not.toContain('changed');
  });
});

test('where there is no room for all, columns in which records differ or that the filter names stay', () => {
  const wide = (name: string, isActive: boolean) => ({
    ...user(name),
    department: `the department of ${name}`,
    is_active: String(isActive),
  });
  const state = stateOf({
    fw1: [wide('alice', true), wide('bob', true), wide('carol', true)],
    fw2: [wide('alice', false), wide('bob', true), wide('carol', true)],
  });
  expect(lines(state, 60)[0]).toContain('IS ACTIVE');
  const same = stateOf({ fw1: [wide('alice', true), wide('bob', true), wide('carol', true)] });
  expect(lines(same, 50)[0]).not.toContain('IS ACTIVE');
  const named = press(type(press(same, 'filter'), 'is_active=true'), 'keep-filter');
  expect(lines(named, 50)[0]).toContain('IS ACTIVE');
});

describe('folds and columns', () => {
  test('columns without room are counted, and what differs comes before that', () => {
    const asked = asking(fleet, ['username', 'first_name', 'lang', 'uuid']);
    const at = (columns: number) => ({ ...asked, size: { columns, rows: 20 } });
    expect(lines(at(40), 40)[0]).not.toContain('UUID');
    expect(titleLine(at(40)).left).toContain('1 differs');
    const long = 'a-longer-name-than-most';
    const wide = asking(stateOf({ fw1: [{ ...user(long), note: long }] }), [
      ...['username', 'first_name', 'lang', 'note'],
    ]);
    const titleAt = (columns: number) => titleLine({ ...wide, size: { columns, rows: 20 } }).left;
    expect(titleAt(40)).toMatch(/^ users · .* more: enter$/);
    expect(titleAt(110)).toBe(' users · 1 device · 1 record');
  });

  test('numbers are aligned right, and columns with equal values give way', () => {
    const ports = [9, 80, 443].map((port) => ({
      username: `user-${port}`,
      realm: 'all-the-same-realm',
      port: `${port}`,
    }));
    const state = stateOf({ fw1: ports });
    expect(lines(state, 60)[1]).toMatch(/ {2}9$/);
    expect(lines(state, 26)[0]).toMatch(/USERNAME ↑ +PORT/);
    expect(lines(state, 26)[0]).not.toContain('REALM');
  });
});

test('Esc in the table clears the filter, then the marks, then does nothing', () => {
  const state = press(type(press(fleet, 'mark-all', 'filter'), 'bob'), 'keep-filter');
  const unfiltered = press(state, 'back');
  expect(tableRows(unfiltered).rows).toHaveLength(5);
  expect(countMarks(unfiltered).records).toBe(6);
  const unmarked = press(unfiltered, 'back');
  expect(unmarked).toMatchObject({ focus: 'table', table: { marks: new Map() } });
  expect(press(unmarked, 'back')).toEqual(unmarked);
});

test('the facts of a table are about the devices that were read', () => {
  const { fleet: view } = fleet;
  const absent = { ...fleet, fleet: { ...view, selected: [...view.selected, 'fw3'] } };
  expect(lines(absent).slice(1)).toEqual([
    expect.stringMatching(/ alice .* fw1,fw2$/),
    expect.stringMatching(/ bob .* differs: lang$/),
    expect.stringMatching(/ bob .* differs: lang$/),
    expect.stringMatching(/· carol .* fw1$/),
    expect.stringMatching(/· dave .* fw2$/),
  ]);
  expect(titleLine(absent).left).toContain('2 of 3 devices read · 4: 1 same on 2 read');
  expect(detailLines(absent, { kind: 'of-table', key: 'carol' }).slice(-2)).toEqual([
    'not on fw2',
    'not read: fw3',
  ]);
  // After an outage, too: what it held before is shown, and no reading.
  const refused = new RefusedError('no answer');
  const gone = { ...readOf('fw2', []), outcome: { ok: false, error: refused } } as const;
  const down = after(fleet, { kind: 'reads', reads: [gone] });
  expect(lines(down)[1]).toMatch(/ alice .* fw2 as of before$/);
  expect(lines(down)[4]).toMatch(/ carol .* fw1$/);
  const all = after(down, {
    kind: 'reads',
    reads: [{ ...gone, device: readOf('fw1', []).device }],
  });
  expect(lines(all)[1]).toMatch(/ alice .* as of before$/);
  const never = after(stateOf({}), { kind: 'reads', reads: [gone] });
  expect(emptyLines(never).join()).toContain('no device responds');
});

describe('keys as commands', () => {
  test('delete means the devices that have the record as it was chosen', () => {
    expect(deleteLine(fleet)).toBe('user delete alice');
    expect(deleteLine(press(fleet, 'down'))).toBe('user delete bob --on fw1');
    const named = { ...fleet, table: { ...fleet.table, scope: ['fw1', 'fw2'] } };
    expect(deleteLine(named)).toBe('user delete alice --on fw1,fw2');
  });

  test('name a resource that is called like a command so that the line means the resource', () => {
    const view = { ...fleet.table.view, resource: 'run' };
    const runs = { ...fleet, table: { ...fleet.table, view } };
    expect(deleteLine(runs)).toBe('resource run delete alice');
    expect(copiedCommands(runs).lines[0]).toMatch(/^resource run add .*username=alice /);
    const resources = [
      { resource: 'history', devices: ['fw1'] },
      { resource: 'interface', devices: ['fw1'] },
      { resource: 'user', devices: ['fw1'] },
    ];
    const lines = resources.map((_, cursor) =>
      lineOf({ ...fleet, overlay: { kind: 'resources', resources, cursor } }, 'open-resource'),
    );
    expect(lines).toEqual(['resource history list', 'interface list', 'user list']);
  });

  test('a device that was not read is meant, too: nothing is known of it', () => {
    const { fleet: view } = fleet;
    const absent = { ...fleet, fleet: { ...view, selected: [...view.selected, 'fw3'] } };
    expect(deleteLine(absent)).toBe('user delete alice');
    expect(editForm(absent)?.on).toBe('');
    const bob = press(absent, 'down');
    expect(deleteLine(bob)).toBe('user delete bob --on fw1,fw3');
    expect(editForm(bob)?.on).toBe('--on fw1,fw3');
    const carol = press(bob, 'down', 'down');
    // Where it was read and is not, there is nothing to do.
    expect(deleteLine(carol)).toBe('user delete carol --on fw1,fw3');
    expect(editForm(carol)?.on).toBe('--on fw1,fw3');
    const marked = press(absent, 'mark-all', 'first', 'down', 'mark');
    expect(deleteLine(marked)).toBe(
      'user delete alice carol bob dave --only fw1,fw3=carol --only fw2,fw3=bob --only fw2,fw3=dave',
    );
  });

  test('the marked records are one form, also behind a filter, whatever the cursor is on', () => {
    const one = press(press(fleet, 'mark'), 'last');
    expect(editForm(one)).toMatchObject({ keys: ['alice'], on: '', device: 'fw1', hidden: 0 });
    const some = type(press(fleet, 'down', 'mark', 'down', 'mark', 'filter'), 'nobody');
    const opening = editForm(press(some, 'keep-filter'));
    expect(opening).toMatchObject({
      keys: ['bob', 'carol'],
      on: '--on fw1',
      hidden: 2,
      records: [user('bob', 'de'), user('carol')],
    });
    const all = editForm(press(fleet, 'mark-all'));
    expect(all?.keys).toEqual(['alice', 'bob', 'carol', 'dave']);
    expect(all?.on).toBe('--only fw1=carol --only fw2=dave');
    expect(all?.records).toHaveLength(6);
  });

  test('e needs marks, or a row', () => {
    const why = (state: State): string | undefined =>
      KEYMAP.find(({ action }) => action === 'edit-form')?.disabled?.(state);
    const hidden = type(press(fleet, 'mark', 'filter'), 'nobody');
    expect(why(hidden)).toBeUndefined();
    expect(why(press(hidden, 'keep-filter', 'back', 'back', 'filter'))).toBeUndefined();
    expect(why(type(press(fleet, 'filter'), 'nobody'))).toBe(
      'no marked record, and no record here',
    );
    const away = { ...hidden, fleet: { ...hidden.fleet, selected: [] } };
    expect(why(away)).toContain('devices that are not selected');
  });

  test('two keys with "=" are no line: the second would be read as an assignment', () => {
    const odd = press(stateOf({ fw1: [user('a'), user('b=1'), user('c=2')] }), 'mark-all');
    const edit = KEYMAP.find((one) => one.action === 'edit-form');
    expect(edit?.disabled?.(odd)).toContain('contains "="');
    const one = press(stateOf({ fw1: [user('a'), user('b=1')] }), 'mark-all');
    expect(edit?.disabled?.(one)).toBeUndefined();
    expect(editForm(one)?.keys).toEqual(['b=1', 'a']);
  });

  test('one of several equal rows means its own device, and no other', () => {
    const { fleet: view } = fleet;
    const absent = { ...fleet, fleet: { ...view, selected: [...view.selected, 'fw3'] } };
    const unfolded = press(absent, 'fold');
    expect(deleteLine(unfolded)).toBe('user delete alice --on fw1');
    expect(editForm(unfolded)?.on).toBe('--on fw1');
  });

  test('behind a filter a device may hold the record, too: it is not meant', () => {
    const filtered = { ...fleet, table: { ...fleet.table, commandFilter: 'lang=en' } };
    const carol = press(filtered, 'down', 'down', 'down');
    expect(deleteLine(carol)).toBe('user delete carol --on fw1');
  });

  test('marked records on different devices are one command', () => {
    expect(deleteLine(press(fleet, 'mark-all'))).toBe(
      'user delete alice bob carol dave --only fw1=carol --only fw2=dave',
    );
  });

  test('a device that is out of sight is not meant', () => {
    const state = press(fleet, 'mark-all');
    const narrowed = { ...state, fleet: { ...state.fleet, selected: ['fw1'] } };
    expect(deleteLine(narrowed)).toBe('user delete alice bob carol');
  });

  test('marks of records that are gone are forgotten', () => {
    const state = after(press(fleet, 'mark-all'), { kind: 'reads', reads: [readOf('fw2', [])] });
    expect(deleteLine(state)).toBe('user delete alice bob carol --on fw1');
  });

  test('names that mean something to the parser are quoted', () => {
    const state = stateOf({ fw1: [user("o'neil x"), user('-rf')], fw2: [user("o'neil x")] });
    expect(deleteLine(press(state, 'mark-all'))).toBe(
      `user delete --only fw1=-rf -- -rf "o'neil x"`,
    );
  });

  test('copy holds all fields but ids, and names what it leaves out', () => {
    const long = stateOf({ fw1: [{ ...user('bob'), first_name: '\u200d'.repeat(300_000) }] });
    expect(copiedCommands(long).lines[0]).toHaveLength(
      'user add first_name:="" username=bob lang=en'.length + 300_000 * '\\u200d'.length + 2,
    );
    expect(copiedCommands(fleet)).toEqual({
      lines: ['user add first_name=ALICE username=alice lang=en'],
      of: 1,
      leftOut: ['uuid'],
    });
    const secrets = { ...user('alice'), note: 'two\nlines\u001b', password: 'x', '-rf': 'y' };
    expect(copiedCommands(stateOf({ fw1: [secrets] }))).toEqual({
      lines: [
        String.raw`user add first_name=ALICE username=alice lang=en 'note:="two\nlines\u001b"'`,
      ],
      of: 1,
      leftOut: ['uuid', 'password', '-rf'],
    });
  });

  test('copy ends behind a megabyte of commands, and counts all that were chosen', () => {
    const long = { first_name: 'x'.repeat(400_000) };
    const many = stateOf({
      fw1: ['alice', 'bob', 'carol', 'dave'].map((name) => ({ ...user(name), ...long })),
    });
    const { lines, of } = copiedCommands(press(many, 'mark-all'));
    expect([lines.length, of]).toEqual([3, 4]);
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

test('details name the devices of each value that differs', () => {
  expect(detailLines(fleet, { kind: 'of-table', key: 'bob' })).toMatchInlineSnapshot(`
    [
      "on all 2",
      "",
      "  username    bob",
      "≠ lang        de  fw1",
      "              en  fw2",
      "  first_name  BOB",
      "  uuid        id-bob",
    ]
  `);
  expect(detailLines(fleet, { kind: 'of-table', key: 'carol' }).at(-1)).toBe('not on fw2');
});
