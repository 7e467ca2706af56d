import { chown, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CachedFile, GoodCopy, isSealed, seal } from '../../src/settings/cache.ts';
import { InventoryFile } from '../../src/settings/inventory-file.ts';
import { makeTempFolder } from './temp-folder.ts';

test('what was made of a file counts only for the same state of it', async () => {
  const copy = new CachedFile<readonly string[]>(await makeTempFolder(), 'devices');
  expect(await copy.read('one')).toBeUndefined();
  await copy.keep(['fw1'], 'one');
  expect(await copy.read('one')).toEqual(['fw1']);
  expect(await copy.read('two')).toBeUndefined();
});

test('a copy that is damaged, or of another version, is none', async () => {
  const folder = await makeTempFolder();
  const copy = new CachedFile<readonly string[]>(folder, 'devices');
  await copy.keep(['fw1'], 'one');
  const file = join(folder, 'devices.json');
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replace(/"version":"[^"]*"/, '"version":"0.0.0"'));
  expect(await copy.read('one')).toBeUndefined();
  await writeFile(file, text.slice(0, -10));
  expect(await copy.read('one')).toBeUndefined();
  await writeFile(file, text.replace('fw1', 'fw2'));
  expect(await copy.read('one')).toBeUndefined();
  await writeFile(file, 'null\n');
  expect(await copy.read('one')).toBeUndefined();
});

test.skipIf(process.getuid?.() !== 0)('a cache file of another user is ignored', async () => {
  const folder = await makeTempFolder();
  const copy = new CachedFile<readonly string[]>(folder, 'devices');
  await copy.keep(['fw1'], 'one');
  expect(await copy.read('one')).toEqual(['fw1']);
  await chown(join(folder, 'devices.json'), 65_534, 65_534);
  expect(await copy.read('one')).toBeUndefined();
});

test('an inventory is read anew when its file changes, whatever is in the cache', async () => {
  const folder = await makeTempFolder();
  const path = join(folder, 'devices.yaml');
  const open = (): InventoryFile =>
    new InventoryFile(
      path,
      new GoodCopy(`${path}.good`),
      () => undefined,
      new CachedFile(folder, 'd'),
    );
  await writeFile(path, 'devices:\n  - {name: fw1, address: 10.0.0.5, groups: [berlin]}\n');
  const parsed = await open().load();
  const kept = await open().load();
  expect(kept.devices).toEqual(parsed.devices);
  expect(kept.find('FW1')?.groups).toEqual(['berlin']);

  await writeFile(path, 'devices:\n  - {name: fw2, address: 10.0.0.6}\n');
  expect((await open().load()).devices.map(({ name }) => name)).toEqual(['fw2']);
  await writeFile(path, 'devices: [');
  await expect(open().load()).rejects.toThrow(path);
});

test('what was sealed is known again, also from a file', () => {
  const sealed = seal({ at: 'now', byResource: { user: { 1: 'a', __proto__: null } } });
  expect(isSealed(JSON.parse(JSON.stringify(sealed)))).toBe(true);
});

test.each([
  ['nothing', undefined],
  ['a text', 'sealed'],
  ['no seal', { at: 'now' }],
  ['another content', { ...seal({ at: 'now' }), at: 'then' }],
  ['more than was sealed', { ...seal({ at: 'now' }), more: 1 }],
  ['a seal that is no text', { at: 'now', seal: 1 }],
])('%s is not taken for sealed', (_what, data) => {
  expect(isSealed(data)).toBe(false);
});
