import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  readRecordText,
  recordText,
  withComplaint,
  type EditableRecord,
} from '../../src/change/record-text.ts';
import type { DeviceRecord, Value } from '../../src/device/record.ts';
import { UsageError } from '../../src/errors.ts';
import { hasUnsafe } from '../../src/text/visible.ts';

function one(record: DeviceRecord, devices = ['fw1']): EditableRecord {
  const key = typeof record['username'] === 'string' ? record['username'] : '';
  return { resource: 'user', key, devices, record, fixed: ['username', 'uuid'] };
}

const ALICE = one(
  {
    uuid: '6f1c',
    username: 'alice',
    first_name: 'Alice',
    lang: 'de',
    age: 41,
    token: 'abc',
    note: null,
  },
  ['fw1', 'fw2'],
);
const BOB = one({ uuid: '0b7e', username: 'bob', first_name: '007', lang: '', active: true });

function read(text: string, records: readonly EditableRecord[] = [ALICE, BOB]) {
  return readRecordText(text, records, 'user.yaml');
}

test('a record is a document; key and ids are comments, secrets are left out', () => {
  const text = recordText([ALICE, BOB]).split('\n').slice(3).join('\n');
  expect(text).toMatchInlineSnapshot(`
    "--- # record 1: user alice on fw1, fw2
    # username: alice
    # uuid: 6f1c
    # hidden, stay unchanged: token
    first_name: Alice
    lang: de
    age: 41
    note: null
    --- # record 2: user bob on fw1
    # username: bob
    # uuid: 0b7e
    first_name: "007"
    lang: ""
    active: true
    "
  `);
});

test('an unchanged text changes nothing', () => {
  expect(read(recordText([ALICE, BOB]))).toEqual({ changed: [], removed: [] });
});

test('only edited values are changes, as typed', () => {
  const text = recordText([ALICE, BOB])
    .replace('lang: de', 'lang: no')
    .replace('age: 41', 'age: 042')
    .replace('note: null', 'note: a # b');
  expect(read(text).changed).toEqual([
    { of: ALICE, fields: { lang: 'no', age: '042', note: 'a' } },
  ]);
});

test('a removed line is no change, an added line is', () => {
  const text = recordText([ALICE]).replace('lang: de\n', 'phone: "1"\n');
  expect(read(text, [ALICE]).changed).toEqual([{ of: ALICE, fields: { phone: '1' } }]);
});

test('a removed document is reported, removed comments are not', () => {
  const text = recordText([ALICE, BOB]);
  const bobOnly = text.slice(text.indexOf('--- # record 2')).replace(/^# .*\n/gm, '');
  expect(read(bobOnly)).toEqual({ changed: [], removed: [ALICE] });
});

describe('an error has a place in the text', () => {
  test.each<[string, (text: string) => string, RegExp]>([
    [
      'the key',
      (text) => text.replace('# username', 'username').replace(': alice', ': al'),
      /username cannot be changed/,
    ],
    ['a syntax error', (text) => text.replace('lang: de', 'lang: "de'), /^user\.yaml:\d+:\d+: /],
    ['a list', (text) => `${text}- x`, /^user\.yaml:\d+/],
    ['a lost head', (text) => text.replace('# record 2: ', ''), /must stay unchanged/],
    [
      'a record twice',
      (text) => text.replace('# record 2', '# record 1'),
      /record 1 appears twice/,
    ],
    [
      'a text above',
      (text) => `lang: fr\n${text}`,
      /^user\.yaml:3:1: this line belongs to no record/,
    ],
  ])('%s', (_title, change, message) => {
    expect(() => read(change(recordText([ALICE, BOB])))).toThrow(UsageError);
    expect(() => read(change(recordText([ALICE, BOB])))).toThrow(message);
  });

  test('with the line counted below the complaint', () => {
    const wrong = recordText([ALICE]).replace('lang: de', 'lang: de: fr');
    const message = messageOf(() => read(wrong, [ALICE]));
    const shown = withComplaint(wrong, message);
    expect(shown.split('\n')[0]).toBe(`# REJECTED: ${message}`);
    expect(messageOf(() => read(shown, [ALICE]))).toBe(message);
    const line = Number(/:(\d+):/.exec(message)?.[1]);
    expect(
      shown
        .split('\n')
        .slice(line - 2, line + 1)
        .join('\n'),
    ).toContain('lang: de: fr');
    expect(withComplaint(shown, message)).toBe(shown);
  });
});

test('text of a device stays in its field, and the file has no control characters', () => {
  const evil = one({
    username: 'x\n--- # record 1: x',
    uuid: 'a\nlang: fr',
    first_name: '\x1b[2J\u202eevil\n---\nlang: fr',
    'na\nme': '--- # record 2',
  });
  const text = recordText([evil]);
  expect(text.split('\n').some(hasUnsafe)).toBe(false);
  expect(text.match(/^---/gm)).toHaveLength(1);
  expect(read(text, [evil])).toEqual({ changed: [], removed: [] });
});

function messageOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
  return '';
}

const anyText = fc.oneof(
  fc.string(),
  fc.string({
    unit: fc.constantFrom(
      '-',
      '#',
      ':',
      ' ',
      '\n',
      '"',
      "'",
      '\\',
      '{',
      '\x1b',
      'ä',
      '\u202e',
      '😀',
    ),
  }),
  fc.constantFrom('null', '~', 'true', '007', '1e3', '---', '...', '%YAML', '*a', '&a', '!x', '<<'),
);
/** The reader refuses `__proto__`, as no field may be called so. */
const fieldName = fc.string({ minLength: 1 }).filter((name) => name !== '__proto__');
const anyValue: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    anyText,
    fc.integer(),
    fc.bigInt(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fieldName, tie('value'), { maxKeys: 3 }),
  ),
})).value;

test('for any record, the unchanged text is no change and is safe to open', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.dictionary(
          anyText.filter((name) => name !== '__proto__'),
          anyValue,
        ),
        { minLength: 1, maxLength: 3 },
      ),
      (all) => {
        const records = all.map((record) => one(record));
        const text = recordText(records);
        expect(text.split('\n').some(hasUnsafe)).toBe(false);
        expect(read(text, records)).toEqual({ changed: [], removed: [] });
      },
    ),
  );
});
