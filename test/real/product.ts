import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { onTestFinished, vi } from 'vitest';
import { createCertificate } from '../../src/simulator/certificate.ts';
import { type Devsh, know, makeDevsh, trust } from '../main/devsh.ts';

/** A product with users behind HTTPS, as a Debian package installs it. */
export interface Product {
  /** The name of its profile in profiles/. */
  readonly profile: string;
  /** The program: without it the test is skipped. */
  readonly program: string;
  readonly user: string;
  readonly password: string;
  /** Writes its files, and returns what starts it in the foreground. */
  readonly setUp: (place: Place) => Promise<{
    readonly argv?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
    /** Ends what the product leaves running. */
    readonly end?: readonly string[];
  }>;
}

interface Place {
  /** For all its files. `cert.pem` and `key.pem` are there. */
  readonly folder: string;
  /** For HTTPS on 127.0.0.1, then others. */
  readonly ports: readonly [number, number, number, number];
  readonly key: string;
  readonly certificate: string;
}

/** Empty, or the reason in the title of a skipped test. */
export function skipReason({ program }: Product): string {
  return existsSync(program) ? '' : ` (skipped: ${program} is not installed)`;
}

/** Starts the product, and a devsh that knows it as `box`, with the profile of profiles/. */
export async function startProduct(product: Product): Promise<Devsh & { folder: string }> {
  const { profile, program, user, password } = product;
  const folder = await mkdtemp(join(tmpdir(), `devsh-${profile}-`));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const { key, cert, fingerprint } = createCertificate({
    commonName: 'localhost',
    addresses: ['127.0.0.1'],
    hostNames: ['localhost'],
  });
  await writeFile(join(folder, 'key.pem'), key, { mode: 0o600 });
  await writeFile(join(folder, 'cert.pem'), cert);
  const ports = [await freePort(), await freePort(), await freePort(), await freePort()] as const;
  const place: Place = { folder, ports: [...ports], key, certificate: cert };
  const { argv = [], env, end } = await product.setUp(place);
  const options = { cwd: folder, env: { ...process.env, HOME: folder, ...env } };
  // A group of its own, so that its children end with it.
  const child = spawn(program, argv, { ...options, detached: true });
  let log = '';
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      resolve();
    });
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (log += chunk.toString()));
  }
  onTestFinished(async () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    await ended;
    const [last, ...words] = end ?? [];
    // It may be refused until the end of the product is noticed.
    if (last === undefined) return;
    const isEnded = (): boolean => spawnSync(last, words, options).status === 0;
    await vi.waitUntil(isEnded, { timeout: 20_000, interval: 100 }).catch(() => undefined);
  });
  const isUp = (): Promise<boolean> => {
    if (child.exitCode !== null) throw new Error(`${program} has ended: ${log}`);
    return accepts(ports[0]);
  };
  await vi.waitUntil(isUp, { timeout: 120_000, interval: 200 });
  const devsh = await makeDevsh({ DEVSH_USER: user, DEVSH_PASSWORD: password });
  const device = { name: 'box', address: `127.0.0.1:${ports[0]}`, fingerprint };
  await know(devsh, [device], { profile });
  await trust(devsh, [device]);
  const profiles = join(devsh.folder, 'config/devsh/profiles');
  await mkdir(profiles, { recursive: true });
  const text = await readFile(join(import.meta.dirname, `../../profiles/${profile}.yaml`), 'utf8');
  await writeFile(join(profiles, `${profile}.yaml`), text);
  return devsh;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
    const done = (is: boolean) => () => {
      socket.destroy();
      resolve(is);
    };
    socket.once('secureConnect', done(true)).once('error', done(false));
  });
}
