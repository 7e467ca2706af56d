import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDevsh, startFleet, type Devsh } from './devsh.ts';

function fileOf({ folder }: Devsh & { folder: string }): string {
  return join(folder, 'config', 'devsh', 'settings.json');
}

async function withSettings(text: string): Promise<Devsh & { folder: string }> {
  const devsh = await makeDevsh();
  await mkdir(join(devsh.folder, 'config', 'devsh'), { recursive: true, mode: 0o700 });
  await writeFile(fileOf(devsh), text, { mode: 0o600 });
  return devsh;
}

test('a setting is set, read and removed again; what is not set is left alone', async () => {
  const devsh = await withSettings('{"historyDays":30}');
  const set = await devsh('config set timeoutMs 5000');
  expect(set).toMatchObject({ exitCode: 0, stdout: '' });
  expect(set.stderr).toContain('timeoutMs is now 5000');
  expect(JSON.parse(await readFile(fileOf(devsh), 'utf8'))).toEqual({
    historyDays: 30,
    timeoutMs: 5000,
  });
  expect((await stat(fileOf(devsh))).mode & 0o777).toBe(0o600);
  expect((await devsh('config get timeoutMs')).stdout).toBe('5000\n');
  expect(JSON.parse((await devsh('config get timeoutMs --json')).stdout)).toEqual({
    schema: 'devsh/1',
    value: 5000,
  });
  expect((await devsh('config list')).stdout).toContain(`timeoutMs\t5000\t${fileOf(devsh)}:3`);
  expect((await devsh('config unset timeoutMs')).exitCode).toBe(0);
  expect(JSON.parse(await readFile(fileOf(devsh), 'utf8'))).toEqual({ historyDays: 30 });
  const again = await devsh('config unset timeoutMs');
  expect(again).toMatchObject({ exitCode: 0 });
  expect(again.stderr).toContain('is not in');
});

test.each([
  ['on', '1234', '1234'],
  ['readOnly', 'true', true],
  ['columns', '{"drf/user":["username"]}', { 'drf/user': ['username'] }],
])('%s takes %s as its type', async (name, text, value) => {
  const devsh = await makeDevsh();
  expect((await devsh(['config', 'set', name, text])).exitCode).toBe(0);
  expect(JSON.parse(await readFile(fileOf(devsh), 'utf8'))).toEqual({ [name]: value });
});

test.each([
  ['config set theme lihgt', 'theme cannot be "lihgt": choose one of dark, light,', 'light'],
  ['config set timeoutMs soon', 'timeoutMs cannot be "soon"', undefined],
  ['config set timeoutMs 0', 'timeoutMs cannot be "0"', undefined],
  ['config set timeoutms 5', 'there is no setting "timeoutms"', 'timeoutMs'],
  ['config get them', 'there is no setting "them"', 'theme'],
  ['config set editing vi', 'no setting "editing"; the prompt has the keys of emacs', undefined],
  ['config set on https://admin:hunter2@10.0.0.5', 'devsh keeps no secrets in settings', undefined],
])('%s is refused, and nothing is written', async (line, message, suggestion) => {
  const devsh = await makeDevsh();
  const { stdout, exitCode } = await devsh(`${line} --json`);
  const { error } = JSON.parse(stdout) as { error: { message: string; suggestions?: string[] } };
  expect(error.message).toContain(message);
  expect(error.message).not.toContain('hunter2');
  expect(error.suggestions?.[0]).toBe(suggestion);
  expect(exitCode).toBe(2);
  await expect(stat(fileOf(devsh))).rejects.toThrow('ENOENT');
});

test('a value that another source overrides is kept with a warning', async () => {
  const devsh = await makeDevsh({ DEVSH_THEME: 'dark' });
  const { stderr, exitCode } = await devsh('config set theme light');
  expect(stderr).toContain('warning: here DEVSH_THEME sets theme and wins over your settings');
  expect(exitCode).toBe(0);
});

test('a damaged file is named and never overwritten', async () => {
  const devsh = await withSettings('{"theme": "dark"');
  for (const line of ['config set theme light', 'config unset theme']) {
    const { stderr, exitCode } = await devsh(line);
    expect(stderr).toContain(`${fileOf(devsh)} is not valid JSON`);
    expect(exitCode).toBe(1);
  }
  expect(await readFile(fileOf(devsh), 'utf8')).toBe('{"theme": "dark"');
});

test('a folder that cannot be written is a clear error', async () => {
  const devsh = await makeDevsh({ XDG_CONFIG_HOME: '/proc/nowhere' });
  const { stderr, exitCode } = await devsh('config set theme light');
  expect(stderr).toMatch(/^error: cannot create the folder \/proc\/nowhere/);
  expect(exitCode).toBe(1);
});

test('version is the version', async () => {
  const devsh = await makeDevsh();
  const { stdout } = await devsh('version');
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\S*\n$/);
  expect((await devsh('--version')).stdout).toBe(stdout);
  expect((await devsh('version --json')).stdout).toContain(`"version":"${stdout.trim()}"`);
});

test.each([
  ['timeoutMs', '5s', 'it is a whole number, in milliseconds, 1 to 3600000, as in 5000'],
  ['concurrency', '0', 'it is a whole number, 1 to 1000, as in 100'],
  ['historyDays', 'many', 'it is a whole number, 0 to 36500, as in 90'],
  ['bell', 'maybe', 'it is true or false'],
])('config set %s %s says what the setting accepts', async (name, value, text) => {
  const devsh = await makeDevsh();
  const { stderr, exitCode } = await devsh(['config', 'set', name, value]);
  expect(stderr).toContain(`${name} cannot be "${value}": ${text}`);
  expect(exitCode).toBe(2);
});

test('help is text, whatever format the settings choose for data; --json makes it JSON', async () => {
  const devsh = await makeDevsh();
  await devsh('config set format json');
  for (const line of ['--help', 'help', 'help user', 'user list --help']) {
    expect((await devsh(line)).stdout).not.toContain('"schema"');
  }
  expect((await devsh('help --json')).stdout).toContain('"schema"');
});

test('with the format json of the settings a mistake is text on a terminal, and JSON for a program', async () => {
  const { devsh } = await startFleet({ devices: 1 });
  await devsh('config set format json');
  for (const line of ['user lst', 'user list --nope', 'usr list', 'user set']) {
    const piped = await devsh(line);
    expect(JSON.parse(piped.stdout), line).toMatchObject({ error: { code: 'usage' } });
    expect(piped.stderr, line).toBe('');
    const typed = await devsh(line, { tty: [] });
    expect(typed.stdout, line).toBe('');
    expect(typed.stderr, line).toContain('error: ');
    const asked = await devsh(`${line} --json`, { tty: [] });
    expect(JSON.parse(asked.stdout), line).toMatchObject({ error: { code: 'usage' } });
    expect(piped.exitCode + typed.exitCode + asked.exitCode, line).toBe(6);
  }
  expect((await devsh('help nosuch')).stderr).toContain('error: ');
});
