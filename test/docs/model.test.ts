import { expect, test } from 'vitest';
import { readPages } from './pages.ts';

const pages = readPages();
const model = pages.find(({ path }) => path === 'docs/model.md')?.text ?? '';
const rows = [...model.matchAll(/^\| ([a-z][^|]*) \| ([A-Z][^|]*) \|$/gm)].map(
  ([, term = '', meaning = '']) => ({ term, meaning }),
);

test('the terms stand in the order of the alphabet, each once', () => {
  const terms = rows.map(({ term }) => term);
  expect(terms.length).toBeGreaterThan(25);
  expect(terms).toEqual([...new Set(terms)].sort((one, other) => one.localeCompare(other, 'en')));
});

test.each(rows)('$term: one sentence, and other pages use it', ({ term, meaning }) => {
  expect(meaning).toMatch(/^[^.]*(?:\.[a-z][^.]*)*\.$/);
  const others = pages.filter(({ path }) => path !== 'docs/model.md');
  const used = others.filter(({ text }) => text.toLowerCase().includes(term.toLowerCase()));
  expect(used.length).toBeGreaterThan(0);
});
