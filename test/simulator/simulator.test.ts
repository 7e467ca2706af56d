import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { ownAddress } from '../../src/simulator/listener.ts';
import { SimulatorError, startSimulator } from './simulator.ts';
import { ask } from './ask.ts';

async function fleet(options: Parameters<typeof startSimulator>[0]) {
  const simulator = await startSimulator(options);
  await simulator.close();
  return simulator.devices;
}

describe('the data', () => {
  test('is the same for the same seed, and another for another', async () => {
    const contents = async (seed: number) =>
      (await fleet({ devices: 2, seed })).map(({ users, accounts }) => ({ users, accounts }));

    const first = await contents(7);

    expect(await contents(7)).toEqual(first);
    expect(await contents(8)).not.toEqual(first);
  });

  test('of a fleet is half equal, a little drifted, and for the rest on one device only', async () => {
    const devices = await fleet({ devices: 3, users: 40 });
    const people = new Map<string, { fields: string; uuid: string }[]>();
    for (const { users } of devices) {
      for (const { uuid, ...fields } of users) {
        const seen = people.get(fields.username) ?? [];
        people.set(fields.username, [...seen, { uuid, fields: JSON.stringify(fields) }]);
      }
    }
    const groups = [...people.values()];
    const variants = (group: { fields: string }[]) =>
      new Set(group.map(({ fields }) => fields)).size;

    expect(groups.filter((group) => group.length === 3 && variants(group) === 1)).toHaveLength(21);
    expect(groups.filter((group) => group.length === 3 && variants(group) === 2)).toHaveLength(7);
    expect(groups.filter((group) => group.length === 1)).toHaveLength(36);
    const uuids = groups.flat().map(({ uuid }) => uuid);
    expect(new Set(uuids).size).toBe(uuids.length);
  });

  test('differs in one field where it drifts', async () => {
    const [first, second] = await fleet({ devices: 2, users: 60 });
    const differing = (first?.users ?? []).map((user) => {
      const twin = second?.users.find(({ username }) => username === user.username);
      return (['first_name', 'lastname', 'lang'] as const).filter(
        (field) => twin !== undefined && twin[field] !== user[field],
      );
    });

    expect(Math.max(...differing.map(({ length }) => length))).toBe(1);
  });

  test('has accents, CJK, right-to-left names and emoji in a list of 25', async () => {
    const [device] = await fleet({});
    const text = JSON.stringify(device?.users);

    for (const script of [
      /[À-ž]/,
      /\p{Script=Han}/u,
      /\p{Script=Hebrew}/u,
      /\p{Emoji_Presentation}/u,
    ]) {
      expect(text).toMatch(script);
    }
  });

  test('keeps usernames unique in a long list, and acceptable to the device', async () => {
    const [device] = await fleet({ users: 5000 });
    const usernames = device?.users.map(({ username }) => username) ?? [];

    expect(new Set(usernames).size).toBe(5000);
    for (const username of usernames) expect(username).toMatch(/^[\p{L}\p{N}_.@+-]{1,150}$/u);
  });

  test('always has the two accounts', async () => {
    const [device] = await fleet({ users: 0 });

    expect(device?.users.map(({ username }) => username)).toEqual(['admin', 'viewer']);
  });

  test('can be changed behind the back of everybody', async () => {
    const [device] = await fleet({});

    device?.putUser({ username: 'new', lang: 'it' });
    device?.putUser({ username: 'viewer', lastname: 'Changed' });

    expect(device?.users.at(-1)).toMatchObject({ username: 'new', lang: 'it', lastname: '' });
    expect(device?.users[1]).toMatchObject({ username: 'viewer', lastname: 'Changed' });
    expect(device?.removeUser('new')).toBe(true);
    expect(device?.removeUser('new')).toBe(false);
  });
});

