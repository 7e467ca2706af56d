import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { isCsvChangeSet, parseChangeSet } from '../../src/change/change-set.ts';
import { changeSetJsonSchema } from '../../src/change/change-set-schema.ts';

const isChangeSet = new Ajv2020({ strict: false }).compile(changeSetJsonSchema() as object);

const FIELDS = { lang: 'de' };

test.each([
  [{ add: 'user', fields: FIELDS }],
  [{ add: 'user', key: 'bob', fields: FIELDS }],
  [{ set: 'user', key: 'bob', fields: FIELDS }],
  [{ set: 'user', where: 'lang=xx', fields: FIELDS }],
  [{ delete: 'user', where: 'lang=xx' }],
  [{ action: 'delete', resource: 'user', key: 'bob' }],
])('%j is a change for parser and schema, also below "changes"', (change) => {
  for (const data of [[change], { changes: [change] }]) {
    expect(parseChangeSet(JSON.stringify(data), 'x.json')).toHaveLength(1);
    expect(isChangeSet(data), JSON.stringify(isChangeSet.errors)).toBe(true);
  }
});

test('"FIELD:=" takes JSON as a text, as on the command line', () => {
  const yaml =
    '- set: interface\n  key: eth0\n  fields: {mtu:=: 1500, states:=: \'["OK"]\', limit:=: null, lang: 7}';
  expect(parseChangeSet(yaml, 'x.yaml')).toMatchObject([
    {
      fields: { mtu: 1500, states: ['OK'], limit: null, lang: '7' },
      asJson: ['mtu', 'states', 'limit'],
    },
  ]);
  for (const fields of ['{mtu:=: up}', '{states:=: [OK]}', '{mtu: 1, mtu:=: 2}']) {
    expect(() => parseChangeSet(`- add: interface\n  fields: ${fields}`, 'x.yaml')).toThrow(
      /^x\.yaml:2:/,
    );
  }
});

test.each([
  ['- add: user\n  key: bob\n', false],
  ['-\r\n  add: user\r\n', false],
  ['\ufeffchanges:\r\n- add: user\r\n', false],
  ['changes :\n- add: user\n', false],
  ['"changes":\n- add: user\n', false],
  ['%YAML 1.2\n---\n- add: user\n', false],
  ['!!seq\n- add: user\n', false],
  ['# of today\nchanges: []\n', false],
  ['\n [{"add": "user"}]', false],
  ['{"changes":\n []}', false],
  ['username\nbob\n', true],
  ['username;first-name\r\nbob;Bob: B\r\n', true],
])('a file without an extension is CSV or not by its start: %j', (text, isCsv) => {
  expect(isCsvChangeSet('-', text)).toBe(isCsv);
});

test('a field of any name is a field of the change', () => {
  for (const name of ['__proto__', 'constructor', 'toString']) {
    const yaml = `- set: user\n  key: ann\n  fields: {lang: en, "${name}:=": '{"is_admin": true}'}`;
    const [change] = parseChangeSet(yaml, 'x.yaml');
    const fields = change?.action === 'set' ? change.fields : {};
    expect(Object.keys(fields)).toEqual(['lang', name]);
    expect(fields['is_admin']).toBeUndefined();
  }
});

test.each([
  [[]],
  [{ changes: [{ delete: 'user', key: 'bob' }], more: 1 }],
  [[{ add: 'user' }]],
  [[{ add: 'user', where: 'lang=de', fields: FIELDS }]],
  [[{ set: 'user', fields: FIELDS }]],
  [[{ set: 'user', key: 'bob', where: 'lang=de', fields: FIELDS }]],
  [[{ delete: 'user' }]],
  [[{ delete: 'user', key: 'bob', fields: FIELDS }]],
  [[{ add: 'user', set: 'user', key: 'bob', fields: FIELDS }]],
  [[{ action: 'remove', resource: 'user', key: 'bob' }]],
  [[{ add: '', fields: FIELDS }]],
  [[{ add: 'user', fields: {} }]],
])('%j is no change set for parser and schema', (data) => {
  const parse = (): unknown => parseChangeSet(JSON.stringify(data), 'x.json');
  expect(parse).toThrow('x.json:');
  const note: unknown = expect.objectContaining({ code: 'bad-change-file' });
  expect(parse).toThrow(expect.objectContaining({ note }));
  expect(isChangeSet(data)).toBe(false);
});
