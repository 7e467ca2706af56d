import { createServer, type Server } from 'node:https';
import { expect, test, vi } from 'vitest';

import { Credential } from '../../src/device/credential.ts';
import { documentedProfile } from '../../src/device/built-in-profiles.ts';
import type { Access } from '../../src/fleet/access.ts';
import { DeviceSession } from '../../src/fleet/device-session.ts';
import { DIRECT } from '../../src/device/route/route.ts';
import { certificateFor, deviceAt, listen } from './server.ts';

const USERS = '[{"uuid":"1","username":"bob"}]';
const before = certificateFor(['127.0.0.1']);
const after = certificateFor(['127.0.0.1']);
const pinned = { kind: 'pinned', fingerprint: before.fingerprint, pinnedAt: '2026-01-02' } as const;
const deletion = { method: 'DELETE', path: '/api/user/1/' } as const;

/** Answers each request, `/slow/` only when told; the certificate is exchanged by the test. */
async function startChanging(): Promise<{
  server: Server;
  port: number;
  requests: string[];
  change: (certificate: typeof before) => void;
}> {
  const requests: string[] = [];
  const server = createServer({ key: before.key, cert: before.cert }, (request, response) => {
    requests.push(`${request.method ?? ''} ${request.url ?? ''}`);
    if (request.url !== '/slow/') response.end(USERS);
  });
  const port = await listen(server);
  const change = ({ key, cert }: typeof before): void => {
    server.setSecureContext({ key, cert });
    server.closeIdleConnections();
  };
  return { server, port, requests, change };
}

test('a certificate that changes in mid-session ends the session before another byte is sent', async () => {
  const { port, requests, change } = await startChanging();
  const device = deviceAt({ port }, { trust: pinned });
  await device.list('user');
  await device.write(deletion);
  expect(requests).toHaveLength(2);
  change(after);
  await expect(device.list('user')).rejects.toMatchObject({ code: 'untrusted', reason: 'changed' });
  await expect(device.write(deletion)).rejects.toMatchObject({ reason: 'changed' });
  change(before);
  // The right one is back, but this session has ended.
  await expect(device.list('user')).rejects.toMatchObject({ reason: 'changed' });
  await expect(device.write(deletion)).rejects.toMatchObject({ reason: 'changed' });
  await expect(device.raw({ method: 'GET', path: '/' })).rejects.toMatchObject({ exitCode: 5 });
  expect(requests).toHaveLength(2);
});

test('a write that meets another certificate ends reads under way, too', async () => {
  const { port, requests, change } = await startChanging();
  const device = deviceAt({ port }, { trust: pinned });
  const reading = device.raw({ method: 'GET', path: '/slow/' }).catch((error: unknown) => error);
  await vi.waitFor(() => {
    expect(requests).toEqual(['GET /slow/']);
  }, 10_000);
  change(after);
  await expect(device.write(deletion)).rejects.toMatchObject({ reason: 'changed' });
  expect(await reading).toMatchObject({ reason: 'changed' });
  expect(requests).toHaveLength(1);
});

test('the next command starts a new session with the current pin', async () => {
  const { port, requests, change } = await startChanging();
  let pin = before.fingerprint;
  const access = (): Access => accessWith(() => pin, Credential.basic('admin', 'hunter2secret'));
  const session = new DeviceSession({ name: 'fw1', address: `127.0.0.1:${port}`, groups: [] });
  await session.list(access(), 'user');
  change(after);
  const command = access();
  await expect(session.list(command, 'user')).rejects.toMatchObject({ reason: 'changed' });
  await expect(session.list(command, 'user')).rejects.toMatchObject({ reason: 'changed' });
  await expect(session.list(access(), 'user')).rejects.toMatchObject({ reason: 'changed' });
  expect(requests).toHaveLength(1);
  pin = after.fingerprint; // "trust replace", here or in another devsh
  expect(await session.list(access(), 'user')).toHaveLength(1);
  expect(requests).toHaveLength(2);
  await session.close();
});

function accessWith(fingerprint: () => string, credential: Credential): Access {
  return {
    trust: () =>
      Promise.resolve({ kind: 'pinned', fingerprint: fingerprint(), pinnedAt: '2026-01-02' }),
    route: () => DIRECT,
    acceptCertificate: () => Promise.resolve(undefined),
    profile: () => Promise.resolve({ base: documentedProfile, stored: {} }),
    credential: () => Promise.resolve(credential),
    anotherCredential: () => Promise.resolve(undefined),
    admit: () => Promise.resolve(),
    settle: () => undefined,
  };
}
