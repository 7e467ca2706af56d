import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ADMIN, startFleet, type TestFleet, trust, usernames, writesOf } from './devsh.ts';

const DOWN = 'refuse';

type Row = Readonly<Record<string, unknown>>;

async function rows({ devsh }: TestFleet): Promise<readonly Row[]> {
  const { stdout } = await devsh('owed --json');
  return (JSON.parse(stdout) as { owed: Row[] }).owed;
}

function langOf({ device }: TestFleet, number: number, name = 'viewer'): string | undefined {
  return device(number).users.find(({ username }) => username === name)?.lang;
}

/** Changes a device without this devsh knowing. */
async function alter({ devsh }: TestFleet, line: string): Promise<void> {
  const env = { XDG_STATE_HOME: join(devsh.folder, 'somebody-else') };
  expect(await devsh(`${line} --yes`, { env })).toMatchObject({ exitCode: 0 });
}

test('a lockout keeps the login of devsh, also when it is resumed, retried, settled, or its undo undone', async () => {
  const fleet = await startFleet({ devices: 3, profile: 'generic-rest' });
  const { devsh, device } = fleet;
  device(3).setFault(DOWN, true);
  const locked = await devsh('lockout viewer --yes --now --delete');
  expect(locked.stdout).toContain('not covered: sim3 (unreachable) · owed there');
  device(3).setFault(DOWN, false);
  await devsh('undo --yes --allow loss');
  for (const line of ['resume', 'retry', 'undo', 'owed settle']) {
    const [undone = '', id = ''] = await runIds(fleet);
    const run = line === 'undo' ? undone : line === 'owed settle' ? '' : id;
    if (line === 'owed settle') await devsh(`undo ${undone} --yes`);
    const refused = await devsh(`${line} ${run} --yes --allow own-account`.replace(/ +/g, ' '));
    expect(refused.stderr, line).toContain(`run ${id} is a lockout`);
    expect(refused.exitCode, line).toBe(2);
  }
  expect(writesOf(device(3))).toEqual([]);
  // Nor the run that settles it.
  expect(await devsh('owed settle --yes')).toMatchObject({ exitCode: 0 });
  const [settling = ''] = await runIds(fleet);
  const again = await devsh(`resume ${settling} --yes --allow own-account`);
  expect(again).toMatchObject({ exitCode: 2 });
});

test('an absent device owes no change of a resource that no device is known to have', async () => {
  const fleet = await startFleet({ devices: 2, profile: 'drf' });
  const { devsh, device } = fleet;
  device(2).setFault(DOWN, true);
  for (const line of [
    'nonsense add a=b --on sim2',
    'nonsense add a=b',
    'resource nonsense delete x --where a=b',
  ]) {
    const refused = await devsh(`${line} --yes`);
    expect(refused.stderr, line).not.toContain('owed:');
    expect(refused.exitCode, line).not.toBe(0);
  }
  const refused = await devsh('nonsense add a=b --on sim2 --yes');
  expect(refused.stderr).toContain('no device is known to have the resource "nonsense"');
  expect(refused.exitCode).toBe(6);
  expect(await rows(fleet)).toEqual([]);
  // Another device has shown it: it may be owed.
  await devsh('learn --on sim1');
  const owed = await devsh('interface set eth0 mtu=1400 --on sim2 --yes');
  expect(owed.stdout).toContain('not covered: sim2 (unreachable) · owed there');
});

/** The newest first. */
async function runIds({ devsh }: TestFleet): Promise<readonly string[]> {
  const { stdout } = await devsh('runs --json');
  return (JSON.parse(stdout) as { runs: { run: string }[] }).runs.map(({ run }) => run);
}

test('--allow drift overwrites values, and never the account of another person: that needs a mark for each', async () => {
  const fleet = await startFleet({ devices: 4 });
  const { devsh, device } = fleet;
  for (const number of [2, 3, 4]) device(number).setFault(DOWN, true);
  await devsh('user set viewer lang=fr --on @lab --yes');
  for (const number of [2, 3, 4]) device(number).setFault(DOWN, false);
  // On sim2 only the value has changed; on sim3 and sim4 the name belongs to another person by now.
  await alter(fleet, 'user set viewer lang=es --on sim2');
  await alter(fleet, 'user set viewer first_name=Victor lastname=Other --on sim3,sim4');

  const plain = await devsh('owed settle --yes');
  expect(plain.exitCode).toBe(7);
  expect(plain.stdout).toContain('sim2  set user viewer: drift');
  expect(plain.stdout).toContain(
    'differs from what this change expects (first_name, lastname); it may be another person: --also sim3=viewer takes it',
  );
  const forced = await devsh('owed settle --yes --allow drift');
  expect(forced.exitCode).toBe(3);
  expect([2, 3, 4].map((number) => langOf(fleet, number))).toEqual(['fr', 'en', 'en']);
  expect(await rows(fleet)).toMatchObject([{ devices: ['sim3', 'sim4'] }]);

  const marked = await devsh('owed settle --yes --also sim3=viewer');
  expect(marked.stdout).toContain('✓ sim3  set user viewer: done');
  expect([3, 4].map((number) => langOf(fleet, number))).toEqual(['fr', 'en']);
  expect(await rows(fleet)).toMatchObject([{ devices: ['sim4'] }]);
});

