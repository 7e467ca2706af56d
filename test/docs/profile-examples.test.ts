import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startSimulator, type SimulatedDevice } from '../../src/simulator/simulator.ts';
import type { QuirkName } from '../../src/simulator/dialects/dialect.ts';
import { ADMIN, know, makeDevsh, type Run, trust } from '../main/devsh.ts';
import { blocksOf } from './markdown.ts';
import { readPages } from './pages.ts';

/** The profile in the section of docs/profiles.md with this heading. */
function exampleUnder(heading: string): string {
  const page = readPages().find(({ path }) => path === 'docs/profiles.md')?.text ?? '';
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const [block] = blocksOf(section.split('\n## ')[0] ?? '');
  if (block?.language !== 'yaml') throw new Error(`no profile under "${heading}"`);
  return block.text;
}

/** A device with these quirks, and devsh with the profile of that section. */
async function start(heading: string, quirk: readonly QuirkName[]) {
  const simulator = await startSimulator({ users: 6, profile: 'generic-rest', quirk });
  onTestFinished(() => simulator.close());
  const [device] = simulator.devices;
  if (device === undefined) throw new Error('no device');
  const devsh = await makeDevsh(ADMIN);
  await mkdir(join(devsh.folder, 'config/devsh/profiles'), { recursive: true });
  await writeFile(join(devsh.folder, 'config/devsh/profiles/example.yaml'), exampleUnder(heading));
  await know(devsh, [device], { profile: 'example' });
  await trust(devsh, [device]);
  const write = (line: string): Promise<Run> => devsh(`${line} --on sim1 --yes`);
  return { device, devsh, write };
}

/** The writes since the last call, each in one line. */
function writesOf({ log }: SimulatedDevice, from = 0): string[] {
  return log
    .slice(from)
    .filter(({ method }) => method !== 'GET' && method !== 'OPTIONS')
    .map(({ method, path, body }) => `${method} ${path} ${body}`.trim());
}

test('What a field takes', async () => {
  const quirks: readonly QuirkName[] = ['hidden-fields', 'put-replaces', 'read-only-content'];
  const { device, write } = await start('What a field takes', quirks);
  const user = device.users.at(-1);
  const name = user?.username ?? '';
  for (const [field, reason] of [
    ['owner=mallory', 'owner: read-only'],
    ['username=other', 'username: can be set for a new record only'],
    ['lang=xx', 'lang: not one of de, en, fr'],
  ]) {
    const refused = await write(`user set ${name} ${field ?? ''}`);
    expect(refused.stdout + refused.stderr).toContain(reason);
  }
  expect(writesOf(device)).toEqual([]);

  const erased = await write(`user set ${name} lang=de`);
  expect(erased.stderr).toContain('would erase lastname, email');
  expect(erased.exitCode).toBe(6);

  const set = await write(`user set ${name} lang=de email=a@b.c lastname=Quaggamire`);
  expect(set.stdout).toContain(`set user ${name}: done`);
  expect(set.stdout).toContain('email cannot be read back');
  expect(set.stdout + set.stderr).not.toContain('Quaggamire');
  const [sent = ''] = writesOf(device);
  expect(sent).toContain('"lastname":"Quaggamire"');
  expect(sent).not.toMatch(/"owner"|"groups"/);
});
