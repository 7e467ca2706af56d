import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const here = fileURLToPath(new URL('.', import.meta.url));

test('SECURITY.md promises what is tested here, word for word', async () => {
  const document = await readFile(new URL('../../SECURITY.md', import.meta.url), 'utf8');
  const promised = Array.from(document.matchAll(/^\d+\. \*\*(.+)\*\*$/gm), ([, text = '']) => text);
  const files = (await readdir(here)).filter((name) => name.endsWith('.test.ts'));
  const sources = await Promise.all(files.map((name) => readFile(`${here}${name}`, 'utf8')));
  // A promise begins with a capital or `devsh`, and ends with a full stop.
  const titles = sources.flatMap((source) =>
    Array.from(
      source.matchAll(/^(?:test|const PROMISE =)\W+((?:[A-Z]|devsh ).*\.)'[,;]/gm),
      ([, title = '']) => title,
    ),
  );
  expect(promised.length).toBeGreaterThanOrEqual(25);
  expect(titles.sort()).toEqual(promised.sort());
});
