import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { rotatedAccount } from '../../src/change/rotate-step.ts';
import { Credential } from '../../src/device/credential.ts';
import { know, wordsOf, writesOf } from '../main/devsh.ts';
import { startProgram, waitUntil } from '../main/process.ts';
import { escrowIn, lastLogin, OLD, PASSPHRASE, startRotation } from './fleet.ts';

const NEW = 'Fresh-Harbour-4711';
const ROTATE = 'rotate password admin --on @lab';
/** No login of the tests' own environment: it is the kept one that is used. */
const ENV = { DEVSH_USER: '', DEVSH_PASSWORD: '' };

type Options = Parameters<typeof startRotation>[0];

async function startWithProfile(name: string, yaml: string, options: Options) {
  const started = await startRotation(options);
  const folder = join(started.devsh.folder, 'config/devsh/profiles');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${name}.yaml`), yaml);
  await know(started.devsh, started.devices, { profile: name });
  return started;
}

/** The logins are in files that one program reads and another writes, and nowhere else. */
async function startWithPrograms(options: Options, writer: string, file = '{device}') {
  const started = await startRotation(options);
  const folder = join(started.devsh.folder, 'logins');
  await mkdir(folder);
  for (const { name } of [...started.devices, { name: 'all' }]) {
    await writeFile(join(folder, name), `username=admin\npassword=${OLD}\n`);
  }
  for (const { address } of started.devices) await started.vault.forget(address);
  const path = join(folder, file);
  const settings = {
    credential_command: ['cat', path],
    credential_store_command: ['/bin/sh', '-c', writer, 'sh', path],
  };
  const inventory = join(started.devsh.folder, 'config/devsh/devices.yaml');
  await appendFile(inventory, `\ngroups:\n  lab: ${JSON.stringify(settings)}\n`);
  const login = (name: string): Promise<string> => readFile(join(folder, name), 'utf8');
  return { ...started, login, inventory };
}

test('an account that is nearly named like the one in use is another one', async () => {
  const { rotate, device, devsh, vault } = await startRotation({ devices: 1 });
  device(1).putUser({ username: 'Admin' });
  const escrow = await escrowIn(devsh.folder);
  const refused = await rotate(`rotate password Admin --on sim1 --new-stdin ${escrow}`, NEW);
  expect(refused.stderr).toContain('Admin is not admin, the login in use');
  expect(refused.exitCode).toBe(6);
  expect(writesOf(device(1))).toEqual([]);
  const own = await rotate(`rotate password admin --on sim1 --new-stdin ${escrow}`, NEW);
  expect(own.stdout, own.stderr).toContain('1 done');
  const { address } = device(1);
  expect(await vault.find(address, 'admin')).toMatchObject({ secret: NEW });
});

test.each(['CORP\\admin', 'admin@corp.example'])(
  'the login %s is perhaps not the local admin, so its login would prove nothing',
  (user) => {
    const ref = { name: 'fw1', address: '10.0.0.5:443' };
    const step = {
      key: 'admin',
      keyField: 'username',
      purpose: { kind: 'rotate', rotation: { kind: 'basic' } },
    } as const;
    const account = (login: string) =>
      rotatedAccount({ ref, credential: Credential.basic(login, OLD) }, step, [
        { username: 'admin' },
      ]);
    expect(() => account(user)).toThrow(
      `fw1: admin may be another account than ${user}, the login in use`,
    );
    expect(account('admin').user).toBe('admin');
    expect(account('ADMIN').user).toBe('ADMIN');
    expect(account('CORP\\root').user).toBe('admin');
  },
);

test('the old password of a device that refuses the new one stays kept if a shared program has lost it', async () => {
  const { rotate, device, devices } = await startWithPrograms({ devices: 2 }, 'cat > "$1"', 'all');
  device(2).setFault('password-refused', true, { method: 'PATCH' });
  const run = await rotate(`${ROTATE} --new-stdin`, NEW);
  expect(run.stdout).toContain('1 done · 1 failed');
  device(2).clearFaults();
  const again = await rotate(`${ROTATE} --new-stdin`, `${NEW}-again`);
  expect(again.stdout, again.stderr).toContain('2 done');
  for (const one of devices) expect(lastLogin(one, 'admin', `${NEW}-again`)).toBe(true);
  expect((await rotate('user list --on @lab')).exitCode).toBe(0);
});

test('a program that keeps the new password and then fails gets the old one back', async () => {
  const writer = 'cat > "$1"; ! grep -q Fresh "$1"';
  const { rotate, device, login } = await startWithPrograms({ devices: 1 }, writer);
  const run = await rotate(`${ROTATE} --new-stdin`, NEW);
  expect(run.stdout).toContain('credential_store_command "/bin/sh" ended with 1');
  expect(writesOf(device(1))).toEqual([]);
  expect(await login('sim1')).toContain(OLD);
  expect((await rotate('user list --on @lab')).exitCode).toBe(0);
});

test.each(['resume', `${ROTATE} --new-stdin`])(
  'after a crash between the program and the device, "%s" logs in with the old password',
  async (line) => {
    const crash = '; kill -9 $PPID; sleep 1';
    const writer = `cat > "$1"${crash}`;
    const { rotate, device, devsh, login, inventory } = await startWithPrograms(
      { devices: 1 },
      writer,
    );
    const argv = wordsOf(`${ROTATE} --new-stdin --passphrase-stdin --yes`);
    const { signal } = await startProgram(argv, devsh.folder, `${PASSPHRASE}\n${NEW}\n`, ENV).ended;
    expect(signal).toBe('SIGKILL');
    expect(writesOf(device(1))).toEqual([]);
    expect(await login('sim1')).toContain(NEW);
    await writeFile(inventory, (await readFile(inventory, 'utf8')).replace(crash, ''));
    const run = await rotate(line, NEW);
    expect(run.stdout, run.stderr).toContain('1 done');
    expect(lastLogin(device(1), 'admin', NEW)).toBe(true);
    expect((await rotate('user list --on @lab')).exitCode).toBe(0);
  },
);

test('a run that goes on with the password of another one can itself be tried again', async () => {
  const { rotate, device, devsh } = await startRotation({ devices: 1 });
  device(1).setFault('store-and-drop', 1, { method: 'PATCH' });
  device(1).setFault('reset', true, { method: 'GET', afterWrite: true });
  const escrow = await escrowIn(devsh.folder);
  await rotate(`${ROTATE} --new-stdin ${escrow}`, NEW);
  device(1).clearFaults();
  device(1).restoreLogins();
  device(1).setFault('reset', 1, { method: 'PATCH' });
  const second = await rotate(
    `${ROTATE} --new-stdin ${escrow.replace('new.age', 'second.age')}`,
    `${NEW}-again`,
  );
  expect(second.stderr).toContain('had not ended');
  expect(second.stdout).toContain('the old one still works');
  const retried = await rotate('resume');
  expect(retried.stdout, retried.stderr).toContain('1 done');
  expect(lastLogin(device(1), 'admin', NEW)).toBe(true);
});

test('403 is no login of an account that could read before', async () => {
  const { rotate, device, devsh, vault } = await startRotation({ devices: 1 });
  device(1).setFault('reset', 1, { method: 'PATCH' });
  device(1).setFault('403', 1, { method: 'GET', afterWrite: true });
  const escrow = await escrowIn(devsh.folder);
  const run = await rotate(`${ROTATE} --new-stdin ${escrow}`, NEW);
  expect(run.stdout).toContain('the old one still works');
  expect(await vault.find(device(1).address, 'admin')).toMatchObject({ secret: OLD });
});

test('a device that opens no session with either password gets three logins, not more', async () => {
  const yaml =
    'extends: drf\nauth:\n  login: {path: /api/login, user_field: username, password_field: password, token_in: data.token}\n';
  const options = { devices: 1, quirk: ['session-token' as const] };
  const { rotate, device, devsh } = await startWithProfile('sessions', yaml, options);
  device(1).setFault('400-empty', true, { method: 'POST', afterWrite: true });
  const run = await rotate(`${ROTATE} --new-stdin ${await escrowIn(devsh.folder)}`, NEW);
  expect(run.stdout).toContain('unknown');
  const tries = device(1).log.filter(({ method, status }) => method === 'POST' && status === 400);
  expect(tries).toHaveLength(3);
});

test('a rotation after one that left no login that works sends two logins, not more', async () => {
  const { rotate, device, devsh } = await startRotation({ devices: 1 });
  device(1).setFault('store-and-drop', 1, { method: 'PATCH' });
  device(1).setFault('reset', true, { method: 'GET', afterWrite: true });
  const escrow = await escrowIn(devsh.folder);
  await rotate(`${ROTATE} --new-stdin ${escrow}`, NEW);
  device(1).clearFaults();
  device(1).setFault('401');
  const before = device(1).log.length;
  const other = escrow.replace('new.age', 'again.age');
  const again = await rotate(`${ROTATE} --new-stdin ${other}`, NEW);
  expect(again.stdout).toContain('the login was refused');
  expect(device(1).log.length - before).toBe(2);
});

test('a secret of another field, which the journal has masked, is not overwritten by resume', async () => {
  const yaml =
    'extends: drf\nupdate: {method: PUT, record: whole}\nresources:\n  user: {sent_back: [email], field_facts: {email: {secret: true}}}\n';
  const options = { devices: 2, quirk: ['sessions' as const] };
  const { rotate, device, devsh } = await startWithProfile('whole', yaml, options);
  device(1).setFault('store-and-drop', 1, { method: 'PUT' });
  device(1).setFault('reset', true, { method: 'GET', afterWrite: true });
  await rotate(`${ROTATE} --new-stdin ${await escrowIn(devsh.folder)}`, NEW);
  device(1).clearFaults();
  const resumed = await rotate('resume');
  expect(resumed.stdout).toContain('2 done');
  for (const number of [1, 2]) {
    const admin = device(number).users.find(({ username }) => username === 'admin');
    expect(admin).toMatchObject({ email: 'admin@example.net' });
  }
  expect((await rotate('user list --on sim2')).exitCode).toBe(0);
});

test('resume says that the tokens which it lets devices make have no second place', async () => {
  const yaml = `extends: drf\nresources:\n  user: {rotate_token: {path: '{item}token/', answer: data.key}}\n`;
  const { rotate, device, devsh } = await startWithProfile('tokens', yaml, { devices: 1 });
  device(1).setFault('store-and-drop', 1, { method: 'POST' });
  const run = await rotate(`rotate token viewer --on @lab ${await escrowIn(devsh.folder)}`);
  expect(run.stdout).toContain('1 unknown');
  expect(run.stderr).not.toContain('on this machine alone');
  const resumed = await rotate('resume');
  expect(resumed.stdout, resumed.stderr).toContain('1 done');
  expect(resumed.stderr).toContain('new tokens are kept on this machine alone');
});

test('a watch sends a refused login once, and goes on when another devsh has kept the new one', async () => {
  const { device, devsh, vault } = await startRotation({ devices: 2 });
  const { address, logins } = device(1);
  await vault.store(address, { kind: 'basic', user: 'admin', secret: 'replaced elsewhere' });
  const argv = 'user list --watch=0.2 --on @lab --passphrase-stdin'.split(' ');
  const program = startProgram(argv, devsh.folder, `${PASSPHRASE}\n`, ENV);
  let stderr = '';
  program.child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  // The other device is read in each round.
  await waitUntil(() => device(2).log.length > 5, program);
  expect(logins.map(({ isAccepted }) => isAccepted)).toEqual([false]);
  await vault.store(address, { kind: 'basic', user: 'admin', secret: OLD });
  await waitUntil(() => stderr.includes('sim1 responds again'), program);
  expect(logins.filter(({ isAccepted }) => !isAccepted)).toHaveLength(1);
  program.child.kill('SIGINT');
  expect((await program.ended).code).toBe(130);
});

test('a devsh that is killed after each refused login locks no account', async () => {
  const { rotate, device, devsh } = await startRotation({ devices: 1, latencyMs: 150 });
  const sim1 = device(1);
  sim1.setFault('reset', 1, { method: 'PATCH' });
  const refusals = (): number => sim1.logins.filter(({ isAccepted }) => !isAccepted).length;
  const killWhen = async (line: string, isSo: () => boolean): Promise<void> => {
    const argv = [...wordsOf(line), '--passphrase-stdin', '--yes'];
    const program = startProgram(argv, devsh.folder, `${PASSPHRASE}\n`, ENV);
    await waitUntil(isSo, program);
    program.child.kill('SIGKILL');
    await program.ended;
  };
  const escrow = await escrowIn(devsh.folder);
  await killWhen(`${ROTATE} --generate ${escrow}`, () => writesOf(sim1).length > 0);
  const { runs } = JSON.parse((await devsh('runs --json')).stdout) as { runs: { run: string }[] };
  const resume = `resume ${runs[0]?.run ?? ''}`;
  for (let kill = 0; kill < 3; kill += 1) {
    const before = refusals();
    await killWhen(resume, () => refusals() > before);
  }
  const { stdout, stderr } = await rotate(resume);
  expect(stdout, stderr).toContain('1 done');
});
