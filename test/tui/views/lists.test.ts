import { expect, test } from 'vitest';
import { driftOf } from '../../../src/fleet/drift.ts';
import { UnreachableError } from '../../../src/device/errors.ts';
import { editKeyOf } from '../../../src/tui/editor/line.ts';
import { contextOf, pressedKey } from '../../../src/tui/keys/keymap.ts';
import { isEffect } from '../../../src/tui/keys/key-binding.ts';
import { reduce } from '../../../src/tui/reduce.ts';
import { titleLine } from '../../../src/tui/screen/bar-lines.ts';
import type { DeviceTab, State } from '../../../src/tui/state.ts';
import { driftLine } from '../../../src/tui/table/commands.ts';
import { type KeyEvent, parseKey } from '../../../src/tui/terminal/keys.ts';
import { listView } from '../../../src/tui/views/views.ts';
import { after, lineOf, RUN, stateOf as startOf, user } from '../table/table-fixture.ts';
import { listRows } from './list-rows.ts';

/** With the keys in the table, where the views get them. */
function stateOf(records: Parameters<typeof startOf>[0]): State {
  return after(startOf(records), { kind: 'view', action: 'go-table' });
}

const MANY = Array.from({ length: 1000 }, (_, index) => `fw${index}`);

function pressed(state: State, ...keys: readonly string[]): State {
  return keys.reduce((now, name) => {
    const text = name === 'space' ? ' ' : /^.$/u.test(name) ? name : '';
    const key: KeyEvent = { kind: 'key', ...parseKey(name), text };
    const found = pressedKey(key, contextOf(now), now.keymap);
    if (found?.kind === 'binding') {
      const { binding } = found;
      const isLine = binding.run !== undefined;
      // What acts outside the screen must not be asked for by a letter of a filter.
      if (isLine || isEffect(binding.action)) throw new Error(`${name} asks for ${binding.action}`);
      return reduce(now, { kind: 'view', action: binding.action });
    }
    const edit = editKeyOf(key);
    return edit === undefined ? now : reduce(now, { kind: 'edit', key: edit });
  }, state);
}

function typed(state: State, text: string): State {
  return pressed(state, ...Array.from(text).map((letter) => (letter === ' ' ? 'space' : letter)));
}

function rowsOf(state: State): string[] {
  return listRows(listView(state));
}

function devices(state: State): State {
  return after(state, { kind: 'view-over', overlay: { kind: 'devices', cursor: 0 } });
}

function failing(state: State, ...names: readonly string[]): State {
  const tabs = state.fleet.devices.map((tab): DeviceTab => {
    if (!names.includes(tab.name)) return tab;
    const ref = { name: tab.name, address: tab.address };
    return { ...tab, kind: 'failed', error: new UnreachableError(ref, 'no answer') };
  });
  return after(state, { kind: 'fleet', fleet: { ...state.fleet, devices: tabs } });
}

const FLEET = stateOf(Object.fromEntries(MANY.map((name) => [name, []])));

test('every letter typed into the filter of a list is a letter of it', () => {
  const state = typed(devices(FLEET), '/fw777');
  expect(state.table.watchMs).toBeUndefined();
  expect(rowsOf(state)).toHaveLength(1);
  expect(titleLine(state).left).toContain("'fw777': 1 of 1000");
  const all = 'qxctrwosgGnN?:|&DbR*~';
  const other = typed(devices(FLEET), `/${all}`);
  expect(other.find.editing.line.before).toBe(all);
  expect(other.overlay).toEqual(devices(FLEET).overlay);
});

test('a list is filtered by a field and a value, as the table is', () => {
  const found = typed(devices(failing(FLEET, 'fw12', 'fw700')), '/state=unreachable reason~answer');
  expect(rowsOf(found)).toHaveLength(2);
});

test('the list of devices has the cause in a word; the reason is not in a column, too', () => {
  const [first = ''] = rowsOf(devices(failing(FLEET, 'fw12')));
  expect(first).toContain('fw12');
  expect(first).not.toContain('answer');
});

