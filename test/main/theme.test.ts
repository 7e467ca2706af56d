import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDevsh } from './devsh.ts';

test('a theme is kept in the settings, listed as set, and reset', async () => {
  const devsh = await makeDevsh();
  expect((await devsh('theme')).stdout).toMatch(/^auto\tyes\t/m);
  const { stderr, exitCode } = await devsh('theme light');
  expect(stderr).toContain('theme light, kept for the next sessions');
  expect(exitCode).toBe(0);
  const settings = join(devsh.folder, 'config', 'devsh', 'settings.json');
  expect(JSON.parse(await readFile(settings, 'utf8'))).toEqual({ theme: 'light' });
  expect((await devsh('theme')).stdout).toMatch(/^light\tyes\t256 colours on a light background$/m);
  await devsh('theme auto');
  expect(JSON.parse(await readFile(settings, 'utf8'))).toEqual({});
});

test('a misspelt name is refused with a suggestion', async () => {
  const devsh = await makeDevsh();
  const { stderr, exitCode } = await devsh('theme ligth');
  expect(stderr).toContain('there is no theme "ligth"; the themes are dark, light');
  expect(stderr).toContain('light');
  expect(exitCode).toBe(2);
});
