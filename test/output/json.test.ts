import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exactNumber, type Value } from '../../src/device/record.ts';
import { toJson } from '../../src/output/document.ts';

test('what is written reads back as the same value, on one line or indented', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
      // JSON.stringify writes -0 as 0.
      const expected: unknown = JSON.parse(JSON.stringify(value));
      expect(JSON.parse(toJson(value))).toEqual(expected);
      expect(JSON.parse(toJson(value, { indent: 2 }))).toEqual(expected);
    }),
  );
});

test.each(['12345678901234567890', '1.0', '-0', '1e-400', '1'])('%s keeps its digits', (text) => {
  expect(toJson({ n: [exactNumber(text)] })).toBe(`{"n":[${text}]}`);
});

test('what is undefined is left out, and what JSON cannot say is null', () => {
  expect(toJson({ a: undefined, b: [undefined, NaN], c: {} })).toBe('{"b":[null,null],"c":{}}');
});

test('control, bidi and invisible characters and half surrogates are escaped', () => {
  expect(toJson('\u001B[m\u007F\u009B\u202E\u200B\uFEFF\uD800\u{E0041} é李')).toBe(
    String.raw`"\u001b[m\u007f\u009b\u202e\u200b\ufeff\ud800\udb40\udc41 é李"`,
  );
});

test('indents like JSON.stringify', () => {
  const value = { a: [1, { b: [] }], c: {} };
  expect(toJson(value, { indent: 2 })).toBe(JSON.stringify(value, null, 2));
});

test('a field named __proto__ is data', () => {
  expect(toJson(JSON.parse('{"__proto__":{"a":1}}') as Value)).toBe('{"__proto__":{"a":1}}');
});
