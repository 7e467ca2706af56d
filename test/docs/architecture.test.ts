import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './pages.ts';

/** Each row of a table on the way from Enter to verdict: a file, and the names in it. */
async function rows(): Promise<{ file: string; names: string[] }[]> {
  const text = await readFile(join(ROOT, 'docs/architecture.md'), 'utf8');
  return [...text.matchAll(/^\| `(src\/[\w./-]+)` \| ([^|]+) \|/gm)].map(
    ([, file = '', names = '']) => ({ file, names: names.replaceAll('`', '').trim().split(', ') }),
  );
}

test('the way of a line leads through functions that there are', async () => {
  const way = (await rows()).filter(({ names }) => names.every((name) => /^\w+$/.test(name)));
  expect(way.length).toBeGreaterThan(30);
  for (const { file, names } of way) {
    const source = await readFile(join(ROOT, file), 'utf8');
    for (const name of names) {
      const isThere = new RegExp(
        `(?:class|function\\*?) ${name}\\b|^ {2}(?:async )?\\*?${name}[(<]|await ${name}\\(`,
        'm',
      );
      expect(source, `${name} in ${file}`).toMatch(isThere);
    }
  }
});

test('the rooms of the shell and the screen are all told', async () => {
  const text = await readFile(join(ROOT, 'docs/architecture.md'), 'utf8');
  const told = [...text.matchAll(/^\| `(src\/(?:shell|tui)\/\w+)` \|/gm)].map(
    ([, room = '']) => room,
  );
  const rooms = await Promise.all(
    ['src/shell', 'src/tui'].map(async (folder) => {
      const entries = await readdir(join(ROOT, folder), { withFileTypes: true });
      return entries.filter((one) => one.isDirectory()).map(({ name }) => `${folder}/${name}`);
    }),
  );
  expect(told.sort()).toEqual(rooms.flat().sort());
});
