import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDevsh, type Devsh } from './devsh.ts';
import { startNetBox } from './netbox.ts';

type OwnDevsh = Devsh & { folder: string };

const hasAnsible = spawnSync('ansible-inventory', ['--version']).status === 0;

const inventoryOf = (devsh: OwnDevsh): Promise<string> =>
  readFile(join(devsh.folder, 'config/devsh/devices.yaml'), 'utf8');

async function fileIn(devsh: OwnDevsh, name: string, text: string): Promise<string> {
  const path = join(devsh.folder, name);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, text);
  return path;
}

const CSV = 'name,address,groups,user\nfw1,10.0.0.5,berlin core,admin\nfw2,10.0.0.6,,\n';

test('a CSV file is shown as a plan, asked about, written, and then there is nothing to do', async () => {
  const devsh = await makeDevsh();
  const file = await fileIn(devsh, 'hosts.csv', CSV);
  const asked = await devsh(['device', 'import', file, '--group', 'new'], { tty: ['2'] });
  expect(asked.stderr).toContain('Type 2 to do it:');
  expect(asked.stdout).toContain('address 10.0.0.5 · groups berlin, core, new · user admin');
  expect(asked.exitCode).toBe(0);
  expect(await inventoryOf(devsh)).toContain('groups: [berlin, core, new]');
  const again = await devsh(['device', 'import', file, '--yes']);
  expect(again).toMatchObject({ exitCode: 0, stdout: '' });
  expect(again.stderr).toContain('nothing to do: 2 devices are in the inventory');
});

test('a source without a usable device is reported', async () => {
  const devsh = await makeDevsh();
  const empty = await devsh('device import - --from csv', { stdin: 'name,address\n' });
  expect(empty.stderr).toContain('nothing to do: the source has no device\n');
  const bad = await devsh('device import -', { stdin: 'name,address\nfw1,999.1.1.1\n' });
  expect(bad.stderr).toContain('nothing to do: the source has no device that can be imported');
});

test('what has changed is shown with before and after; --dry-run and a no write nothing', async () => {
  const devsh = await makeDevsh();
  await devsh('device add fw1 10.0.0.9 --user root');
  const before = await inventoryOf(devsh);
  const dry = await devsh('device import - --dry-run --json', { stdin: CSV });
  expect(dry.exitCode).toBe(0);
  expect(JSON.parse(dry.stdout)).toMatchObject({
    import: [
      {
        name: 'fw1',
        action: 'change',
        changes: [
          { field: 'address', before: '10.0.0.9', after: '10.0.0.5' },
          { field: 'groups', before: null, after: ['berlin', 'core'] },
          { field: 'user', before: 'root', after: 'admin' },
        ],
      },
      { name: 'fw2', action: 'add' },
    ],
  });
  expect(await devsh('device import -', { stdin: CSV })).toMatchObject({ exitCode: 6 });
  const file = await fileIn(devsh, 'hosts.csv', CSV);
  expect(await devsh(['device', 'import', file], { tty: ['1'] })).toMatchObject({ exitCode: 6 });
  expect(await inventoryOf(devsh)).toBe(before);
});

test('rows that cannot be imported are reported with their lines, and the others are imported', async () => {
  const devsh = await makeDevsh();
  const stdin = 'name,address\nfw1,10.0.0.5\n\u001b[31mfw2,10.0.0.6\nfw3,10.0.0.5\n';
  const { stdout, stderr, exitCode } = await devsh('device import - --yes', { stdin });
  expect(stdout).toContain('standard input:3: its name must be');
  expect(stdout).toContain('standard input:4: its address is 10.0.0.5:443, and so has "fw1"');
  expect(stdout + stderr).not.toContain('\u001b');
  expect(stderr).toContain('2 devices are left out');
  expect(exitCode).toBe(3);
});

test('programs in another devices.yaml are named before they are imported', async () => {
  const devsh = await makeDevsh();
  const text = 'devices:\n  - name: a\n    address: b\n    credential_command: [./get]\n';
  const file = await fileIn(devsh, 'theirs/devices.yaml', text);
  const { stderr } = await devsh(['device', 'import', file, '--yes']);
  expect(stderr).toContain('credential_command of a: devsh will run a program for the login');
  expect(await inventoryOf(devsh)).toContain(
    `credential_command:\n      - ${devsh.folder}/theirs/get`,
  );
});

