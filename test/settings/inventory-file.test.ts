import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SettingsError, UsageError } from '../../src/errors.ts';
import type { InventoryDevice } from '../../src/fleet/inventory.ts';
import { InventoryFile } from '../../src/settings/inventory-file.ts';
import { GoodCopy } from '../../src/settings/cache.ts';
import { makeTempFolder } from './temp-folder.ts';

function openInventory(path: string, notices: string[] = []): InventoryFile {
  return new InventoryFile(path, new GoodCopy(`${path}.good`), (text) => notices.push(text));
}

function add(file: InventoryFile, device: InventoryDevice): Promise<void> {
  return file.edit((document) => document.addDevice(device));
}

test('adds and removes devices in a file that need not exist', async () => {
  const file = openInventory(join(await makeTempFolder(), 'devsh', 'devices.yaml'));
  expect((await file.load()).devices).toEqual([]);
  await Promise.all([
    add(file, { name: 'fw1', address: '10.0.0.5', groups: ['berlin'] }),
    add(file, { name: 'fw2', address: '10.0.0.6', groups: [] }),
  ]);
  await file.edit((document) => document.removeDevice('fw2'));
  expect((await file.load()).devices).toEqual([
    { name: 'fw1', address: '10.0.0.5', groups: ['berlin'] },
  ]);
  await expect(file.edit((document) => document.removeDevice('fw2'))).rejects.toThrow(UsageError);
});

test('a file that cannot be understood is named, and kept', async () => {
  const path = join(await makeTempFolder(), 'devices.yaml');
  await writeFile(path, 'devices:\n  - nam: fw1\n');
  const file = openInventory(path);
  await expect(file.load()).rejects.toThrow(`${path}:2:5: unknown key "nam", did you mean "name"?`);
  await expect(add(file, { name: 'x', address: 'y', groups: [] })).rejects.toThrow(SettingsError);
  expect(await readFile(path, 'utf8')).toBe('devices:\n  - nam: fw1\n');
});

test('a damaged file is brought back as it was last understood, and kept aside', async () => {
  const path = join(await makeTempFolder(), 'devices.yaml');
  const text = 'devices:\n  - name: fw1 # mine\n    address: 10.0.0.5\n';
  await writeFile(path, text);
  const file = openInventory(path);
  await file.load();
  await writeFile(path, text.slice(0, -8) + '\0');
  await expect(file.load()).rejects.toThrow('"device restore" restores');
  const { devices, aside } = await file.restore(new Date());
  expect(devices).toBe(1);
  expect(await readFile(path, 'utf8')).toBe(text);
  expect(await readFile(aside ?? '', 'utf8')).toBe(text.slice(0, -8) + '\0');
});

test('an inventory that is not damaged is not replaced', async () => {
  const path = join(await makeTempFolder(), 'devices.yaml');
  const file = openInventory(path);
  await add(file, { name: 'fw1', address: '10.0.0.5', groups: [] });
  const mine = `${await readFile(path, 'utf8')}  - {name: fw2, address: 10.0.0.6}\n`;
  await writeFile(path, mine);
  await expect(file.restore(new Date())).rejects.toThrow(
    `${path} is not damaged, it lists 2 devices: nothing to restore`,
  );
  expect(await readFile(path, 'utf8')).toBe(mine);
  await rm(path);
  expect((await file.restore(new Date())).devices).toBe(1);
});

test('devices that are gone from the file, or moved, are reported once, and the older text is kept', async () => {
  const path = join(await makeTempFolder(), 'devices.yaml');
  const device = (number: number) => `  - name: fw${number}\n    address: 10.0.0.${number}\n`;
  const text = `devices:\n${device(1)}${device(2)}${device(3)}`;
  await writeFile(path, text);
  const notices: string[] = [];
  const file = openInventory(path, notices);
  await file.load();
  await writeFile(path, `devices:\n${device(1)}${device(2).replace('10.0.0.2', '10.0.0.4')}`);
  expect((await file.load()).devices).toHaveLength(2);
  expect((await file.load()).devices).toHaveLength(2);
  expect(notices).toEqual([
    `${path} lists 1 device fewer (fw3) and has another address for 1 device (fw2) than when devsh last read it; ${path}.good.older has that text`,
  ]);
  expect(await readFile(`${path}.good.older`, 'utf8')).toBe(text);
});

test('a device that was added or removed by a command is no loss', async () => {
  const notices: string[] = [];
  const file = openInventory(join(await makeTempFolder(), 'devices.yaml'), notices);
  await add(file, { name: 'fw1', address: '10.0.0.5', groups: [] });
  await add(file, { name: 'fw2', address: '10.0.0.6', groups: [] });
  await file.load();
  await file.edit((document) => document.removeDevice('fw2'));
  await file.load();
  expect(notices).toEqual([]);
});
