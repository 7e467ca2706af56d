import fc from 'fast-check';
import { expect, test } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import { matches, parseChoice, parseFilter, parseFilterWords } from '../../src/fleet/filter.ts';

const alice = {
  uuid: 'beda1f3c-0000-4000-8000-00000000beda',
  username: 'alice',
  first_name: 'Alice',
  lastname: 'Ärdent Fox',
  lang: 'de',
  groups: ['admin', 'ops'],
  address: { city: 'Ulm' },
};

test.each([
  ['', true],
  ['ALI', true],
  ['ali fw1', true],
  ['ali fw2', false],
  ['ärdent', true],
  ['a\u0308rdent', true],
  ['alc', true],
  ['xlc', false],
  ['lic', true],
  ['aox', false],
  ['bd1f', false],
  ['lang=DE', true],
  ['lang=d', false],
  ['LANG=de', true],
  ['lang!=de', false],
  ['lang!=en', true],
  ['device=fw1', true],
  ['device=fw2', false],
  ['groups=ops', true],
  ['missing=', true],
  ['lastname="ärdent fox"', true],
  ["'Fox'", true],
  ['address.city=ulm', true],
  ['address.city=bonn', false],
  ['address.street=x', false],
  ['username~^a.*e$', true],
  ['username~^b', false],
])('%j matches alice on fw1: %s', (text, expected) => {
  expect(matches(parseFilter(text), alice, 'fw1')).toBe(expected);
});

function columnOf(text: string): number | undefined {
  try {
    parseFilter(text);
  } catch (error) {
    if (error instanceof UsageError) return error.column;
    throw error;
  }
  return undefined;
}

test.each([
  ['lang=de name~[', 13],
  ['a~(a+)+$', 2],
  ['a~(a|aa)*b', 2],
  ['a~((b?))+', 2],
  ['lang="de', 5],
])('%j is refused at column %d', (text, column) => {
  expect(columnOf(text)).toBe(column);
});

test.each(['a~(?:de|en)$', 'a~[(+]+', 'a~\\(+', 'a~(ab)+'])('%j is a pattern', (text) => {
  expect(parseFilter(text).terms).toMatchObject([{ kind: 'pattern' }]);
});

test('a filter for a delete does not match fuzzily', () => {
  expect(matches(parseFilter('alc', { isFuzzy: false }), alice, 'fw1')).toBe(false);
  expect(matches(parseFilter('lic', { isFuzzy: false }), alice, 'fw1')).toBe(true);
});

test('words that a line has already split may hold blanks', () => {
  const filter = parseFilterWords([{ text: 'lastname=Ärdent Fox', column: 0 }]);
  expect(matches(filter, alice, 'fw1')).toBe(true);
});

test('a record matches its own fields, written as conditions', () => {
  const text = fc.string({ unit: 'grapheme' }).filter((value) => !value.includes('"'));
  fc.assert(
    fc.property(text, (value) => {
      expect(matches(parseFilter(`name="${value}"`), { name: value }, 'fw1')).toBe(true);
      expect(matches(parseFilter(`name!="${value}"`), { name: value }, 'fw1')).toBe(false);
      expect(matches(parseFilter(`"${value}"`), { x: value }, 'fw1') || /[=~]/.test(value)).toBe(
        true,
      );
    }),
  );
});

test.each(['', '  ', "''", '"" \t'])(
  'an empty filter does not select records to write: %j',
  (text) => {
    expect(() => parseChoice(text)).toThrow('would select every record');
    expect(parseChoice(`${text} lang=de`).terms).not.toEqual([]);
  },
);