test('the hosts of ~/.ssh/config, with the files that it includes', async () => {
  const devsh = await makeDevsh();
  await fileIn(devsh, '.ssh/config', 'Include conf.d/*\nHost *\n  ProxyJump gate\n');
  await fileIn(devsh, '.ssh/conf.d/lab', 'Host fw1\n  HostName 10.0.0.5\n  Port 22\n');
  expect((await devsh('device import ~/.ssh/config --yes')).exitCode).toBe(0);
  expect(await inventoryOf(devsh)).toContain(
    '  - name: fw1\n    address: 10.0.0.5\n    jump: gate\n',
  );
});

test.each([
  ['device import nowhere.csv', 'the file does not exist'],
  ['device import .', 'is a folder: --from ansible reads it'],
  ['device import -', 'use --from csv|ssh|ansible|netbox|devices'],
  ['device import - --from cvs', 'there is no source "cvs"'],
  ['device import http://nb/ --yes', 'NetBox needs https://'],
  ['device import https://127.0.0.1:1/ --from csv', 'a URL is always NetBox'],
])('%s is refused', async (line, message) => {
  const devsh = await makeDevsh();
  const { stderr, exitCode } = await devsh(line, { stdin: 'what is this\n' });
  expect(stderr).toContain(message);
  expect(exitCode).toBe(2);
});

test('device list as JSON and CSV can be imported', async () => {
  const devsh = await makeDevsh();
  await devsh('device add fw1 10.0.0.5:8443 --group a --user admin --jump gate --read-only');
  for (const format of ['json', 'csv']) {
    const { stdout } = await devsh(`device list --format ${format}`);
    const other = await makeDevsh();
    expect((await other('device import - --yes', { stdin: stdout })).exitCode).toBe(0);
    expect(await inventoryOf(other)).toBe(await inventoryOf(devsh));
  }
});

test.skipIf(!hasAnsible)('ansible-inventory reads an inventory for us', async () => {
  const devsh = await makeDevsh({ PATH: process.env['PATH'] ?? '' });
  const ini = `[berlin]
fw1 ansible_host=10.0.0.5 ansible_user=admin ansible_password=geheim
fw2
[germany:children]
berlin
`;
  await fileIn(devsh, 'inventory/hosts', ini);
  const hint = await devsh(['device', 'import', join(devsh.folder, 'inventory/hosts')]);
  expect(hint.stderr).toContain('"--from ansible" runs ansible-inventory');
  const line = ['device', 'import', join(devsh.folder, 'inventory'), '--from', 'ansible', '--yes'];
  const { stderr, exitCode } = await devsh(line);
  expect(stderr).toContain('left out secrets: ansible_password');
  expect(exitCode).toBe(0);
  const text = await inventoryOf(devsh);
  expect(text).not.toContain('geheim');
  expect(text).toContain(
    '  - name: fw1\n    address: 10.0.0.5\n    groups: [berlin]\n    user: admin',
  );
  expect((await devsh('device list --json')).stdout).toContain('"groups":["berlin","germany"]');
  expect((await devsh(line)).stderr).toContain('nothing to do');
});

test.skipIf(!hasAnsible)(
  'Ansible takes device list --ansible for a dynamic inventory',
  async () => {
    const devsh = await makeDevsh();
    await devsh('device add fw1 10.0.0.5 --group berlin --user admin');
    await devsh('device add fw2 fw2.example:8443 --read-only');
    const { stdout } = await devsh('device list --ansible --list');
    // Prints the output of devsh, like a wrapper script.
    const script = `#!/bin/sh\ncat <<'END'\n${stdout}END\n`;
    const file = await fileIn(devsh, 'devsh-inventory', script);
    await chmod(file, 0o755);
    const env = { PATH: process.env['PATH'] ?? '', HOME: devsh.folder, LC_ALL: 'C.UTF-8' };
    const options = { env, encoding: 'utf8', cwd: devsh.folder } as const;
    const listed = JSON.parse(
      execFileSync('ansible-inventory', ['-i', file, '--list'], options),
    ) as {
      readonly _meta: { readonly hostvars: unknown };
      readonly berlin: unknown;
    };
    expect(listed.berlin).toEqual({ hosts: ['fw1'] });
    expect(listed._meta.hostvars).toMatchObject({
      fw1: { ansible_host: '10.0.0.5', ansible_user: 'admin' },
      fw2: { ansible_host: 'fw2.example', devsh_read_only: 'true' },
    });
    const host = await devsh('device list --ansible --host fw2');
    expect(JSON.parse(host.stdout)).toMatchObject({ devsh_address: 'fw2.example:8443' });
  },
);

