import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  startSimulator,
  type SimulatedDevice,
  type SimulatorOptions,
} from '../simulator/simulator.ts';
import { ADMIN, makeDevsh, startFleet, usernames, writesOf, type Devsh } from './devsh.ts';
import { startProgram, waitUntil } from './process.ts';
import { settleAtOnce } from '../settle.ts';

settleAtOnce();

const POSITIONAL = { profile: 'generic-rest', quirk: ['positional-ids'] } as const;
const ASSUMED = 'devsh assumes, without documentation: delete user by DELETE /api/user/<uuid>/';
const MOVED = 'the ids of sim1 are positions in the list';

/** The users 2 to 7 of a device with positional ids; admin and viewer are 0 and 1. */
async function start(
  options: SimulatorOptions & { readonly speaks?: string },
): Promise<{ devsh: Devsh & { folder: string }; device: SimulatedDevice; names: string[] }> {
  const { speaks = options.profile ?? 'documented', ...spec } = options;
  const simulator = await startSimulator({ users: 8, ...spec });
  onTestFinished(() => simulator.close());
  const [device] = simulator.devices;
  if (device === undefined) throw new Error('no device');
  const devsh = await makeDevsh(ADMIN);
  await devsh(['device', 'add', 'sim1', device.address, '--profile', speaks]);
  await devsh(['trust', 'accept', device.address, '--fingerprint', device.fingerprint]);
  return { devsh, device, names: usernames(device).slice(2) };
}

/** The origin of a fact, as `profile` shows it. */
async function originOf(devsh: Devsh, fact: string, name = 'sim1'): Promise<string | undefined> {
  const { stdout } = await devsh(['profile', name, '--json']);
  const { facts } = JSON.parse(stdout) as { facts: { fact: string; origin: string }[] };
  return facts.find((known) => known.fact === fact)?.origin;
}

/** Reads and writes of users in their order. */
function requestsOf({ log }: SimulatedDevice): string[] {
  return log
    .filter(({ method }) => method !== 'OPTIONS')
    .map(({ method, path }) => `${method} ${path}`);
}

test('an unconfigured way of deleting is called assumed until a read-back has proved it', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  const [first = '', second = ''] = usernames(device(1)).slice(2);
  const planned = await devsh(`user delete ${first} --on @lab --dry-run`);
  expect(planned.stdout).toContain(`${ASSUMED} on sim1, sim2\n`);
  const asData = await devsh(`user delete ${first} --on sim1 --dry-run --json`);
  const assumed = { action: 'delete', resource: 'user', way: 'DELETE /api/user/<uuid>/' };
  expect(JSON.parse(asData.stdout)).toMatchObject({ plan: [{ assumed: [assumed] }] });

  const { stdout, stderr } = await devsh(`user delete ${first} --on sim1 --yes`);
  expect(stderr).toContain(`${ASSUMED} on sim1\n`);
  expect(stdout).toContain('done');
  expect(await originOf(devsh, 'remove.path')).toBe('observed');
  expect(await originOf(devsh, 'remove.path', 'sim2')).toBe('assumed');
  const next = await devsh(`user delete viewer --on @lab --dry-run`);
  expect(next.stdout).toContain(`${ASSUMED} on sim2\n`);
  const again = await devsh(`user delete ${second} --on sim1 --yes`);
  expect(again.stderr).not.toContain('assumed');
});

test('assumptions are shown before the question, too', async () => {
  const { devsh, writes } = await startFleet();
  const { stderr } = await devsh('user delete viewer --on sim1', { tty: ['n'] });
  expect(stderr.indexOf(ASSUMED)).toBeGreaterThanOrEqual(0);
  expect(stderr.indexOf(ASSUMED)).toBeLessThan(stderr.indexOf('Type y'));
  expect(writes()).toEqual([]);
});

test('a delete without effect so far proves nothing, and names no other way', async () => {
  const { devsh, device } = await startFleet();
  device(1).setFault('delete-and-keep');
  const { stdout, exitCode } = await devsh('user delete viewer --on sim1 --yes');
  expect(stdout).toContain('no effect');
  expect(stdout).not.toContain('profile set');
  expect(exitCode).toBe(1);
  expect(await originOf(devsh, 'remove.path')).toBe('assumed');
});

test('an unknown path leaves the fact assumed, and the next step is named', async () => {
  const { devsh, device, names } = await start({ profile: 'form-action', speaks: 'generic-rest' });
  await devsh('profile set sim1 id_fields=[]');
  const [name = ''] = names;
  const { stdout, exitCode } = await devsh(`user delete ${name} --on sim1 --yes`);
  expect(stdout).toMatch(/failed - .*40[45]/);
  expect(stdout).toContain('"profile set sim1 remove.path=…"');
  expect(exitCode).toBe(1);
  expect(usernames(device)).toContain(name);
  expect(await originOf(devsh, 'remove.path')).toBe('assumed');
});

