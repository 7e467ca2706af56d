import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './pages.ts';

const [page = ''] = (await readFile(join(ROOT, 'docs/conventions.md'), 'utf8')).split(
  '## With other tools',
);

/** `| … | Y: --json | [title](../test/x.test.ts) |`: what devsh does, and the test that proves it. */
const rows = [...page.matchAll(/^\| ([^|]+) \| ([^|]+) \| ?([^|]*) \|$/gm)]
  .map(([, convention = '', devsh = '', proof = '']) => ({ convention, devsh, proof }))
  .filter(({ convention }) => convention !== 'convention');

test('both tables are read', () => {
  expect(rows.length).toBeGreaterThan(40);
});

test.each(rows)('$convention: a test proves it', async ({ devsh, proof }) => {
  if (devsh.startsWith('–')) return;
  const [, title = '', path = ''] = /^\[(.+)\]\(\.\.\/(test\/.+)\)$/.exec(proof) ?? [];
  expect(await readFile(join(ROOT, path), 'utf8')).toContain(title);
});
