import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { serve } from '../device/server.ts';
import { ADMIN, makeDevsh, startFleet, type Run } from './devsh.ts';

interface Check {
  readonly area: string;
  readonly what: string;
  readonly state: string;
  readonly detail: string;
}

function checksOf({ stdout }: Run): (area: string, what: string) => Check | undefined {
  const { checks } = JSON.parse(stdout) as { checks: readonly Check[] };
  return (area, what) => checks.find((check) => check.area === area && check.what === what);
}

test('a machine without any set-up is healthy', async () => {
  const devsh = await makeDevsh({ LANG: 'C.UTF-8' });
  const run = await devsh('doctor --json');
  expect(run.exitCode).toBe(0);
  const check = checksOf(run);
  expect(check('machine', 'node')?.state).toBe('ok');
  expect(check('files', 'inventory')?.state).toBe('not used');
  expect(check('credentials', 'keychain')?.state).not.toBe('failed');
});

test('one GET checks the connection, trust and login of a device, and shows no secret', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  const run = await devsh('doctor @lab --json', {
    env: { HTTPS_PROXY: 'http://joe:proxy-secret@127.0.0.1:1' },
  });
  expect(run.exitCode, run.stderr).toBe(0);
  const check = checksOf(run);
  expect(check('sim1', 'certificate')?.detail).toContain('pinned since');
  expect(check('sim1', 'login')?.detail).toBe('as admin');
  expect(check('sim2', 'clock')?.detail).toMatch(/^agrees within \d/);
  expect(check('machine', 'proxy')?.detail).toContain('127.0.0.1:1');
  expect(run.stdout + run.stderr).not.toMatch(/proxy-secret|admin-secret/);
  expect(device(1).log.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /api/']);
});

test('the findings of a device stay together, whichever responds first', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  device(1).setFault('503-once', 1);
  const run = await devsh('doctor @lab');
  expect(run.stdout.match(/^sim\d\t\w+/gm)).toEqual(
    ['sim1', 'sim2'].flatMap((name) =>
      ['answers', 'certificate', 'login', 'clock'].map((what) => `${name}\t${what}`),
    ),
  );
});

test('problems of a device are reported and decide the exit status', async () => {
  const { devsh, device } = await startFleet({ devices: 3 });
  device(1).setFault('refuse');
  device(2).setFault('certificate-change');
  const run = await devsh('doctor @lab --json');
  expect(run.exitCode).toBe(3);
  const check = checksOf(run);
  expect(check('sim1', 'answers')?.detail).toContain('refuses the connection');
  expect(check('sim2', 'answers')?.detail).toContain('CERTIFICATE HAS CHANGED');
  expect(check('sim3', 'login')?.state).toBe('ok');
});

test('a refused login is reported differently from a device that is down', async () => {
  const { devsh } = await startFleet();
  const run = await devsh('doctor sim1 --json', { env: { ...ADMIN, DEVSH_PASSWORD: 'wrong' } });
  const check = checksOf(run);
  expect(check('sim1', 'answers')).toBeUndefined();
  expect(check('sim1', 'login')).toMatchObject({ state: 'failed' });
  expect(run.exitCode).toBe(4);
});

test('a wrong clock is reported with its direction', async () => {
  const server = await serve((_request, response) => {
    response.setHeader('date', new Date(Date.now() - 3 * 3_600_000).toUTCString());
    response.setHeader('content-type', 'application/json').end('{}');
  });
  const devsh = await makeDevsh(ADMIN);
  const run = await devsh(`doctor 127.0.0.1:${server.port} --insecure --json`);
  const check = checksOf(run);
  expect(check(`127.0.0.1:${server.port}`, 'clock')).toMatchObject({
    state: 'warning',
    detail: expect.stringMatching(/^0[23]:[05][09]:\d\d\.\d behind \(± \d(\.\d)? s\)$/) as string,
  });
  expect(check(`127.0.0.1:${server.port}`, 'certificate')?.detail).toBe('NOT CHECKED');
});

test('damaged files and those that others can read are named', async () => {
  const { devsh } = await startFleet();
  const inventory = join(devsh.folder, 'config/devsh/devices.yaml');
  const pins = join(devsh.folder, 'data/devsh/known-devices');
  await writeFile(inventory, (await readFile(inventory, 'utf8')) + 'nonsense: [');
  await chmod(pins, 0o644);
  const run = await devsh('doctor --json');
  const check = checksOf(run);
  expect(check('files', 'inventory')).toMatchObject({ state: 'failed' });
  expect(check('files', 'inventory')?.detail).toContain('device restore');
  expect(check('files', 'pins')?.detail).toContain('can be read by others (mode 0644)');
  expect(run.exitCode).toBe(1);
});

test('a key of an alias that the screen would refuse is named by doctor', async () => {
  const devsh = await makeDevsh({ LANG: 'C.UTF-8' });
  const folder = join(devsh.folder, 'config/devsh');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const write = (key: string): Promise<void> => {
    const mine = { run: 'user list', place: 'table', key };
    const text = JSON.stringify({ aliases: { mine } });
    return writeFile(join(folder, 'settings.json'), text, { mode: 0o600 });
  };

  await write('y');
  const broken = await devsh('doctor --json');
  expect(broken.exitCode).not.toBe(0);
  expect(checksOf(broken)('files', 'settings')).toMatchObject({ state: 'failed' });
  expect(checksOf(broken)('files', 'settings')?.detail).toMatch(/the key y is both/);

  await write('ctrl-y');
  const right = await devsh('doctor --json');
  expect(right.exitCode).toBe(0);
  expect(checksOf(right)('files', 'settings')?.state).toBe('ok');
});
