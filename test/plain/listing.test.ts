import { expect, test } from 'vitest';
import { tabbed } from '../../src/plain/repl.ts';

function proposal(text: string, summary?: string) {
  return { text, insert: `${text} `, letters: [], ...(summary !== undefined && { summary }) };
}

test('one proposal goes into the line, several are listed with what they are', () => {
  expect(tabbed('user sh', { start: 5, end: 7, proposals: [proposal('show')] }, 80)).toEqual({
    line: 'user show ',
    listing: [],
  });
  const two = [proposal('bob', 'fw1'), proposal('boris', 'fw1, fw2')];
  expect(tabbed('user show b', { start: 10, end: 11, proposals: two }, 80)).toEqual({
    line: 'user show bo',
    listing: ['  bob    fw1', '  boris  fw1, fw2'],
  });
});

test('what only has the letters is listed, and the line stays', () => {
  const proposals = [proposal('first_name'), proposal('lastname')];
  const { line, listing } = tabbed('user add name', { start: 9, end: 13, proposals }, 80);
  expect(line).toBe('user add name');
  expect(listing).toHaveLength(2);
});

test('nothing to complete is said in words, and a long list ends', () => {
  const empty = { start: 0, end: 0, proposals: [] };
  expect(tabbed('x', empty, 80).listing).toEqual(['  (nothing to complete)']);
  const many = Array.from({ length: 60 }, (_, index) => proposal(`u${index}`));
  expect(tabbed('', { start: 0, end: 0, proposals: many }, 80).listing.at(-1)).toBe('  … 20 more');
});
