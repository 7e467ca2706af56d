import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FIRST_STEPS } from '../../src/shell/help/first-run.ts';
import { makeDevsh, type Devsh } from './devsh.ts';

type OwnDevsh = Devsh & { folder: string };

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

test('the file that the first screen names is of a kind that can be imported', async () => {
  const devsh = await makeDevsh();
  const line = FIRST_STEPS.map((step) => step.line).find((one) => one.startsWith('device import '));
  const file = await fileIn(devsh, line?.split(/[ /]/).at(-1) ?? '', CSV);
  expect(await devsh(['device', 'import', file, '--dry-run'])).toMatchObject({ exitCode: 0 });
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

test.each([
  ['device import nowhere.csv', 'the file does not exist'],
  ['device import .', 'is a folder'],
  ['device import -', 'use --from csv|ansible|devices'],
  ['device import - --from ansible', 'ansible-inventory -i FILE --list'],
  ['device import - --from cvs', '"cvs" is not one of'],
  ['device import https://nb/ --yes', 'from a file or "-"'],
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
