import { expect, onTestFinished, test } from 'vitest';
import { parseAddress } from '../../src/device/address.ts';
import { Credential } from '../../src/device/credential.ts';
import { Device } from '../../src/device/device.ts';
import { createRequest, deleteRequest, updateRequest } from '../../src/device/encode.ts';
import {
  ProtocolError,
  RejectedError,
  UnauthorizedError,
  UnreachableError,
  UntrustedError,
} from '../../src/device/errors.ts';
import { documentedProfile } from '../../src/device/built-in-profiles.ts';
import type { Trust } from '../../src/device/tls.ts';
import type { FaultName } from '../simulator/faults.ts';
import { startSimulator, type SimulatedDevice } from '../simulator/simulator.ts';
import { deviceAt, serve } from './server.ts';

/** One simulated device and a `Device` that is logged in there as its administrator. */
async function simulated(
  options: { fault?: FaultName; trust?: Trust; trace?: (line: string) => void } = {},
): Promise<{ box: SimulatedDevice; device: Device }> {
  const simulator = await startSimulator({ devices: 1, users: 5 });
  onTestFinished(() => simulator.close());
  const box = simulator.devices[0];
  if (!box) throw new Error('the simulator has no device');
  const { username, password } = box.accounts.admin;
  const device = new Device({
    device: { name: 'fw1', address: box.address },
    address: parseAddress(box.address),
    trust: options.trust ?? {
      kind: 'pinned',
      fingerprint: box.fingerprint,
      pinnedAt: '2026-01-02T03:04:05Z',
    },
    credential: Credential.basic(username, password),
    caller: () => ({ timeoutMs: 500, trace: options.trace }),
  });
  onTestFinished(() => device.close());
  if (options.fault) box.setFault(options.fault, true);
  return { box, device };
}

const carol = { first_name: 'Carol', lastname: 'Ünal & Söhne', username: 'carol', lang: 'de' };
const addCarol = createRequest(documentedProfile, 'user', carol);

function countOf(box: SimulatedDevice, method: string): number {
  return box.log.filter((request) => request.method === method).length;
}

test('lists, adds, changes and deletes a user as the document says', async () => {
  const { box, device } = await simulated();

  const added = await device.write(addCarol);
  expect(added).toMatchObject({ status: 201, record: carol });

  const { records, envelope } = await device.list('user');
  expect(envelope).toBe('array');
  const stored = records.find((record) => record.username === 'carol');
  expect(stored).toMatchObject(carol);

  await device.write(updateRequest(documentedProfile, 'user', stored ?? {}, { lang: 'en' }));
  const changed = (await device.list('user')).records;
  expect(changed).toHaveLength(records.length);
  expect(changed.find((record) => record.username === 'carol')).toMatchObject({ lang: 'en' });

  expect(await device.write(deleteRequest(documentedProfile, 'user', stored ?? {}))).toEqual({
    status: 204,
    body: '',
  });
  expect((await device.list('user')).records).toHaveLength(records.length - 1);
  expect(countOf(box, 'POST')).toBe(2);
  expect(countOf(box, 'DELETE')).toBe(1);
});

