import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { parseChangeSet } from '../../src/change/change-set.ts';
import { formatOf } from '../../src/change/record-file/read-record-file.ts';
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
  ['- add: user\n  key: bob\n', 'yaml'],
  ['-\r\n  add: user\r\n', 'yaml'],
  ['\ufeffchanges:\r\n- add: user\r\n', 'yaml'],
  ['# of today\nchanges: []\n', 'yaml'],
  ['\n [{"add": "user"}]', 'json'],
  ['{"changes":\n []}', 'json'],
  ['username\nbob\n', 'csv'],
  ['username;first-name\r\nbob;Bob: B\r\n', 'csv'],
])('a file without an extension is told by its start: %j', (text, format) => {
  expect(formatOf('-', text)).toBe(format);
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
