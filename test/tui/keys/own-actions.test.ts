import { describe, expect, test } from 'vitest';
import { RefusedError, SettingsError } from '../../../src/errors.ts';
import { checkProject, checkSettings } from '../../../src/settings/settings-schema.ts';
import { driftOf } from '../../../src/fleet/drift.ts';
import { parseCompleteLine, quoteLine } from '../../../src/text/words.ts';
import { effectiveKeymap } from '../../../src/tui/keys/custom-keys.ts';
import { filledWords, subjectOf, type Subject } from '../../../src/tui/keys/own-actions.ts';
import type { OwnAction } from '../../../src/tui/keys/key-binding.ts';
import { helpLines } from '../../../src/tui/views/help.ts';
import { after, stateOf, user } from '../table/table-fixture.ts';

const LINE: OwnAction = {
  key: 'X',
  place: 'table',
  label: 'retire',
  line: 'user set {key} lang={record.lang} city={prompt.city}',
};
const PROGRAM: OwnAction = {
  key: 'X',
  place: 'table',
  label: 'ping',
  program: ['ping', '-c', '1', '{address}', 'user={record.first_name}'],
};

function subject(record: Subject['record'], key = 'bob'): Subject {
  return { values: { key, device: 'fw1', address: '10.0.0.1:443' }, record, devices: ['fw1'] };
}

const CITY = new Map([['city', 'Ulm']]);

describe('a value is one literal word', () => {
  test.each(['bob', `o'neil "b" \\ #x`, 'a b  c', '$(reboot); `x` | y > z', '{key}', '李', '*'])(
    '%j',
    (value) => {
      const words = filledWords(
        { ...LINE, line: 'user show {record.name}' },
        subject({ name: value }),
        CITY,
      );
      expect(words).toEqual(['user', 'show', value]);
      expect(parseCompleteLine(quoteLine(words)).map(({ text }) => text)).toEqual(words);
      const argv = filledWords(
        { ...PROGRAM, program: ['p', '{record.name}'] },
        subject({ name: value }),
        CITY,
      );
      expect(argv).toEqual(['p', value]);
    },
  );

  test('numbers and booleans are written, secrets and parts with parts are not', () => {
    const record = { mtu: 1500, on: false, address: { city: 'Ulm' }, list: ['a'] };
    const filled = (program: string): string[] =>
      filledWords({ ...PROGRAM, program: ['p', program] }, subject(record), CITY);
    expect(filled('{record.mtu}/{record.on}')).toEqual(['p', '1500/false']);
    const hash = '$6$rounds=5000$abcdefgh$' + 'x'.repeat(86);
    expect(() =>
      filledWords({ ...PROGRAM, program: ['p', '{record.note}'] }, subject({ note: hash }), CITY),
    ).toThrow('is a secret');
    for (const name of ['address', 'list', 'gone'])
      expect(() => filled(`{record.${name}}`)).toThrow('has no value here');
  });
});

describe('a hostile value runs nothing', () => {
  const HOSTILE: readonly [string, RegExp][] = [
    ['-rf', /begins with "-"/],
    ['--yes', /begins with "-"/],
    ['--allow=own-account', /begins with "-"/],
    ['a\nuser delete --where x=y --yes', /control characters/],
    ['a\rb', /control characters/],
    ['a\tb', /control characters/],
    ['a\x00b', /control characters/],
    ['\x1b[2J bob', /control characters/],
    ['bob\u009b31m', /control characters/],
    ['\u202ebob', /control characters/],
    ['a\u2028b', /control characters/],
    ['x'.repeat(100 * 1024), /102400 characters, more than 4096/],
    ['', /has no value here/],
  ];
  test.each(HOSTILE)('%j', (value, reason) => {
    for (const action of [LINE, PROGRAM]) {
      const record = { lang: value, first_name: value };
      const fill = (): unknown => filledWords(action, subject(record), CITY);
      expect(fill).toThrow(RefusedError);
      expect(fill).toThrow(reason);
      expect(fill).toThrow(/nothing was run/);
      let message = '';
      try {
        fill();
      } catch (error) {
        message = String(error);
      }
      expect(message.length).toBeLessThan(300);
      expect(message).not.toMatch(/[\p{Cc}\u202e]/u);
    }
    const typed = new Map([['city', value]]);
    expect(() => filledWords(LINE, subject({ lang: 'de' }), typed)).toThrow(reason);
  });

  test.each(['role=admin', 'a:=1', 'name~.*'])('%j is no assignment and no condition', (value) => {
    const fill = (line: string): string[] =>
      filledWords({ ...LINE, line }, subject({ name: value }, value), CITY);
    expect(() => fill('user set bob {record.name}')).toThrow(/read as an assignment/);
    expect(() => fill('user set {key} lang=de')).toThrow(/read as an assignment/);
    expect(fill('user set bob note={record.name}')).toEqual([
      'user',
      'set',
      'bob',
      `note=${value}`,
    ]);
  });

  test.each(['../..', '.', '..', 'a/b', 'a?b', 'a#b', '%2e', 'a\\b'])(
    '%j leaves no path',
    (value) => {
      const line = 'delete /api/user/{record.id}/';
      const fill = (): unknown => filledWords({ ...LINE, line }, subject({ id: value }), CITY);
      expect(fill).toThrow(/would change the path/);
    },
  );
});