test('changing by convention is assumed until it is proved, too', async () => {
  const { devsh } = await startFleet();
  const set = await devsh('user set viewer lang=fr --on sim1 --yes');
  expect(set.stderr).toContain(
    'devsh assumes, without documentation: set user by POST /api/user/ with its uuid on sim1',
  );
  expect(await originOf(devsh, 'update.path')).toBe('observed');
  expect((await devsh('user set viewer lang=de --on sim1 --yes')).stderr).not.toContain('assumed');
});

test('adding is assumed, too, unless the profile is documented', async () => {
  const { devsh } = await start({ profile: 'generic-rest' });
  const add = (name: string): string =>
    `user add username=${name} first_name=Zoe lastname=Zimmer lang=de --on sim1 --yes`;
  const { stderr } = await devsh(add('zoe'));
  expect(stderr).toContain(
    'devsh assumes, without documentation: add user by POST /api/user on sim1',
  );
  expect(await originOf(devsh, 'create.path')).toBe('observed');
  expect((await devsh(add('zac'))).stderr).not.toContain('assumed');
});

test('a configured fact is not called assumed', async () => {
  const { devsh } = await startFleet();
  await devsh('profile set sim1 remove.path={item}');
  const { stdout } = await devsh('user delete viewer --on sim1 --dry-run');
  expect(stdout).not.toContain('assumed');
});

test('several deletes by positional ids hit the named records', async () => {
  const { devsh, device, names } = await start(POSITIONAL);
  const [a = '', b = '', c = '', ...others] = names;
  const { stdout, stderr } = await devsh(`user delete ${a} ${c} ${b} --on sim1 --yes`);
  expect(stdout).toContain('3 done');
  expect(stderr).toContain(`${MOVED} (user ${b} had the id 3 and now has 2)`);
  expect(usernames(device)).toEqual(['admin', 'viewer', ...others]);
  expect(requestsOf(device)).toEqual([
    'GET /api/user',
    'GET /api/user',
    'DELETE /api/user/2',
    'GET /api/user',
    'DELETE /api/user/3',
    'GET /api/user',
    'DELETE /api/user/2',
    'GET /api/user',
  ]);
  expect(await originOf(devsh, 'ids')).toBe('observed');
  const [next = ''] = others;
  expect((await devsh(`user delete ${next} --on sim1 --yes`)).stderr).not.toContain(MOVED);
});

test('positional ids can be configured, and then need no observation', async () => {
  const { devsh, device, names } = await start(POSITIONAL);
  await devsh('profile set sim1 ids=positional');
  expect(await originOf(devsh, 'ids')).toBe('configured');
  const wanted = device.users.filter(({ lang }) => lang === device.users.at(-1)?.lang);
  const where = `lang=${device.users.at(-1)?.lang ?? ''}`;
  const argv = [
    'user',
    'delete',
    '--where',
    where,
    '--on',
    'sim1',
    '--yes',
    '--allow=own-account=admin',
  ];
  const { stdout, stderr } = await devsh(argv);
  expect(stdout).toContain(`${wanted.length} done`);
  expect(stderr).not.toContain(MOVED);
  const gone = wanted.map(({ username }) => username);
  expect(usernames(device)).toEqual(
    ['admin', 'viewer', ...names].filter((name) => !gone.includes(name)),
  );
});

test('a change after a delete reaches the named record, and undo reverts both', async () => {
  const { devsh, device, names } = await start(POSITIONAL);
  const [a = '', b = '', c = ''] = names;
  const before = new Map(device.users.map(({ username, ...user }) => [username, user]));
  const changes =
    `- {delete: user, key: ${a}}\n- {set: user, key: ${b}, fields: {first_name: Bea}}\n` +
    `- {delete: user, key: ${c}}\n`;
  const { stdout } = await devsh('apply - --on sim1 --yes', { stdin: changes });
  expect(stdout).toContain('3 done');
  expect(writesOf(device)).toEqual([
    'DELETE /api/user/2',
    'PATCH /api/user/2',
    'DELETE /api/user/3',
  ]);
  expect(usernames(device)).not.toContain(a);
  expect(usernames(device)).not.toContain(c);
  expect(device.users.find(({ username }) => username === b)).toMatchObject({ first_name: 'Bea' });

  const undone = await devsh('undo --yes');
  expect(undone.stdout).toContain('3 done');
  for (const { username, first_name: firstName, lang } of device.users) {
    expect({ first_name: firstName, lang }).toEqual({
      first_name: before.get(username)?.first_name,
      lang: before.get(username)?.lang,
    });
  }
  expect(device.users).toHaveLength(8);
});