test('Esc takes the filter of a list away, then goes back; what it was on stays', () => {
  const state = pressed(typed(devices(FLEET), '/fw777'), 'enter');
  expect(lineOf(state, 'open-device')).toBe('use fw777');
  const whole = pressed(state, 'escape');
  expect(rowsOf(whole)).toHaveLength(1000);
  expect(lineOf(whole, 'open-device')).toBe('use fw777');
  expect(pressed(whole, 'escape').overlay.kind).toBe('none');
});

test('devices that failed come first, and the cursor stays on its device when others fail', () => {
  const state = pressed(devices(FLEET), 'down', 'down');
  expect(lineOf(state, 'disconnect-device')).toBe('disconnect fw2');
  const later = failing(state, 'fw900', 'fw901');
  expect(rowsOf(later)[0]).toContain('fw900');
  expect(lineOf(later, 'disconnect-device')).toBe('disconnect fw2');
});

test('a list is sorted by the next column and turned around, as the table is', () => {
  const state = pressed(devices(FLEET), 's');
  expect(
    rowsOf(state)
      .slice(0, 3)
      .map((row) => row.slice(0, 4).trim()),
  ).toEqual(['fw0', 'fw1', 'fw2']);
  expect(titleLine(state).left).toContain('by device ↑');
  const turned = pressed(state, 'o');
  expect(rowsOf(turned)[0]).toContain('fw999');
  expect(lineOf(turned, 'open-device')).toBe('use fw0');
});

test('runs that came to no good end are first, and keys act on the one that is seen', () => {
  const runs = [
    RUN,
    { ...RUN, run: 'stopped', state: 'stopped: cancelled', command: 'user delete bob' },
  ];
  const overlay = { kind: 'runs', runs, cursor: 0 } as const;
  const state = after(FLEET, { kind: 'view-over', overlay });
  expect(lineOf(state, 'show-run')).toBe('runs show stopped');
  const found = typed(state, '/add');
  expect(rowsOf(found)).toHaveLength(1);
  expect(lineOf(found, 'show-run')).toBe(`runs show ${RUN.run}`);
});

const COMPARED = stateOf({
  fw1: [user('alice', 'de'), user('bob', 'de'), user('carol')],
  fw2: [user('alice', 'de'), user('bob', 'en'), user('carol')],
});

function compared(state: State): State {
  const reads = [...state.table.reads.values()].flatMap(({ device, outcome }) =>
    outcome.ok ? [{ device, records: outcome.records }] : [],
  );
  const drift = driftOf(reads, { keyField: 'username', perDevice: ['uuid'] });
  const output = { kind: 'drift', resource: 'user', drift, perDevice: ['uuid'] } as const;
  const command = driftLine(state);
  return after(state, {
    kind: 'view-over',
    overlay: {
      kind: 'drift',
      command,
      filter: 'lang=de',
      output,
      cursor: 0,
      device: 0,
      isWhole: true,
    },
  });
}

test('a comparison covers the records of the table and begins at the first difference', () => {
  const state = COMPARED;
  const filtered = after(
    { ...state, focus: 'table' },
    { kind: 'view', action: 'filter' },
    { kind: 'edit', key: { kind: 'insert', text: 'lang=de' } },
  );
  expect(driftLine(filtered)).toBe('user list lang=de --drift');
  // What differs comes first, wherever the table's cursor is.
  const onCarol = after({ ...COMPARED, focus: 'table' }, { kind: 'view', action: 'last' });
  const view = compared(onCarol);
  expect(listView(view)?.cursor).toBe(0);
  expect(rowsOf(view)[0]).toContain('differs');
  expect(titleLine(compared(filtered)).left).toContain('filter: lang=de');
});

test('a comparison is filtered by values of a device, and by its differences', () => {
  expect(rowsOf(typed(compared(COMPARED), '/lang=en'))).toHaveLength(2);
  expect(rowsOf(typed(compared(COMPARED), '/differs'))).toHaveLength(1);
  expect(rowsOf(typed(compared(COMPARED), '/device=fw2 lang=en bob'))).toHaveLength(1);
});

test('a view that is gone back to has the filter and the order that it had', () => {
  const state = pressed(typed(devices(FLEET), '/fw777'), 'enter', 'o', '?');
  expect(state.overlay.kind).toBe('help');
  const back = pressed(state, 'escape');
  expect(rowsOf(back)).toHaveLength(1);
  expect(back.find.sort).toBe('-device');
});
