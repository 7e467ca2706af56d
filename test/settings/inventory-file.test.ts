import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SettingsError, UsageError } from '../../src/errors.ts';
import { InventoryFile } from '../../src/settings/inventory-file.ts';
import { makeTempFolder } from './temp-folder.ts';

test('adds and removes devices in a file that need not exist', async () => {
  const file = new InventoryFile(join(await makeTempFolder(), 'devsh', 'devices.yaml'));
  expect((await file.load()).devices).toEqual([]);
  await Promise.all([
    file.add({ name: 'fw1', address: '10.0.0.5', groups: ['berlin'] }),
    file.add({ name: 'fw2', address: '10.0.0.6', groups: [] }),
  ]);
  await file.remove('fw2');
  expect((await file.load()).devices).toEqual([
    { name: 'fw1', address: '10.0.0.5', groups: ['berlin'] },
  ]);
  await expect(file.remove('fw2')).rejects.toThrow(UsageError);
});

test('a file that cannot be understood is named, and kept', async () => {
  const path = join(await makeTempFolder(), 'devices.yaml');
  await writeFile(path, 'devices:\n  - nam: fw1\n');
  const file = new InventoryFile(path);
  await expect(file.load()).rejects.toThrow(`${path}:2:5: unknown key "nam", did you mean "name"?`);
  await expect(file.add({ name: 'x', address: 'y', groups: [] })).rejects.toThrow(SettingsError);
  expect(await readFile(path, 'utf8')).toBe('devices:\n  - nam: fw1\n');
});
