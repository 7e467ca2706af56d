import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { driftOf } from '../../../src/fleet/drift.ts';
import { defaultView } from '../../../src/shell/records/read-records.ts';
import type { Action } from '../../../src/tui/store.ts';
import type { ViewAction } from '../../../src/tui/keys/key-binding.ts';
import { titleLine } from '../../../src/tui/screen/bar-lines.ts';
import { contextOf, unboundKeyText } from '../../../src/tui/keys/keymap.ts';
import { layoutOf } from '../../../src/tui/screen/layout.ts';
import type { State } from '../../../src/tui/state.ts';
import { breadcrumbs } from '../../../src/tui/views/navigation.ts';
import { after, stateOf, user } from '../table/table-fixture.ts';

const fleet = stateOf({
  fw1: [user('alice'), user('bob', 'de')],
  fw2: [user('alice'), user('bob')],
});

const view = (action: ViewAction): Action => ({ kind: 'view', action });
const over = (overlay: State['overlay']): Action => ({ kind: 'view-over', overlay });
const devices = over({ kind: 'devices', cursor: 0 });
const runs = over({ kind: 'runs', runs: [], cursor: 0 });
const text = over({ kind: 'pager', title: 'help', linesAt: () => ['a', 'b'], top: 0 });

function table(resource: string, commandFilter = ''): Action {
  const command = `${resource} list ${commandFilter}`.trim();
  const source = { command, commandFilter, scope: undefined, view: defaultView(resource) };
  return { kind: 'table', source };
}

const reads = ['fw1', 'fw2'].map((name) => ({
  device: { name, address: `${name}:443` },
  records: [user('alice'), user('bob', name)],
}));
const drift = over({
  kind: 'drift',
  command: 'user list --drift',
  filter: '',
  output: {
    kind: 'drift',
    resource: 'user',
    drift: driftOf(reads, { keyField: 'username', perDevice: ['uuid'] }),
    perDevice: ['uuid'],
  },
  cursor: 0,
  device: 0,
  isWhole: false,
});

describe('a view that a line opens', () => {
  test('leaves the keys where they are: at the prompt, or in the table', () => {
    expect(after(fleet, text)).toMatchObject({ focus: 'prompt', overlay: { kind: 'pager' } });
    expect(after(fleet, view('go-table'), text).focus).toBe('table');
    const typing = after(fleet, { kind: 'set-line', line: 'user li' }, text);
    expect(typing).toMatchObject({ focus: 'prompt', overlay: { kind: 'pager' } });
    expect(contextOf(after(typing, { kind: 'edit', key: { kind: 'insert', text: 's' } }))).toBe(
      'prompt',
    );
  });

  test.each<[string, Action[]]>([
    ['a text', [text, view('go-table')]],
    ['a list', [devices, view('go-table')]],
    ['the table', [view('go-table')]],
  ])('%s says where a key goes that means nothing there', (_name, actions) => {
    expect(unboundKeyText(after(fleet, ...actions))).toBe(
      'this key does nothing here; ":" goes to the prompt, "?" lists the keys',
    );
    expect(unboundKeyText(after(fleet, ...actions, view('go-prompt')))).toBeUndefined();
  });
});

