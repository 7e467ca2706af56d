import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SimulatedDevice } from '../simulator/simulator.ts';
import { startFleet } from './devsh.ts';

/** All that devsh keeps of what it read. */
async function readings(folder: string): Promise<string> {
  const path = join(folder, 'state/devsh/readings');
  const names = (await readdir(path)).filter((name) => name.endsWith('.jsonl'));
  return (await Promise.all(names.map((name) => readFile(join(path, name), 'utf8')))).join('');
}

/** Gives the user `viewer` these fields. */
function put(device: SimulatedDevice, fields: Readonly<Record<string, unknown>>): void {
  const viewer = device.users.find(({ username }) => username === 'viewer');
  const user = { ...viewer, ...fields, username: 'viewer' };
  device.putUser(user);
}

test('a device that repeats the login as the name of a field: the name is shown, kept and restored', async () => {
  const name = `w${randomBytes(4).toString('hex')}`;
  const { devsh, device } = await startFleet({
    ...{ devices: 1, users: 3, profile: 'generic-rest', passwords: [name] },
    env: { DEVSH_USER: 'admin', DEVSH_PASSWORD: name },
  });
  put(device(1), { [name]: true, deep: { [name]: true, note: name } });
  await devsh('user list --on @lab');
  const then = new Date().toISOString();
  put(device(1), { [name]: false, deep: { [name]: false, note: name } });
  await devsh('user list --on @lab');

  const { stdout } = await devsh('changes viewer --on @lab');
  expect(stdout).toContain(`${name} true → false`);
  const plan = await devsh(`user restore viewer --at ${then} --on @lab --dry-run`);
  expect(plan.stdout + plan.stderr).toContain(name);
  expect(plan.stdout + plan.stderr).not.toMatch(/\*\*\* |•••/);
  await devsh(`user restore viewer --at ${then} --on @lab --yes`);
  const sent = device(1).log.findLast(({ method }) => method !== 'GET');
  expect(JSON.stringify(sent)).toContain(name);
  expect(JSON.stringify(sent)).not.toContain('***');
  // As a value it stays hidden.
  expect(await readings(devsh.folder)).not.toContain(`:"${name}"`);
});

test('a setting keeps only values of keys, harmless fields and fields that a profile calls public', async () => {
  const { devsh, device } = await startFleet({ devices: 1, users: 3, profile: 'generic-rest' });
  await devsh('config set historyValues harmless');
  const set = await devsh(['profile', 'set', 'sim1', 'extends=generic-rest', 'fields.public=site']);
  expect(set.exitCode).toBe(0);
  // So long that none of them is in a digest by chance.
  const hidden = (n: number) => ({
    vlan: 70_000_000_000 + n,
    unit: `unit-of-${n}`,
    own: `own-of-${n}`,
  });
  const change = (n: number): void => {
    const { vlan, unit, own } = hidden(n);
    const fields = { lang: `l${n}x`, site: `s${n}x`, vlan, rack: { unit } };
    put(device(1), { ...fields, [`field-${n}`]: own });
  };
  change(1);
  await devsh('user list --on @lab');
  change(2);
  await devsh('user list --on @lab');
  const { stdout } = await devsh('changes viewer --on @lab');
  expect(stdout).toContain('lang l1x → l2x');
  expect(stdout).toContain('site s1x → s2x');
  for (const field of ['vlan', 'rack', 'field-2']) expect(stdout).toContain(field);
  const kept = await readings(devsh.folder);
  expect(kept).toContain('viewer');
  for (const value of [1, 2].flatMap((n) => Object.values(hidden(n))))
    expect(kept).not.toContain(String(value));
});
