import { expect, test } from 'vitest';
import { ADMIN, know, makeDevsh, startFleet, trust } from './devsh.ts';

interface UsageDocument {
  readonly error: {
    readonly code: string;
    readonly column?: number;
    readonly suggestions?: string[];
  };
}

test.each([
  ['usr list', 0, ['user list --json', 'use list --json']],
  ['user lst', 5, ['user list --json']],
  ['user list --colums x', 10, ['--columns']],
  ['user list --format jsn', 19, ['json']],
  ['user add username', 9, undefined],
  ['user add username=a username=b', 20, undefined],
  ['user list --fold=yes', 10, undefined],
  ['user list --on', 15, undefined],
  ['user show a b', 12, undefined],
  ['user list --yes', 10, undefined],
  ['-x', 0, undefined],
  // After the last word, --json.
  ['user set bob', 20, undefined],
  ['user set', 16, undefined],
  ['device add fw1', 22, undefined],
  ['user list --timeout soon', 20, undefined],
  ['user list --timeout 0x10', 20, undefined],
  ['user list --concurrency 1e2', 24, undefined],
  ['user list --timeout -1', 20, undefined],
  ['user list --concurrency 1.5', 24, undefined],
  // It contacts no device.
  ['device add fw1 10.0.0.5 --timeout 5', 24, undefined],
  // A wrong value is marked, also in the word of its option; an option that does not belong here is marked itself.
  ['user list --concurrency=abc', 24, undefined],
  ['user list --format=jsn', 19, ['json']],
  ['user list --columns=', 20, undefined],
  ['user list --watch=abc', 18, undefined],
  ['user list --at abc', 15, undefined],
  ['changes --since 3h --until=abc', 27, undefined],
  ['changes --since nosuchrun', 16, undefined],
  ['changes --since 2h --until 3h', 16, undefined],
  ['user list bob --filter lang~[', 23, undefined],
  ['user delete --on 10.0.0.5 --where lang~[', 34, undefined],
  ['user set bob lang=de --allow=los --yes', 29, ['loss']],
  ['report -ojson', 9, ['report --format json --json']],
  ['user list --limit abc', 10, undefined],
  ['user list --since 2d', 10, undefined],
  ['user list --where lang=de', 10, ['user list --filter lang=de --json']],
  ['user set bob lang=de --force', 21, undefined],
  ['device add fw1 http://10.0.0.5', 15, undefined],
  ['device add fw1 10.0.0.5:99999', 15, undefined],
  ['get api/user/', 4, undefined],
  ['user show ', 10, undefined],
  ['user set  lang=de', 9, undefined],
  ['user delete bob ', 16, undefined],
  ['user list --columns ,', 20, undefined],
])('"%s" is wrong at column %i', async (line, column, suggestions) => {
  const devsh = await makeDevsh();
  const { stdout, exitCode } = await devsh([...line.split(' '), '--json']);
  const { error } = JSON.parse(stdout) as UsageDocument;
  expect(exitCode).toBe(2);
  expect(error.code).toBe('usage');
  expect(error.column).toBe(column);
  if (suggestions !== undefined) expect(error.suggestions).toEqual(suggestions);
});

test.each([
  ['user list --on nope', 15],
  ['user list --on sim[', 15],
  ['user list --on 10.0.0.0/8', 15],
  ['user list --on http://10.0.0.5', 15],
])('"%s" points at the selector', async (line, column) => {
  const { devsh } = await startFleet();
  const { stdout, exitCode } = await devsh([...line.split(' '), '--json']);
  expect(exitCode).toBe(2);
  expect((JSON.parse(stdout) as UsageDocument).error.column).toBe(column);
});

test('a mistyped device is suggested', async () => {
  const { devsh } = await startFleet({ devices: 2 });
  const { stderr, exitCode } = await devsh('user list --on smi1');
  expect(stderr).toContain("did you mean 'sim1'");
  expect(exitCode).toBe(2);
});

test('text says what may have been meant', async () => {
  const devsh = await makeDevsh();
  const { stdout, stderr, exitCode } = await devsh('user sett bob lang=de');
  expect(stderr).toMatchInlineSnapshot(`
    "error: user has no verb "sett"; it has list, show, add, set, delete, changes, restore; to search for it: user list sett
      user sett bob lang=de
           ^
      did you mean 'user set bob lang=de'?
    "
  `);
  expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 });
});

