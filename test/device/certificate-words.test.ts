import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { tmpdir } from 'node:os';
import { createServer as createTlsServer } from 'node:tls';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Trust } from '../../src/device/tls.ts';
import { deviceAt, listen, serve } from './server.ts';

const folder = mkdtempSync(join(tmpdir(), 'devsh-ca-'));
const DAY_MS = 86_400_000;
/** The clock of devsh stands still, so that no midnight comes between; openssl dates nothing later. */
const NOW = Date.now() + 60_000;
const today = new Date(NOW).toISOString().slice(0, 10);
let ca: Trust;

/** `openssl ca` is the one that can sign for any span of time. */
beforeAll(() => {
  vi.setSystemTime(NOW);
  writeFileSync(join(folder, 'index.txt'), '');
  writeFileSync(join(folder, 'serial'), '1000');
  writeFileSync(
    join(folder, 'ca.conf'),
    [
      '[ca]',
      'default_ca = own',
      '[own]',
      'database = index.txt',
      'serial = serial',
      'new_certs_dir = .',
      'default_md = sha256',
      'policy = any',
      'unique_subject = no',
      'copy_extensions = copy',
      '[any]',
      'commonName = supplied',
      '[req]',
      'distinguished_name = dn',
      '[dn]',
    ].join('\n'),
  );
  openssl(
    'req -x509 -config ca.conf -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=Lab-CA -days 30 -addext basicConstraints=critical,CA:TRUE -keyout ca.key -out ca.pem',
  );
  ca = { kind: 'ca', pem: readFileSync(join(folder, 'ca.pem'), 'utf8'), file: 'lab-ca.pem' };
});

afterAll(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

function openssl(line: string): void {
  execFileSync('openssl', line.split(' '), { cwd: folder, stdio: 'ignore' });
}

let count = 0;

/** A certificate that the CA signed: for these names, from and to so many days from now. */
function signed(names: string, from: number, to: number): Parameters<typeof serve>[1] {
  const file = `device-${(count += 1)}`;
  const at = (days: number): string =>
    `${new Date(NOW + days * DAY_MS).toISOString().replace(/\D/g, '').slice(0, 14)}Z`;
  openssl(
    `req -new -config ca.conf -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=fw -addext subjectAltName=${names} -keyout ${file}.key -out ${file}.csr`,
  );
  openssl(
    `ca -batch -notext -config ca.conf -cert ca.pem -keyfile ca.key -startdate ${at(from)} -enddate ${at(to)} -in ${file}.csr -out ${file}.pem`,
  );
  const [key, cert] = [`${file}.key`, `${file}.pem`].map((name) =>
    readFileSync(join(folder, name), 'utf8'),
  );
  return { key: key ?? '', cert: cert ?? '', fingerprint: '' };
}

const day = (days: number): string => new Date(NOW + days * DAY_MS).toISOString().slice(0, 10);

test('a certificate of the CA is accepted for the address in it', async () => {
  const server = await serve(
    (_request, response) => response.end('[]'),
    signed('IP:127.0.0.1', -1, 9),
  );
  expect((await deviceAt(server, { trust: ca }).list('user')).records).toEqual([]);
});

test.each<
  [title: string, names: string, span: [number, number], trust: 'ca' | 'system', words: string[]]
>([
  [
    'has expired',
    'IP:127.0.0.1',
    [-9, -2],
    'ca',
    [`lab-ca.pem: its issuer was not checked; it expired on ${day(-2)} (here it is ${today}) (`],
  ],
  [
    'is not valid yet',
    'IP:127.0.0.1',
    [2, 9],
    'ca',
    [`it is not valid before ${day(2)} (here it is ${today})`],
  ],
  [
    'has another name',
    'DNS:fw9.example',
    [-1, 9],
    'ca',
    [
      'it was issued for another name: DNS:fw9.example, not 127.0.0.1',
      `valid ${day(-1)} to ${day(9)}`,
    ],
  ],
  ['has another address', 'IP:127.0.0.9', [-1, 9], 'ca', ['IP Address:127.0.0.9, not 127.0.0.1']],
  [
    'has an unknown issuer',
    'IP:127.0.0.1',
    [-1, 9],
    'system',
    ['its issuer CN=Lab-CA is not trusted here'],
  ],
  [
    'has expired, has another name and an unknown issuer',
    'DNS:fw9.example',
    [-9, -2],
    'system',
    [`its issuer was not checked; it expired on ${day(-2)}`, 'issued for another name'],
  ],
])('a certificate that %s is refused in words', async (_title, names, [from, to], kind, words) => {
  const server = await serve((_request, response) => response.end('[]'), signed(names, from, to));
  const trust: Trust = kind === 'ca' ? ca : { kind: 'system' };
  const error: unknown = await deviceAt(server, { trust })
    .list('user')
    .catch((failure: unknown) => failure);
  expect(error).toMatchObject({ code: 'untrusted', exitCode: 5 });
  for (const word of words) expect(String(error)).toContain(word);
  expect(server.requests).toEqual([]);
});

test('a certificate without a subject is refused in words, too', async () => {
  openssl(
    'req -x509 -config ca.conf -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj / -days 9 -keyout nobody.key -out nobody.pem',
  );
  const [key = '', cert = ''] = ['nobody.key', 'nobody.pem'].map((name) =>
    readFileSync(join(folder, name), 'utf8'),
  );
  const server = await serve((_request, response) => response.end('[]'), {
    key,
    cert,
    fingerprint: '',
  });
  await expect(deviceAt(server, { trust: { kind: 'system' } }).list('user')).rejects.toThrow(
    /it is self-signed; it was issued for another name: nobody, not 127\.0\.0\.1/,
  );
});

test('a device with only old TLS is distinguished from one without TLS', async () => {
  const { key, cert } = signed('IP:127.0.0.1', -1, 9) ?? {};
  const old = {
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'DEFAULT@SECLEVEL=0',
  } as const;
  const port = await listen(createTlsServer({ key, cert, ...old }, (socket) => socket.destroy()));
  await expect(deviceAt({ port }).list('user')).rejects.toThrow(
    'fw1: 127.0.0.1:' + String(port) + ' offers only TLS 1.1 or older, which is unsafe',
  );
  const plain = await listen(createHttpServer((_request, response) => response.end('[]')));
  await expect(deviceAt({ port: plain }).list('user')).rejects.toThrow('the reply is not TLS');
});
