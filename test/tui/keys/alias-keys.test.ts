import { describe, expect, test } from 'vitest';
import { SettingsError } from '../../../src/errors.ts';
import { driftOf } from '../../../src/fleet/drift.ts';
import type { Alias } from '../../../src/settings/settings-table.ts';
import { keymapWith } from '../../../src/tui/keys/alias-keys.ts';
import { KEYMAP } from '../../../src/tui/keys/default-keymap.ts';
import { helpLines } from '../../../src/tui/views/help.ts';
import { after, stateOf, user } from '../table/table-fixture.ts';

function withAlias(own: Partial<Alias>, name = 'mine') {
  const alias = { key: 'X', place: 'table', run: 'user list', ...own } as const;
  return keymapWith({ [name]: alias, other: 'user list --yes' }, 'settings.json');
}

describe('what cannot be is refused with the settings', () => {
  test.each<[Partial<Alias>, string, string?]>([
    [{ run: 'user show ${kee}' }, 'settings.json: alias mine: "${kee}" has no value at this place'],
    [{ run: 'user delete ${key} --yes' }, 'alias mine: --yes cannot be saved'],
    [{ place: undefined }, '"key" needs "place", and vice versa'],
    [{ key: undefined }, '"key" needs "place", and vice versa'],
    [{ key: 'd' }, 'the key d is both table.delete and table.alias mine'],
    [{ key: 'ctrl-c' }, 'the key ctrl-c is both anywhere.interrupt and table.alias mine'],
    [{ key: 'escape' }, 'the key escape is both table.back and table.alias mine'],
    [{ key: 'd d' }, 'the key d is both table.delete and table.alias mine'],
    [{ key: 'ctrl-m' }, 'alias mine: terminals send "ctrl-m" as enter'],
    [{ key: 'ctrl+x' }, 'alias mine: unknown key "ctrl+x", did you mean "ctrl-x"?'],
    [{ key: 'Delete' }, 'alias mine: unknown key "Delete", did you mean "delete"?'],
    [{}, 'alias user: is a command', 'user'],
    [{}, 'alias a b: a name has only letters', 'a b'],
  ])('%j', (own, message, name) => {
    expect(() => withAlias(own, name)).toThrow(SettingsError);
    expect(() => withAlias(own, name)).toThrow(message);
  });
});

test('without aliases that have a key the keymap is as it was', () => {
  expect(keymapWith({ german: 'user list lang=de' }, 'settings.json')).toEqual(KEYMAP);
});

test('two aliases with one key, and all other mistakes, are named at once', () => {
  const alias = { key: 'X', place: 'table', run: 'user list' } as const;
  const aliases = { one: alias, two: alias, three: { ...alias, key: 'ctrl-xx' } };
  const all = /ctrl-xx.*the key X is both table\.alias one and table\.alias two/;
  expect(() => keymapWith(aliases, 'settings.json')).toThrow(all);
});

test('a capital letter can be written with shift', () => {
  const [own] = withAlias({ key: 'shift-x' }).slice(-1);
  expect(own?.keys).toEqual(['X']);
});

