import { createServer as createPlainServer } from 'node:http';
import { createServer, type TlsOptions } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { scanCertificate, type Trust } from '../../src/device/tls.ts';
import { certificateFor, deviceAt, listen, serve } from './server.ts';

describe('trust', () => {
  const good = certificateFor(['127.0.0.1']);
  const otherName = certificateFor(['127.0.0.9'], ['fw9.example']);
  const ca = (certificate: { cert: string }): Trust => ({
    kind: 'ca',
    pem: certificate.cert,
    file: '/etc/devsh/ca.pem',
  });
  const pin = (fingerprint: string): Trust => ({
    kind: 'pinned',
    fingerprint,
    pinnedAt: '2026-01-02',
  });

  test.each<
    [title: string, served: typeof good, trust: Trust, reason: string | undefined, words: string]
  >([
    ['the pinned certificate', good, pin(good.fingerprint), undefined, ''],
    [
      'a pin in another spelling',
      good,
      pin(good.fingerprint.replaceAll(':', '').toLowerCase()),
      undefined,
      '',
    ],
    [
      'a pinned certificate with another name',
      otherName,
      pin(otherName.fingerprint),
      undefined,
      '',
    ],
    ['another certificate than pinned', good, pin(otherName.fingerprint), 'changed', 'HAS CHANGED'],
    ['a pin that is no fingerprint', good, pin('garbage'), 'changed', 'HAS CHANGED'],
    ['a certificate of the CA', good, ca(good), undefined, ''],
    ['a certificate of another CA', good, ca(otherName), 'ca', 'self-signed'],
    ['a certificate of the CA with another name', otherName, ca(otherName), 'ca', 'another name'],
    ['a self-signed certificate and no pin', good, { kind: 'system' }, 'unknown', 'self-signed'],
    ['any certificate when told so', otherName, { kind: 'insecure' }, undefined, ''],
  ])('%s', async (_title, served, trust, reason, words) => {
    const server = await serve((_request, response) => response.end('[]'), served);
    const listing = deviceAt(server, { trust }).list('user');
    if (reason === undefined) {
      expect(await listing).toMatchObject({ records: [] });
      return;
    }
    const error: unknown = await listing.catch((failure: unknown) => failure);
    expect(error).toMatchObject({
      code: 'untrusted',
      reason,
      presented: { fingerprint: served.fingerprint },
    });
    expect(String(error)).toContain(words);
    expect(server.requests).toHaveLength(0);
  });

  test('the certificate is checked on each new connection', async () => {
    const server = await serve((_request, response) => {
      response.setHeader('connection', 'close').end('[]');
    }, good);
    const device = deviceAt(server);
    for (let round = 0; round < 3; round += 1) expect(await device.list('user')).toBeDefined();
  });
});

test('a scan reads the certificate and sends nothing', async () => {
  const server = await serve((_request, response) => response.end('[]'));
  const address = { host: '127.0.0.1', port: server.port };
  const device = { name: 'fw1', address: `127.0.0.1:${server.port}` };
  const presented = await scanCertificate(device, address, { connectTimeoutMs: 2000 });
  expect(presented).toMatchObject({
    fingerprint: server.certificate.fingerprint,
    subject: 'CN=test',
  });
  expect(new Date(presented.validTo).toISOString()).toBe(presented.validTo);
  expect(server.requests).toHaveLength(0);
});

test('a scan fails with the name of the device', async () => {
  const port = await listen(createPlainServer());
  const device = { name: 'fw1', address: `127.0.0.1:${port}` };
  const scan = scanCertificate(device, { host: '127.0.0.1', port }, { connectTimeoutMs: 2000 });
  await expect(scan).rejects.toMatchObject({ code: 'unreachable', device });
});

test.each<[title: string, options: TlsOptions]>([
  [
    'speaks only old TLS',
    { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
  ],
  ['has no certificate', { ciphers: 'aNULL@SECLEVEL=0', maxVersion: 'TLSv1.2' }],
])('a device that %s gets no request', async (title, options) => {
  const { key, cert } = certificateFor(['127.0.0.1']);
  let bytes = 0;
  const server = createServer(
    { ...(!title.includes('no') && { key, cert }), ...options },
    (socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (chunk: Buffer) => (bytes += chunk.length));
    },
  );
  const port = await listen(server);
  const writing = deviceAt({ port }).write({ method: 'DELETE', path: '/api/user/1/' });
  await expect(writing).rejects.toMatchObject({ code: 'unreachable', mayHaveArrived: false });
  expect(bytes).toBe(0);
});

test('a port that never responds times out', async () => {
  const { createServer: createTcpServer } = await import('node:net');
  const port = await listen(createTcpServer(() => undefined));
  const device = deviceAt({ port }, { connectTimeoutMs: 200 });
  await expect(device.list('user')).rejects.toMatchObject({
    code: 'unreachable',
    mayHaveArrived: false,
    message: expect.stringContaining('in time') as string,
  });
});