test('a plan from before another delete never hits the neighbour', async () => {
  const { devsh, device, names } = await start(POSITIONAL);
  const [a = '', b = '', c = '', d = ''] = names;
  const file = join(devsh.folder, 'monday.plan');
  const changes = `- {delete: user, key: ${b}}\n- {delete: user, key: ${c}}\n`;
  await devsh(['plan', '-', '--on', 'sim1', '-o', file], { stdin: changes });
  // Another user deletes the one before them, with a devsh that has learned nothing yet.
  await devsh(`user delete ${a} --on sim1 --yes`);
  const { stdout } = await devsh(['apply', file, '--yes']);
  expect(stdout).toContain('2 done');
  expect(usernames(device)).toEqual(['admin', 'viewer', d, ...names.slice(4)]);
});

test('a stale id is drift if nothing shows that ids have moved', async () => {
  const { devsh, device, names } = await start(POSITIONAL);
  const other = await makeDevsh(ADMIN);
  await other(['device', 'add', 'sim1', device.address, '--profile', 'generic-rest']);
  await other(['trust', 'accept', device.address, '--fingerprint', device.fingerprint]);
  const [a = '', b = ''] = names;
  const file = join(devsh.folder, 'monday.plan');
  await devsh(['plan', '-', '--on', 'sim1', '-o', file], { stdin: `- {delete: user, key: ${b}}` });
  await other(`user delete ${a} --on sim1 --yes`);
  const { stdout, exitCode } = await devsh(['apply', file, '--yes']);
  expect(stdout).toContain('drift');
  expect(exitCode).toBe(7);
  expect(writesOf(device)).toEqual(['DELETE /api/user/2']);
  expect(usernames(device)).toEqual(['admin', 'viewer', ...names.slice(1)]);
});

test('deletes by positional ids that are killed and resumed remove exactly the named records', async () => {
  const { devsh, device, names } = await start({ ...POSITIONAL, latencyMs: 60 });
  const [a = '', b = '', c = '', ...others] = names;
  const argv = ['user', 'delete', a, b, c, '--on', 'sim1', '--yes'];
  const program = startProgram(argv, devsh.folder);
  await waitUntil(() => writesOf(device).length > 0, program);
  program.child.kill('SIGKILL');
  expect((await program.ended).signal).toBe('SIGKILL');
  const { stdout } = await devsh('resume --yes');
  expect(stdout).not.toMatch(/drift|failed|unknown/);
  expect(usernames(device)).toEqual(['admin', 'viewer', ...others]);
  expect(writesOf(device)).toEqual([
    'DELETE /api/user/2',
    'DELETE /api/user/2',
    'DELETE /api/user/2',
  ]);
});

test('counters are learned, and are neither drift nor a difference', async () => {
  const { devsh, device } = await start({ profile: 'generic-rest', quirk: ['counters'] });
  const add = 'user add username=zoe first_name=Zoe lastname=Zimmer lang=de --on sim1 --yes';
  const added = await devsh(add);
  expect(added.stdout).toContain('zoe  added');
  expect(added.stderr).toContain('sim1: hits of user changes without a write');
  expect(await originOf(devsh, 'resources.user.fields.hits')).toBe('observed');

  const reads = device.log.length;
  expect((await devsh('user set zoe lang=fr --on sim1 --yes')).stdout).toContain(
    '✓ zoe  lang de → fr',
  );
  // Plan, check, send, read back: no further reads.
  expect(device.log.length - reads).toBe(4);
  expect((await devsh('undo --yes')).stdout).toContain('✓ zoe  ');
  expect((await devsh('user list --on sim1 --json')).stdout).toContain('"hits":');
  expect((await devsh('user delete zoe --on sim1 --yes')).stdout).toContain('done');
});

test('a counter is learned from drift, too, and can be configured', async () => {
  const { devsh, device } = await start({ profile: 'generic-rest', quirk: ['counters'] });
  const set = await devsh('user set viewer lang=fr --on sim1 --yes');
  expect(set.stdout).toContain('✓ viewer  ');
  const other = await makeDevsh(ADMIN);
  await other(['device', 'add', 'sim1', device.address, '--profile', 'generic-rest']);
  await other(['trust', 'accept', device.address, '--fingerprint', device.fingerprint]);
  await other(['profile', 'set', 'sim1', 'resources.user.fields.hits=volatile']);
  expect(await originOf(other, 'resources.user.fields.hits')).toBe('configured');
  const { stdout, stderr } = await other('user set viewer lang=de --on sim1 --yes');
  expect(stdout).toContain('✓ viewer  ');
  expect(stderr).not.toContain('hits');
});

