import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPages, ROOT } from './docs/pages.ts';
import { PARTS, withParts } from './docs/parts.ts';

test.each(Object.keys(PARTS))(
  '%s has the tables as the program knows them (npm run pages writes them)',
  async (page) => {
    const path = join(ROOT, page);
    await expect(withParts(page, await readFile(path, 'utf8'))).toMatchFileSnapshot(path);
  },
);

test('the README is the front door: short, the rest is in docs', async () => {
  const lines = (await readFile(join(ROOT, 'README.md'), 'utf8')).trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(120);
  expect(lines.filter((line) => line.length > 150)).toEqual([]);
});

test('each page of docs says first for whom it is', () => {
  const docs = readPages().filter(({ path }) => path.startsWith('docs/'));
  const others = docs.filter(({ text }) => !/^# .+\n\nFor .*[a-z]/.test(text));
  expect(others.map(({ path }) => path)).toEqual([]);
});

test('the contributing page gives the reason for each package that the program is made of, and for no other', async () => {
  const text = await readFile(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
  const source = join(ROOT, 'src');
  const files = (await readdir(source, { recursive: true })).filter((name) => /\.tsx?$/.test(name));
  const sources = await Promise.all(files.map((name) => readFile(join(source, name), 'utf8')));
  // `from 'undici/lib/…'`, `import('yaml')`, `const MODULE = '…'`: what belongs to Node or to devsh is no package.
  const imported = sources.flatMap((one) =>
    [...one.matchAll(/(?:from|import\(|MODULE =) ?'((?!node:)(?:@[\w.-]+\/)?[a-z][\w.-]*)/g)].map(
      ([, name = '']) => name,
    ),
  );
  const table = text.slice(text.indexOf('## Libraries\n'), text.indexOf('## Libraries that'));
  const explained = [...table.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, cell = '']) =>
    cell.split(', '),
  );
  const packages = [...new Set(imported)];
  expect(packages).toContain('undici');
  expect(packages.filter((name) => !explained.includes(name))).toEqual([]);
  const { devDependencies, optionalDependencies } = JSON.parse(
    await readFile(join(ROOT, 'package.json'), 'utf8'),
  ) as Record<'devDependencies' | 'optionalDependencies', object>;
  const named = explained.filter((name) => !['package', '---'].includes(name));
  expect(named.filter((name) => !packages.includes(name))).toEqual([]);
  expect(
    named.filter((name) => !(name in { ...devDependencies, ...optionalDependencies })),
  ).toEqual([]);
});