describe('the trail', () => {
  test('names each step, and Esc goes back along it', () => {
    const deep = after(fleet, view('go-table'), devices, table('interface'), text);
    expect(breadcrumbs(deep)).toEqual(['users', 'devices', 'interfaces', 'help']);
    expect(breadcrumbs(after(deep, view('close')))).toEqual(['users', 'devices', 'interfaces']);
    expect(breadcrumbs(after(deep, view('close'), view('back')))).toEqual(['users', 'devices']);
  });

  test('names a table once, and what makes the next step another one', () => {
    const filtered = after(fleet, table('user', 'lang=de'));
    expect(breadcrumbs(filtered)).toEqual(['users', 'filtered']);
    expect(titleLine(filtered).left).toMatch(/^ users › filtered · .*filter: lang=de/);
    expect(breadcrumbs(after(filtered, drift))).toEqual(['users', 'lang=de', 'user drift']);
    const source = { commandFilter: '', view: defaultView('user') };
    const scope = ['fw1', 'fw2'];
    const command = 'user list --on fw1,fw2';
    const scoped = after(fleet, { kind: 'table', source: { ...source, command, scope } });
    expect(breadcrumbs(scoped)).toEqual(['users', 'on fw1, fw2']);
  });

  test('holds no view twice: the same command leads to the same view', () => {
    const around = after(fleet, devices, runs, devices, table('user'), devices);
    expect(breadcrumbs(around)).toEqual(['runs', 'users', 'devices']);
    expect(breadcrumbs(after(around, devices))).toEqual(['runs', 'users', 'devices']);
  });

  test('holds one view of a kind: another text or time line replaces it, the messages do not', () => {
    const other = over({ kind: 'pager', title: 'user show bob', linesAt: () => ['b'], top: 0 });
    const since = (command: string): Action =>
      over({ kind: 'time-line', command, entries: [], cursor: 0 });
    const [all, day] = [since('changes'), since('changes --since 1d')];
    expect(breadcrumbs(after(fleet, text, other))).toEqual(['users', 'user show bob']);
    const replaced = after(fleet, view('go-table'), all, devices, day);
    expect(breadcrumbs(replaced)).toEqual(['users', 'devices', 'changes']);
    expect(replaced.overlay).toMatchObject({ command: 'changes --since 1d' });
    expect(breadcrumbs(after(fleet, text, view('messages')))).toEqual([
      'users',
      'help',
      'messages',
    ]);
  });

  test('gives the focus back to where a key was pressed', () => {
    const helped = after(fleet, { kind: 'set-line', line: 'user li' }, view('help'));
    expect(contextOf(helped)).toBe('overlay');
    expect(contextOf(after(helped, view('close')))).toBe('prompt');
  });

  test('leads from what a typed line has opened to the table', () => {
    for (const action of [devices, table('interface')]) {
      const typed = after(fleet, action, view('go-table'));
      expect(contextOf(after(typed, view(action === devices ? 'close' : 'back')))).toBe('table');
    }
  });

  test('restores cursor, filter, order and marks of a table', () => {
    const used = after(fleet, view('go-table'), view('mark'), view('sort'), view('fold'));
    const back = after(used, table('interface'), table('user'));
    const { cursor, marks, isFolded, sort } = back.table;
    expect({ cursor, marks, isFolded, sort }).toEqual({
      cursor: used.table.cursor,
      marks: used.table.marks,
      isFolded: false,
      sort: used.table.sort,
    });
    expect(after(used, table('interface')).table.marks.size).toBe(0);
  });

  test('keeps a filter of a command as a step of its own', () => {
    const filtered = after(fleet, table('user', 'lang=de'), text);
    expect(breadcrumbs(filtered)).toEqual(['users', 'lang=de', 'help']);
  });

  test('on a narrow screen only the last steps are shown', () => {
    const deep = after(
      fleet,
      { kind: 'facts', facts: { size: { columns: 40, rows: 10 } } },
      table('interface'),
      drift,
      view('details'),
    );
    expect(titleLine(deep).left).toBe(' … › user drift › bob · lines 1-6 of 7');
  });
});

test('details opened from a comparison go back to its row', () => {
  const compared = after(fleet, drift, view('whole'), view('details'));
  expect(breadcrumbs(compared)).toEqual(['users', 'user drift', 'bob']);
  const back = after(compared, view('close'));
  expect(back.overlay).toMatchObject({ kind: 'drift', cursor: 0, isWhole: true });
});

test('whatever was opened, Esc comes to the table and stays there, and every screen has its height', () => {
  const steps = fc.constantFrom<Action>(
    devices,
    runs,
    text,
    drift,
    table('user'),
    table('interface'),
    table('user', 'lang=de'),
    view('go-table'),
    view('go-prompt'),
    view('help'),
    view('details'),
    view('messages'),
    view('find'),
    view('keep-find'),
    view('next-found'),
    view('down'),
    view('last'),
    view('right'),
    view('whole'),
    view('filter'),
    view('mark'),
    view('close'),
    { kind: 'edit', key: { kind: 'insert', text: 'b' } },
    {
      kind: 'roll-out',
      rollOut: {
        refusals: [],
        devices: [{ name: 'fw1', steps: 1 }],
        ...{ results: [], begun: [], line: 'undo', control: 'running', isSteady: true },
        ...{ elapsedMs: 0, toSend: 1 },
      },
    },
    view('roll-out'),
    { kind: 'roll-out-change', change: { control: 'ended' } },
    { kind: 'facts', facts: { size: { columns: 40, rows: 10 } } },
  );
  const escape: Partial<Record<string, ViewAction>> = {
    find: 'clear-find',
    filter: 'clear-filter',
    table: 'back',
    prompt: 'leave-prompt',
    'empty-prompt': 'leave-prompt',
  };
  fc.assert(
    fc.property(fc.array(steps, { maxLength: 40 }), (actions) => {
      let state = after(fleet, ...actions);
      const { body, messages, under } = layoutOf(state);
      expect(body + messages.length + under).toBe(state.size.rows - 4);
      expect(body).toBeGreaterThan(0);
      expect(state.backStack.length).toBeLessThan(12);
      const pressEscape = (): State => after(state, view(escape[contextOf(state)] ?? 'close'));
      for (let press = 0; press < 40; press++) state = pressEscape();
      expect(contextOf(state)).toBe('table');
      expect(pressEscape()).toEqual(state);
    }),
  );
});
