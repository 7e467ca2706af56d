import { rowText } from './table/table-fixture.ts';
import { boxRows, questionLines } from './box-lines.ts';
import { textOfLine } from '../../src/tui/screen/theme.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { driftOf } from '../../src/fleet/drift.ts';
import { widthOf } from '../../src/text/visible.ts';
import { defaultView } from '../../src/shell/records/read-records.ts';
import type { FormField } from '../../src/shell/records/form-fields.ts';
import type { Action } from '../../src/tui/store.ts';
import { titleLine } from '../../src/tui/screen/bar-lines.ts';
import { fleetStrip } from '../../src/tui/screen/fleet-strip.ts';
import { formBox, formCursor } from '../../src/tui/form/form-view.ts';
import { inputLine } from '../../src/tui/prompt/input-line.ts';
import { KEYMAP } from '../../src/tui/keys/default-keymap.ts';
import { isEffect } from '../../src/tui/keys/key-binding.ts';
import { contextOf, footerHints, pressedKey } from '../../src/tui/keys/keymap.ts';
import { layoutOf, tableHeight } from '../../src/tui/screen/layout.ts';
import { editKeyOf, EMPTY_EDITING, lineText } from '../../src/tui/editor/line.ts';
import { NO_FIND, type OpenQuestion, type State } from '../../src/tui/state.ts';
import { addForm, editForm } from '../../src/tui/table/commands.ts';
import { rawKeyOf, tableRows } from '../../src/tui/table/rows.ts';
import { tableView } from '../../src/tui/table/view.ts';
import { type KeyEvent, parseKey } from '../../src/tui/terminal/keys.ts';
import { GUTTER } from '../../src/text/fit-columns.ts';
import { listView, viewLines } from '../../src/tui/views/views.ts';
import { after, readOf, RUN, stateOf, user } from './table/table-fixture.ts';
import { rounds } from '../rounds.ts';
import { listRows } from './views/list-rows.ts';

const USERS = ['alice', 'bob', '大輔.中村', 'zoë', 'fang.li', 'viewer'];

const DEVICES = {
  fw1: USERS.map((name) => user(name)),
  fw2: USERS.slice(1).map((name, index) => user(name, index === 0 ? 'de' : 'en')),
  fw3: [],
};

const RECORDS = Object.entries(DEVICES).map(([name, records]) => ({
  device: { name, address: `${name}:443` },
  records,
}));

const READS = Object.entries(DEVICES).map(([name, records]) => readOf(name, records));

const FIELD: Omit<FormField, 'name' | 'label'> = {
  type: 'string',
  isRequired: false,
  isReadOnly: false,
  isSecret: false,
  value: '',
  fallback: '',
  origin: 'observed',
};

const FIELDS: readonly FormField[] = [
  { ...FIELD, name: 'username', label: 'Username', isRequired: true },
  { ...FIELD, name: 'active', label: 'Is active', type: 'boolean', value: 'true' },
  {
    ...FIELD,
    name: 'lang',
    label: 'Lang',
    type: 'choice',
    choices: [
      { value: 'de', label: 'German' },
      { value: 'en', label: 'English' },
    ],
  },
];

const QUESTION: OpenQuestion = {
  id: 1,
  kind: 'confirm',
  text: 'Type 2 to do them:',
  expected: '2',
  isOpen: true,
  title: '2 to add',
  about: {
    steps: [],
    below: Array.from({ length: 30 }, (_, index) => ({
      tone: 'plain',
      text: `step ${index} 大輔`,
    })),
  },
  unfolded: { steps: [], below: [{ tone: 'plain', text: 'device by device' }] },
  isUnfolded: false,
  find: NO_FIND,
  top: 0,
  editing: EMPTY_EDITING,
  complaint: undefined,
};

