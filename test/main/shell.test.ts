import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { main } from '../../src/main.ts';
import { makeDevsh, startFleet, usernames, writesOf } from './devsh.ts';

test('lines piped into connect run one after the other, on the same connections', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  const { stdout, exitCode } = await devsh('connect sim1 sim2', {
    stdin: 'use sim2\nuser add username=zoe --yes\nuser list zoe --columns username\n',
  });
  expect(stdout).toMatch(/✓ zoe {2}added .* sim2$/m);
  expect(stdout).toContain('sim2\tzoe');
  expect(usernames(device(1))).not.toContain('zoe');
  expect(exitCode).toBe(0);
});

test('quit ends a piped shell, and so does the first line that fails, with its exit code', async () => {
  const { devsh } = await startFleet();
  const quit = await devsh('connect sim1', { stdin: 'quit\nuser list\n' });
  expect(quit.stdout).not.toContain('USERNAME');
  expect((await devsh('connect sim1', { stdin: 'user list\nnope\n' })).exitCode).toBe(2);
  const failed = await devsh('connect sim1', { stdin: 'nope\nuser list\n' });
  expect(failed.exitCode).toBe(2);
  expect(failed.stdout).not.toContain('USERNAME');
});

test('a write behind a selection that failed in a pipe goes to no device', async () => {
  const { devsh, writes } = await startFleet();
  const stdin = 'connect @lab\nuse sim9\nuser set viewer lang=fr --yes\n';
  const { stderr, exitCode } = await devsh([], { stdin });
  expect(stderr).toContain('not among the connected devices');
  expect(exitCode).toBe(2);
  expect(writes()).toEqual([]);
});

test('devsh alone reads lines from a pipe, too', async () => {
  const { devsh } = await startFleet();
  const { stdout, exitCode } = await devsh([], {
    stdin: '# a comment\n\nuser list viewer --on sim1 --columns username\n',
  });
  expect(stdout).toBe('DEVICE\tUSERNAME\nsim1\tviewer\n');
  expect(exitCode).toBe(0);
});

test('at a plain prompt lines are typed, questions asked, and the table comes first', async () => {
  const { devsh, device } = await startFleet();
  const { stdout, stderr, exitCode } = await devsh('connect sim1 --plain', {
    tty: ['user add username=zoe', 'y', 'user delete zoe', 'n', 'quit'],
    env: { NO_COLOR: '1' },
  });
  expect(stdout).toMatch(/^admin +Ada .* sim1$/m);
  expect(stderr).toContain('devsh sim1> ');
  expect(stdout).toContain('zoe  added');
  expect(stderr).toContain('you did not confirm');
  expect(usernames(device(1))).toContain('zoe');
  expect(exitCode).toBe(0);
});

test('--read-only of connect holds for the whole session', async () => {
  const { devsh, writes } = await startFleet();
  const { exitCode } = await devsh('connect sim1 --read-only', {
    stdin: 'user add username=zoe --yes\n',
  });
  expect(exitCode).toBe(6);
  expect(writes()).toEqual([]);
});

test('the shell opens even if one device is down', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  device(1).setFault('refuse');
  const { stdout, stderr } = await devsh('connect sim1 sim2', { stdin: 'devices\n' });
  expect(stderr).toMatch(/^✗ sim1: /m);
  expect(stdout).toContain('sim2');
});

test('run FILE stops at the first line that fails, and names it', async () => {
  const { devsh, device } = await startFleet();
  const file = join(devsh.folder, 'change.devsh');
  await writeFile(
    file,
    '# change\nuser add username=a --on sim1\nuser set nobody lang=de --on sim1\nuser add username=b --on sim1\n',
  );
  const { stderr, exitCode } = await devsh(['run', file, '--yes']);
  expect(stderr).toContain(`${file}:3: `);
  expect(exitCode).toBe(1);
  expect(usernames(device(1))).toContain('a');
  expect(usernames(device(1))).not.toContain('b');
});

test('run without --yes ends with 6 at the first write', async () => {
  const { devsh, writes } = await startFleet();
  const { exitCode } = await devsh('run - --on sim1', { stdin: 'user add username=a\n' });
  expect(exitCode).toBe(6);
  expect(writes()).toEqual([]);
});

test('run --dry-run holds for every line', async () => {
  const { devsh, writes } = await startFleet();
  const { exitCode, stdout } = await devsh('run - --on sim1 --dry-run', {
    stdin: 'user add username=a\nuser delete viewer\n',
  });
  expect(stdout).toContain('add user a on sim1');
  expect(stdout).toContain('delete user viewer on sim1');
  expect(exitCode).toBe(0);
  expect(writes()).toEqual([]);
});

test('run of a file that is not there is a usage error', async () => {
  const devsh = await makeDevsh();
  const { stderr, exitCode } = await devsh('run /nowhere/x.devsh');
  expect(stderr).toContain('the file does not exist');
  expect(exitCode).toBe(2);
});

test('an open quote in a script names line and column', async () => {
  const devsh = await makeDevsh();
  const { stderr, exitCode } = await devsh('run -', { stdin: 'help\nuser list "open\n' });
  expect(stderr).toContain('-:2:11: the quote " is not closed');
  expect(exitCode).toBe(2);
});

test('the demo without a terminal is a tour that ends well and leaves nothing behind', async () => {
  const devsh = await makeDevsh();
  const { stdout, exitCode } = await devsh('demo');
  for (const word of ['connected', 'USERNAME', 'carol  added', 'carol  deleted']) {
    expect(stdout).toContain(word);
  }
  expect(exitCode).toBe(0);
  const { stdout: pins } = await devsh('trust list');
  expect(pins.trimEnd().split('\n')).toHaveLength(1);
});

