import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { onTestFinished } from 'vitest';
import type { Caller } from '../../src/device/client.ts';
import { Credential } from '../../src/device/credential.ts';
import { Device } from '../../src/device/device.ts';
import { createCertificate, type Certificate } from '../../src/simulator/certificate.ts';

/** A server on loopback that the test has in its hands; closed when the test ends. */
export interface TestServer {
  readonly port: number;
  readonly certificate: Certificate;
  readonly requests: {
    readonly method: string;
    readonly path: string;
    readonly headers: IncomingMessage['headers'];
  }[];
}

export function certificateFor(
  addresses: readonly string[],
  hostNames: readonly string[] = [],
): Certificate {
  return createCertificate({ commonName: 'test', addresses, hostNames });
}

/** HTTPS with `answer` for each request. */
export async function serve(
  answer: (request: IncomingMessage, response: ServerResponse, count: number) => void,
  certificate: Certificate = certificateFor(['127.0.0.1']),
): Promise<TestServer> {
  const requests: { method: string; path: string; headers: IncomingMessage['headers'] }[] = [];
  const listener: RequestListener = (request, response) => {
    request.resume();
    request.once('end', () => {
      requests.push({
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
      });
      answer(request, response, requests.length);
    });
  };
  const server = createHttpsServer({ key: certificate.key, cert: certificate.cert }, listener);
  return { port: await listen(server), certificate, requests };
}

/** TLS without HTTP: `answer` writes what it wants when the first bytes have come. */
export async function serveBytes(
  answer: (socket: TLSSocket, count: number) => void,
): Promise<Omit<TestServer, 'requests'> & { readonly count: () => number }> {
  const certificate = certificateFor(['127.0.0.1']);
  let count = 0;
  const server = createTlsServer({ key: certificate.key, cert: certificate.cert }, (socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => {
      count += 1;
      answer(socket, count);
    });
  });
  return { port: await listen(server), certificate, count: () => count };
}

/** Starts any server on a free port of 127.0.0.1 and stops it, with its connections, after the test. */
export async function listen(server: Server): Promise<number> {
  const sockets = new Set<{ destroy(): void }>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A device that trusts this server's certificate. */
export function deviceAt(
  server: { readonly port: number; readonly certificate?: Certificate },
  options: Partial<ConstructorParameters<typeof Device>[0]> & Caller = {},
): Device {
  const device = new Device({
    device: { name: 'fw1', address: `127.0.0.1:${server.port}` },
    address: { host: '127.0.0.1', port: server.port },
    trust: server.certificate
      ? { kind: 'pinned', fingerprint: server.certificate.fingerprint, pinnedAt: '2026-01-02' }
      : { kind: 'insecure' },
    credential: Credential.basic('admin', 'hunter2secret'),
    caller: () => ({ timeoutMs: 2000, ...options }),
    ...options,
  });
  onTestFinished(() => device.close());
  return device;
}
