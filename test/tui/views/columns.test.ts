import { expect, test } from 'vitest';
import type { ViewAction } from '../../../src/tui/keys/key-binding.ts';
import { titleLine } from '../../../src/tui/screen/bar-lines.ts';
import type { State } from '../../../src/tui/state.ts';
import { tableView } from '../../../src/tui/table/view.ts';
import { chosenColumns } from '../../../src/tui/views/columns.ts';
import { listView } from '../../../src/tui/views/views.ts';
import { after, readOf, stateOf, user } from '../table/table-fixture.ts';

const fleet = stateOf({ fw1: [user('alice'), user('bob', 'de')] });

function press(state: State, ...actions: readonly ViewAction[]): State {
  return after(
    { ...state, focus: 'table' },
    ...actions.map((action) => ({ kind: 'view', action }) as const),
  );
}

function chosen(state: State): readonly string[] | undefined {
  const { overlay } = state;
  return overlay.kind === 'columns' ? chosenColumns(overlay, state) : undefined;
}

const header = (state: State): string => tableView(state, 100, 10).header.trim();

test('lists every field with its value, hidden ones last', () => {
  const list = listView(press(fleet, 'columns'));
  const rows = Array.from({ length: list?.count ?? 0 }, (_, index) => list?.row(index).text);
  expect([list?.header, ...rows]).toEqual([
    'SHOWN   FIELD       VALUE',
    'always  username    alice',
    '✓       first_name  ALICE',
    '✓       lang        en',
    '        uuid        id-alice',
  ]);
});

test('shows, hides and orders columns; Enter applies them, Esc does not', () => {
  const open = press(fleet, 'columns', 'last', 'mark', 'earlier', 'earlier');
  expect(chosen(open)).toEqual(['username', 'uuid', 'first_name', 'lang']);
  expect(header(press(open, 'close'))).toBe('USERNAME ↑  FIRST NAME  LANG');
  const done = after(open, { kind: 'columns', columns: chosen(open) });
  expect(done.overlay.kind).toBe('none');
  expect(header(done)).toBe('USERNAME ↑  UUID      FIRST NAME  LANG');
  const less = after(fleet, { kind: 'columns', columns: ['username', 'lang'] });
  expect(titleLine(less).left).toContain('2 fields hidden');
});

test('the key is always the first column', () => {
  const open = press(fleet, 'columns', 'mark', 'later', 'down', 'earlier');
  expect(chosen(open)).toBeUndefined();
});

test('the usual columns are not kept as a choice', () => {
  const chose = after(fleet, { kind: 'columns', columns: ['username'] });
  const open = press(chose, 'columns', 'usual');
  expect(chosen(open)).toBeUndefined();
  expect(header(after(open, { kind: 'columns', columns: undefined }))).toContain('LANG');
});

test('a later read does not bring the columns of the line back', () => {
  const read = readOf('fw1', [user('alice')]);
  const asked = { ...read, view: { ...read.view, columns: ['username', 'uuid'] } };
  const listed = after(stateOf({}), { kind: 'reads', reads: [asked] });
  const chose = after(listed, { kind: 'columns', columns: ['username', 'lang'] });
  const again = after(chose, { kind: 'reads', reads: [asked] });
  expect(again.table.view).toMatchObject({ columns: undefined, recalled: ['username', 'lang'] });
});
