import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import {
  apply,
  DevshError,
  openDevice,
  plan,
  type DeviceOptions,
  type OpenDevice,
} from '../../src/api.ts';
import { startSimulator, type SimulatedDevice } from '../../src/simulator/simulator.ts';
import { makeDevsh, usernames, writesOf } from '../main/devsh.ts';

const LOGIN = { user: 'admin', password: 'admin-secret' };
const BOB = { username: 'bob', first_name: 'Bob', lastname: 'Builder', lang: 'de' };

async function simulate(devices: number): Promise<readonly SimulatedDevice[]> {
  const simulator = await startSimulator({ devices, users: 5 });
  onTestFinished(() => simulator.close());
  return simulator.devices;
}

async function open(device: SimulatedDevice, options: DeviceOptions = {}): Promise<OpenDevice> {
  const { address, fingerprint, name } = device;
  const trust = options.ca ?? options.insecure ?? options.fingerprint;
  const opened = await openDevice(address, {
    name,
    login: LOGIN,
    ...(trust === undefined && { fingerprint }),
    ...options,
  });
  onTestFinished(() => opened.close());
  return opened;
}

function openAll(devices: readonly SimulatedDevice[]): Promise<OpenDevice[]> {
  return Promise.all(devices.map((device) => open(device)));
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof DevshError ? error.code : String(error);
}

test('a login waits for no device that is not there', async () => {
  const devices = await simulate(9);
  // More than may have an untried login at a time, and before the one that is there.
  for (const device of devices.slice(0, 8)) device.setFault('handshake-stall', true);
  const login = { user: 'viewer', password: 'viewer-secret' };
  const opened = await Promise.all(devices.map((device) => open(device, { login })));
  const ended: string[] = [];
  const reads = opened.map(async (device) => {
    await device.list('user').catch(() => undefined);
    ended.push(device.name);
  });
  await Promise.race(reads);
  expect(ended).toEqual(['sim9']);
});

test('lists, plans, applies and reads back on several devices', async () => {
  const devices = await simulate(2);
  const opened = await openAll(devices);

  const users = await opened[0]?.list('user');
  const ready = await plan(opened, [{ add: 'user', fields: BOB }]);
  const seen: string[] = [];
  const report = await apply(ready, {
    onResult: ({ device, verdict }) => seen.push(`${device.name} ${verdict}`),
  });

  expect(users?.map(({ username }) => username)).toContain('admin');
  expect(ready.steps).toBe(2);
  expect(report).toMatchObject({ isGood: true, stopped: undefined, journal: undefined });
  expect(seen).toEqual(['sim1 done', 'sim2 done']);
  for (const device of devices) expect(usernames(device)).toContain('bob');
});

test('a plan sends no write, and a record that is as requested needs none', async () => {
  const [device] = await simulate(1);
  if (device === undefined) throw new RangeError();
  const opened = await open(device);

  await apply(await plan(opened, [{ add: 'user', fields: BOB }]));
  const before = writesOf(device).length;
  const again = await plan(opened, [{ add: 'user', fields: BOB }]);

  expect(writesOf(device)).toHaveLength(before);
  expect((await apply(again)).results).toMatchObject([{ verdict: 'unchanged' }]);
});

test('sets and deletes by key and by filter', async () => {
  const [device] = await simulate(1);
  if (device === undefined) throw new RangeError();
  const opened = await open(device);
  await apply(await plan(opened, [{ add: 'user', fields: BOB }]));

  const changed = await apply(
    await plan(opened, [{ set: 'user', key: 'bob', fields: { lang: 'en' } }]),
  );
  const deleted = await apply(await plan(opened, [{ delete: 'user', where: 'username=bob' }]));

  expect(changed.results).toMatchObject([{ verdict: 'done', record: { lang: 'en' } }]);
  expect(deleted.isGood).toBe(true);
  expect(usernames(device)).not.toContain('bob');
});

test('the command line can read and undo a run of the library', async () => {
  const [device] = await simulate(1);
  if (device === undefined) throw new RangeError();
  const devsh = await makeDevsh({ DEVSH_USER: LOGIN.user, DEVSH_PASSWORD: LOGIN.password });
  await devsh(['trust', 'accept', device.address, '--fingerprint', device.fingerprint]);
  const stateFolder = join(devsh.folder, 'state', 'devsh');
  const ready = await plan(await open(device), [{ add: 'user', fields: BOB }]);

  const report = await apply(ready, { stateFolder, purpose: 'ticket 4711' });

  expect(await readFile(report.journal ?? '', 'utf8')).not.toContain(LOGIN.password);
  expect((await devsh('runs')).stdout).toContain('ticket 4711');
  const undone = await devsh(['undo', report.run, '--yes']);
  expect(undone.stderr + undone.stdout).toContain('done');
  expect(usernames(device)).not.toContain('bob');
  expect(await readdir(join(stateFolder, 'locks'))).toEqual([]);
});

