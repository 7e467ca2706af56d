import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { COMMANDS } from '../../src/shell/commands/index.ts';
import { MAN_EXAMPLES, manPage } from '../../scripts/man-page.ts';
import { OPTIONS } from '../../src/shell/grammar/options.ts';
import { makeDevsh } from '../main/devsh.ts';

const hasMandoc = spawnSync('mandoc', ['-Tlint', '/dev/null']).error === undefined;

async function written(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'devsh-man-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'devsh.1');
  await writeFile(file, await manPage('1.2.3', '2026-11-21'));
  return file;
}

test.skipIf(!hasMandoc)('mandoc has nothing to say against the manual', async () => {
  const { stdout, stderr } = spawnSync('mandoc', ['-Tlint', await written()], { encoding: 'utf8' });
  expect(stdout + stderr).toBe('');
});

test.skipIf(!hasMandoc)('the manual shows each command and option as it is typed', async () => {
  const { stdout } = spawnSync('mandoc', ['-Tascii', '-O', 'width=120', await written()], {
    encoding: 'utf8',
  });
  // Bold and underlined letters are struck over.
  const shown = stdout.replace(/.\x08/gu, '');
  for (const { name } of COMMANDS) expect(shown).toMatch(new RegExp(`^ {7}${name}\\b`, 'm'));
  for (const { flag } of OPTIONS) expect(shown).toContain(`--${flag}`);
  for (const heading of [
    ...['NAME', 'SYNOPSIS', 'DESCRIPTION', 'COMMANDS', 'OPTIONS', 'SELECTORS', 'FILTERS', 'TRUST'],
    ...['EXIT STATUS', 'ENVIRONMENT', 'FILES', 'EXAMPLES', 'SEE ALSO'],
  ]) {
    expect(shown).toMatch(new RegExp(`^${heading}$`, 'm'));
  }
  for (const { line } of MAN_EXAMPLES) expect(shown).toContain(line);
  expect(shown).toContain('~/.config/devsh/devices.yaml');
});

test('the manual is ASCII, and no line of it is taken for a request', async () => {
  const text = await manPage('1.2.3', '2026-11-21');
  expect(text).toMatch(/^[\x20-\x7e\n]*$/);
  const requests = new Set(Array.from(text.matchAll(/^[.'](\w*)/gm), ([, name]) => name));
  expect([...requests].sort()).toEqual([
    ...['B', 'BR', 'IP', 'PP', 'SH', 'SS', 'TH', 'TP', 'br', 'fi', 'nf'],
  ]);
});

test('each example of the manual is understood', async () => {
  const devsh = await makeDevsh();
  for (const { line } of MAN_EXAMPLES) {
    const [program, ...words] = line.split(' ');
    expect(program).toBe('devsh');
    const { exitCode, stderr } = await devsh([...words, '--help']);
    expect({ line, exitCode, stderr }).toEqual({ line, exitCode: 0, stderr: '' });
  }
});

test('the build writes the manual, of this version', async () => {
  const text = await readFile(inject('cli').replace(/cli\.js$/, 'man/devsh.1'), 'utf8');
  const { version } = JSON.parse(
    await readFile(new URL('../../package.json', import.meta.url), 'utf8'),
  ) as { version: string };
  expect(text.split('\n')[0]).toMatch(/^\.TH DEVSH 1 "\d{4}-\d\d-\d\d" "devsh /);
  expect(text.split('\n')[0]).toContain(version);
});
