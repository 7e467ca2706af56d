import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDevsh, startFleet, usernames } from './devsh.ts';

test('all lines are parsed before the first one runs', async () => {
  const { devsh, writes } = await startFleet({ devices: 1 });
  const stdin = 'user add username=a --yes\n\nuser list \\\n  --colums lang\n';
  const { stderr, exitCode } = await devsh('run - --on sim1', { stdin });
  expect(stderr).toContain('-:4:3: there is no option --colums');
  expect(stderr).toContain("did you mean '--columns'?");
  expect(exitCode).toBe(2);
  expect(writes()).toEqual([]);
});

test.each([
  ['user show "open', '-:1:11: the quote " is not closed'],
  ['user show \\', '-:1:11: a backslash with nothing after it'],
  ['user show ${KEY}', '-:1:11: ${KEY} has no value: add KEY=… after the file, set DEVSH_VAR_KEY'],
  ['user show ${KEY', '-:1:11: the variable is not closed'],
  ['user show ${a b}', '-:1:11: "${a b}" is not a variable'],
  ['usr list', '-:1:1: there is no command "usr"'],
  ['info\nrun other', '-:2:1: a script cannot run another script'],
])('%j is refused with its place', async (stdin, text) => {
  const devsh = await makeDevsh();
  const { stderr, exitCode } = await devsh('run -', { stdin });
  expect(stderr).toContain(text);
  expect(exitCode).toBe(2);
});

test.each([
  ['run - lang', '"lang" is not NAME=VALUE'],
  ['run - A=1 A=2', 'A is given twice'],
  ['run - USRE=bob', 'the script has no ${USRE}'],
  ['run - USER=x', '"$USER" is no variable: write ${USER}', 'user list ${USER}\nuser show $USER'],
])('devsh %s is refused', async (line, text, stdin = 'user list ${USER:-x}\n') => {
  const devsh = await makeDevsh();
  const { stderr, exitCode } = await devsh(line, { stdin });
  expect(stderr).toContain(text);
  expect(exitCode).toBe(2);
});

test.each([
  'user set bob "${password}" --yes',
  'user "${password}" --yes',
  'get /${password} --on nobody',
])('a value that is called a password is in no error and no dry run: %s', async (line) => {
  const { devsh } = await startFleet({ devices: 1 });
  const options = { stdin: `${line}\n`, env: { DEVSH_VAR_password: 'hush-hush' } };
  for (const rest of ['', ' --dry-run', ' --json']) {
    const { stdout, stderr } = await devsh(`run - --on sim1${rest}`, options);
    expect(stdout + stderr).not.toContain('hush-hush');
  }
});

test('variables come from behind the file, then from the environment, then from the script', async () => {
  const { devsh, device } = await startFleet({ devices: 1 });
  const stdin = 'user add username=${USER} first_name="${FIRST} X" lang=${LANG:-de}\n';
  const env = { DEVSH_VAR_USER: 'not-this', DEVSH_VAR_FIRST: 'Zoe; user delete admin' };
  const { exitCode } = await devsh('run - USER=zoe --on sim1 --yes', { stdin, env });
  expect(exitCode).toBe(0);
  const zoe = device(1).users.find(({ username }) => username === 'zoe');
  expect(zoe).toMatchObject({ first_name: 'Zoe; user delete admin X', lang: 'de' });
});

test('a value is never an option, nor more than one word', async () => {
  const { devsh, device, writes } = await startFleet({ devices: 1 });
  const run = (value: string) =>
    devsh(['run', '-', `KEY=${value}`, '--on', 'sim1', '--yes'], { stdin: 'user delete ${KEY}\n' });
  for (const value of [
    '--where=lang~.',
    '--allow=own-account=admin',
    '-y',
    '--',
    'viewer admin',
    'x" admin "',
  ]) {
    const { stdout, exitCode } = await run(value);
    expect(stdout).toContain('was ever read on 1 device');
    expect(exitCode).toBe(1);
  }
  expect(writes()).toEqual([]);
  await run('viewer');
  expect(usernames(device(1))).not.toContain('viewer');
});

test('--keep-going runs the lines after one that failed, and ends with 3', async () => {
  const { devsh, device } = await startFleet({ devices: 1 });
  const stdin = 'user set nobody lang=de\nuser add username=zoe\nuser set nobody lang=fr\n';
  const { stderr, exitCode } = await devsh('run - --on sim1 --yes --keep-going', { stdin });
  expect(stderr).toContain('lines 1, 3 failed');
  expect(exitCode).toBe(3);
  expect(usernames(device(1))).toContain('zoe');
});