test('no request is sent to a device with another certificate than the pinned one', async () => {
  const [device, other] = await simulate(2);
  if (device === undefined || other === undefined) throw new RangeError();
  const opened = await open(device, { fingerprint: other.fingerprint });

  expect(await codeOf(opened.list())).toBe('untrusted');
  expect((await plan(opened, [{ add: 'user', fields: BOB }])).devices[0]?.error?.code).toBe(
    'untrusted',
  );
  expect(device.log).toEqual([]);
});

test('a certificate that no CA of Node has signed is refused unless an option allows it', async () => {
  const [device] = await simulate(1);
  if (device === undefined) throw new RangeError();
  const opened = await openDevice(device.address, { login: LOGIN });
  onTestFinished(() => opened.close());

  expect(await codeOf(opened.list())).toBe('untrusted');
  expect(device.log).toEqual([]);
});

test('a wrong password is sent to two devices at most', async () => {
  const devices = await simulate(5);
  const login = { user: 'admin', password: 'wrong' };
  const opened = await Promise.all(devices.map((device) => open(device, { login })));

  const codes = await Promise.all(opened.map((device) => codeOf(device.list())));

  expect(codes.toSorted()).toEqual([
    ...Array<string>(3).fill('credentials'),
    ...Array<string>(2).fill('unauthorized'),
  ]);
  expect(devices.filter(({ log }) => log.length > 0)).toHaveLength(2);
});

test('a plan that would lock its caller out is refused unless that is allowed', async () => {
  const [device] = await simulate(1);
  if (device === undefined) throw new RangeError();
  const ready = await plan(await open(device), [{ delete: 'user', key: 'admin' }]);

  expect(await codeOf(apply(ready))).toBe('refused');
  expect(writesOf(device)).toEqual([]);
  await apply(ready, { allow: ['own-account'] });
  expect(writesOf(device)).toHaveLength(1);
});

test('a device that changed since the plan is not written to', async () => {
  const [device] = await simulate(1);
  if (device === undefined) throw new RangeError();
  const opened = await open(device);
  await apply(await plan(opened, [{ add: 'user', fields: BOB }]));
  const old = await plan(opened, [{ set: 'user', key: 'bob', fields: { lang: 'en' } }]);
  await apply(await plan(opened, [{ set: 'user', key: 'bob', fields: { lang: 'fr' } }]));

  expect((await apply(old)).results).toMatchObject([{ verdict: 'drift' }]);
});

test('a device that cannot be reached is a failed result, and the others are changed', async () => {
  const devices = await simulate(2);
  const opened = [
    await openDevice('127.0.0.1:1', { name: 'gone', login: LOGIN, insecure: true }),
    ...(await openAll(devices)),
  ];

  const report = await apply(await plan(opened, [{ add: 'user', fields: BOB }]));

  expect(report.isGood).toBe(false);
  expect(report.results.map(({ device, verdict }) => [device.name, verdict])).toEqual([
    ['gone', 'failed'],
    ['sim1', 'done'],
    ['sim2', 'done'],
  ]);
});

test('an aborted run reports the steps that were not reached', async () => {
  const devices = await simulate(3);
  const stop = new AbortController();
  const ready = await plan(await openAll(devices), [{ add: 'user', fields: BOB }]);

  const report = await apply(ready, {
    signal: stop.signal,
    onResult: () => {
      stop.abort();
    },
  });

  expect(report.results.map(({ verdict }) => verdict)).toEqual(['done', 'skipped', 'skipped']);
  expect(report.stopped).toBe('cancelled');
});

test('a callback that throws does not end the run', async () => {
  const devices = await simulate(2);
  const ready = await plan(await openAll(devices), [{ add: 'user', fields: BOB }]);
  const onResult = (): void => {
    throw new Error('of the caller');
  };

  await expect(apply(ready, { onResult })).rejects.toThrow('of the caller');
  for (const device of devices) expect(usernames(device)).toContain('bob');
});

test('a read-only device is never written to', async () => {
  const [device] = await simulate(1);
  if (device === undefined) throw new RangeError();
  const ready = await plan(await open(device, { readOnly: true }), [{ add: 'user', fields: BOB }]);

  expect(ready.steps).toBe(0);
  expect((await apply(ready)).results[0]?.error?.code).toBe('refused');
});

