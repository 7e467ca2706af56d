import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { NewFact } from '../../src/device/facts.ts';
import { takeLock } from '../../src/os/lock.ts';
import { ProfileFiles } from '../../src/settings/profile-files.ts';
import { makeTempFolder } from './temp-folder.ts';

function fact(resource: string): NewFact {
  const source = `GET /api/${resource}/`;
  return { fact: `resources.${resource}.summary`, value: true, why: undefined, source };
}

test('the first facts of a device need no lock, and later ones are added', async () => {
  const folder = await makeTempFolder();
  const profiles = new ProfileFiles(folder, join(folder, 'seen'));
  const file = join(folder, 'seen/fw1_443.json');
  await mkdir(join(folder, 'seen'));
  const release = await takeLock(file);
  await profiles.keep('fw1:443', [fact('user')]);
  expect(await profiles.seen('fw1:443')).toEqual({ 'resources.user.summary': true });

  await release();
  await profiles.keep('fw1:443', [fact('zone')]);
  expect(Object.keys(await profiles.seen('fw1:443'))).toEqual([
    'resources.user.summary',
    'resources.zone.summary',
  ]);
  expect(await readdir(join(folder, 'seen'))).toEqual(['fw1_443.json']);
});

test('no fact is lost if several devshes see a device for the first time at once', async () => {
  const folder = await makeTempFolder();
  const names = Array.from({ length: 12 }, (_, index) => `thing${index}`);
  const seen = () => new ProfileFiles(folder, join(folder, 'seen'));
  await Promise.all(names.map((name) => seen().keep('fw1:443', [fact(name)])));
  const facts = Object.keys(await seen().seen('fw1:443'));
  expect(facts.sort()).toEqual(names.map((name) => `resources.${name}.summary`).sort());
});