const NETBOX = [
  { name: 'fw1', address: '10.0.0.5', site: 'berlin' },
  { name: 'fw2', address: '10.0.0.6', site: 'berlin' },
  { name: 'fw3', address: '10.0.0.7', site: 'berlin' },
  { name: 'old', address: '10.0.0.8', site: 'berlin', status: 'offline' },
  { name: 'far', address: '10.0.1.5', site: 'hamburg' },
  { name: 'no-address', site: 'berlin' },
];

test('NetBox: all pages with its token, active devices only, groups by site', async () => {
  const netbox = await startNetBox(NETBOX);
  const devsh = await makeDevsh({ NETBOX_TOKEN: 'nb-token', DEVSH_TOKEN: 'of-the-devices' });
  await devsh(['trust', 'accept', netbox.address, '--fingerprint', netbox.fingerprint]);
  const url = `https://${netbox.address}/dcim/devices/?site=berlin&limit=2`;
  const { stderr, exitCode } = await devsh(['device', 'import', url, '--yes']);
  expect(stderr).toContain('1 without a primary address: no-address');
  expect(exitCode).toBe(0);
  const text = await inventoryOf(devsh);
  expect(text).toContain('  - name: fw3\n    address: 10.0.0.7\n    groups: [site-berlin]\n');
  expect(text).not.toMatch(/old|far/);
  expect(netbox.log).toHaveLength(2);
  expect(new Set(netbox.log.map(({ authorization }) => authorization))).toEqual(
    new Set(['Token nb-token']),
  );
});

test('NetBox: an unknown certificate gets no request, and the login of the devices is never sent', async () => {
  const netbox = await startNetBox(NETBOX);
  const devsh = await makeDevsh({ DEVSH_TOKEN: 'of-the-devices' });
  const url = `https://${netbox.address}/`;
  expect((await devsh(['device', 'import', url, '--yes'])).exitCode).toBe(5);
  expect(netbox.log).toEqual([]);
  await devsh(['trust', 'accept', netbox.address, '--fingerprint', netbox.fingerprint]);
  const refused = await devsh(['device', 'import', url, '--yes']);
  expect(refused.exitCode).toBe(4);
  expect(refused.stderr).toContain('NETBOX_TOKEN');
  const piped = await devsh(['device', 'import', url, '--dry-run', '--token-stdin', '-q'], {
    stdin: 'nb-token\n',
  });
  expect(piped.exitCode).toBe(0);
  expect(netbox.log.map(({ authorization }) => authorization)).not.toContain(
    'Token of-the-devices',
  );
});

test.each([
  ['that leads elsewhere', () => 'https://x/api/users/tokens/?limit=1', 'at another path'],
  ['that leads back', () => '/api/dcim/devices/?status=active&limit=1', 'its pages do not end'],
])('NetBox: a next page %s is refused', async (_what, nextOf, message) => {
  const netbox = await startNetBox(NETBOX, { nextOf });
  const devsh = await makeDevsh({ NETBOX_TOKEN: 'nb-token' });
  const url = `https://${netbox.address}/api/dcim/devices/?status=active&limit=1`;
  const { stderr, exitCode } = await devsh(['device', 'import', url, '--yes', '--insecure']);
  expect(stderr).toContain(message);
  expect(exitCode).not.toBe(0);
});

test('NetBox: a v2 token is sent in its own scheme', async () => {
  const netbox = await startNetBox(NETBOX, { token: 'nbt_abc.def' });
  const devsh = await makeDevsh({ NETBOX_TOKEN: 'nbt_abc.def' });
  const line = ['device', 'import', `https://${netbox.address}`, '--dry-run', '--insecure'];
  expect((await devsh(line)).exitCode).toBe(0);
  expect(netbox.log[0]?.authorization).toBe('Bearer nbt_abc.def');
});
