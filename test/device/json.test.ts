import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exactNumber, ExactNumber, jsonText } from '../../src/device/record.ts';
import { JsonFailure, parseJson, parseStrictJson } from '../../src/device/json.ts';

test.each([
  ['9007199254740993', 9007199254740993n],
  ['-9007199254740993', -9007199254740993n],
  ['[1, 12345678901234567890, 2]', [1, 12345678901234567890n, 2]],
  ['{"a":12345678901234567890}', { a: 12345678901234567890n }],
  ['1234567890123456', 1234567890123456],
  ['"12345678901234567890"', '12345678901234567890'],
  [
    '["\\"12345678901234567890", "a\\\\", 9007199254740993]',
    ['"12345678901234567890', 'a\\', 9007199254740993n],
  ],
  ['["integer:5", 9007199254740993]', ['integer:5', 9007199254740993n]],
  ['\ufeff{"a":1}', { a: 1 }],
  ['{"a":1,"a":2}', { a: 2 }],
])('%s keeps its value', (text, value) => {
  expect(parseJson(text)).toEqual(value);
});

test.each([
  ['{"a":1,"a":2}', 'a', 7],
  ['[{"a":{"b":1}},\n{"b":{"a":1 , "b":"\\"a\\":", "a" :2}}]', 'a', 44],
  ['\ufeff{"a":1,"\\u0061":9007199254740993}', 'a', 8],
  ['{"__proto__":1,"__proto__":2}', '__proto__', 15],
])('%s has %s twice, the second at %i', (text, name, offset) => {
  const told: unknown[] = [];
  parseJson(text, (repeated) => told.push(repeated));
  expect(told).toEqual([{ name, offset }]);
  expect(() => parseStrictJson(text)).toThrow(`"${name}" appears twice in one object`);
});

test('no unique name of any JSON is reported as repeated', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 2 }), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent);
      expect(() => parseStrictJson(text)).not.toThrow();
    }),
  );
});

test.each(['{"__proto__": 1}', '{"__proto__": {"x": 9007199254740993}}'])(
  '%s has a field of its own and no other prototype',
  (text) => {
    const value = parseJson(text);
    expect(Object.keys(value as object)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  },
);

test.each([
  ['[', 1_000_000],
  ['{"a":', 500_000],
  ['[', 65],
])('%s nested %i times is refused without walking it', (open, count) => {
  expect(() => parseJson(open.repeat(count))).toThrow('nested more than 64');
});

test('text that looks like the ends of objects does not hide deep nesting', () => {
  const record = `{"a":"${'},{'.repeat(100)}","b":${'[{},'.repeat(65)}1${']'.repeat(65)}}`;
  expect(() => parseJson(`[${record}]`)).toThrow('nested more than 64');
  expect(() => parseJson('[{},'.repeat(65))).toThrow('nested more than 64');
});

test('64 levels are read', () => {
  expect(parseJson('['.repeat(64) + ']'.repeat(64))).toBeInstanceOf(Array);
});

test.each([
  '',
  '{',
  'nan',
  '00000000000000000000',
  '[1 12345678901234567890]',
  '{"a":12345678901234567890',
  '+12345678901234567890',
  '"open',
])('%j is no JSON', (text) => {
  expect(() => parseJson(text)).toThrow(JsonFailure);
});

test('keeps every value and every digit', () => {
  const values = fc.oneof(
    fc.jsonValue({ maxDepth: 8 }).map((value) => JSON.stringify(value)),
    fc.array(fc.oneof(fc.bigInt(), fc.string())).map((items) => jsonText(items)),
  );
  fc.assert(
    fc.property(values, (text) => {
      expect(jsonText(parseJson(text))).toBe(text);
    }),
  );
});

/** Numbers as devices write them: with zeros at the end, exponents, more digits than a double has. */
const anyNumber = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9]\d{0,40}$/)),
    fc.oneof(fc.constant(''), fc.stringMatching(/^\.\d{1,40}$/)),
    fc.oneof(fc.constant(''), fc.stringMatching(/^[eE][+-]?\d{1,3}$/)),
  )
  .map((parts) => parts.join(''));

test('keeps the digits of every number', () => {
  const text = fc
    .array(fc.tuple(anyNumber, fc.constantFrom('', ' ', '\n')), { minLength: 1 })
    .map((items) => items.map(([number, blank]) => blank + number + blank));
  fc.assert(
    fc.property(text, (numbers) => {
      const digits = numbers.map((one) => one.trim());
      for (const source of [`[${numbers.join(',')}]`, `[{"n":[${numbers.join(',')}]}]`]) {
        expect(jsonText(parseJson(source))).toBe(source.replace(/\s/g, ''));
      }
      expect(parseJson(digits[0] ?? '')).toEqual(exactNumber(digits[0] ?? ''));
    }),
  );
});

test.each(['1e-400', '0.1000000000000000055511151231257827', '-0', '1.0', '1e999', '0e999'])(
  '%s keeps its digits, and equals no text',
  (text) => {
    const value = parseJson(`{"n":[${text}]}`);
    expect(value).toEqual({ n: [new ExactNumber(text)] });
    expect(jsonText(value)).toBe(`{"n":[${text}]}`);
  },
);

test.each(['[1.e999]', '[01e999]', '[1e999.5]', '[--1e999]'])('%s is no JSON', (text) => {
  expect(() => parseJson(text)).toThrow('not valid JSON');
});

test('a long list of flat records keeps each number and finds a name given twice', () => {
  const records = '{"name" : "b]}{[:", "n" : 1.5},\n'.repeat(200);
  const repeated = `[${records}{"name" : "x", "n" : 12345678901234567890, "name" :\t"y"}]`;
  expect(parseJson(`[${records}{"n":12345678901234567890}]`)).toHaveLength(201);
  expect((parseJson(repeated) as unknown[]).at(-1)).toEqual({
    name: 'y',
    n: 12345678901234567890n,
  });
  expect(() => parseStrictJson(repeated)).toThrow('"name" appears twice in one object');
  expect(() => parseStrictJson(repeated.replace('234567890123456', ''))).toThrow('appears twice');
});

test.each(['7'.repeat(1_000_000), `0.${'7'.repeat(1001)}`, `[1,${'7'.repeat(1001)}]`])(
  'a number of very many digits is refused before it costs time',
  (number) => {
    expect(() => parseJson(`[${number}]`)).toThrow('more than 1000 digits');
  },
);