test('no login is shown by a printed device or an error', async () => {
  const [device] = await simulate(1);
  if (device === undefined) throw new RangeError();
  const opened = await open(device, { login: { user: 'admin', password: 'not-to-be-seen' } });
  const error: unknown = await opened.list().catch((reason: unknown) => reason);

  const ready = await plan(opened, [{ delete: 'user', key: 'bob' }]);

  const things = [opened, error, ready];
  const shown = inspect(things, { depth: 10, showHidden: true }) + JSON.stringify(things);
  expect(shown).not.toContain('not-to-be-seen');
});

test.each<[string, DeviceOptions]>([
  ['two kinds of trust', { insecure: true, fingerprint: 'AB'.repeat(32) }],
  ['half a fingerprint', { fingerprint: 'AB:CD' }],
  ['a CA that is none', { ca: 'nonsense' }],
  ['a profile that nobody knows', { profile: 'nonsense' }],
  ['a proxy and a jump host', { proxy: 'http://proxy:3128', jump: 'bastion' }],
  ['a login without a password', { login: JSON.parse('{"user": "admin"}') as never }],
  ['no time at all', { timeoutMs: 0 }],
  ['a time without end', { timeoutMs: Infinity }],
  ['insecure that is not true', JSON.parse('{"insecure": false}') as DeviceOptions],
  ['read-only that is neither yes nor no', JSON.parse('{"readOnly": "yes"}') as DeviceOptions],
  ['an option that there is not', JSON.parse('{"readonly": true}') as DeviceOptions],
])('%s is refused when the device is opened', async (_what, options) => {
  expect(await codeOf(openDevice('10.0.0.5', options))).toBe('usage');
});

test('an invalid change, two devices with one name, and a record changed twice are refused', async () => {
  const [device] = await simulate(1);
  if (device === undefined) throw new RangeError();
  const opened = await open(device);
  const nonsense = JSON.parse(
    `[{"delete": "user"}, {"add": "user"}, {"set": 7, "key": "x"}, {"delete": "user", "key": ""},
      {"delete": "user", "where": ""}, {"delete": "user", "where": " '' "}, {"add": "user", "fields": ["x"]},
      {"delete": "user", "key": "x", "where": "lang=de"}, {"delete": "user", "set": "user", "key": "x"},
      {"delete": "user", "key": "x", "on": "fw1"}]`,
  ) as [];
  const twice = [BOB, { ...BOB, lang: 'en' }].map((fields) => ({ add: 'user', fields }));

  for (const one of nonsense) expect(await codeOf(plan(opened, [one]))).toBe('usage');
  const misspelt = JSON.parse('[{"ad": "user"}]') as [];
  await expect(plan(opened, misspelt)).rejects.toThrow('a change says add, set or delete');
  for (const lang of [undefined, NaN, [undefined]] as never[]) {
    expect(await codeOf(plan(opened, [{ add: 'user', fields: { lang } }]))).toBe('usage');
  }
  const ready = await plan(opened, [{ delete: 'user', key: 'x' }]);
  expect(await codeOf(apply(ready, { stateFolder: '' }))).toBe('usage');
  const options = JSON.parse('{"maxFailure": 1}') as object;
  await expect(apply(ready, options)).rejects.toThrow('did you mean maxFailures?');
  expect(await codeOf(plan([opened, opened], [{ delete: 'user', key: 'x' }]))).toBe('usage');
  expect(await codeOf(plan(opened, twice))).toBe('usage');
});

test('an account that breakGlass lists keeps its access, unless allow names it', async () => {
  const [device] = await simulate(1);
  if (device === undefined) throw new Error('no device');
  const opened = await open(device, { breakGlass: ['view*'] });
  const ready = await plan(opened, [{ delete: 'user', key: 'viewer' }]);
  expect(await codeOf(apply(ready))).toBe('refused');
  expect(await codeOf(apply(ready, { allow: ['break-glass=other'] }))).toBe('refused');
  expect(writesOf(device)).toEqual([]);
  await apply(ready, { allow: ['break-glass=viewer'] });
  expect(usernames(device)).not.toContain('viewer');
});

test.each([[''], 'viewer', [7], null])(
  'breakGlass: %j is a mistake, not a protection',
  async (value) => {
    const options = { breakGlass: value } as unknown as DeviceOptions;
    expect(await codeOf(openDevice('10.0.0.5', options))).toBe('usage');
  },
);
