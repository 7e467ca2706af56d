import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { connect as connectPlain, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect, createServer as createTlsServer } from 'node:tls';
import { vi } from 'vitest';
import { createCertificate, type Certificate } from '../../src/simulator/certificate.ts';
import { Vault } from '../../src/credentials/vault.ts';
import { type Devsh, know, makeDevsh, type Run, trust } from '../main/devsh.ts';
import { PASSPHRASE } from '../rotation/fleet.ts';

/** A real product, as a package of Debian or npm installs it. */
export interface Product {
  readonly name: string;
  /** A file that is there if the product is installed: else its tests are skipped. */
  readonly program: string;
  /** A built-in profile, or the path of a file. */
  readonly profile: string;
  readonly login: { readonly user: string; readonly password: string } | { readonly token: string };
  /** The headers with that login. */
  readonly headers: Readonly<Record<string, string>>;
  /** It has no TLS of its own: it listens on the second port, and a proxy on the first, which changes nothing. */
  readonly isPlain?: boolean;
  /** Writes its files, and says what starts it in the foreground. */
  readonly setUp: (place: Place) => Promise<{
    readonly argv: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
    /** Ends what the product leaves running. */
    readonly end?: readonly string[];
  }>;
}

interface Place {
  /** For all its files. `cert.pem` and `key.pem` are there. */
  readonly folder: string;
  /** Of 127.0.0.1. The first one is for HTTPS. */
  readonly ports: readonly [number, number, number, number];
}

export interface RunningProduct {
  readonly address: string;
  /** Knows it as `box`, with its certificate and login. */
  readonly devsh: Devsh & { folder: string };
  /** Asks the product itself, with its login or other headers. Throws if it refuses. */
  readonly ask: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<unknown>;
}

type AtEnd = (cleanUp: () => Promise<void>) => void;

export const basic = (user: string, password: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});

/** Empty, or the reason in the title of skipped tests. */
export function skipReason({ program }: Product): string {
  return existsSync(program) ? '' : ` (skipped: ${program} is not installed)`;
}

export async function startProduct(product: Product, atEnd: AtEnd): Promise<RunningProduct> {
  const folder = await mkdtemp(join(tmpdir(), `devsh-${product.name}-`));
  atEnd(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const certificate = createCertificate({
    commonName: 'localhost',
    addresses: ['127.0.0.1'],
    hostNames: ['localhost'],
  });
  await writeFile(join(folder, 'key.pem'), certificate.key, { mode: 0o600 });
  await writeFile(join(folder, 'cert.pem'), certificate.cert);
  const ports = [await freePort(), await freePort(), await freePort(), await freePort()] as const;
  const [https, http] = ports;
  await run(product, { folder, ports }, atEnd);
  if (product.isPlain === true) await startTls(certificate, https, http, atEnd);
  const address = `127.0.0.1:${https}`;
  const devsh = await devshFor(product, address, certificate, atEnd);
  return { address, devsh, ask: asker(product, https, certificate) };
}

/** Until it accepts connections. */
async function run(product: Product, place: Place, atEnd: AtEnd): Promise<void> {
  const { program, isPlain = false } = product;
  const { argv, env, end } = await product.setUp(place);
  const { folder, ports } = place;
  const options = { cwd: folder, env: { ...process.env, HOME: folder, ...env } };
  // A group of its own, so that its children end with it.
  const [command = program, ...words] = argv;
  const child = spawn(command, words, { ...options, detached: true });
  let log = '';
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      resolve();
    });
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (log += chunk.toString()));
  }
  atEnd(async () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    await ended;
    const [last, ...rest] = end ?? [];
    // It may be refused until the end of the product is noticed.
    if (last === undefined) return;
    const isEnded = (): boolean => spawnSync(last, rest, options).status === 0;
    await vi.waitUntil(isEnded, { timeout: 20_000, interval: 100 }).catch(() => undefined);
  });
  const isUp = (): Promise<boolean> => {
    if (child.exitCode !== null) throw new Error(`${command} has ended: ${log}`);
    return accepts(ports[isPlain ? 1 : 0], isPlain);
  };
  await vi.waitUntil(isUp, { timeout: 120_000, interval: 50 });
}

/** TLS on the port `from`: every byte goes to `to` and back as it is. */
async function startTls(
  { key, cert }: Certificate,
  from: number,
  to: number,
  atEnd: AtEnd,
): Promise<void> {
  const sockets = new Set<{ destroy: () => void }>();
  const server = createTlsServer({ key, cert }, (outer) => {
    const inner = connectPlain(to, '127.0.0.1');
    outer.pipe(inner).pipe(outer);
    for (const socket of [outer, inner]) {
      sockets.add(socket);
      socket.on('close', () => {
        outer.destroy();
        inner.destroy();
      });
      socket.on('error', () => undefined);
    }
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(from, '127.0.0.1', resolve));
  atEnd(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
}

/** `rotate password` to this secret, which a vault keeps. */
export async function rotate(
  { devsh }: RunningProduct,
  account: string,
  secret: string,
): Promise<Run> {
  const file = join(devsh.folder, 'data', 'devsh', 'vault.age');
  if (!existsSync(file)) await new Vault(file, { workFactor: 1 }).create(PASSPHRASE);
  const line = `rotate password ${account} --on box --new-stdin --passphrase-stdin --yes`;
  return devsh(line, { stdin: `${PASSPHRASE}\n${secret}\n` });
}

async function devshFor(
  { profile, login }: Product,
  address: string,
  { fingerprint }: Certificate,
  atEnd: AtEnd,
): Promise<RunningProduct['devsh']> {
  const env =
    'token' in login
      ? { DEVSH_TOKEN: login.token }
      : { DEVSH_USER: login.user, DEVSH_PASSWORD: login.password };
  const devsh = await makeDevsh(env, atEnd);
  const device = { name: 'box', address, fingerprint };
  await know(devsh, [device], { profile: basename(profile, '.yaml') });
  await trust(devsh, [device]);
  if (profile.endsWith('.yaml')) {
    const profiles = join(devsh.folder, 'config/devsh/profiles');
    await mkdir(profiles, { recursive: true });
    await copyFile(join(import.meta.dirname, profile), join(profiles, basename(profile)));
  }
  return devsh;
}

function asker(
  { headers, name }: Product,
  port: number,
  { cert }: Certificate,
): RunningProduct['ask'] {
  return async (method, path, body, login = headers) => {
    const sent = body === undefined ? undefined : JSON.stringify(body);
    const type = sent === undefined ? {} : { 'content-type': 'application/json' };
    const options = { host: '127.0.0.1', port, path, method, ca: cert, agent: false };
    const held = { accept: 'application/json', ...type, ...login };
    const response = await new Promise<{ status: number; body: string }>((resolve, reject) => {
      const sending = request({ ...options, headers: held }, (answer) => {
        const status = answer.statusCode ?? 0;
        text(answer).then((read) => {
          resolve({ status, body: read });
        }, reject);
      });
      sending.once('error', reject);
      sending.end(sent);
    });
    if (response.status >= 400) {
      throw new Error(`${name}: ${method} ${path}: ${response.status} ${response.body}`);
    }
    return response.body === '' ? undefined : (JSON.parse(response.body) as unknown);
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function accepts(port: number, isPlain: boolean): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { port, host: '127.0.0.1' };
    const socket = isPlain
      ? connectPlain(options)
      : connect({ ...options, rejectUnauthorized: false });
    const done = (is: boolean) => () => {
      socket.destroy();
      resolve(is);
    };
    socket.once(isPlain ? 'connect' : 'secureConnect', done(true)).once('error', done(false));
  });
}
