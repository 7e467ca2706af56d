import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SimulatedDevice, SimulatorOptions } from '../simulator/simulator.ts';
import { serve } from '../device/server.ts';
import { ADMIN, makeDevsh, startFleet, type TestFleet } from './devsh.ts';

const PROFILE = `extends: generic-rest
resources:
  session: {account_field: username, key_field: name}
  token: {account_field: username, key_field: name}
`;

/** A fleet with sessions and tokens. `isKnown`: the profile says where they are. */
async function start(options: SimulatorOptions = {}, isKnown = true): Promise<TestFleet> {
  const fleet = await startFleet({ profile: 'generic-rest', quirk: ['sessions'], ...options });
  const { folder } = fleet.devsh;
  await mkdir(join(folder, 'config/devsh/profiles'), { recursive: true });
  const profile = isKnown ? PROFILE : 'extends: generic-rest\n';
  await writeFile(join(folder, 'config/devsh/profiles/fleet.yaml'), profile);
  const lines = fleet.devices.map(
    ({ name, address }) => `  - {name: ${name}, address: '${address}', profile: fleet}\n`,
  );
  await writeFile(join(folder, 'config/devsh/devices.yaml'), `devices:\n${lines.join('')}`);
  return fleet;
}

interface Row {
  readonly device: string;
  readonly account: string | null;
  readonly verdict: string;
  readonly access: string | null;
  readonly login?: string;
}

function rowsOf(stdout: string): Row[] {
  return (JSON.parse(stdout) as { lockout: Row[] }).lockout;
}

/** `verdict` by device. */
function verdictsOf(stdout: string): Record<string, string> {
  return Object.fromEntries(rowsOf(stdout).map(({ device, verdict }) => [device, verdict]));
}

function isActive({ users }: SimulatedDevice, username = 'viewer'): boolean | undefined {
  return users.find((user) => user.username === username)?.is_active;
}

/** Changes an account as its device would, without devsh. */
async function alter({ devsh }: TestFleet, device: string, line: string): Promise<void> {
  const { exitCode, stderr } = await devsh(`${line} --on ${device} --yes`);
  expect(exitCode, stderr).toBe(0);
}

test('twelve devices, two down, one lying, one hung, one that is another box: nothing is claimed of them', async () => {
  const fleet = await start({ devices: 12 });
  const { devsh, device } = fleet;
  device(11).setFault('refuse');
  device(12).setFault('refuse');
  device(3).setFault('accept-and-forget');
  device(4).setFault('silence');
  device(5).setFault('certificate-change');
  const { stdout, stderr, exitCode } = await devsh('lockout viewer --yes --now --json --timeout 1');
  expect(verdictsOf(stdout)).toEqual({
    ...Object.fromEntries([1, 2, 6, 7, 8, 9, 10].map((number) => [`sim${number}`, 'disabled'])),
    sim3: 'no effect',
    ...Object.fromEntries([4, 5, 11, 12].map((number) => [`sim${number}`, 'not read'])),
  });
  expect(stderr).not.toContain('locked out');
  expect(exitCode).toBe(3);
  for (const number of [1, 2, 6, 7, 8, 9, 10]) expect(isActive(device(number))).toBe(false);
  for (const number of [3, 4, 5, 11, 12]) expect(isActive(device(number))).toBe(true);
  // The journal holds the absent devices with explicit keys, so that they can be settled.
  const { stdout: runs } = await devsh('runs --json');
  const [newest] = (JSON.parse(runs) as { runs: { run: string }[] }).runs;
  const journal = await readFile(
    join(devsh.folder, 'state/devsh/runs', `${newest?.run ?? ''}.jsonl`),
    'utf8',
  );
  const left = journal
    .split('\n')
    .filter((line) => line.includes('"error"') && line.includes('"kind":"device"'));
  expect(left).toHaveLength(4);
  for (const line of left) {
    expect(JSON.parse(line)).toMatchObject({
      plan: { changes: [{ action: 'set', target: { kind: 'key', key: 'viewer' } }] },
    });
  }
});