test('set +e and set -e apply from their line on', async () => {
  const { devsh, device } = await startFleet({ devices: 1 });
  const stdin =
    'set +e\nuser set nobody lang=de\nuser add username=zoe\nset -e\nuser set nobody lang=fr\nuser add username=max\n';
  const { stderr, exitCode } = await devsh('run - --on sim1 --yes', { stdin });
  expect(stderr).toContain('-:5: this line failed');
  expect(exitCode).toBe(1);
  expect(usernames(device(1))).toContain('zoe');
  expect(usernames(device(1))).not.toContain('max');
});

test('the exit code is that of the line that failed', async () => {
  const { devsh, device } = await startFleet({ devices: 1 });
  device(1).setFault('refuse');
  const { exitCode } = await devsh('run - --on sim1', { stdin: 'info\nuser list\ninfo\n' });
  expect(exitCode).toBe(5);
});

test('--dry-run changes nothing on this machine, either', async () => {
  const { devsh } = await startFleet({ devices: 1 });
  const stdin =
    'device add fw9 10.0.0.9\ntrust forget sim1\nuser list viewer\nplan new.yaml -o new.plan\n';
  const { stdout, stderr, exitCode } = await devsh('run - --on sim1 --dry-run', { stdin });
  expect(stderr).toContain('not run (--dry-run): device add fw9 10.0.0.9');
  expect(stderr).toContain('not run (--dry-run): trust forget sim1');
  expect(stderr).toContain('not run (--dry-run): plan new.yaml -o new.plan');
  expect(stdout).toContain('viewer');
  expect(exitCode).toBe(0);
  expect((await devsh('device list')).stdout).not.toContain('fw9');
});

test('a resource that only connected devices know is checked later', async () => {
  const { devsh } = await startFleet({ devices: 1, profile: 'drf' });
  const env = { XDG_CACHE_HOME: join(devsh.folder, 'empty') };
  const stdin = 'connect sim1 --profile drf\nlearn sim1\ninterface\n';
  const unknown = await devsh('run -', { stdin: 'interface\n', env });
  expect(unknown.stderr).toContain('-:1:1: there is no command "interface"');
  const { stdout, exitCode } = await devsh('run -', { stdin, env });
  expect(stdout).toContain('MTU');
  expect(exitCode).toBe(0);
});

test('a script can be a program: its first line is a comment', async () => {
  const devsh = await makeDevsh();
  const file = join(devsh.folder, 'about');
  await writeFile(file, '\ufeff#!/usr/bin/env -S devsh run\r\ninfo --json\r\n');
  const { stdout, exitCode } = await devsh(['run', file]);
  expect(JSON.parse(stdout)).toHaveProperty('info');
  expect(exitCode).toBe(0);
});

test('--help in a line explains the command', async () => {
  const devsh = await makeDevsh();
  const { stdout, exitCode } = await devsh('run -', { stdin: 'user add --help\n' });
  expect(stdout).toContain('Usage: user add');
  expect(exitCode).toBe(0);
});

test('as JSON each line that says something is a document, and no other', async () => {
  const { devsh } = await startFleet({ devices: 1 });
  const stdin = 'user list viewer --on sim1\nuse\nuser list admin --on sim1\n';
  const { stdout } = await devsh('run - --json', { stdin });
  const documents = stdout
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text) as object);
  expect(documents).toEqual([
    expect.objectContaining({ devices: [expect.objectContaining({ device: 'sim1' })] }),
    expect.objectContaining({ devices: [expect.objectContaining({ device: 'sim1' })] }),
  ]);
});

test('--profile of the script applies to its lines, and a line may name another', async () => {
  const { devsh } = await startFleet();
  const stdin = 'profile\nprofile --profile form-action\n';
  const { stdout } = await devsh('run - --profile drf --on sim1 --json', { stdin });
  const factsOf = async (profile: string) =>
    (await devsh(`profile --profile ${profile} --on sim1 --json`)).stdout;
  expect(await factsOf('drf')).not.toBe(await factsOf('documented'));
  expect(stdout).toBe((await factsOf('drf')) + (await factsOf('form-action')));
});
