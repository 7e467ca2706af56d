import { chown, lchown, mkdir, readdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDevsh, startFleet, type Devsh } from './devsh.ts';

async function projectIn(devsh: Devsh & { folder: string }, settings: object): Promise<string> {
  const cwd = join(devsh.folder, 'project');
  await mkdir(cwd, { recursive: true });
  await writeFile(join(cwd, '.devsh.json'), JSON.stringify(settings, null, 2));
  return cwd;
}

test('config list shows each value with its origin', async () => {
  const devsh = await makeDevsh({ DEVSH_CONCURRENCY: '4' });
  const cwd = await projectIn(devsh, { on: '@lab' });
  const { stdout } = await devsh('config list --timeout 3 --json', { cwd });
  const { config } = JSON.parse(stdout) as {
    config: { setting: string; value: string; origin: string }[];
  };
  const output = (name: string) => config.find(({ setting }) => setting === name);
  expect(output('timeoutMs')).toMatchObject({ value: '3000', origin: 'flag' });
  expect(output('concurrency')).toMatchObject({ value: '4', origin: 'DEVSH_CONCURRENCY' });
  expect(output('on')).toMatchObject({ value: '@lab', origin: `${cwd}/.devsh.json:2` });
  expect(output('bell')).toMatchObject({ value: 'true', origin: 'default' });
});

test('a password in a variable is not kept in the cache of settings', async () => {
  const devsh = await makeDevsh({ DEVSH_ON: 'admin:hunter2@10.0.0.1' });
  expect((await devsh('user list')).stderr).toContain('must not contain a user or password');
  expect((await devsh('config get on')).exitCode).toBe(0);
  const cache = await readdir(join(devsh.folder, 'cache', 'devsh')).catch(() => []);
  expect(cache).not.toContain('checked-settings.json');
});

test('a project may choose devices of the inventory and forbid writing, and says so', async () => {
  const { devsh, writes } = await startFleet({ devices: 2 });
  const cwd = await projectIn(devsh, { on: 'sim2', readOnly: true, format: 'jsonl' });
  const list = await devsh('user list', { cwd });
  expect(list.stdout).toContain('"device":"sim2"');
  expect(list.stdout).not.toContain('sim1');
  expect(list.stderr).toContain(`the devices are those of sim2, as ${cwd}/.devsh.json:2 says`);
  const write = await devsh('user delete viewer --yes', { cwd });
  expect(write.exitCode).toBe(6);
  expect(writes()).toEqual([]);
  expect((await devsh('user list --on sim1 --format csv', { cwd })).stdout).toContain('sim1,');
});

test('a project cannot send a login to a device outside of the inventory', async () => {
  const { devsh, device } = await startFleet({ devices: 1, isListed: false });
  const cwd = await projectIn(devsh, { on: device(1).address });
  const { stderr, exitCode } = await devsh('user list', { cwd });
  expect(stderr).toContain(
    'is not in the inventory, and devsh sends no login to an address from a file',
  );
  expect(exitCode).toBe(2);
  expect(device(1).log).toEqual([]);
  const own = await devsh('user list', { env: { DEVSH_ON: device(1).address } });
  expect(own.exitCode).toBe(0);
});

test('another inventory is used for this call, and each is compared with itself only', async () => {
  const devsh = await makeDevsh();
  const other = join(devsh.folder, 'other.yaml');
  await devsh('device add fw1 10.0.0.1');
  const added = await devsh('device add fw2 10.0.0.2', { env: { DEVSH_INVENTORY: other } });
  expect(added.stderr).not.toContain('less');
  const listed = await devsh('device list', { env: { DEVSH_INVENTORY: other } });
  expect(listed.stdout).toContain('fw2');
  expect(listed.stdout).not.toContain('fw1');
  const first = await devsh('device list');
  expect(first.stdout).toContain('fw1');
  expect(first.stderr).toBe('');
});

test.skipIf(process.getuid?.() !== 0)(
  'a file of another user is ignored with one warning (needs root to change its owner)',
  async () => {
    const { devsh } = await startFleet({ devices: 1 });
    const cwd = await projectIn(devsh, { on: 'nowhere' });
    await chown(join(cwd, '.devsh.json'), 4321, 4321);
    const { stderr, exitCode } = await devsh('user list --on sim1', { cwd });
    expect(exitCode).toBe(0);
    expect(stderr).toBe(
      `warning: ${cwd}/.devsh.json belongs to another user: devsh does not use it\n`,
    );
  },
);

test.skipIf(process.getuid?.() !== 0)(
  'a link of another user is ignored, too, wherever it leads (needs root to change its owner)',
  async () => {
    const { devsh } = await startFleet({ devices: 1 });
    const cwd = await projectIn(devsh, { on: 'nowhere' });
    const path = join(cwd, '.devsh.json');
    await rename(path, join(cwd, 'ours.json'));
    await symlink('ours.json', path);
    expect((await devsh('user list', { cwd })).stderr).toContain('nowhere');
    await lchown(path, 4321, 4321);
    const { stderr, exitCode } = await devsh('user list --on sim1', { cwd });
    expect(exitCode).toBe(0);
    expect(stderr).toBe(`warning: ${path} belongs to another user: devsh does not use it\n`);
  },
);
