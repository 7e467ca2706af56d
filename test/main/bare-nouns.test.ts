import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startFleet } from './devsh.ts';

test('a resource name alone is a command if a device has the resource, and later without a device', async () => {
  const { devsh } = await startFleet({ profile: 'drf' });
  const nowhere = await devsh('interface');
  expect(nowhere.stderr).toContain('there is no command "interface"');
  expect(nowhere.exitCode).toBe(2);
  expect((await devsh('interface --on sim1')).stdout).toContain('eth0');
  await devsh('learn --on sim1');
  const { stdout, exitCode } = await devsh('interface --on sim1');
  expect(stdout).toContain('eth0');
  expect(exitCode).toBe(0);
  expect((await devsh('system --on sim1 --json')).stdout).toContain('"hostname"');
  expect((await devsh('zzz --on sim1')).exitCode).toBe(2);
});

test('a resource in a profile of the user is a command, too; a damaged profile does not matter', async () => {
  const { devsh } = await startFleet({ devices: 1 });
  const folder = join(devsh.folder, 'config', 'devsh', 'profiles');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'damaged.yaml'), 'resources: [zone\n');
  await writeFile(join(folder, 'mine.yaml'), 'resources: {zone: {key_field: name}}\n');
  const { stderr } = await devsh('zone --on sim1 --profile mine');
  expect(stderr).not.toContain('no command');
  expect((await devsh('zonk --on sim1')).stderr).toContain('no command');
});