describe('what cannot be is refused with the settings', () => {
  const keymapWith = (own: Partial<OwnAction>) =>
    effectiveKeymap({}, 'settings.json', [{ key: 'X', place: 'table', label: 'mine', ...own }]);

  test.each<[Partial<OwnAction>, string]>([
    [{}, 'needs either line or program'],
    [{ line: 'user list', program: ['x'] }, 'needs either line or program'],
    [{ line: 'user list', reads: true }, 'only a program has "reads"'],
    [{ line: 'user show {kee}' }, 'there is no {kee} here'],
    [{ line: 'user show {run}' }, 'there is no {run} here'],
    [{ line: 'user show {prompt.x}' }, 'there is no {prompt.x} here'],
    [{ line: 'user set bob note={record.password}' }, 'is a secret'],
    [{ program: ['x', '{record.api_token}'] }, 'is a secret'],
    [{ line: '{record.name} list' }, 'first word must not be a value'],
    [{ program: ['{record.name}'] }, 'first word must not be a value'],
    [{ line: 'user {key}' }, 'is at the place of a verb'],
    [{ line: 'resource user {key}' }, 'is at the place of a verb'],
    [{ line: 'user delete --where username={key}' }, 'cannot follow an option'],
    [{ line: 'user delete bob --on {record.site}' }, 'cannot follow an option'],
    [{ line: 'user delete bob --on={record.site}' }, 'cannot follow an option'],
    [{ line: 'user list --{key}' }, "part of an option's name"],
    [{ line: 'user show "open' }, 'quote'],
    [{ line: 'user list', when: 'a~(' }, "the pattern '(' is invalid"],
    [{ line: 'user list', key: 'd' }, 'the key d is both table.delete and table.own: mine'],
    [{ line: 'user list', key: 'ctrl+x' }, 'unknown key'],
    [{ line: 'devices', place: 'devices', when: 'lang=de' }, 'no record here for "when"'],
    [{ line: 'x', prompts: [{ name: 'a', text: 'A', kind: 'choice' }] }, 'and vice versa'],
  ])('%j', (own, message) => {
    expect(() => keymapWith(own)).toThrow(SettingsError);
    expect(() => keymapWith(own)).toThrow(message);
  });

  test.each([
    'user delete bob --yes',
    'user delete bob -y',
    'user delete bob -qy',
    `user delete bob '--yes'`,
    `user delete bob --"yes"`,
    'user delete bob --yes=true',
    'user delete bob --allow own-account',
    'user delete bob --allow=own-account',
    'user delete bob --force',
    'run cleanup.devsh',
  ])('%s', (line) => {
    const action = { key: 'X', place: 'table', label: 'mine', line };
    expect(() => checkSettings({ actions: [action] }, 'settings.json')).toThrow(
      /settings\.json: actions\.0\.line: an own action carries neither --yes nor --allow/,
    );
  });

  test('a label with control characters is none, and a project defines no action', () => {
    const action = { key: 'X', place: 'table', label: 'a\x1b[2J', line: 'user list' };
    expect(() => checkSettings({ actions: [action] }, 'f')).toThrow('control characters');
    expect(checkSettings({ actions: [{ ...action, label: 'ok' }] }, 'f').actions).toHaveLength(1);
    for (const actions of [[], [{ ...action, label: 'ok' }], [{ ...PROGRAM }]])
      expect(() => checkProject({ actions }, '.devsh.json')).toThrow(
        '"actions" is only allowed in your own settings, not in the folder of a project',
      );
  });
});

