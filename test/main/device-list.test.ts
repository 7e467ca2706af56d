import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Devsh, makeDevsh, startFleet } from './devsh.ts';

type Row = Readonly<Record<string, unknown>>;

async function rowsOf(devsh: Devsh, line: string): Promise<readonly Row[]> {
  const { stdout } = await devsh(`${line} --json`);
  return (JSON.parse(stdout) as { inventory: Row[] }).inventory;
}

test('one table has the inventory and what devsh knows of each device, and asks none', async () => {
  const { devsh, devices } = await startFleet({ devices: 2, isPinned: false });
  await devsh(
    'device add fw9 10.0.0.9 --group edge --user op --ca lab.pem --jump gate --read-only',
  );
  await devsh('device add fw8 10.0.0.8 --insecure');
  await devsh(`trust accept sim1 --fingerprint ${devices[0]?.fingerprint ?? ''}`);
  await devsh('user list --on sim1');
  const before = devices.map(({ log }) => log.length);
  expect(await rowsOf(devsh, 'devices')).toEqual(await rowsOf(devsh, 'device list'));
  expect(await rowsOf(devsh, 'devices')).toMatchObject([
    {
      name: 'sim1',
      state: 'not connected',
      trust: 'pinned',
      last_read: expect.stringMatching(/^20\d\d-/) as string,
    },
    { name: 'sim2', state: 'not connected', trust: 'none', last_read: null },
    {
      ...{ name: 'fw9', groups: ['edge'], trust: 'CA lab.pem', account: 'op' },
      ...{ route: 'jump host gate', options: ['read-only'], read_only: 'true' },
    },
    { name: 'fw8', trust: 'NOT CHECKED', account: null, options: ['insecure'] },
  ]);
  expect(devices.map(({ log }) => log.length)).toEqual(before);
});

test('columns that are empty everywhere are left out', async () => {
  const devsh = await makeDevsh();
  await devsh('device add fw1 10.0.0.5');
  const { stdout } = await devsh('device list');
  expect(stdout.split('\n')[0]).toBe('NAME\tADDRESS\tGROUPS\tSTATE\tTRUST\tLAST READ');
  const narrow = await devsh('device list', { tty: [], columns: 80 });
  expect(narrow.stdout).not.toContain('no room');
});

test('--on asks its devices and shows only these', async () => {
  const { devsh, device } = await startFleet({ devices: 3 });
  device(3).setFault('refuse');
  const rows = await rowsOf(devsh, 'devices --on sim3,sim1');
  expect(rows).toMatchObject([
    { name: 'sim3', state: 'unreachable', users: null, last_read: null },
    { name: 'sim1', state: 'connected', users: 8, account: 'admin', groups: ['lab'] },
  ]);
  expect(rows[0]?.['reason']).toMatch(/^refuses the connection/);
  expect((await devsh('devices --on sim1,sim3')).exitCode).toBe(3);
});

test('at a prompt a few connected devices of many come first, and those that are not in the inventory', async () => {
  const { devsh, device } = await startFleet({ devices: 3 });
  for (const name of ['fw1', 'fw2', 'fw3'])
    await devsh(`device add ${name} 10.0.0.${name.slice(2)}`);
  await devsh('device remove sim3');
  const namesAt = async (targets: string): Promise<string[]> => {
    const stdin = 'devices --format jsonl\n';
    const { stdout } = await devsh(`connect ${targets} --plain`, { stdin });
    const lines = stdout.split('\n').filter((line) => line.startsWith('{'));
    return lines.map((line) => String((JSON.parse(line) as Row)['name']));
  };
  expect(await namesAt('sim2')).toEqual(['sim2', 'sim1', 'fw1', 'fw2', 'fw3']);
  const { address } = device(3);
  expect(await namesAt(`sim2 ${address}`)).toEqual(['sim2', address, 'sim1', 'fw1', 'fw2', 'fw3']);
  expect(await namesAt(`sim2 sim1 ${address}`)).toEqual([
    ...['sim1', 'sim2', 'fw1', 'fw2', 'fw3', address],
  ]);
});

test('of damaged pins the list says so, and shows the rest', async () => {
  const { devsh } = await startFleet({ devices: 1 });
  await appendFile(join(devsh.folder, 'data/devsh/known-devices'), 'damaged\n');
  const { stdout, stderr, exitCode } = await devsh('device list');
  expect(stdout).toMatch(/^sim1\t\S+\tlab\tnot connected\t\t/m);
  expect(stderr).toContain('not a pin');
  expect(exitCode).not.toBe(0);
});

test('JSON and CSV of devices that were asked can be imported, too', async () => {
  const { devsh } = await startFleet({ devices: 2 });
  const file = 'config/devsh/devices.yaml';
  for (const format of ['json', 'csv']) {
    const { stdout } = await devsh(`devices --on @lab --format ${format}`);
    const other = await makeDevsh();
    await writeFile(join(other.folder, 'list'), stdout);
    const { stderr, exitCode } = await other(`device import ${join(other.folder, 'list')} --yes`);
    expect(stderr).not.toContain('state');
    expect(exitCode).toBe(0);
    expect(await readFile(join(other.folder, file), 'utf8')).toContain('name: sim2\n');
    expect(await rowsOf(other, 'device list')).toMatchObject(
      (await rowsOf(devsh, 'device list')).map(({ name, address, groups, user }) => ({
        ...{ name, address, groups, user },
      })),
    );
  }
});

test('device add NAME --group puts a device of the inventory into another group', async () => {
  const { devsh } = await startFleet({ devices: 1 });
  const { stderr, exitCode } = await devsh('device add sim1 --group berlin');
  expect(stderr).toContain('added sim1 to @berlin');
  expect(exitCode).toBe(0);
  const { stdout } = await devsh('device list --json');
  expect(stdout).toContain('"lab"');
  expect((await devsh('user list --on @berlin')).exitCode).toBe(0);
  expect((await devsh('user list --on @lab')).exitCode).toBe(0);
  for (const line of ['device add fw9 --group berlin', 'device add sim1 --group x --user a']) {
    expect((await devsh(line)).stderr).toContain('device add needs ADDRESS');
  }
});

test('a group is the same with and without its @, as other lines write it', async () => {
  const devsh = await makeDevsh();
  await devsh('device add fw1 127.0.0.2:1');
  await devsh('device add fw1 --group @muc');
  const wrong = await devsh('device add fw1 --group muc,berlin');
  expect(wrong.stderr).toContain('groups must be letters');
  expect(wrong.exitCode).toBe(2);
  const { stdout } = await devsh('device list --format csv');
  expect(stdout).toMatch(/^fw1,.*muc/m);
});

test('what stays of a removed device is removed by its address', async () => {
  const { devsh, device } = await startFleet({ devices: 1 });
  const { address } = device(1);
  const { stderr } = await devsh('device remove sim1');
  expect(stderr).toContain(`"trust forget ${address}" and "logout ${address}" remove them`);
  expect((await devsh(`trust forget ${address}`)).exitCode).toBe(0);
});