/** The result of a read and a write under each fault, and how often each request arrives. */
const FAULTY: readonly {
  fault: FaultName;
  read: 'ok' | (abstract new (...args: never[]) => Error);
  reads: number;
  write: 'ok' | (abstract new (...args: never[]) => Error);
  writes: number;
  mayHaveArrived?: boolean;
}[] = [
  {
    fault: 'refuse',
    read: UnreachableError,
    reads: 0,
    write: UnreachableError,
    writes: 0,
    mayHaveArrived: false,
  },
  { fault: 'certificate-change', read: UntrustedError, reads: 0, write: UntrustedError, writes: 0 },
  {
    fault: 'silence',
    read: UnreachableError,
    reads: 1,
    write: UnreachableError,
    writes: 1,
    mayHaveArrived: true,
  },
  {
    fault: 'reset',
    read: UnreachableError,
    reads: 3,
    write: UnreachableError,
    writes: 1,
    mayHaveArrived: true,
  },
  { fault: 'html-page', read: ProtocolError, reads: 1, write: 'ok', writes: 1 },
  { fault: 'empty-200', read: ProtocolError, reads: 1, write: 'ok', writes: 1 },
  { fault: '401', read: UnauthorizedError, reads: 1, write: UnauthorizedError, writes: 1 },
  { fault: '403', read: UnauthorizedError, reads: 1, write: UnauthorizedError, writes: 1 },
  { fault: '500-once', read: ProtocolError, reads: 1, write: 'ok', writes: 1 },
  { fault: 'accept-and-forget', read: 'ok', reads: 1, write: 'ok', writes: 1 },
  { fault: 'store-altered', read: 'ok', reads: 1, write: 'ok', writes: 1 },
  { fault: 'delete-and-keep', read: 'ok', reads: 1, write: 'ok', writes: 1 },
  {
    fault: 'store-and-drop',
    read: 'ok',
    reads: 1,
    write: UnreachableError,
    writes: 1,
    mayHaveArrived: true,
  },
  {
    fault: 'slow-body',
    read: UnreachableError,
    reads: 1,
    write: UnreachableError,
    writes: 1,
    mayHaveArrived: true,
  },
  {
    fault: 'truncated-body',
    read: UnreachableError,
    reads: 3,
    write: UnreachableError,
    writes: 1,
    mayHaveArrived: true,
  },
  { fault: 'invalid-json', read: ProtocolError, reads: 1, write: 'ok', writes: 1 },
  { fault: 'endless-body', read: Error, reads: 1, write: Error, writes: 1 },
];

test.each(FAULTY)(
  '$fault: a read is repeated only where that is safe',
  async ({ fault, read, reads }) => {
    const { box, device } = await simulated({ fault });
    if (read === 'ok') expect((await device.list('user')).records.length).toBeGreaterThan(0);
    else await expect(device.list('user')).rejects.toBeInstanceOf(read);
    expect(countOf(box, 'GET')).toBe(reads);
  },
);

test.each(FAULTY)(
  '$fault: a write arrives once at the most, and a lost answer is told apart',
  async ({ fault, write, writes, mayHaveArrived }) => {
    const { box, device } = await simulated({ fault });
    if (fault === '500-once') await device.list('user').catch(() => undefined);
    const outcome = await device.write(addCarol).catch((error: unknown) => error);
    if (write === 'ok') expect(outcome).toMatchObject({ status: expect.any(Number) as number });
    else expect(outcome).toBeInstanceOf(write);
    if (mayHaveArrived !== undefined) expect(outcome).toMatchObject({ mayHaveArrived });
    expect(countOf(box, 'POST')).toBe(writes);
  },
);

test('a 500 to a write is reported and not repeated', async () => {
  const { box, device } = await simulated({ fault: '500-once' });
  await expect(device.write(addCarol)).rejects.toMatchObject({ code: 'protocol', status: 500 });
  expect(countOf(box, 'POST')).toBe(1);
});

test(
  'a device that requests a wait of is asked again after that time',
  { timeout: 15_000 },
  async () => {
    const { box, device } = await simulated({ fault: '429' });
    const listing = device.list('user');
    await expect.poll(() => countOf(box, 'GET')).toBe(1);
    box.setFault('429', false);
    expect((await listing).records.length).toBeGreaterThan(0);
    expect(countOf(box, 'GET')).toBe(2);
  },
);

test('a changed certificate is refused before anything is sent', async () => {
  const { box, device } = await simulated();
  await device.list('user');
  const before = box.log.length;
  box.setFault('certificate-change', true);
  const error: unknown = await device.write(addCarol).catch((failure: unknown) => failure);
  expect(error).toMatchObject({ code: 'untrusted', reason: 'changed', exitCode: 5 });
  expect(String(error)).toContain('trust scan fw1');
  expect(String(error)).toContain('trust replace fw1');
  // Nor over a connection that was opened before the change.
  await expect(device.list('user')).rejects.toMatchObject({ reason: 'changed' });
  expect(box.log).toHaveLength(before);
});

test('an unknown certificate is refused with its fingerprint, so that the caller can ask', async () => {
  const { box, device } = await simulated({ trust: { kind: 'system' } });
  const error: unknown = await device.list('user').catch((failure: unknown) => failure);
  expect(error).toMatchObject({ reason: 'unknown', presented: { fingerprint: box.fingerprint } });
  expect(String(error)).toContain('self-signed');
  expect(box.log).toHaveLength(0);
});