describe('where an own action applies', () => {
  const fleet = stateOf({
    fw1: [user('alice'), user('bob', 'de')],
    fw2: [user('alice', 'en', 'id-2')],
  });
  const table = { ...fleet, focus: 'table' } as const;
  const reasonFor = (own: Partial<OwnAction>, state: typeof fleet = table): string | undefined =>
    effectiveKeymap({}, 'f', [
      { key: 'X', place: 'table', label: 'mine', line: 'user list', ...own },
    ])
      .find(({ action }) => action === 'own: mine')
      ?.disabled?.(state);

  test('the record must match the condition, and marks are not silently left out', () => {
    expect(reasonFor({ when: 'lang=de' })).toBe('only for lang=de');
    expect(reasonFor({ when: 'lang=en' })).toBeUndefined();
    const marked = after(table, { kind: 'view', action: 'mark' });
    expect(reasonFor({}, marked)).toContain('clear the marks');
    expect(reasonFor({}, stateOf({}))).toBe('nothing at the cursor');
    expect(reasonFor({ place: 'devices' })).toBe('nothing at the cursor');
  });

  test('read-only refuses a program that may write, in every view', () => {
    const locked = { ...table, fleet: { ...table.fleet, isReadOnly: true } };
    for (const place of ['table', 'details', 'devices', 'runs'] as const) {
      const program = { place, line: undefined, program: ['x'] };
      expect(reasonFor(program, locked)).toBe('read-only: no changes are allowed');
      expect(reasonFor({ ...program, reads: true }, locked) ?? '').not.toContain('read-only');
    }
  });

  test('one device is meant only where there is one', () => {
    const action = { ...PROGRAM, program: ['p', '{device}'] };
    const alice = subjectOf(action, table);
    expect(alice?.values).toMatchObject({ key: 'alice', devices: 'fw1,fw2', device: undefined });
    expect(() => alice && filledWords(action, alice, CITY)).toThrow('the row is on 2: unfold it');
    const bob = subjectOf(action, after(table, { kind: 'view', action: 'down' }));
    expect(bob && filledWords(action, bob, CITY)).toEqual(['p', 'fw1']);
  });

  test('in a comparison it takes the record on the device under the cursor, if it is there', () => {
    const refOf = (name: string) => ({ name, address: `${name}:443` });
    const reads = [
      { device: refOf('fw1'), records: [user('bob', 'de')] },
      { device: refOf('fw2'), records: [user('bob', 'en'), user('carol')] },
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
    const action = { ...LINE, place: 'drift', line: 'user set {key} lang={record.lang}' } as const;
    const found = subjectOf(action, state);
    expect(found).toMatchObject({ devices: ['fw2'], values: { key: 'bob', device: 'fw2' } });
    expect(found && filledWords(action, found, CITY)).toEqual(['user', 'set', 'bob', 'lang=en']);
    const missing = subjectOf(action, {
      ...state,
      overlay: { ...state.overlay, cursor: 1, device: 0 },
    });
    expect(missing).toMatchObject({
      devices: ['fw1'],
      values: { key: 'carol' },
      record: undefined,
    });
    expect(() => missing && filledWords(action, missing, CITY)).toThrow('has no value here');
    expect(subjectOf(action, table)).toBeUndefined();
  });

  test('in the list of resources it takes the resource and its devices', () => {
    const resources = [
      { resource: 'user', devices: ['fw1', 'fw2'] },
      { resource: 'vlan', devices: ['fw2'] },
    ];
    const state = { ...table, overlay: { kind: 'resources', resources, cursor: 1 } } as const;
    const action = { ...LINE, place: 'resources', line: 'resource {resource} list --on {device}' };
    expect(subjectOf(action as OwnAction, state)).toMatchObject({
      devices: ['fw2'],
      values: { resource: 'vlan', device: 'fw2', devices: 'fw2' },
    });
  });

  test('the help shows it with its key, its line, and why it does nothing now', () => {
    const prompts = [{ name: 'city', text: 'City', kind: 'text' }] as const;
    const keymap = effectiveKeymap({}, 'f', [{ ...LINE, when: 'lang=de', prompts }]);
    const help = helpLines({ ...table, keymap })
      .join('\n')
      .replace(/\s+/g, ' ');
    expect(help).toContain(
      'X retire (user set {key} lang={record.lang} city={prompt.city}); not now: only for lang=de',
    );
  });
});