test('-- ends options', async () => {
  const { devsh, device } = await startFleet();
  device(1).putUser({ username: '--yes' });
  const { stdout } = await devsh('user list --on sim1 --json -- --yes');
  expect(JSON.parse(stdout)).toMatchObject({ devices: [{ records: [{ username: '--yes' }] }] });
});

test('options may stand anywhere, with a blank or an equals sign', async () => {
  const { devsh } = await startFleet();
  const wanted = await devsh('user list --on sim1 --json');
  for (const line of ['--json user list --on=sim1', 'user --on sim1 --format=json list']) {
    expect(await devsh(line)).toEqual(wanted);
  }
});

test.each(['', 'help', '--help', '-h', 'help user', 'user --help', 'help user add', 'user add -h'])(
  '"%s" explains on stdout and ends with 0',
  async (line) => {
    const devsh = await makeDevsh();
    const { stdout, stderr, exitCode } = await devsh(line === '' ? ['help'] : line);
    expect(stdout).toContain('user');
    expect(stderr).toBe('');
    expect(exitCode).toBe(0);
  },
);

test('a very long word is not repeated at length', async () => {
  const devsh = await makeDevsh();
  const { stderr, exitCode } = await devsh(['x'.repeat(300_000)]);
  expect(stderr.length).toBeLessThan(500);
  expect(exitCode).toBe(2);
});

test('the version is one line', async () => {
  const devsh = await makeDevsh();
  for (const line of ['-V', '--version']) {
    expect((await devsh(line)).stdout).toMatch(/^\d+\.\d+\.\d+\S*\n$/);
  }
});

test('the name of a device is no longer than a host name', async () => {
  const devsh = await makeDevsh();
  const { stderr, exitCode } = await devsh(['device', 'add', 'x'.repeat(70_000), '10.0.0.9']);
  expect(stderr).toContain('name must be no longer than 253 characters');
  expect(stderr.length).toBeLessThan(1000);
  expect(exitCode).toBe(2);
});

test('a word that looks like a command is a resource where one GET to one device shows it', async () => {
  const { devsh, devices, device, writes } = await startFleet({ devices: 2, profile: 'drf' });
  const gets = (): string[] => devices.flatMap(({ log }) => log.map(({ path }) => path));
  const typo = await devsh('usr add username=bob --on @lab --yes');
  expect(typo.stderr).toContain('there is no command "usr"; "help all" lists them');
  expect(typo.exitCode).toBe(2);
  expect(gets()).toEqual(['/api/usr/']);
  expect(writes()).toEqual([]);
  expect((await devsh('usr list')).exitCode).toBe(2);
  const before = gets().length;
  const bare = await devsh('interface --on sim1 --profile drf');
  expect(bare.exitCode).toBe(0);
  expect(bare.stdout).toContain('wan');
  expect(gets().slice(before)[0]).toBe('/api/interface/');
  expect(device(1).log.length).toBeGreaterThan(0);
});

test('a word whose list has no records is an empty resource, not a failed device', async () => {
  const { devsh, devices, device } = await startFleet({ devices: 1, profile: 'drf' });
  const line = 'interface delete --where name~. --on sim1 --yes --allow protected --allow loss';
  const emptied = await devsh(line);
  expect(device(1).records('interface'), emptied.stderr).toEqual([]);
  // Another home: nothing is known of the device.
  const other = await makeDevsh(ADMIN);
  await know(other, devices, { profile: 'drf' });
  await trust(other, devices);
  const { stdout, stderr, exitCode } = await other('interface --on sim1 --json');
  expect(JSON.parse(stdout), stderr).toMatchObject({
    devices: [{ device: 'sim1', ok: true, records: [] }],
  });
  expect(exitCode).toBe(0);
});

test('resource NAME reaches what is called like a command, and refuses what is no name', async () => {
  const { devsh, device } = await startFleet();
  const { exitCode } = await devsh('resource run list --on sim1');
  expect(device(1).log.map(({ path }) => path)).toContain('/api/run/');
  expect(exitCode).toBe(1);
  expect((await devsh('resource user list --on sim1')).stdout).toContain('viewer');
  expect((await devsh('resource ../x list --on sim1')).exitCode).toBe(2);
  expect((await devsh('resource')).stderr).toContain('resource needs NAME');
});