describe('the devices', () => {
  test('have addresses, certificates and tokens of their own', async ({ onTestFinished }) => {
    const simulator = await startSimulator({ devices: 3 });
    onTestFinished(() => simulator.close());
    const own = (key: 'name' | 'address' | 'fingerprint') =>
      new Set(simulator.devices.map((device) => device[key])).size;

    expect([own('name'), own('address'), own('fingerprint')]).toEqual([3, 3, 3]);
    expect(simulator.url).toBe(simulator.devices[0]?.url);
    const [first, second] = simulator.devices;
    const stranger = `Token ${first?.accounts.admin.token ?? ''}`;
    expect(second && (await ask(second, { headers: { Authorization: stranger } })).status).toBe(
      401,
    );
  });

  test('are counted up over the nets of 127.0.0.0/8', () => {
    expect([0, 1, 249, 250, 9999].map(ownAddress)).toEqual([
      '127.0.0.2',
      '127.0.0.3',
      '127.0.0.251',
      '127.0.1.2',
      '127.0.39.251',
    ]);
  });

  test('200 of them start, answer and close', async () => {
    const simulator = await startSimulator({ devices: 200, users: 5 });
    const answers = await Promise.all(simulator.devices.map((device) => ask(device)));
    await simulator.close();

    expect(answers.every(({ status }) => status === 200)).toBe(true);
    for (const device of simulator.devices.slice(0, 3)) {
      await expect(ask(device)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    }
  });

  test('leave nothing behind that would keep a process alive', async ({ onTestFinished }) => {
    const folder = await mkdtemp(join(tmpdir(), 'devsh-simulator-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, 'close.mjs');
    await build({
      stdin: {
        contents: `
          import { get } from 'node:https';
          import { startSimulator } from './test/simulator/simulator.ts';
          const simulator = await startSimulator({ devices: 3, latencyMs: 1, faults: ['slow-body'] });
          simulator.devices[2].setFault('refuse');
          await new Promise((resolve) => {
            get(simulator.url, { path: '/api/', rejectUnauthorized: false }, (response) => {
              response.on('error', () => undefined);
              response.once('data', resolve);
            });
          });
          await simulator.close();`,
        resolveDir: process.cwd(),
      },
      outfile: file,
      bundle: true,
      platform: 'node',
      format: 'esm',
    });

    const { status, signal, stderr } = spawnSync(process.execPath, [file], {
      timeout: 20_000,
      encoding: 'utf8',
    });

    expect({ status, signal, stderr }).toEqual({ status: 0, signal: null, stderr: '' });
  });

  test('close ends what waits, is slow or never ends', async () => {
    const simulator = await startSimulator({ devices: 4, latencyMs: 0 });
    const [silent, slow, endless, late] = simulator.devices;
    silent?.setFault('silence');
    slow?.setFault('slow-body');
    endless?.setFault('endless-body');
    late?.setFault('refuse');
    const waiting = [silent, slow, endless].map((device) =>
      device === undefined
        ? Promise.reject(new Error('no device'))
        : expect(ask(device)).rejects.toThrow(),
    );
    await expect.poll(() => simulator.devices.filter(({ log }) => log.length === 1).length).toBe(3);

    await simulator.close();
    await simulator.close();

    await Promise.all(waiting);
  });

  test('close does not wait for latency', async () => {
    const simulator = await startSimulator({ latencyMs: 600_000 });
    const [device] = simulator.devices;
    if (device === undefined) throw new Error('no device');
    const waiting = expect(ask(device)).rejects.toThrow();
    await expect.poll(() => device.log.length).toBe(1);

    await simulator.close();

    await waiting;
  });

  test('latency delays every answer', async ({ onTestFinished }) => {
    const simulator = await startSimulator({ latencyMs: 60 });
    onTestFinished(() => simulator.close());
    const [device] = simulator.devices;
    const start = performance.now();

    expect(device && (await ask(device)).status).toBe(200);

    expect(performance.now() - start).toBeGreaterThanOrEqual(59);
  });

  test('a port that is taken is said so', async ({ onTestFinished }) => {
    const other = await startSimulator();
    onTestFinished(() => other.close());
    const { port = 0 } = other.devices[0] ?? {};

    await expect(startSimulator({ port })).rejects.toThrow(SimulatorError);
  });

  test('a port taken on one of the addresses makes all move to another', async ({
    onTestFinished,
  }) => {
    const blocker = createServer().listen(0, ownAddress(1));
    onTestFinished(() => {
      blocker.close();
    });
    await once(blocker, 'listening');

    const simulator = await startSimulator({ devices: 3 });
    onTestFinished(() => simulator.close());

    expect(new Set(simulator.devices.map(({ port }) => port)).size).toBe(1);
  });

  test.each([
    { devices: 0 },
    { devices: 1.5 },
    { users: -1 },
    { latencyMs: NaN },
    { port: 70_000 },
  ])('the options %j are refused', async (options) => {
    await expect(startSimulator(options)).rejects.toThrow(RangeError);
  });
});