test('complaints of the device are reported per field', async () => {
  const { device } = await simulated();
  await device.write(addCarol);
  const error: unknown = await device.write(addCarol).catch((failure: unknown) => failure);
  expect(error).toBeInstanceOf(RejectedError);
  expect(error).toMatchObject({ status: 400, issues: { username: [expect.any(String)] } });
});

test('raw requests return any response and cannot leave the device', async () => {
  const { device } = await simulated();
  expect(await device.raw({ method: 'GET', path: '/nowhere/' })).toMatchObject({ status: 404 });
  expect(await device.raw({ method: 'POST', path: '/api/user', form: [['a', 'b']] })).toMatchObject(
    {
      status: 301,
    },
  );
  expect(await device.raw({ method: 'GET', path: '/api/user' })).toMatchObject({ status: 200 });
  for (const path of [
    '//example.com/',
    'https://example.com/',
    'api/user/',
    '/\\example.com/',
    '/api/user/\r\nx/',
    '/api/us\ter/',
    '',
  ]) {
    await expect(device.raw({ method: 'GET', path })).rejects.toMatchObject({ code: 'usage' });
  }
});

test('a trace has requests and responses, and no secret', async () => {
  const lines: string[] = [];
  const { box, device } = await simulated({ trace: (line) => lines.push(line) });
  await device.raw({ method: 'GET', path: '/api/user/?token=hunter2secret' });
  const origin = `https://${box.address}`;
  expect(lines[0]).toBe(`> GET ${origin}/api/user/?token=*** (as ${box.accounts.admin.username})`);
  expect(lines[1]).toMatch(/^< 200 \d+ bytes \d+ ms$/);
  expect(lines.join()).not.toContain(box.accounts.admin.password);
});

test('a request that was cancelled ends at once', async () => {
  const { device } = await simulated({ fault: 'silence' });
  const controller = new AbortController();
  const listing = device.list('user', controller.signal);
  setTimeout(() => {
    controller.abort();
  }, 50);
  await expect(listing).rejects.toMatchObject({ code: 'cancelled' });
});

test('a raw write shows no secret that the device echoes; what is read stays as it is', async () => {
  const echo = `{"by": "${String.raw`hunter2secr\u0065t`}", "plain": "hunter2secret"}`;
  const server = await serve((_request, response) => response.end(echo));
  const device = deviceAt(server);
  const { body } = await device.raw({ method: 'DELETE', path: '/api/user/1/' });
  expect(body).toBe('{"by": "***", "plain": "***"}');
  expect((await device.raw({ method: 'GET', path: '/api/' })).body).toBe(echo);
});

test('a secret in the query is masked in refusals, which may echo it', async () => {
  const server = await serve((request, response) => {
    response.writeHead(400, { 'content-type': 'text/plain' }).end(`what is ${request.url ?? ''}?`);
  });
  const device = deviceAt(server);
  const request = { method: 'GET', path: '/api/?lang=de&api_key=hunter2%20x' } as const;
  const response = await device.raw(request);
  expect(response.body).toBe('what is /api/?lang=de&api_key=***?');
  expect(device.failureOf(request, response)?.message).toContain('/api/?lang=de&api_key=*** was');
});

test('a raw DELETE of one record is sent', async () => {
  const { box, device } = await simulated();
  const path = `/api/user/${box.users.at(-1)?.uuid ?? ''}/`;
  expect(await device.raw({ method: 'DELETE', path })).toMatchObject({ status: 204 });
});

test.each([
  '/',
  '/api/',
  '/api/user',
  '/api/user/',
  '/api//user//',
  '/api/%75ser/?uuid=1',
  '/%61pi/user/',
  '/API/user/',
  '/api/user/x/..',
  '/api/user/%2e%2e/user/',
  '/api/user/x/../',
  '/api/user/..%2fuser/',
  '/api/user\\..\\user/',
])('a DELETE of %s is refused: it may be more than one record', async (path) => {
  const { box, device } = await simulated();
  await expect(device.raw({ method: 'DELETE', path })).rejects.toMatchObject({ code: 'refused' });
  await expect(device.write({ method: 'DELETE', path })).rejects.toMatchObject({ code: 'refused' });
  expect(box.log).toHaveLength(0);
});