test('with devices absent it acts only with --now, also with --yes; on a terminal it asks', async () => {
  const { devsh, device, writes } = await start({ devices: 2 });
  device(2).setFault('refuse');
  const { stderr, exitCode } = await devsh('lockout viewer --yes');
  expect(stderr).toContain(
    '1 device not read (not reached: sim2): the account may stay open there; to act on the others: lockout viewer --yes --now',
  );
  expect(exitCode).toBe(6);
  const waited = await devsh('lockout viewer', { tty: ['wait'] });
  expect(waited.stderr).toContain('Type now to act on the others:');
  expect(waited.exitCode).toBe(6);
  expect(writes()).toEqual([]);
  const acted = await devsh('lockout viewer', { tty: ['now', '3'] });
  expect(acted.stdout).toContain('3 done');
  expect(isActive(device(1))).toBe(false);
});

test('who cannot be disabled is not asked about absent devices first', async () => {
  const { devsh, device, writes } = await startFleet({ devices: 2, profile: 'documented' });
  device(2).setFault('refuse');
  const { stderr, exitCode } = await devsh('lockout viewer', { tty: [] });
  expect(stderr).toContain('devsh knows no field that disables the account');
  expect(stderr).not.toContain('Type now');
  expect(exitCode).toBe(6);
  expect(writes()).toEqual([]);
});

test('sessions and tokens are ended if the profile says where, and only those of the account', async () => {
  const { devsh, devices } = await start({ devices: 2 });
  const { stdout, exitCode } = await devsh('lockout viewer --yes --json');
  expect(exitCode).toBe(0);
  expect(rowsOf(stdout).map(({ access }) => access)).toEqual(['2 of 2 ended', '2 of 2 ended']);
  for (const { log } of devices) {
    const deleted = log.filter(({ method }) => method === 'DELETE').map(({ path }) => path);
    expect(deleted).toEqual([
      expect.stringMatching(/^\/api\/session\//),
      expect.stringMatching(/^\/api\/token\//),
    ]);
  }
  const left = await devsh('resource session list --on sim1 --json');
  expect(left.stdout).toContain('"admin"');
  expect(left.stdout).not.toContain('"viewer"');

  const undone = await devsh('undo --yes');
  expect(undone.stderr).toContain('ended sessions and tokens do not come back: 4');
  expect(devices.map((one) => isActive(one))).toEqual([true, true]);
  expect(devices.flatMap(({ log }) => log).filter(({ method }) => method === 'POST')).toEqual([]);
});

test('the only session and the only token of a device are ended, too', async () => {
  const fleet = await start({ devices: 2 });
  const others = '--where username!=viewer --allow own-account=session-1,own-account=token-1';
  await alter(fleet, 'sim1', `resource session delete ${others}`);
  await alter(fleet, 'sim1', `resource token delete ${others}`);
  const { stdout, exitCode, stderr } = await fleet.devsh('lockout viewer --yes --json');
  expect(exitCode, stderr).toBe(0);
  expect(rowsOf(stdout).map(({ access }) => access)).toEqual(['2 of 2 ended', '2 of 2 ended']);
});

test('a token that no request can name is not ended, and the lockout says so', async () => {
  const users = [
    { id: 1, username: 'admin', is_active: true },
    { id: 2, username: 'viewer', is_active: true },
  ];
  // Without ids, two tokens of one name have one path.
  const tokens = ['api', 'api', 'cli'].map((name) => ({ name, username: 'viewer' }));
  const server = await serve(({ method, url }, response) => {
    if (method === 'PATCH') Object.assign(users[1] ?? {}, { is_active: false });
    if (method === 'DELETE') tokens.pop();
    if (method !== 'GET') response.end();
    else response.end(JSON.stringify(url?.includes('token') === true ? tokens : users));
  });
  const devsh = await makeDevsh(ADMIN);
  await mkdir(join(devsh.folder, 'config/devsh/profiles'), { recursive: true });
  await writeFile(
    join(devsh.folder, 'config/devsh/profiles/box.yaml'),
    PROFILE.replace(/ *session:.*\n/, ''),
  );
  await devsh([
    'device',
    'add',
    'box',
    `127.0.0.1:${server.port}`,
    '--insecure',
    '--profile',
    'box',
  ]);
  const { stdout, exitCode } = await devsh('lockout viewer --yes');
  const reason = '2 tokens have the name "api", and no id tells them apart';
  expect(stdout).toContain(`token api  delete failed - ${reason}`);
  expect(exitCode).toBe(3);
  const deletes = () => server.requests.filter(({ method }) => method === 'DELETE').length;
  expect(deletes()).toBe(0);
  const [, line] = /token cli {2}delete failed .*"(profile set [^"]+)"/.exec(stdout) ?? [];
  await devsh(line?.replace('DEVICE', 'box') ?? '');
  const again = await devsh('lockout viewer --yes');
  expect(again.stdout).toContain('token cli  deleted');
  expect(again.exitCode).toBe(3);
  expect(deletes()).toBe(1);
});

