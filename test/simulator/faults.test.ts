import { Agent, request } from 'node:https';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { startSimulator, type SimulatedDevice, type Simulator } from './simulator.ts';
import { ask, BOB, userNamed } from './ask.ts';

let simulator: Simulator;
let device: SimulatedDevice;
beforeEach(async () => {
  simulator = await startSimulator({ devices: 2, users: 4 });
  const [first] = simulator.devices;
  if (first === undefined) throw new Error('no device');
  device = first;
});
afterEach(() => simulator.close());

const post = () => ask(device, { method: 'POST', body: BOB });
const remove = (username: string) =>
  ask(device, {
    method: 'DELETE',
    path: `/api/user/${userNamed(device, username)?.uuid ?? ''}/`,
  });

describe('faults of the connection', () => {
  test('refuse closes the port until it is switched off, on this device only', async () => {
    device.setFault('refuse');

    await expect(ask(device)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    const [, second] = simulator.devices;
    expect(second && (await ask(second)).status).toBe(200);

    const { address } = device;
    device.setFault('refuse', false);
    expect((await ask(device)).status).toBe(200);
    expect(device.address).toBe(address);
  });

  test('refuse ends connections that are open', async ({ onTestFinished }) => {
    const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
    onTestFinished(() => {
      agent.destroy();
    });
    device.setFault('silence');
    const waiting = new Promise((resolve) => {
      request({ host: device.host, port: device.port, agent }).once('error', resolve).end();
    });
    await vi.waitUntil(() => device.log.length === 1, 10_000);

    device.setFault('refuse');

    await expect(waiting).resolves.toMatchObject({ code: 'ECONNRESET' });
  });

  test('certificate-change presents another certificate, and the first one again when it is off', async () => {
    const before = device.fingerprint;

    device.setFault('certificate-change');
    const presented = await fingerprintOnTheWire(device);
    expect(presented).toBe(device.fingerprint);
    expect(presented).not.toBe(before);

    device.clearFaults();
    expect(await fingerprintOnTheWire(device)).toBe(before);
  });

  test.each(['refuse', 'certificate-change'] as const)('%s cannot count requests', (name) => {
    expect(() => {
      device.setFault(name, 2);
    }).toThrow(RangeError);
    expect(() => {
      device.setFault(name, true, { method: 'GET' });
    }).toThrow(RangeError);
  });
});

function fingerprintOnTheWire({ host, port }: SimulatedDevice): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host, port, agent: false, rejectUnauthorized: false });
    outgoing.once('error', reject);
    outgoing.once('socket', (socket) => {
      socket.once('secureConnect', () => {
        if (!('getPeerCertificate' in socket)) return;
        const { fingerprint256 } = (
          socket as unknown as { getPeerCertificate(): { fingerprint256: string } }
        ).getPeerCertificate();
        resolve(fingerprint256);
        outgoing.on('error', () => undefined).destroy();
      });
    });
  });
}