test('a counter is no difference between devices, but is shown', async () => {
  const { devsh, device } = await startFleet({
    devices: 2,
    profile: 'generic-rest',
    quirk: ['counters'],
  });
  for (const name of ['sim1', 'sim2']) {
    await devsh(['profile', 'set', name, 'extends=generic-rest']);
    // sim1 is listed more often.
    await devsh('user list --on sim1');
  }
  const list = (): ReturnType<Devsh> =>
    devsh('user list viewer --on @lab --fold --columns username,hits,lang', { tty: [] });
  expect((await list()).stdout).toContain('differs: hits');
  // The read-back of a write teaches it; the other device learns the same.
  await devsh('user set viewer lang=fr --on sim1 --yes');
  await devsh('profile set sim2 resources.user.fields.hits=volatile');
  await devsh('user set viewer lang=fr --on sim2 --yes');
  const { stdout } = await list();
  expect(stdout).toMatch(/HITS/);
  expect(stdout).not.toContain('differs');
  expect(device(1).users).toHaveLength(8);
});

test('learn finds counters without writing', async () => {
  const { devsh, device } = await start({ profile: 'generic-rest', quirk: ['counters'] });
  const { stdout } = await devsh('learn sim1');
  expect(stdout).toMatch(/^sim1\tresources\.user\.fields\.hits\t.*volatile/m);
  expect(await originOf(devsh, 'resources.user.fields.hits')).toBe('observed');
  expect(writesOf(device)).toEqual([]);
});

test('a key that nobody ever had fails with the one that may be meant; what is gone is unchanged', async () => {
  const { devsh, writes } = await startFleet({ devices: 2 });
  await devsh('user list --on @lab');
  const mistyped = await devsh('user delete viewr --on @lab --yes');
  expect(mistyped.stdout).toContain(
    'no user "viewr" was ever read on 2 devices; did you mean viewer?',
  );
  expect(mistyped.exitCode).toBe(1);
  const some = await devsh('user delete viewr viewer --on @lab --yes --json');
  expect(JSON.parse(some.stdout)).toMatchObject({
    results: [
      { key: 'viewr', verdict: 'failed', error: { code: 'not-found' } },
      { key: 'viewer', verdict: 'done' },
      { key: 'viewr', verdict: 'failed' },
      { key: 'viewer', verdict: 'done' },
    ],
  });
  expect(some.exitCode).toBe(3);
  const again = await devsh('user delete viewer --on @lab --yes');
  expect(again.stdout).toContain('already so - no such user here');
  expect(again.exitCode).toBe(0);
  expect(writes()).toHaveLength(2);
});

test.each(['', 'uuid=', 'username='])(
  'a record that was deleted as %sKEY is gone, not unknown',
  async (prefix) => {
    const { devsh, device } = await startFleet({ devices: 1 });
    const { uuid, username } = device(1).users[3] ?? { uuid: '', username: '' };
    const line = `user delete ${prefix}${prefix === 'username=' ? username : uuid} --on sim1 --yes`;
    expect((await devsh(line)).stdout).toContain('done');
    const { stdout, exitCode } = await devsh(line);
    expect(stdout).toContain('already so - no such user here');
    expect(exitCode).toBe(0);
  },
);

test('of a device whose readings are not kept nobody says what it never had', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  await devsh('user list --on sim1');
  Object.assign(device(2).users[3] ?? {}, { username: 'zoe' });
  const line = 'user delete zoe --on @lab --yes --insecure';
  expect((await devsh(line)).stdout).toContain('done');
  const { stdout, exitCode } = await devsh(line);
  expect(stdout).not.toContain('was ever read');
  expect(exitCode).toBe(0);
});

test('two very long names that differ in the middle are never one line of a plan', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  for (const number of [1, 2]) {
    const username = `${'a'.repeat(310)}${number}${'z'.repeat(110)}`;
    Object.assign(device(number).users[3] ?? {}, { username });
  }
  const line = ['user', 'delete', '--where', 'username~^aaa', '--on', '@lab', '--dry-run'];
  const { stdout } = await devsh(line);
  const lines = stdout.split('\n').filter((one) => one.startsWith('delete user aaa'));
  expect(lines.map((one) => / on (.*)$/.exec(one)?.[1])).toEqual(['sim1', 'sim2']);
  expect(new Set(lines.map((one) => one.replace(/ on .*$/, ''))).size).toBe(2);
});