test('where they are unknown, plan, verdict and report say so', async () => {
  const { devsh } = await start({}, false);
  const note = 'open sessions and API tokens: not known to be ended';
  const planned = await devsh('lockout viewer --dry-run');
  expect(planned.stderr).toContain(`${note} (sim1)`);
  const { stdout, stderr } = await devsh('lockout viewer --yes');
  expect(stdout).toContain(` - ${note}`);
  expect(stderr).toContain(`warning: ${note} (sim1)`);
  const report = await devsh('report');
  expect(report.stdout).toContain(note);
});

test('a device without a field to disable is refused, unless --delete permits to delete', async () => {
  const { devsh, writes } = await startFleet({ devices: 2 });
  const refused = await devsh('lockout viewer --yes');
  expect(refused.stderr).toContain('devsh knows no field that disables the account');
  expect(refused.exitCode).toBe(6);
  expect(writes()).toEqual([]);
  const { stdout, exitCode } = await devsh('lockout viewer --yes --delete --json');
  expect(verdictsOf(stdout)).toEqual({ sim1: 'deleted', sim2: 'deleted' });
  expect(exitCode).toBe(0);
});

test('a profile may say how an account is disabled', async () => {
  const { devsh, device } = await start();
  const path = join(devsh.folder, 'config/devsh/profiles/fleet.yaml');
  await writeFile(path, `${PROFILE}  user: {disabled_as: {lang: fr}}\n`);
  const { stdout } = await devsh('lockout viewer --yes --json');
  expect(verdictsOf(stdout)).toEqual({ sim1: 'disabled' });
  expect(device(1).users.find(({ username }) => username === 'viewer')?.lang).toBe('fr');
});

test('another e-mail or full name than most devices have is not locked out, also with --yes', async () => {
  const fleet = await start({ devices: 4 });
  const { devsh, device } = fleet;
  await alter(fleet, 'sim2', 'user set viewer email=someone@else.example');
  const { stdout, exitCode } = await devsh('lockout viewer --yes --json');
  expect(verdictsOf(stdout)).toMatchObject({ sim1: 'disabled', sim2: 'not taken' });
  expect(stdout).toContain('viewer may be another person (another e-mail someone@else.example)');
  const again = await devsh('lockout viewer --yes');
  expect(again.stderr).toContain('if you mean it: user set viewer is_active=false --on sim2');
  expect(exitCode).toBe(3);
  expect(isActive(device(2))).toBe(true);

  await devsh('user set viewer is_active=false --on sim2 --yes');
  expect(isActive(device(2))).toBe(false);
});