describe('where the key of an alias applies', () => {
  const fleet = stateOf({
    fw1: [user('alice'), user('bob', 'de')],
    fw2: [user('alice', 'en', 'id-2')],
  });
  const table = { ...fleet, focus: 'table' } as const;
  type Shown = typeof fleet;
  const bindingOf = (own: Partial<Alias>) =>
    withAlias(own).find(({ action }) => action === 'alias mine');
  const reasonFor = (own: Partial<Alias>, state: Shown = table): string | undefined =>
    bindingOf(own)?.disabled?.(state);
  const lineFor = (own: Partial<Alias>, state: Shown = table): string | undefined =>
    bindingOf(own)?.run?.(state, 0);

  test('it types the name, with what is at the cursor', () => {
    const run = 'user set ${key} lang=${record.lang} note="${record.gone:-} ${devices}"';
    expect(lineFor({ run })).toBe('mine key=alice record.lang=en record.gone= devices=fw1,fw2');
    expect(lineFor({ run: 'user list' })).toBe('mine');
    expect(lineFor({ run: '!p ${key}', place: 'details' })).toBe('mine key=alice devices=fw1,fw2');
  });

  test('a value is one word, whatever it contains', () => {
    const state = stateOf({ fw1: [{ ...user('x'), username: `--yes o'n "b" \\ #` }] });
    const line = lineFor({ run: 'user show ${key} ${record.lang}' }, state);
    expect(line).toBe(`mine "key=--yes o'n \\"b\\" \\\\ #" record.lang=en`);
  });

  test('marks are not silently left out', () => {
    const marked = after(table, { kind: 'view', action: 'mark' });
    expect(reasonFor({}, marked)).toContain('clear the marks');
    expect(reasonFor({}, stateOf({}))).toBe('nothing at the cursor');
    expect(reasonFor({ place: 'devices' })).toBe('nothing at the cursor');
  });

  test('an alias with a part of an older devsh has no key, and the others have theirs', () => {
    expect(bindingOf({ when: 'lang=de' })).toBeUndefined();
    expect(bindingOf({})).toBeDefined();
  });

  test('read-only refuses a program that may write, in every view', () => {
    const locked = { ...table, fleet: { ...table.fleet, isReadOnly: true } };
    for (const place of ['table', 'details', 'devices', 'runs'] as const) {
      const program = { place, run: '!x' };
      expect(reasonFor(program, locked)).toBe('read-only: no changes are allowed');
    }
  });

  test('one device is meant only where there is one', () => {
    const program = { run: '!p ${device}' };
    const reason = '${device} needs one device, but the row is on 2: unfold it first';
    expect(reasonFor(program)).toBe(reason);
    const onBob = after(table, { kind: 'view', action: 'down' });
    expect(reasonFor(program, onBob)).toBeUndefined();
    expect(lineFor(program, onBob)).toBe('mine device=fw1 devices=fw1');
  });

  test('in a comparison it takes the record on the device under the cursor, if it is there', () => {
    const parts = { mtu: 1500, on: false, site: { city: 'Ulm' }, list: ['a'] };
    const refOf = (name: string) => ({ name, address: `${name}:443` });
    const reads = [
      { device: refOf('fw1'), records: [user('bob', 'de')] },
      { device: refOf('fw2'), records: [{ ...user('bob', 'en'), ...parts }, user('carol')] },
    ];
    const drift = driftOf(reads, { keyField: 'username', perDevice: [] });
    const output = { kind: 'drift', resource: 'user', drift, perDevice: [] } as const;
    const place = {
      command: 'user list --drift',
      filter: '',
      cursor: 0,
      device: 1,
      isWhole: false,
    };
    const state = { ...table, overlay: { kind: 'drift', output, ...place } } as const;
    const alias = {
      place: 'drift',
      run: 'user set ${key} lang=${record.lang} --on ${device}',
    } as const;
    expect(lineFor(alias, state)).toBe('mine key=bob record.lang=en device=fw2');
    const kinds = '!p ${record.mtu} ${record.on} ${record.site} ${record.list}';
    expect(lineFor({ ...alias, run: kinds }, state)).toBe(
      'mine record.mtu=1500 record.on=false record.site= record.list= devices=fw2',
    );
    const elsewhere = { ...state, overlay: { ...state.overlay, cursor: 1, device: 0 } };
    expect(lineFor(alias, elsewhere)).toBe('mine key=carol record.lang= device=fw1');
    expect(lineFor(alias, table)).toBeUndefined();
  });

  test('in the list of resources it takes the resource and its devices', () => {
    const resources = [
      { resource: 'user', devices: ['fw1', 'fw2'] },
      { resource: 'vlan', devices: ['fw2'] },
    ];
    const state = { ...table, overlay: { kind: 'resources', resources, cursor: 1 } } as const;
    const alias = { place: 'resources', run: 'export ${resource} --on ${device}' } as const;
    expect(() => lineFor(alias, state)).toThrow('is at the place of a verb');
    const run = '!p ${resource} ${device}';
    expect(lineFor({ ...alias, run }, state)).toBe('mine resource=vlan device=fw2 devices=fw2');
  });

  test('the help shows it with its key, its line, and why it does nothing now', () => {
    const run = 'user set ${key} lang=${record.lang}';
    const keymap = withAlias({ run, label: 'retire' });
    const help = helpLines({ ...after(table, { kind: 'view', action: 'mark' }), keymap })
      .join('\n')
      .replace(/\s+/g, ' ');
    expect(help).toContain('X retire; not now: the key of an alias takes');
  });
});
