import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchRows, type MatchOptions } from '../../../src/change/record-file/match-rows.ts';
import { readRecordFile } from '../../../src/change/record-file/read-record-file.ts';
import { Problems } from '../../../src/change/record-file/record-file.ts';
import { documentedProfile } from '../../../src/device/built-in-profiles.ts';
import type { DeviceRecord } from '../../../src/device/record.ts';

/** The changes of a file on a device with these records. */
function match(
  name: string,
  text: string,
  records: readonly DeviceRecord[],
  options: Partial<MatchOptions> = {},
) {
  const problems = new Problems();
  const file = readRecordFile(text, name, (column) => column);
  const held = { name: 'fw1', profile: documentedProfile, resource: 'user', records };
  const matched = matchRows(
    held,
    file.rows,
    { isCells: file.isCells, prune: false, ...options },
    problems,
  );
  problems.throwAny();
  return matched;
}

const BOB = {
  uuid: 'u1',
  username: 'bob',
  lang: 'de',
  age: 5,
  active: true,
  groups: ['a', 'b'],
  token: 'secret',
  modified: '2026-01-01T00:00:00Z',
};

test('changes only the fields that differ, in the types of the device', () => {
  const text = 'username,lang,age,active,groups\nbob,de,6,false,"[""a"",""c""]"\n';
  expect(match('u.csv', text, [BOB]).changes).toEqual([
    {
      action: 'set',
      resource: 'user',
      target: { kind: 'key', key: 'bob' },
      fields: { age: 6, active: false, groups: ['a', 'c'] },
      isExact: true,
    },
  ]);
});

test('ids and timestamps in a file are ignored and reported', () => {
  const text = 'username,uuid,modified\nbob,other,2020-01-01T00:00:00Z\n';
  expect(match('u.csv', text, [BOB])).toEqual({
    changes: [],
    unchanged: 1,
    ignored: ['uuid', 'modified'],
  });
});

test('an empty cell empties a field, but no secret, and is left out of a new record', () => {
  const text = 'username,lang,token\nbob,,\nnew,,\n';
  expect(match('u.csv', text, [BOB]).changes).toMatchObject([
    { action: 'set', fields: { lang: '' } },
    { action: 'add', fields: { username: 'new' } },
  ]);
  expect(match('u.csv', text, [BOB]).changes[0]).not.toHaveProperty('fields.token');
});

test('a masked secret is never sent', () => {
  const text = '[{"username":"bob","token":"***"},{"username":"new","token":"***"}]';
  const { changes } = match('u.json', text, [BOB]);
  expect(JSON.stringify(changes)).not.toContain('***');
});

test('a null field in JSON empties the field, a missing one leaves it unchanged', () => {
  const { changes } = match('u.json', '[{"username":"bob","lang":null}]', [BOB]);
  expect(changes).toMatchObject([{ fields: { lang: null } }]);
});

test('a nested value keeps the secrets that an export left out, or is refused', () => {
  const held = { username: 'bob', login: { shell: 'sh', password: 'x' } };
  const same = '[{"username":"bob","login":{"shell":"sh"}}]';
  expect(match('u.json', same, [held]).changes).toEqual([]);
  const other = '[{"username":"bob","login":{"shell":"zsh"}}]';
  expect(() => match('u.json', other, [held])).toThrow(/contains secrets on fw1/);
});

test('prunes records without a row, by id if several share a name', () => {
  const sameName = [
    { uuid: 'u2', username: 'eve' },
    { uuid: 'u3', username: 'eve' },
  ];
  const { changes } = match('u.csv', 'username\nbob\n', [BOB, ...sameName], { prune: true });
  expect(changes).toEqual([
    { action: 'delete', resource: 'user', target: { kind: 'key', key: 'u2' } },
    { action: 'delete', resource: 'user', target: { kind: 'key', key: 'u3' } },
  ]);
});

test('rows of records that share a name need another key', () => {
  const sameName = [
    { uuid: 'u2', username: 'eve', lang: 'de' },
    { uuid: 'u3', username: 'eve', lang: 'en' },
  ];
  const text = 'uuid,username,lang\nu2,eve,de\nu3,eve,fr\n';
  expect(() => match('u.csv', text, sameName)).toThrow(/2 users with the username eve/);
  expect(match('u.csv', text, sameName, { key: 'uuid' }).changes).toMatchObject([
    { action: 'set', target: { key: 'u3' }, fields: { lang: 'fr' } },
  ]);
});

test('names the first twenty mistakes, and counts the others', () => {
  const rows = Array.from({ length: 30 }, () => 'bob,x');
  expect(() => match('u.csv', `username,age\n${rows.join('\n')}\n`, [BOB])).toThrow(/and 10 more/);
});