/** What a key that reaches outside comes to, as far as the screen is concerned. */
function outcomeOf(state: State, effect: string): readonly Action[] {
  const over = (overlay: Extract<Action, { kind: 'view-over' }>['overlay']): Action[] => [
    { kind: 'view-over', overlay },
  ];
  const text = lineText(state.prompt.editing.line);
  switch (effect) {
    case 'run-line':
    case 'show-run':
    case 'report-run': {
      const lines = Array.from({ length: 60 }, (_, index) => `line ${index} 大輔 of an output`);
      return [
        { kind: 'view', action: 'clear-line' },
        ...over({ kind: 'pager', title: effect, linesAt: () => lines, top: 0 }),
      ];
    }
    case 'complete': {
      if (text === '') return [{ kind: 'view', action: 'go-table' }];
      const proposals = ['user', 'undo', 'use'].map((word) => ({
        text: word,
        insert: `${word} `,
        letters: [],
      }));
      return [{ kind: 'menu', line: text, completion: { start: 0, end: text.length, proposals } }];
    }
    case 'add-form':
      return [{ kind: 'form', opening: addForm(state), fields: FIELDS }];
    case 'edit-form': {
      const opening = editForm(state);
      return opening === undefined ? [] : [{ kind: 'form', opening, fields: FIELDS }];
    }
    case 'runs':
      return over({
        kind: 'runs',
        runs: [
          { ...RUN, command: 'user add username=大輔' },
          { ...RUN, run: 'b' },
        ],
        cursor: 0,
      });
    case 'devices':
      return over({ kind: 'devices', cursor: 0 });
    case 'resources':
      return over({
        kind: 'resources',
        resources: ['user', 'zone'].map((resource) => ({ resource, devices: ['fw1', 'fw2'] })),
        cursor: 0,
      });
    case 'drift':
    case 'compare-again':
      return over({
        kind: 'drift',
        command: 'user list --drift',
        filter: '',
        output: {
          kind: 'drift',
          resource: 'user',
          drift: driftOf(RECORDS, { keyField: 'username', perDevice: ['uuid'] }),
          perDevice: ['uuid'],
        },
        cursor: 0,
        device: 0,
        isWhole: false,
      });
    case 'open-resource':
      return [
        {
          kind: 'table',
          source: {
            command: 'zone list',
            commandFilter: '',
            scope: undefined,
            view: defaultView('zone'),
          },
        },
        { kind: 'reads', reads: [{ ...readOf('fw1', [user('lan')]), view: defaultView('zone') }] },
      ];
    case 'delete':
      return [{ kind: 'ask', question: QUESTION }];
    case 'answer':
    case 'decline':
      return [
        { kind: 'answered', id: 1 },
        { kind: 'log', lines: [{ tone: 'good', text: `✓ ${'done 大輔 '.repeat(30)}` }] },
      ];
    case 'refresh':
      return [{ kind: 'reads', reads: READS.slice(0, 2) }];
    case 'interrupt':
      return [{ kind: 'view', action: state.focus === 'prompt' ? 'clear-line' : 'close' }];
    default:
      return [];
  }
}

/** One key through keymap and reducer, as the controller takes it. */
function press(before: State, key: string): State {
  const named = parseKey(key);
  const text = /^.$/u.test(key) ? key : key === 'space' ? ' ' : '';
  const event: KeyEvent = { kind: 'key', ...named, text };
  const pending = before.pendingKeys;
  const state = after(before, { kind: 'facts', facts: { pendingKeys: undefined } });
  const context = contextOf(state);
  const pressed =
    pressedKey(event, context, state.keymap, pending) ?? pressedKey(event, context, state.keymap);
  if (pressed?.kind === 'prefix')
    return after(state, { kind: 'facts', facts: { pendingKeys: pressed.keys } });
  const binding = pressed?.binding;
  if (binding === undefined) {
    const edit = editKeyOf(event);
    return edit === undefined ? state : after(state, { kind: 'edit', key: edit });
  }
  if (binding.disabled?.(state) !== undefined) return state;
  const isLine = binding.run !== undefined;
  return isLine || isEffect(binding.action)
    ? after(state, ...outcomeOf(state, binding.action))
    : after(state, { kind: 'view', action: binding.action });
}