test('get, post and delete speak the raw API', async () => {
  const { devsh, device } = await startFleet();
  const got = await devsh('get /api/user/ --on sim1 --raw');
  expect(JSON.parse(got.stdout)).toEqual(device(1).users);
  const form = ['uuid=null', 'first_name=Zoe', 'lastname=Z', 'username=zoe', 'lang=de'];
  const posted = await devsh(['post', '/api/user/', ...form, '--on', 'sim1', '--yes']);
  expect(posted.exitCode).toBe(0);
  const zoe = device(1).users.find(({ username }) => username === 'zoe');
  const deleted = await devsh(`delete /api/user/${zoe?.uuid ?? ''}/ --on sim1 --yes`);
  expect(deleted.exitCode).toBe(0);
  expect(usernames(device(1))).not.toContain('zoe');
});

test.each([
  '/',
  '/api/',
  '/api/user/',
  '/api/user',
  '/api//user/',
  '/api/user/x/..',
  '/api/user/?a=b',
])('a raw delete of %s never leaves', async (path) => {
  const { devsh, device } = await startFleet();
  const { exitCode } = await devsh([
    'delete',
    path,
    '--on',
    'sim1',
    '--yes',
    '--allow=own-account=admin,protected',
  ]);
  expect(exitCode).toBe(6);
  expect(writesOf(device(1))).toEqual([]);
});

test('a raw write without confirmation is refused', async () => {
  const { devsh, writes } = await startFleet();
  expect((await devsh('post /api/user/ username=x --on sim1')).exitCode).toBe(6);
  expect(writes()).toEqual([]);
});

test('targets need no inventory, and ranges, groups and exclusions combine', async () => {
  const { devsh, devices } = await startFleet({ devices: 3 });
  const names = async (selector: string): Promise<string[]> => {
    const { stdout } = await devsh(['user', 'list', 'admin', '--on', selector, '--json']);
    const document = JSON.parse(stdout) as { devices: { device: string }[] };
    return document.devices.map(({ device }) => device);
  };
  const port = devices[0]?.port ?? 0;
  expect(await names('@lab !sim2')).toEqual(['sim1', 'sim3']);
  expect(await names('sim3,sim1')).toEqual(['sim3', 'sim1']);
  expect(await names('sim[1-2]')).toEqual(['sim1', 'sim2']);
  expect(await names('sim*')).toEqual(['sim1', 'sim2', 'sim3']);
  expect(await names(`127.0.0.[2-3]:${port}`)).toHaveLength(2);
});

test('the inventory keeps comments, and refuses a name twice', async () => {
  const devsh = await makeDevsh();
  await devsh('device add fw1 10.0.0.5 --group berlin');
  const twice = await devsh('device add fw1 10.0.0.6');
  expect(twice.exitCode).not.toBe(0);
  expect(twice.stderr).toContain('fw1');
  await devsh('device remove fw1');
  expect((await devsh('device list --json')).stdout).toContain('"inventory":[]');
  expect((await devsh('device remove fw1')).exitCode).not.toBe(0);
});

test.each(['use', 'disconnect'])(
  '%s of an address that is not connected is a mistake',
  async (word) => {
    const { devsh, device } = await startFleet({ devices: 2 });
    const alone = await devsh(`${word} 10.9.9.9`);
    expect(alone.stderr).toContain('no device is connected: use "connect 10.9.9.9"');
    expect(alone.exitCode).toBe(2);
    const other = await devsh('connect sim1 --plain', { stdin: `${word} ${device(2).address}\n` });
    expect(other.stderr).toContain('not among the connected devices (sim1)');
    expect(other.exitCode).toBe(2);
    const mixed = await devsh('connect sim1 --plain', { stdin: `${word} sim1 10.9.9.9:8443\n` });
    expect(mixed.exitCode).toBe(2);
    const range = `127.0.0.[1-3]:${device(1).address.split(':')[1] ?? ''}`;
    const wide = await devsh('connect sim1 --plain', { stdin: `${word} ${range}\n` });
    expect(wide.stderr).toMatch(/(using|disconnected from) sim1\n/);
    expect(wide.exitCode).toBe(0);
  },
);

test('a line for some devices names the others with the record', async () => {
  const { devsh, devices, device } = await startFleet({ devices: 4, users: 2 });
  for (const one of devices) one.putUser({ username: 'bob', lang: 'de' });
  device(4).removeUser('bob');
  const { stderr } = await devsh('connect @lab', {
    stdin: 'user set bob lang=it --on sim2 --yes\nuser set bob lang=es --on sim1 --yes\n',
  });
  expect(stderr).toContain(
    'user bob also exists on sim1, sim3 (the line without --on includes them)',
  );
  expect(stderr).toContain('user bob also exists on sim2, sim3 (the line without --on');
  const all = await devsh('connect @lab', { stdin: 'user set bob lang=ja --yes\n' });
  expect(all.stderr).not.toContain('also exists on');
});

test('a bug says where to report it, with what, and where it is in the code', async () => {
  const stderr = new PassThrough();
  const env = new Proxy(
    {},
    {
      get() {
        throw new TypeError('odd');
      },
    },
  );
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const exitCode = await main({
    argv: ['info'],
    env,
    stdin,
    stdout,
    stderr,
    onStop: () => () => undefined,
  });
  expect(exitCode).toBe(70);
  expect(String(stderr.read())).toMatch(
    /^devsh: this is a bug. Please report it at .+, with "devsh doctor --json" and these lines:\nTypeError: odd\n +at /,
  );
});