test('a device where one of several names may be another person gets nothing, and a line for that', async () => {
  const fleet = await start({ devices: 3 });
  const { devsh, device } = fleet;
  for (const name of ['sim1', 'sim2', 'sim3']) {
    const mail = name === 'sim2' ? 'else' : 'vic';
    await alter(fleet, name, `user add username=vic lang=en email=${mail}@example.net`);
  }
  const { stdout, exitCode } = await devsh('lockout viewer vic --yes --json');
  expect(exitCode).toBe(3);
  const states = [1, 2, 3].map((number) => [
    isActive(device(number)),
    isActive(device(number), 'vic'),
  ]);
  expect(states).toEqual([
    [false, false],
    [true, true],
    [false, false],
  ]);
  const [, line = ''] = /if you mean it: (user set vic [^"\\]+)/.exec(stdout) ?? [];
  expect(await devsh(`${line} --yes`)).toMatchObject({ exitCode: 0 });
  expect(isActive(device(2), 'vic')).toBe(false);
});

test('without a majority nobody knows who is meant: no account is locked out', async () => {
  const fleet = await start({ devices: 2 });
  await alter(fleet, 'sim2', 'user set viewer email=someone@else.example');
  const { stderr, exitCode } = await fleet.devsh('lockout viewer --yes');
  expect(stderr).toContain(
    'sim1: viewer may be another person (another e-mail viewer@example.net)',
  );
  expect(exitCode).toBe(6);
  expect(fleet.devices.map((one) => isActive(one))).toEqual([true, true]);
});

test('the same person under another username is shown, and locked out only if the line names it', async () => {
  const fleet = await start({ devices: 2 });
  const { devsh, device } = fleet;
  await alter(fleet, 'sim2', 'user add username=vic2 lang=en email=viewer@example.net');
  await alter(fleet, 'sim2', 'user add username=vlewer lang=en');
  const { stderr, stdout } = await devsh('lockout viewer --yes --json');
  expect(stderr).toContain('vic2: the same e-mail (viewer@example.net) on sim2');
  expect(stderr).toContain('"lockout viewer vic2" does both');
  expect(stderr).toContain('"viewer" looks like "vlewer" on sim2');
  expect(rowsOf(stdout).map(({ account, verdict }) => [account, verdict])).toEqual([
    ['viewer', 'disabled'],
    ['viewer', 'disabled'],
  ]);
  expect(isActive(device(2), 'vic2')).toBe(true);
  // Also if there is nothing left to ask about.
  const again = await devsh('lockout viewer', { tty: [] });
  expect(again.stderr).toContain('not locked out: vic2');
  expect((await devsh('lockout viewer vic2 --yes')).exitCode).toBe(0);
  expect(isActive(device(2), 'vic2')).toBe(false);
  expect(isActive(device(2), 'vlewer')).toBe(true);
});

test('the account in use and a break-glass account are refused before anything is sent', async () => {
  const { devsh, writes } = await start({ devices: 2 });
  const own = await devsh('lockout admin --yes');
  expect(own.stderr).toContain('may lock you out: it is the account in use');
  expect(own.exitCode).toBe(6);
  const path = join(devsh.folder, 'config/devsh/devices.yaml');
  await writeFile(path, `break_glass: [viewer]\n${await readFile(path, 'utf8')}`);
  const glass = await devsh('lockout viewer --yes');
  expect(glass.stderr).toContain('--allow break-glass=viewer');
  expect(glass.exitCode).toBe(6);
  expect(writes()).toEqual([]);
});

test('at the prompt it looks further than the prompt, and its question says so', async () => {
  const { devsh, device } = await start({ devices: 3 });
  const { stderr } = await devsh('--plain', {
    env: ADMIN,
    tty: ['connect sim1', 'lockout viewer', 'no', 'quit'],
  });
  expect(stderr).toContain('9 steps on 3 devices. Type 9');
  expect(isActive(device(1))).toBe(true);
});

test('a device that was away gets only what is sure: the same person', async () => {
  const fleet = await start({ devices: 4 });
  const { devsh, device } = fleet;
  await alter(fleet, 'sim2', 'user set viewer email=someone@else.example');
  await alter(fleet, 'sim3', 'user delete viewer');
  for (const name of ['sim1', 'sim4']) {
    await alter(fleet, name, 'user add username=vic lang=en email=viewer@example.net');
  }
  for (const number of [2, 3, 4]) device(number).setFault('refuse', true);
  await devsh('lockout viewer vic --yes --now');
  expect(isActive(device(1), 'vic')).toBe(false);
  for (const number of [2, 3, 4]) device(number).setFault('refuse', false);
  const settled = await devsh('resume --yes');
  expect(settled.stdout).toContain('viewer  set drift - user viewer shows another');
  expect(settled.stdout).toContain('open sessions and API tokens: not known to be ended');
  expect(isActive(device(2))).toBe(true);
  expect(isActive(device(4))).toBe(false);
  expect(isActive(device(4), 'vic')).toBe(false);
  const { stdout } = await devsh('pending --json');
  expect((JSON.parse(stdout) as { pending: unknown[] }).pending).toMatchObject([
    { device: 'sim2', change: 'set user viewer is_active=false' },
  ]);
});

test('a device that answered with an error is named, because nothing is pending there', async () => {
  const { devsh, device } = await start({ devices: 4 });
  device(2).setFault('500');
  device(4).setFault('certificate-change');
  device(3).setFault('refuse');
  const { stdout, stderr } = await devsh('lockout viewer --yes --now');
  expect(stdout).toMatch(/sim2.* · pending on sim3, sim4/);
  expect(stderr).toMatch(/pending: "resume \S+" continues/);
});

test('what the profile calls disabling is refused to the account in use and to a break-glass account', async () => {
  const { devsh, writes } = await start({}, false);
  const profile = join(devsh.folder, 'config/devsh/profiles/fleet.yaml');
  await writeFile(profile, 'extends: generic-rest\nresources: {user: {disabled_as: {lang: fr}}}\n');
  const path = join(devsh.folder, 'config/devsh/devices.yaml');
  await writeFile(path, `break_glass: [viewer]\n${await readFile(path, 'utf8')}`);
  for (const line of ['lockout viewer', 'user set viewer lang=fr --on @all']) {
    const { stderr, exitCode } = await devsh(`${line} --yes`);
    expect(stderr, line).toContain('--allow break-glass=viewer');
    expect(exitCode).toBe(6);
  }
  expect((await devsh('lockout admin --yes')).stderr).toContain('it is the account in use');
  expect(writes()).toEqual([]);
});

test('no permission lets a lockout take the login of devsh away', async () => {
  const { devsh, writes } = await start();
  const { stderr, exitCode } = await devsh('lockout admin --yes --allow own-account');
  expect(stderr).toContain('this line has no --allow own-account');
  expect(exitCode).toBe(2);
  expect(writes()).toEqual([]);
});

test('the profile says which resource has the accounts, for lockout and rotation', async () => {
  const { devsh, devices } = await startFleet({ devices: 2, profile: 'generic-rest' });
  const folder = join(devsh.folder, 'config/devsh');
  await mkdir(join(folder, 'profiles'), { recursive: true });
  const admin = '  admin: {path: /api/user, key_field: username, rotate: {field: password}}\n';
  const profile = `extends: generic-rest\naccounts: admin\nresources:\n${admin}`;
  await writeFile(join(folder, 'profiles/admins.yaml'), profile);
  const lines = devices.map(({ name, address }, index) => {
    const own = index === 0 ? 'admins' : 'generic-rest';
    return `  - {name: ${name}, address: '${address}', groups: [lab], profile: ${own}}\n`;
  });
  await writeFile(join(folder, 'devices.yaml'), `devices:\n${lines.join('')}`);
  const planned = await devsh('lockout viewer --dry-run --delete');
  expect(planned.stderr).toContain('account viewer: on 2 of 2 devices read');
  expect(planned.stdout).toMatch(/(?:set|delete) admin viewer on sim1/);
  expect(planned.stdout).toMatch(/(?:set|delete) user viewer on sim2/);
  const rotated = await devsh('rotate password viewer --on @lab --dry-run');
  expect(rotated.stdout).toContain('set admin viewer on sim1');
  const methods = devices.flatMap(({ log }) => log).map(({ method }) => method);
  expect(methods.filter((method) => method !== 'GET' && method !== 'OPTIONS')).toEqual([]);
});

test('an id, which another account may have elsewhere, names nobody: the error says whose it is', async () => {
  const { devsh, device, writes } = await startFleet({ devices: 2 });
  const id = device(2).users.find(({ username }) => username === 'viewer')?.uuid ?? '';
  for (const key of [id, id.toUpperCase(), `uuid=${id}`]) {
    const { stderr, exitCode } = await devsh(`lockout ${key} --yes --now`);
    expect(stderr).toContain('it is the id of viewer on sim2 ("lockout viewer")');
    expect(exitCode).toBe(1);
  }
  expect(writes()).toEqual([]);
});

test('a mistyped account comes back with the one that may be meant', async () => {
  const { devsh } = await start({ devices: 1 });
  const { stderr } = await devsh('lockout viewr --yes');
  expect(stderr).toContain('no device has an account "viewr" to act on; did you mean viewer?');
});

test('a name that nobody can look for keeps no other name open, and is named', async () => {
  // A list of exactly 20 may be cut.
  const fleet = await start({ devices: 3, users: 20 });
  const { devsh, device } = fleet;
  const { stdout, stderr, exitCode } = await devsh('lockout viewer robert --yes');
  expect(stderr).toContain('account viewer: on 3 of 3 devices read');
  expect(stderr).toContain('account robert: on 0 of 3 devices read');
  expect(stderr).toMatch(/user robert is not in the list, which may be cut/);
  expect([1, 2, 3].map((number) => isActive(device(number)))).toEqual([false, false, false]);
  expect(stdout).toContain('9 done');
  expect(exitCode).toBe(3);

  const alone = await devsh('lockout robert --yes');
  expect(alone.stderr).toContain('account robert: on 0 of 3 devices read');
  expect(alone.exitCode).toBe(3);
});
