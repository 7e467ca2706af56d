import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plainKey, sortBy } from '../../src/fleet/sort.ts';
import type { Value } from '../../src/device/record.ts';
import { rounds } from '../rounds.ts';

function sorted(values: readonly (Value | undefined)[], field = 'x') {
  return sortBy(values, [field], (value) => value);
}

test('numbers come by size, also as text, and before words', () => {
  expect(sorted(['10', 'b', 2, '1.5', 'a'])).toEqual(['1.5', 2, '10', 'a', 'b']);
});

test('numbers too large for a double keep their order', () => {
  expect(sorted(['9007199254740993', 9007199254740992n])).toEqual([
    9007199254740992n,
    '9007199254740993',
  ]);
});

test('numbers inside names count as numbers, and accents stay with their letter', () => {
  expect(sorted(['fw10', 'fw2', 'zoe', 'émile', 'eva'])).toEqual([
    'émile',
    'eva',
    'fw2',
    'fw10',
    'zoe',
  ]);
});

test('empty values come last in both directions', () => {
  expect(sorted([null, 'b', undefined, 'a'])).toEqual(['a', 'b', null, undefined]);
  expect(sorted([null, 'b', undefined, 'a'], '-x')).toEqual(['b', 'a', null, undefined]);
});

test('several fields, the first one most important', () => {
  const rows = [
    { lang: 'en', name: 'a' },
    { lang: 'de', name: 'b' },
    { lang: 'de', name: 'c' },
  ];
  const order = sortBy(rows, ['lang', '-name'], (row, field) =>
    field === 'lang' ? row.lang : row.name,
  );
  expect(order.map(({ name }) => name)).toEqual(['c', 'b', 'a']);
});

test('each further field decides between records that are equal so far, in its own direction', () => {
  const collator = new Intl.Collator('en', { numeric: true });
  const text = fc.constantFrom('a', 'b1', 'b01', 'b10', 'B2', 'ä');
  fc.assert(
    fc.property(fc.array(fc.record({ one: text, two: text, three: fc.nat(3) })), (rows) => {
      const order = sortBy(rows, ['one', '-two', 'three'], (row, field) => row[field as 'one']);
      const expected = rows.toSorted(
        (a, b) =>
          collator.compare(a.one, b.one) || collator.compare(b.two, a.two) || a.three - b.three,
      );
      expect(order).toEqual(expected);
    }),
  );
});

test('equal values keep their order, and nothing is lost', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom('a', 'b', '1', ''), fc.nat())), (pairs) => {
      const order = sortBy(pairs, ['x'], ([text]) => text);
      expect(order).toHaveLength(pairs.length);
      for (const text of ['a', 'b', '1', '']) {
        const of = (list: typeof pairs) => list.filter((pair) => pair[0] === text);
        expect(of(order)).toEqual(of(pairs));
      }
    }),
  );
});

test('plain texts are ordered by their keys as the collator orders them', () => {
  const collator = new Intl.Collator('en', { numeric: true });
  const plain = fc.string({
    unit: fc.constantFrom(...Array.from('_-.@0012789abcxyz')),
    minLength: 1,
  });
  const keyOf = (text: string): string => plainKey(text) ?? expect.fail(`${text} is plain`);
  fc.assert(
    fc.property(plain, plain, (a, b) => {
      const [left, right] = [keyOf(a), keyOf(b)];
      expect(left < right ? -1 : left > right ? 1 : 0).toBe(Math.sign(collator.compare(a, b)));
    }),
    { numRuns: rounds(3000) },
  );
  expect(['Anna', 'ä', 'a b', '1'.repeat(60), ''].map(plainKey)).toEqual(Array(5).fill(undefined));
});

test('an earlier sort does not affect the order', () => {
  const collator = new Intl.Collator('en', { numeric: true });
  const word = fc
    .string({ unit: fc.constantFrom(...Array.from('_-019abÄäZzéж漢')), maxLength: 4 })
    .map((text) => `x${text}`);
  const number = fc.integer({ min: 10, max: 99 }).map((size) => ({ text: String(size), size }));
  const row = fc.record({ one: word, two: word, number, place: fc.nat() });
  // Lists that grow, shrink and have nothing in common with the one before.
  const lists = fc.array(fc.array(row, { maxLength: 40 }), { minLength: 2, maxLength: 4 });
  fc.assert(
    fc.property(lists, fc.boolean(), (parts, doesGrow) => {
      for (const [at, part] of parts.entries()) {
        const rows = doesGrow ? parts.slice(0, at + 1).flat() : part;
        const order = sortBy(rows, ['-one', 'number', 'two'], (one, field) =>
          field === 'number' ? one.number.text : one[field as 'one'],
        );
        const expected = rows.toSorted(
          (a, b) =>
            collator.compare(b.one, a.one) ||
            a.number.size - b.number.size ||
            collator.compare(a.two, b.two),
        );
        expect(order).toEqual(expected);
      }
    }),
  );
});