test('on a terminal devsh asks which of the drifted records to change anyway', async () => {
  const fleet = await startFleet({ devices: 3 });
  const { devsh, device } = fleet;
  for (const number of [2, 3]) device(number).setFault(DOWN, true);
  await devsh('user delete viewer --on @lab --yes');
  for (const number of [2, 3]) device(number).setFault(DOWN, false);
  await alter(fleet, 'user set viewer lastname=Other --on sim2,sim3');
  const none = await devsh('owed settle', { tty: [''] });
  expect(none.stderr).toContain('These differ by now. Which to change anyway?');
  expect(none.stderr).toMatch(/1 {2}sim2 {2}delete user viewer: lastname: \w* then, Other now/);
  expect(none.exitCode).toBe(7);
  expect([2, 3].map((number) => usernames(device(number)).includes('viewer'))).toEqual([
    true,
    true,
  ]);
  const one = await devsh('owed settle --no-color', { tty: ['2', 'y'] });
  expect(one.stdout).toContain('✓ sim3  delete user viewer: done');
  expect([2, 3].map((number) => usernames(device(number)).includes('viewer'))).toEqual([
    true,
    false,
  ]);
});

test('a mark at "owed settle" names the device, and something that is owed there', async () => {
  const fleet = await startFleet({ devices: 2 });
  fleet.device(2).setFault(DOWN, true);
  await fleet.devsh('user delete viewer --on @lab --yes');
  fleet.device(2).setFault(DOWN, false);
  for (const [mark, text] of [
    ['viewer', '--also DEVICE=viewer'],
    ['sim1=viewer', '--also sim1=viewer: no such change is owed'],
    ['sim2=admin', '--also sim2=admin: no such change is owed'],
  ] as const) {
    const { exitCode, stderr } = await fleet.devsh(`owed settle --yes --also ${mark}`);
    expect(stderr).toContain(text);
    expect(exitCode).toBe(2);
  }
  expect(writesOf(fleet.device(2))).toEqual([]);
});

test('a refused login and a changed certificate leave a debt with its cause; a 403, an error and read-only none', async () => {
  const fleet = await startFleet({ devices: 6 });
  const { devsh, device, devices } = fleet;
  device(2).setFault('401', true);
  device(3).setFault('certificate-change', true);
  device(4).setFault('403', true);
  device(5).setFault('500', true);
  const path = join(devsh.folder, 'config/devsh/devices.yaml');
  const inventory = await readFile(path, 'utf8');
  await writeFile(path, inventory.replace(/(name: sim6\n)/, '$1    read_only: true\n'));
  const run = await devsh('user delete viewer --on @lab --yes');
  expect(run.stdout).toContain('· owed: sim2, sim3');
  expect(run.stderr).toContain('still owed: "owed settle"');
  expect(await rows(fleet)).toMatchObject([
    { devices: ['sim2'], change: 'delete user viewer', cause: 'refused the login' },
    { devices: ['sim3'], change: 'delete user viewer', cause: 'untrusted' },
  ]);
  const early = await devsh('owed settle --wait --yes');
  // A refused login is not tried again and again.
  expect(early.stderr).not.toContain('tries again');
  expect(early.exitCode).toBe(1);
  device(2).setFault('401', false);
  device(3).setFault('certificate-change', false);
  await trust(devsh, devices.slice(0, 2).concat(devices.slice(3)));
  await devsh(`trust accept sim3 --fingerprint ${device(3).fingerprint}`);
  const settled = await devsh('owed settle --yes');
  expect(settled.stderr).toContain('it may be another device');
  expect(await devsh('owed settle --yes --allow drift')).toMatchObject({ exitCode: 0 });
  expect(await rows(fleet)).toEqual([]);
  expect(devices.map((one) => writesOf(one).length)).toEqual([1, 1, 1, 0, 0, 0]);
});

test('devices that got no login because two others refused it are owed the change, too', async () => {
  const fleet = await startFleet({ devices: 4, env: { ...ADMIN, DEVSH_PASSWORD: 'wrong' } });
  await fleet.devsh('user delete viewer --on @lab --yes');
  const owed = await rows(fleet);
  expect(owed.flatMap(({ devices }) => devices).toSorted()).toEqual([
    'sim1',
    'sim2',
    'sim3',
    'sim4',
  ]);
  expect(owed.map(({ cause }) => cause)).toEqual(['refused the login', 'without a login']);
  // The same line with the right password replaces all of it.
  const env = { DEVSH_PASSWORD: ADMIN.DEVSH_PASSWORD };
  expect(await fleet.devsh('user delete viewer --on @lab --yes', { env })).toMatchObject({
    exitCode: 0,
  });
  expect(await rows(fleet)).toEqual([]);
});

test('what was declined or refused before it ran leaves no debt, and neither does an excluded device', async () => {
  const fleet = await startFleet({ devices: 3 });
  const { devsh, device } = fleet;
  device(3).setFault(DOWN, true);
  await devsh('user delete viewer --on @lab', { tty: ['no'] });
  await devsh('user delete admin --on @lab --yes');
  await devsh('user delete viewer --on @lab,!sim3 --yes');
  expect(await rows(fleet)).toEqual([]);
});
