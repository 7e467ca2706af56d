import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isEqual, isStored } from '../../src/device/equality.ts';
import { parseJson } from '../../src/device/json.ts';
import { ExactNumber, jsonText, type Value } from '../../src/device/record.ts';

type Held = Value | undefined;

/** None of them equals another one, at any depth, in any spelling. */
const DISTINCT: readonly Held[] = [null, '', [], {}, undefined, ' ', 'a'];

test('null, empty text, empty list, empty object and absent are different things', () => {
  for (const one of DISTINCT) {
    for (const other of DISTINCT) {
      expect([one, other, isEqual(one, other)]).toEqual([one, other, one === other]);
      expect(isStored(one, other)).toBe(one === other);
      if (one === undefined || other === undefined) continue;
      expect(isEqual({ a: [one] }, { a: [other] })).toBe(one === other);
    }
    if (one !== undefined) expect(isStored({ a: 1, b: one }, { a: 1 })).toBe(false);
  }
});

test.each<[Value, Value, boolean]>([
  [1.5, new ExactNumber('1.50'), true],
  [new ExactNumber('15e-1'), new ExactNumber('1.5'), true],
  [100, new ExactNumber('1E2'), true],
  [0, new ExactNumber('-0'), true],
  [0, new ExactNumber('1e-400'), false],
  [9007199254740993n, 9007199254740992n, false],
  [0.1, new ExactNumber('0.1000000000000000055511151231257827'), false],
  ['5', 5, false],
  [{ a: 1, b: { c: [1], d: 2 } }, { b: { d: 2, c: [1] }, a: 1 }, true],
  [['a', 'b'], ['b', 'a'], false],
  [{ a: 1, password: 'old' }, { a: 1, password: 'new' }, false],
])('%s and %s are equal: %s', (one, other, expected) => {
  expect(isEqual(one, other)).toBe(expected);
});

test.each<[Value, Held, boolean]>([
  ['de', 'de', true],
  ['de', 'DE', false],
  ['de', ' de', false],
  ['', null, false],
  ['', undefined, false],
  [null, '', false],
  ['5', 5, true],
  [5, '5', true],
  ['5', 50, false],
  ['true', true, true],
  ['True', true, true],
  ['1', true, true],
  ['no', false, true],
  ['maybe', true, false],
  [true, false, false],
  ['9007199254740993', 9007199254740993n, true],
  [['1'], [1], true],
  [{ a: 'on' }, { a: true }, true],
  [{ a: 1 }, { a: 1, b: '' }, false],
])('sent %s is stored as %s: %s', (sent, held, expected) => {
  expect(isStored(sent, held)).toBe(expected);
});

const anyValue = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Value>(null, '', 'text', 0, 1, true, 2n ** 60n, new ExactNumber('1.50')),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), tie('value'), { maxKeys: 2 }),
  ),
})).value;

test('a value equals itself after it was written and read, and only then', () => {
  fc.assert(
    fc.property(anyValue, anyValue, (one, other) => {
      expect(isEqual(one, parseJson(jsonText(one)))).toBe(true);
      expect(isStored(one, parseJson(jsonText(one)))).toBe(true);
      expect(isEqual(one, other)).toBe(isEqual(other, one));
      if (isEqual(one, other)) expect(isStored(one, other)).toBe(true);
    }),
  );
});
