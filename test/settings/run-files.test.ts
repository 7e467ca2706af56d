import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { RunFiles } from '../../src/settings/run-files.ts';
import { makeTempFolder } from './temp-folder.ts';

test('lines of many devices at once are whole, in order, and there when they are said to be', async () => {
  const files = new RunFiles(await makeTempFolder());
  const file = await files.create('20260101-120000-abc');
  const lines = Array.from({ length: 200 }, (_, index) => `{"line":${index}}\n`);
  await Promise.all(
    lines.map(async (line) => {
      await file.append(line);
      expect(await readFile(file.path, 'utf8')).toContain(line);
    }),
  );
  await file.close();
  expect(await readFile(file.path, 'utf8')).toBe(lines.join(''));
});

test('all who wait for the same lines hear that they could not be written', async () => {
  const files = new RunFiles(await makeTempFolder());
  const file = await files.create('20260101-120000-def');
  await file.close();
  const writing = await Promise.allSettled(['a\n', 'b\n', 'c\n'].map((line) => file.append(line)));
  expect(writing.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
});
