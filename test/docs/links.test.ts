import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { anchorsOf, inlineCode, linksOf } from './markdown.ts';
import { readPages, ROOT } from './pages.ts';

const pages = readPages();
const anchors = new Map(pages.map(({ path, text }) => [path, anchorsOf(text)]));

test.each(pages)('every link of $path leads somewhere', ({ path, text }) => {
  const broken = linksOf(text).filter((link) => {
    if (/^https:\/\//.test(link)) return false;
    const [file = '', anchor] = link.split('#');
    const target = file === '' ? path : normalize(join(dirname(path), file));
    if (!existsSync(join(ROOT, target))) return true;
    return anchor !== undefined && anchors.get(target)?.includes(anchor) !== true;
  });
  expect(broken).toEqual([]);
});

test.each(pages)('every file that $path names is there', ({ text }) => {
  const named = inlineCode(text).filter((code) => /^(src|test|scripts|\.ci)\/[\w./-]+$/.test(code));
  // NAME and NOUN stand for what somebody adds.
  const missing = named.filter((name) => !/NAME|NOUN/.test(name) && !existsSync(join(ROOT, name)));
  expect(missing).toEqual([]);
});

test('each page of docs is reached from its index', () => {
  const index = pages.find(({ path }) => path === 'docs/README.md');
  const linked = linksOf(index?.text ?? '').map((link) => `docs/${link.replace(/#.*/, '')}`);
  const others = pages.map(({ path }) => path).filter((path) => path.startsWith('docs/'));
  expect(others.filter((path) => path !== 'docs/README.md' && !linked.includes(path))).toEqual([]);
});
