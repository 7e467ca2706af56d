import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { askCommand, commandFor, handToCommand } from '../../src/credentials/program-source.ts';
import { CredentialError } from '../../src/errors.ts';
import { makeTempFolder } from '../settings/temp-folder.ts';
import { contention } from '../contention.ts';

const device = { name: 'fw1', address: '10.0.0.5:8443' };
const env = process.env;

/** A program in a language that every machine has. */
const sh = (script: string, ...args: string[]) => ['/bin/sh', '-c', script, 'sh', ...args];

test('host, port and device are filled in, inside words, too', () => {
  expect(commandFor(['get', '{device}', '--url=https://{host}:{port}/', '{user}'], device)).toEqual(
    ['get', 'fw1', '--url=https://10.0.0.5:8443/', '{user}'],
  );
});

test('a filled in value cannot become an option', () => {
  const hostile = { name: '-rf', address: '10.0.0.5:443' };
  expect(() => commandFor(['get', '{device}'], hostile)).toThrow(CredentialError);
  expect(commandFor(['get', '--name={device}'], hostile)).toEqual(['get', '--name=-rf']);
});

test('no shell reads the filled in values', async () => {
  const folder = await makeTempFolder();
  const hostile = { name: `$(touch ${folder}/pwned)\`id\`;x`, address: '10.0.0.5:443' };
  const argv = commandFor(
    [process.execPath, '-e', 'console.log("token=" + process.argv[1].length)', '{device}'],
    hostile,
  );
  expect(await askCommand(argv, { env })).toEqual({
    kind: 'token',
    user: undefined,
    secret: String(hostile.name.length),
  });
  await expect(readFile(join(folder, 'pwned'))).rejects.toThrow('ENOENT');
});

test('reads the login that the program prints', async () => {
  expect(await askCommand(sh('echo username=admin; echo password=pw'), { env })).toEqual({
    kind: 'basic',
    user: 'admin',
    secret: 'pw',
  });
});

test('the program gets none of the secrets of devsh', async () => {
  const script = 'env | grep -c DEVSH_ ; true';
  const secrets = { ...env, DEVSH_TOKEN: 'x', DEVSH_PASSWORD: 'y', devsh_user: 'z' };
  expect((await askCommand(sh(script), { env: secrets })).secret).toBe('0');
});

test.each<[string, string[], string]>([
  ['is not there', ['/nowhere/get-secret'], 'cannot be run: the program does not exist'],
  ['may not be run', ['/etc/passwd'], 'cannot be run: it is not executable'],
  ['fails', sh('echo no such entry >&2; exit 3'), 'ended with 3; it reports: no such entry'],
  ['dies', sh('kill -9 $$'), 'ended by a signal'],
  ['prints nothing', ['/bin/true'], 'prints no login'],
  ['prints a page', sh('echo one; echo two'), 'prints no login'],
  ['prints without end', sh('yes'), 'prints more than a login'],
  ['complains without end', sh('yes >&2'), 'prints more than a login'],
])('a program that %s is an error that says so', async (_title, argv, message) => {
  const attempt = askCommand(argv, { env });
  await expect(attempt).rejects.toThrow(CredentialError);
  await expect(attempt).rejects.toThrow(message);
});

test('the stderr of a failed program is shown escaped and without the secret', async () => {
  const script =
    "echo hunter2-secret; printf 'got hunter2-secret\\033]0;x\\007\\nmore' >&2; exit 1";
  await expect(askCommand(sh(script), { env })).rejects.toThrow(
    'it reports: got ***^[]0;x^G · more',
  );
});

test('the stderr of a program that succeeds is passed on without the secret', async () => {
  const remarks: string[] = [];
  const script = 'echo token=hunter2; echo "hunter2 expires soon" >&2';
  await askCommand(sh(script), { env, onRemark: (text) => remarks.push(text) });
  expect(remarks).toEqual(['credential_command "/bin/sh" reports: *** expires soon']);
});

test('a program that does not end is stopped with all that it has started', async () => {
  const folder = await makeTempFolder();
  const file = join(folder, 'pids');
  const script = `sleep 100 & echo $! > '${file}'; sleep 100`;
  const startedAt = performance.now();
  await expect(askCommand(sh(script), { env, limitMs: 500 })).rejects.toThrow(
    'did not end within 0.5 s',
  );
  expect(performance.now() - startedAt).toBeLessThan(3_000 * contention());
  const pid = Number(await readFile(file, 'utf8'));
  await vi.waitUntil(async () => {
    // A killed process stays until its new parent has looked; it runs no more.
    const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z');
    return status.includes(') Z');
  }, 10_000);
});

test('a process that a program leaves behind does not delay the login', async () => {
  const startedAt = performance.now();
  expect((await askCommand(sh('sleep 5 & echo abc'), { env })).secret).toBe('abc');
  expect(performance.now() - startedAt).toBeLessThan(3_000 * contention());
});

test('Ctrl-C stops it', async () => {
  const stop = new AbortController();
  const attempt = askCommand(sh('sleep 100'), { env, signal: stop.signal });
  stop.abort();
  await expect(attempt).rejects.toThrow('was stopped');
});

const login = { kind: 'basic', user: 'admin', secret: 'new "one" ä' } as const;

test('a store command gets the login on standard input, and nothing of it elsewhere', async () => {
  const folder = await makeTempFolder();
  const file = join(folder, 'got');
  const argv = sh('cat > "$1"; { env; cat /proc/self/cmdline; } >> "$1.env"', file);
  await handToCommand(argv, login, { env });
  expect(await readFile(file, 'utf8')).toBe('username=admin\npassword=new "one" ä\n');
  expect(await readFile(`${file}.env`, 'utf8')).not.toContain('new "one"');
  await handToCommand(argv, { kind: 'token', user: 'admin', secret: 'abc' }, { env });
  expect(await readFile(file, 'utf8')).toBe('username=admin\ntoken=abc\n');
});

test('a store command that fails is an error without the secret', async () => {
  const attempt = handToCommand(sh('read name; read line; echo "no: $line" >&2; exit 4'), login, {
    env,
  });
  await expect(attempt).rejects.toThrow(CredentialError);
  await expect(attempt).rejects.toThrow('credential_store_command "/bin/sh" ended with 4');
  await expect(attempt).rejects.not.toThrow(/one/);
});
