import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Device } from '../../../src/device/device.ts';
import { parseJumpHost } from '../../../src/device/route/route.ts';
import type { ClientOptions } from '../../../src/device/client.ts';
import { deviceAt, listen, serve, type TestServer } from '../server.ts';

const SSHD = '/usr/sbin/sshd';
const CLIENT = join(import.meta.dirname, 'stand-in-ssh.js');

interface Jump {
  readonly folder: string;
  readonly by: (server: { port: number }, options?: Partial<ClientOptions>) => Device;
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'devsh-jump-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A program called `ssh`, first in PATH, that is `script`; `$FOLDER` is the test's own. */
async function withSsh(script: string, jump = 'bastion'): Promise<Jump> {
  const folder = await makeFolder();
  const program = join(folder, 'ssh');
  await writeFile(program, `#!/bin/sh\nFOLDER='${folder}'\n${script}\n`);
  await chmod(program, 0o755);
  const env = { PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}` };
  const route = { kind: 'jump', jump: parseJumpHost(jump), env } as const;
  return { folder, by: (server, options) => deviceAt(server, { route, ...options }) };
}

/** Notes its arguments and its process id, then does what `ssh -W` does. */
const STAND_IN = `printf '%s\\n' "$@" > "$FOLDER/argv"
echo $$ >> "$FOLDER/pids"
exec '${process.execPath}' '${CLIENT}' "$@"`;

function usersServer(): Promise<TestServer> {
  return serve((_request, response) => response.end('[{"uuid":"1","username":"bob"}]'));
}

async function noneRuns(folder: string): Promise<void> {
  const pids = (await readFile(join(folder, 'pids'), 'utf8')).trim().split('\n').map(Number);
  expect(pids.length).toBeGreaterThan(0);
  await vi.waitFor(() => {
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow();
  }, 10_000);
}

describe('ssh is called', () => {
  test.each([
    ['bastion', ['bastion']],
    ['admin@bastion:2222', ['-p', '2222', 'admin@bastion']],
    ['[2001:db8::1]', ['2001:db8::1']],
  ])('for %s without a shell, and its connection is used', async (jump, end) => {
    const server = await usersServer();
    const { by, folder } = await withSsh(STAND_IN, jump);
    const device = by(server);
    expect((await device.list('user')).records).toHaveLength(1);
    await device.write({ method: 'DELETE', path: '/api/user/1/' });
    expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'DELETE']);
    const argv = (await readFile(join(folder, 'argv'), 'utf8')).trim().split('\n');
    expect(argv).toEqual(['-W', `127.0.0.1:${server.port}`, '-o', 'BatchMode=yes', ...end]);
    await device.close();
    await noneRuns(folder);
  });

  test('and the pin is checked behind it', async () => {
    const server = await usersServer();
    const { by, folder } = await withSsh(STAND_IN);
    const trust = { kind: 'pinned', fingerprint: 'AB'.repeat(32), pinnedAt: '2026-01-02' } as const;
    await expect(by(server, { trust }).list('user')).rejects.toMatchObject({ reason: 'changed' });
    expect(server.requests).toEqual([]);
    await noneRuns(folder);
  });
});

test.each<[title: string, script: string, words: RegExp]>([
  [
    'says why',
    "printf 'admin@bastion: Permission denied (publickey).\\n' >&2; exit 255",
    /^UnreachableError: fw1: not reached through the jump host bastion: ssh ended \(exit status 255\): admin@bastion: Permission denied \(publickey\)\.\. Try "ssh bastion"$/,
  ],
  ['says nothing', 'exit 1', /ssh ended \(exit status 1\)\. Try/],
  ['says it in colour', "printf 'a\\033[31mb\\nc' >&2; exit 255", /: a \[31mb c\. Try/],
  ['says it without end', 'head -c 9000000 /dev/zero | tr "\\0" x >&2; exit 9', /: x{199}…\. Try/],
  ['ends well but too early', 'exit 0', /closed the connection before it was ready/],
  ['is killed', 'kill -9 $$', /ssh ended \(signal SIGKILL\)/],
  [
    'prints a greeting',
    "echo 'Welcome to bastion'; exec sleep 9",
    /no TLS with .* through the jump host bastion/,
  ],
])('an ssh that %s', async (_title, script, words) => {
  const server = await usersServer();
  const { by } = await withSsh(script);
  const error: unknown = await by(server)
    .list('user')
    .catch((failure: unknown) => failure);
  expect(error).toMatchObject({ code: 'unreachable', exitCode: 5, mayHaveArrived: false });
  expect(String(error)).toMatch(words);
  expect(server.requests).toEqual([]);
});

test('a missing ssh program is reported', async () => {
  const route = { kind: 'jump', jump: parseJumpHost('b'), env: { PATH: '/nowhere' } } as const;
  const device = deviceAt({ port: 443 }, { route });
  await expect(device.list('user')).rejects.toThrow(/the program "ssh" is not in PATH/);
});

test.each(['list', 'write'] as const)('an ssh that hangs is ended with the %s', async (what) => {
  const { by, folder } = await withSsh(
    'echo $$ >> "$FOLDER/pids"; trap "" TERM; sleep 60 & wait; wait',
  );
  const start = (device: Device, signal?: AbortSignal): Promise<unknown> =>
    what === 'list'
      ? device.list('user', signal)
      : device.write({ method: 'DELETE', path: '/api/user/1/' }, signal);
  const hanging = start(by({ port: 4 }, { connectTimeoutMs: 200 }));
  await expect(hanging).rejects.toMatchObject({
    mayHaveArrived: false,
    message: expect.stringContaining('through the jump host bastion in time') as string,
  });
  const stop = new AbortController();
  const device = by({ port: 4 });
  const cancelled = start(device, stop.signal);
  setImmediate(() => {
    stop.abort();
  });
  await expect(cancelled).rejects.toMatchObject({ code: 'cancelled' });
  await device.close();
  await noneRuns(folder);
});

test('an ssh that is lost during a write leaves its outcome unknown', async () => {
  const server = await serve(() => undefined);
  const { by, folder } = await withSsh(STAND_IN);
  const writing = by(server).write({ method: 'DELETE', path: '/api/user/1/' });
  void vi
    .waitFor(() => {
      expect(server.requests).toHaveLength(1);
    })
    .then(async () => {
      process.kill(Number(await readFile(join(folder, 'pids'), 'utf8')));
    });
  await expect(writing).rejects.toMatchObject({ code: 'unreachable', mayHaveArrived: true });
});

// As root, sshd wants a folder that only the system's own start makes.
const hasSshd = existsSync(SSHD) && (userInfo().uid !== 0 || existsSync('/run/sshd'));

describe.skipIf(!hasSshd)('through a real OpenSSH server', () => {
  test('a device is read and written, and no ssh process remains', async () => {
    const { folder, port } = await startSshd();
    const jump = await withSsh(
      `echo $$ >> "$FOLDER/pids"; exec /usr/bin/ssh -F '${folder}/ssh_config' "$@"`,
      `${userInfo().username}@127.0.0.1:${port}`,
    );
    const server = await usersServer();
    const device = jump.by(server);
    expect((await device.list('user')).records).toHaveLength(1);
    await device.write({ method: 'DELETE', path: '/api/user/1/' });
    expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'DELETE']);
    await device.close();
    await noneRuns(jump.folder);

    const closed = await listen(createServer((socket) => socket.destroy()));
    await expect(jump.by({ port: closed }).list('user')).rejects.toMatchObject({
      code: 'unreachable',
    });
  });

  test('errors of the server or ssh are reported', async () => {
    const { folder, port } = await startSshd();
    const by = async (options: string): Promise<Device> => {
      const script = `exec /usr/bin/ssh -F '${folder}/ssh_config' ${options} "$@"`;
      const jump = await withSsh(script, `${userInfo().username}@127.0.0.1:${port}`);
      return jump.by({ port: 1 });
    };
    await expect((await by('')).list('user')).rejects.toThrow(/Connection refused|open failed/i);
    await expect((await by('-o UserKnownHostsFile=/dev/null')).list('user')).rejects.toThrow(
      /Host key verification failed/,
    );
    await expect((await by('-o PubkeyAuthentication=no')).list('user')).rejects.toThrow(
      /Permission denied/,
    );
  });
});

/** sshd as this user on a free port, with keys and a client configuration of its own. */
async function startSshd(): Promise<{ folder: string; port: number }> {
  const folder = await makeFolder();
  for (const name of ['host_key', 'user_key']) {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, name)]);
  }
  const port = await freePort();
  const [userKey, hostKey] = await Promise.all(
    ['user_key.pub', 'host_key.pub'].map((name) => readFile(join(folder, name), 'utf8')),
  );
  await writeFile(join(folder, 'authorized_keys'), userKey ?? '', { mode: 0o600 });
  await writeFile(join(folder, 'known_hosts'), `[127.0.0.1]:${port} ${hostKey ?? ''}`);
  await writeFile(
    join(folder, 'sshd_config'),
    [
      `ListenAddress 127.0.0.1:${port}`,
      `HostKey "${folder}/host_key"`,
      `AuthorizedKeysFile "${folder}/authorized_keys"`,
      'PasswordAuthentication no',
      'KbdInteractiveAuthentication no',
      'StrictModes no',
      'UsePAM no',
      'PidFile none',
    ].join('\n'),
  );
  await writeFile(
    join(folder, 'ssh_config'),
    [
      'IdentitiesOnly yes',
      `IdentityFile "${folder}/user_key"`,
      `UserKnownHostsFile "${folder}/known_hosts"`,
      'GlobalKnownHostsFile /dev/null',
    ].join('\n'),
  );
  const server = spawn(SSHD, ['-D', '-e', '-f', join(folder, 'sshd_config')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => {
    server.kill();
  });
  let log = '';
  server.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  await vi.waitFor(() => {
    expect(log).toContain('Server listening');
  }, 10_000);
  return { folder, port };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