/** What must hold whatever was pressed. */
function check(state: State): void {
  const { rows } = state.size;
  const layout = layoutOf(state);
  const parts = layout.body + layout.messages.length + boxRows(state) + layout.under;
  expect(parts + 4).toBe(rows);
  expect(layout.body).toBeGreaterThanOrEqual(0);
  expect(layout.inputRow).toBeLessThan(rows - 1);
  expect(footerHints(state)).not.toHaveLength(0);
  checkCursors(state);
  checkMarks(state);
}

/** No line is wider than the screen. */
function checkWidths(state: State): void {
  const widest = Math.max(...shownLines(state, layoutOf(state)).map(widthOf));
  expect(widest).toBeLessThanOrEqual(state.size.columns);
}

function checkCursors(state: State): void {
  const { table, size } = state;
  const count = tableRows(state).rows.length;
  expect(table.cursor).toBeLessThan(Math.max(1, count));
  expect(table.top).toBeLessThanOrEqual(table.cursor);
  expect(table.cursor).toBeLessThan(table.top + tableHeight(state));
  const list = listView(state);
  if (list !== undefined) expect(list.cursor).toBeLessThan(Math.max(1, list.rows.length));
  const { cursor } = inputLine(state);
  if (cursor !== undefined) expect(cursor).toBeLessThan(size.columns);
  if (contextOf(state).startsWith('form')) {
    const place = formCursor(state);
    if (place !== undefined) {
      expect(place.row).toBeLessThan(size.rows - 1);
      expect(place.column).toBeLessThan(size.columns);
    }
  }
}

/** Only records that are there are marked. */
function checkMarks(state: State): void {
  const { keyField } = tableRows(state);
  for (const [device, keys] of state.table.marks) {
    const outcome = state.table.reads.get(device)?.outcome;
    const records = outcome?.ok === true ? outcome.records : [];
    const held = records.map((record) => rawKeyOf(record, keyField));
    for (const key of keys) expect(held).toContain(key);
  }
}

function shownLines(state: State, layout: ReturnType<typeof layoutOf>): string[] {
  const { columns } = state.size;
  const { left, right } = titleLine(state);
  const input = inputLine(state);
  const list = listView(state);
  const view = tableView(state, columns, layout.body);
  const bar = fleetStrip(state).map(({ text }) => text);
  return [
    bar.join(''),
    left + right,
    view.header,
    ...view.rows.map(rowText),
    ...listRows(list, columns - GUTTER).map((row) => `   ${row}`),
    ...viewLines(state).map((line) => ` ${textOfLine(line)}`),
    ...layout.messages.map(({ text }) => ` ${text}`),
    ...questionLines(state).map((text) => ` ${text}`),
    ...(formBox(state)?.rows ?? []).map((spans) => ` ${textOfLine(spans)} `),
    input.label + input.text,
  ];
}

const KEYS = [...new Set(KEYMAP.flatMap(({ keys }) => keys.flatMap((key) => key.split(' '))))];

const key = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...KEYS) },
  { weight: 1, arbitrary: fc.constantFrom('u', 's', 'e', 'r', 'x', '大', '🦊', '"', 'left') },
);

const size = fc.constantFrom(
  { columns: 40, rows: 10 },
  { columns: 80, rows: 24 },
  { columns: 120, rows: 40 },
);

/** Esc goes one step back at most so often: texts that are searched take two. */
const MOST_ESCAPES = 40;

test.each([
  ['devices and records', DEVICES],
  ['one empty device', { fw1: [] }],
  ['nothing at all', {}],
])('200 random keys with %s keep the screen whole, and Esc ends in the table', (_, held) => {
  fc.assert(
    fc.property(size, fc.array(key, { minLength: 50, maxLength: 200 }), (screen, keys) => {
      let state = stateOf(held, screen);
      keys.forEach((one, index) => {
        state = press(state, one);
        check(state);
        // Measuring takes longer than all the rest.
        if (index % 5 === 4) checkWidths(state);
      });
      for (let times = 0; times < MOST_ESCAPES; times += 1) state = press(state, 'escape');
      check(state);
      expect(contextOf(state)).toBe('table');
      expect(press(state, 'escape')).toEqual(state);
    }),
    { numRuns: rounds(20) },
  );
});