describe('faults instead of an answer', () => {
  test('silence takes the request and says nothing', async () => {
    device.setFault('silence');
    const waiting = ask(device, { method: 'POST', body: BOB });
    let isSettled = false;
    const settle = () => (isSettled = true);
    waiting.then(settle, settle);

    await vi.waitUntil(() => device.log.length === 1, 10_000);
    device.clearFaults();
    // The next request is answered while the first one still waits.
    expect((await ask(device)).status).toBe(200);

    expect(isSettled).toBe(false);
    expect(device.log[0]).toMatchObject({ method: 'POST', status: 0 });
    expect(userNamed(device, 'bob')).toBeUndefined();
    await simulator.close();
    await expect(waiting).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  test('reset sends a RST, and nothing is carried out', async () => {
    device.setFault('reset');

    await expect(post()).rejects.toMatchObject({ code: 'ECONNRESET', syscall: 'read' });
    expect(userNamed(device, 'bob')).toBeUndefined();
  });

  test.each([
    ['html-page', 200, 'text/html; charset=utf-8', /<h1>Sign in<\/h1>/],
    ['empty-200', 200, 'application/json', /^$/],
    ['401', 401, 'application/json', /^\{"detail":"Invalid token."\}$/],
    ['403', 403, 'application/json', /^\{"detail":"You do not have permission/],
    ['429', 429, 'application/json', /^\{"detail":"Request was throttled/],
    ['500-once', 500, 'text/html; charset=utf-8', /Server Error \(500\)/],
  ] as const)('%s is %i of %s, and nothing is carried out', async (name, status, type, body) => {
    device.setFault(name);

    const answer = await post();

    expect([answer.status, answer.headers['content-type']]).toEqual([status, type]);
    expect(answer.body).toMatch(body);
    expect(userNamed(device, 'bob')).toBeUndefined();
    device.clearFaults();
    expect((await post()).status).toBe(201);
  });

  test('429 says when to come again, 401 how to log in', async () => {
    device.setFault('429', 1);
    expect((await ask(device)).headers['retry-after']).toBe('1');

    device.setFault('401');
    expect((await ask(device)).headers['www-authenticate']).toBe('Basic realm="api"');
  });

  test('500-once strikes once', async () => {
    device.setFault('500-once');

    expect((await ask(device)).status).toBe(500);
    expect((await ask(device)).status).toBe(200);
  });
});

describe('faults in what a write does', () => {
  test('accept-and-forget answers 201 with a uuid and stores nothing', async () => {
    device.setFault('accept-and-forget');

    const { status, body } = await post();

    expect(status).toBe(201);
    expect(JSON.parse(body)).toMatchObject({
      username: 'bob',
      uuid: expect.stringMatching(/-/) as string,
    });
    expect(userNamed(device, 'bob')).toBeUndefined();
  });

  test('accept-and-forget still refuses what is wrong', async () => {
    device.setFault('accept-and-forget');

    const { status } = await ask(device, { method: 'POST', body: { ...BOB, lang: 'xx' } });

    expect(status).toBe(400);
  });

  test('store-altered answers what was asked and stores another lang', async () => {
    const before = device.users;
    device.setFault('store-altered');

    const { status, body } = await post();

    expect([status, (JSON.parse(body) as { lang: string }).lang]).toEqual([201, 'de']);
    expect(userNamed(device, 'bob')).toMatchObject({ first_name: 'Bob', lang: 'en' });
    expect(device.users.slice(0, -1)).toEqual(before);
  });

  test('delete-and-keep answers 204 and keeps the user', async () => {
    device.setFault('delete-and-keep');

    expect((await remove('viewer')).status).toBe(204);
    expect(userNamed(device, 'viewer')).toBeDefined();
  });

  test('store-and-drop carries a write out and then drops the connection', async () => {
    device.setFault('store-and-drop');

    await expect(post()).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(userNamed(device, 'bob')).toBeDefined();
    await expect(remove('bob')).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(userNamed(device, 'bob')).toBeUndefined();
    expect(device.log.map(({ status }) => status)).toEqual([0, 0]);
    expect((await ask(device)).status).toBe(200);
  });
});

describe('faults in how an answer goes out', () => {
  test('slow-body sends byte after byte', async () => {
    device.setFault('slow-body');
    const pieces: number[] = [];

    const onData = ({ length }: Buffer) => pieces.push(length) === 3;
    await expect(ask(device, { onData })).rejects.toThrow('enough');

    // A busy machine may read two or three at once.
    expect(Math.max(...pieces)).toBeLessThan(10);
  });

  test('body-in-pieces sends all of it, one piece after the other', async () => {
    device.setFault('body-in-pieces');
    const pieces: number[] = [];
    const { body } = await ask(device, {
      onData: ({ length }: Buffer) => pieces.push(length) < 0,
    });
    expect(pieces.length).toBeGreaterThan(5);
    expect(() => JSON.parse(body) as unknown).not.toThrow();
  });

  test('truncated-body promises more than it sends', async () => {
    device.setFault('truncated-body');
    let received = 0;

    const onData = ({ length }: Buffer) => {
      received += length;
      return false;
    };
    await expect(ask(device, { onData })).rejects.toMatchObject({ code: 'ECONNRESET' });

    expect(received).toBe(Math.floor(Buffer.byteLength(JSON.stringify(device.users)) / 2));
  });

  test('invalid-json is complete by its length and no JSON', async () => {
    device.setFault('invalid-json');

    const { status, headers, body } = await post();

    expect([status, headers['content-length']]).toEqual([201, String(Buffer.byteLength(body))]);
    expect(() => JSON.parse(body) as unknown).toThrow(SyntaxError);
    expect(userNamed(device, 'bob')).toBeDefined();
  });

  test('endless-body goes past any limit', async () => {
    device.setFault('endless-body');
    let received = 0;

    const onData = ({ length }: Buffer) => (received += length) > 40 * 1024 * 1024;
    await expect(ask(device, { onData })).rejects.toThrow('enough');
  });
});

describe('switching', () => {
  test('refuse off and closed at once leaves the port closed', async () => {
    device.setFault('refuse');
    device.setFault('refuse', false);
    device.setFault('refuse');
    await expect(ask(device)).rejects.toMatchObject({ code: 'ECONNREFUSED' });

    device.clearFaults();
    await simulator.close();

    await expect(ask(device)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('a fault can be for one method only', async () => {
    device.setFault('403', true, { method: 'POST' });

    expect((await ask(device)).status).toBe(200);
    expect((await post()).status).toBe(403);
  });

  test('a fault can be for a number of requests', async () => {
    device.setFault('429', 2);

    const statuses = [await ask(device), await ask(device), await ask(device)];

    expect(statuses.map(({ status }) => status)).toEqual([429, 429, 200]);
  });

  test('faults of different kinds go together', async () => {
    device.setFault('accept-and-forget');
    device.setFault('invalid-json');

    const { status, body } = await post();

    expect(status).toBe(201);
    expect(body).not.toContain('}');
    expect(userNamed(device, 'bob')).toBeUndefined();
  });

  test('faults of the options are on at every device', async ({ onTestFinished }) => {
    const faulty = await startSimulator({ devices: 2, faults: ['refuse'] });
    onTestFinished(() => faulty.close());

    for (const each of faulty.devices) {
      await expect(ask(each)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    }
  });
});