test.each(['Bob', 'bob ', 'b\u043eb', 'bob\u200b'])(
  'does not prune bob where the file has "%s", unless it is allowed',
  (name) => {
    const records = [BOB, { ...BOB, uuid: 'u2', username: 'eve' }];
    const text = `username,lang\neve,de\n${name},de\n`;
    const options = { prune: true } as const;
    expect(() => match('u.csv', text, records, options)).toThrow(
      /^u\.csv:3: ".*" looks like "bob" on fw1, which --prune would delete/,
    );
    expect(
      match('u.csv', text, records, { ...options, allow: new Set(['prune']) }).changes,
    ).toHaveLength(2);
  },
);

test('recognizes 7 as the 007 that a spreadsheet changed', () => {
  const records = [BOB, { ...BOB, uuid: 'u2', username: '007' }];
  const text = 'username,lang\nbob,de\n7,de\n';
  expect(() => match('u.csv', text, records, { prune: true })).toThrow('"7" looks like "007"');
});

test('a number as a spreadsheet shows it is never taken for a missing record', () => {
  fc.assert(
    fc.property(fc.nat({ max: 1e9 }), fc.nat({ max: 8 }), (number, places) => {
      const records = [{ username: 'ann' }, { username: String(number) }];
      const shown = [
        number.toExponential(places).toUpperCase().replace('E+', 'E+0'),
        number.toLocaleString('en'),
        `${number}.00`,
      ];
      for (const key of shown.filter((one) => one !== String(number))) {
        const text = `username\nann\n"${key}"\n`;
        expect(() => match('u.csv', text, records, { prune: true })).toThrow('looks like');
      }
    }),
  );
});

test('does not prune all records of a device for an unrelated file', () => {
  const text = 'username,lang\nmallory,de\n';
  expect(() => match('u.csv', text, [BOB], { prune: true })).toThrow(
    'u.csv:2: none of the 1 users of fw1 is in the file: --prune would delete them all',
  );
  expect(
    match('u.csv', text, [BOB], { prune: true, allow: new Set(['prune']) }).changes,
  ).toHaveLength(2);
});

test('the error about a row without a key names its fields', () => {
  expect(() => match('u.csv', 'Login,lang\nbob,de\n', [BOB])).toThrow(
    'u.csv:2: this user has no username, only Login, lang (--map COLUMN=username, or --key)',
  );
});

test.each([
  ['u.csv', 'username,lang\nbob,de\neve,de,x\n', 'u.csv:3'],
  [
    'u.json',
    '[{"username": "bob", "lang": "de"},\n {"username": "e\\"[ve",\n\t"lnag": "de"}]',
    'u.json:3:10',
  ],
  ['u.json', '{"devices": [{"device": "fw1", "records": [\n  7]}]}', 'u.json:2:3'],
  ['u.jsonl', '{"username": "bob"}\n\n{"username": "eve", "lnag": "de"}\n', 'u.jsonl:3'],
  ['u.yaml', '- username: bob\n- username: eve\n  lnag: de\n', 'u.yaml:3:9'],
])('a mistake in %s has its place: %j', (name, text, place) => {
  expect(() => match(name, text, [BOB])).toThrow(`${place}: `);
});

test('a single object takes one row, and is never pruned', () => {
  const system = { single: true, keyField: '', fields: {} };
  const profile = { ...documentedProfile, resources: { system } };
  const read = (text: string, records: readonly DeviceRecord[]) => {
    const problems = new Problems();
    const { rows } = readRecordFile(text, 's.csv', (column) => column);
    const about = { name: 'fw1', profile, resource: 'system', records };
    const matched = matchRows(about, rows, { isCells: true, prune: true, key: 'mtu' }, problems);
    problems.throwAny();
    return matched;
  };
  const target = { kind: 'key', key: '' };
  const change = { action: 'set', resource: 'system', target, isExact: true };

  expect(read('mtu,lang\n1500,de\n', [{ mtu: 1500, lang: 'de' }])).toMatchObject({
    ...{ changes: [], unchanged: 1 },
  });
  expect(read('lang\nfr\n', [{ mtu: 1500, lang: 'de' }]).changes).toEqual([
    { ...change, fields: { lang: 'fr' } },
  ]);
  expect(read('lang\nfr\n', []).changes).toEqual([{ ...change, fields: { lang: 'fr' } }]);
  expect(() => read('lang\nfr\nde\n', [{ lang: 'de' }])).toThrow(
    's.csv:3: system is one object on fw1: one row is enough',
  );
});
