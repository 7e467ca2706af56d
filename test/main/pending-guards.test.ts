import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ADMIN, startFleet, type TestFleet, trust, usernames, writesOf } from './devsh.ts';
import { settleAtOnce } from '../settle.ts';

settleAtOnce();

const DOWN = 'refuse';

type Row = Readonly<Record<string, unknown>>;

async function rows({ devsh }: TestFleet): Promise<readonly Row[]> {
  const { stdout } = await devsh('pending --json');
  return (JSON.parse(stdout) as { pending: Row[] }).pending;
}

function langOf({ device }: TestFleet, number: number, name = 'viewer'): string | undefined {
  return device(number).users.find(({ username }) => username === name)?.lang;
}

/** Changes a device without this devsh knowing. */
async function alter({ devsh }: TestFleet, line: string): Promise<void> {
  const env = { XDG_STATE_HOME: join(devsh.folder, 'somebody-else') };
  expect(await devsh(`${line} --yes`, { env })).toMatchObject({ exitCode: 0 });
}

test('a lockout keeps the login of devsh, also when it is continued, or its undo undone', async () => {
  const fleet = await startFleet({ devices: 3, profile: 'generic-rest' });
  const { devsh, device } = fleet;
  device(3).setFault(DOWN, true);
  const locked = await devsh('lockout viewer --yes --now --delete');
  expect(locked.stdout).toContain('not reached: sim3 · pending there');
  device(3).setFault(DOWN, false);
  await devsh('undo --yes --allow loss');
  const [undone = '', id = ''] = await runIds(fleet);
  const refuse = async (line: string): Promise<void> => {
    const refused = await devsh(`${line} --yes --allow own-account`);
    expect(refused.stderr, line).toContain('has no --allow own-account');
    expect(refused.exitCode, line).toBe(2);
  };
  await refuse(`undo ${undone}`);
  await devsh(`undo ${undone} --yes`);
  await refuse('resume');
  await refuse(`resume ${id}`);
  expect(writesOf(device(3))).toEqual([]);
  expect(await devsh('resume --yes')).toMatchObject({ exitCode: 0 });
});

test('nothing is pending on an absent device for a resource that no device is known to have', async () => {
  const fleet = await startFleet({ devices: 2, profile: 'drf' });
  const { devsh, device } = fleet;
  device(2).setFault(DOWN, true);
  for (const line of [
    'nonsense add a=b --on sim2',
    'nonsense add a=b',
    'resource nonsense delete x --where a=b',
  ]) {
    const refused = await devsh(`${line} --yes`);
    expect(refused.stderr, line).not.toContain('pending on');
    expect(refused.exitCode, line).not.toBe(0);
  }
  const refused = await devsh('nonsense add a=b --on sim2 --yes');
  expect(refused.stderr).toContain('devsh knows no device with the resource "nonsense"');
  expect(refused.exitCode).toBe(6);
  expect(await rows(fleet)).toEqual([]);
  // Another device has shown it.
  await devsh('learn --on sim1');
  const pending = await devsh('interface set eth0 mtu=1400 --on sim2 --yes');
  expect(pending.stdout).toContain('not reached: sim2 · pending there');
});

/** The newest first. */
async function runIds({ devsh }: TestFleet): Promise<readonly string[]> {
  const { stdout } = await devsh('runs --json');
  return (JSON.parse(stdout) as { runs: { run: string }[] }).runs.map(({ run }) => run);
}

test('--allow drift overwrites values, and never the account of another person', async () => {
  const fleet = await startFleet({ devices: 4 });
  const { devsh, device } = fleet;
  for (const number of [2, 3, 4]) device(number).setFault(DOWN, true);
  await devsh('user set viewer lang=fr --on @lab --yes');
  for (const number of [2, 3, 4]) device(number).setFault(DOWN, false);
  // On sim2 only the value has changed; on sim3 and sim4 the name belongs to another person by now.
  await alter(fleet, 'user set viewer lang=es --on sim2');
  await alter(fleet, 'user set viewer first_name=Victor lastname=Other --on sim3,sim4');

  const plain = await devsh('resume --yes');
  expect(plain.exitCode).toBe(7);
  expect(plain.stdout).toContain('viewer  set drift');
  expect(plain.stdout).toContain('viewer  set drift - user viewer shows another person');
  // Why it is pending now, not why it was at first.
  const causes = (await rows(fleet)).map(({ device: name, cause }) => [name, cause]);
  expect(causes).toEqual(['sim2', 'sim3', 'sim4'].map((name) => [name, 'drift']));
  const forced = await devsh('resume --yes --allow drift');
  expect(forced.exitCode).toBe(3);
  expect([2, 3, 4].map((number) => langOf(fleet, number))).toEqual(['fr', 'en', 'en']);
  expect(await rows(fleet)).toMatchObject([{ device: 'sim3' }, { device: 'sim4' }]);
  // No word takes an account that contradicts what is known: only a line that names it.
  expect(await devsh('resume --yes --also sim3=viewer')).toMatchObject({ exitCode: 7 });
  await devsh('user set viewer lang=fr --on sim3 --yes');
  expect([3, 4].map((number) => langOf(fleet, number))).toEqual(['fr', 'en']);
  expect(await rows(fleet)).toMatchObject([{ device: 'sim4' }]);
});

test('on a terminal devsh asks which of the records in doubt are the ones that are meant', async () => {
  const fleet = await startFleet({ devices: 3 });
  const { devsh, device } = fleet;
  await devsh('user list --on @lab');
  for (const number of [2, 3]) device(number).setFault(DOWN, true);
  await devsh('user delete viewer --on @lab --yes');
  for (const number of [2, 3]) device(number).setFault(DOWN, false);
  await alter(fleet, 'user set viewer lastname=Other --on sim2,sim3');
  const causes = async () => new Set((await rows(fleet)).map(({ cause }) => cause));
  expect(await causes()).toEqual(new Set(['not reached']));
  await devsh('resume --dry-run');
  expect(await causes()).toEqual(new Set(['not reached']));
  const none = await devsh('resume', { tty: [''] });
  expect(await causes()).toEqual(new Set(['a question without an answer']));
  expect(none.stderr).toContain('Is this "viewer" the one that is meant?');
  expect(none.stderr).toMatch(/1 {2}sim2 {2}user viewer shows another person \(last name Other/);
  expect(none.exitCode).toBe(6);
  expect([2, 3].map((number) => usernames(device(number)).includes('viewer'))).toEqual([
    true,
    true,
  ]);
  const one = await devsh('resume --no-color', { tty: ['2', 'y'] });
  expect(one.stdout).toContain('✓ viewer  deleted  sim3');
  expect([2, 3].map((number) => usernames(device(number)).includes('viewer'))).toEqual([
    true,
    false,
  ]);
});

test('--also names a device of the line', async () => {
  const fleet = await startFleet({ devices: 2 });
  fleet.device(2).setFault(DOWN, true);
  await fleet.devsh('user delete viewer --on @lab --yes');
  fleet.device(2).setFault(DOWN, false);
  for (const [mark, text] of [
    ['viewer', '--also DEVICE=viewer'],
    ['sim1=viewer', '--also sim1=viewer: nothing is asked about there'],
  ] as const) {
    const { exitCode, stderr } = await fleet.devsh(`resume --yes --also ${mark}`);
    expect(stderr).toContain(text);
    expect(exitCode).toBe(2);
  }
  expect(writesOf(fleet.device(2))).toEqual([]);
});

test('a refused login and a changed certificate are pending with their cause; a 403, an error and read-only are not', async () => {
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
  expect(run.stdout).toContain('· pending on sim2, sim3');
  expect(run.stderr).toMatch(/pending: "resume \S+" continues/);
  expect(await rows(fleet)).toMatchObject([
    { device: 'sim2', change: 'delete user viewer', cause: 'refused the login' },
    { device: 'sim3', change: 'delete user viewer', cause: 'not trusted' },
  ]);
  const early = await devsh('resume --wait --yes');
  // A refused login is not tried again and again.
  expect(early.stderr).not.toContain('tries again');
  expect(early.exitCode).toBe(1);
  device(2).setFault('401', false);
  device(3).setFault('certificate-change', false);
  await trust(devsh, devices.slice(0, 2).concat(devices.slice(3)));
  await devsh(`trust accept sim3 --fingerprint ${device(3).fingerprint}`);
  expect(await devsh('resume --yes')).toMatchObject({ exitCode: 0 });
  expect(await rows(fleet)).toEqual([]);
  expect(devices.map((one) => writesOf(one).length)).toEqual([1, 1, 1, 0, 0, 0]);
});

test('devices that got no login because two others refused it are pending, too', async () => {
  const fleet = await startFleet({ devices: 4, env: { ...ADMIN, DEVSH_PASSWORD: 'wrong' } });
  await fleet.devsh('user delete viewer --on @lab --yes');
  const pending = await rows(fleet);
  expect(pending.map(({ device }) => device)).toEqual(['sim1', 'sim2', 'sim3', 'sim4']);
  expect(new Set(pending.map(({ cause }) => cause))).toEqual(
    new Set(['refused the login', 'without a login']),
  );
  // The same line with the right password replaces all of it.
  const env = { DEVSH_PASSWORD: ADMIN.DEVSH_PASSWORD };
  expect(await fleet.devsh('user delete viewer --on @lab --yes', { env })).toMatchObject({
    exitCode: 0,
  });
  expect(await rows(fleet)).toEqual([]);
});

test('what was declined or refused before it ran leaves nothing pending, and neither does an excluded device', async () => {
  const fleet = await startFleet({ devices: 3 });
  const { devsh, device } = fleet;
  device(3).setFault(DOWN, true);
  await devsh('user delete viewer --on @lab', { tty: ['no'] });
  await devsh('user delete admin --on @lab --yes');
  await devsh('user delete viewer --on @lab,!sim3 --yes');
  expect(await rows(fleet)).toEqual([]);
});

test.each([
  ['another person has its name', 'user set viewer lastname=Other', 'a question without an answer'],
  ['somebody has changed the value', 'user set viewer lang=es', 'drift'],
])(
  'what was lost on its way is pending for the reason that stops it now: %s',
  async (_, line, cause) => {
    const fleet = await startFleet({ devices: 1 });
    const { devsh, device } = fleet;
    device(1).setFault('500', true, { method: 'POST' });
    await devsh('user set viewer lang=fr --on sim1 --yes');
    expect(await rows(fleet)).toMatchObject([{ cause: 'without a usable response' }]);
    device(1).setFault('500', false);
    await alter(fleet, `${line} --on sim1`);
    for (let round = 0; round < 2; round += 1) {
      expect((await devsh('resume --yes')).exitCode).toBeGreaterThan(5);
      expect(await rows(fleet)).toMatchObject([{ cause }]);
      expect((await devsh('runs show --json')).stdout).not.toContain('"index"');
    }
  },
);
