import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  connect,
  createSecureContext,
  type ConnectionOptions,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import type { buildConnector } from 'undici';
import { CancelledError, DevshError } from '../errors.ts';
import type { Address } from './address.ts';
import { certificateProblem, certificateText, describeCertificate } from './certificate-check.ts';
import { Deadline, faultOf, TransportFault } from './fault.ts';
import { UntrustedError, type PresentedCertificate } from './errors.ts';
import { normalizeFingerprint } from './trust-anchors.ts';
import type { DeviceRef } from './record.ts';
import { openRoute, routeFault } from './route/open-route.ts';
import { DIRECT, routeText, type Route } from './route/route.ts';
import { exchangeError } from './translate.ts';
import { textOf } from '../output/sentences.ts';

const KEEP_ALIVE_DELAY_MS = 60_000;
/** ALPN: HTTP/1.1 only. */
const ONLY_HTTP1 = Buffer.from('\x08http/1.1');

/** A file with the certificates of an authority. */
export interface Authority {
  readonly pem: string;
  readonly file: string;
}

export type Trust =
  | {
      readonly kind: 'pinned';
      readonly fingerprint: string;
      readonly pinnedAt: string;
      /** It must have signed the certificate, too. */
      readonly ca?: Authority | undefined;
    }
  | ({ readonly kind: 'ca' } & Authority)
  | { readonly kind: 'system' }
  | { readonly kind: 'insecure' };

export interface ConnectOptions {
  readonly device: DeviceRef;
  readonly address: Address;
  readonly trust: Trust;
  /** How the device is reached; directly when absent. */
  readonly route?: Route | undefined;
  /** For the whole way: proxy or jump host, TCP and TLS together. */
  readonly connectTimeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Called after the certificate check; the connection is used when it resolves, and closed if it rejects. */
  readonly beforeUse?: (() => Promise<void>) | undefined;
  /** Contains each connection being opened, so that it can be ended without a signal. */
  readonly opening?: Set<Destroyable> | undefined;
}

export interface Destroyable {
  destroy(reason: Error): void;
}

/** Calls back with a socket only after the certificate check. */
export function connectTls(options: ConnectOptions, callback: buildConnector.Callback): void {
  openForUse(options).then(
    (socket) => callback(null, socket),
    (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
  );
}

async function openForUse(options: ConnectOptions): Promise<TLSSocket> {
  const { socket } = await openTrusted(options);
  if (options.beforeUse === undefined) return socket;
  try {
    await options.beforeUse();
    // The device may have lost patience meanwhile, with words or without.
    if (!socket.destroyed && socket.readableLength === 0) return socket;
    throw new TransportFault('reset', { code: 'transfer', is: 'unused' }, { sent: false });
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** Connects, reads the certificate and disconnects, without HTTP. Throws UntrustedError if it fails `trust`. */
export async function scanCertificate(
  device: DeviceRef,
  address: Address,
  {
    trust = { kind: 'insecure' },
    ...options
  }: Pick<ConnectOptions, 'connectTimeoutMs' | 'signal' | 'route'> & { trust?: Trust | undefined },
): Promise<PresentedCertificate> {
  try {
    const { socket, x509 } = await openTrusted({ device, address, trust, ...options });
    socket.destroy();
    return describeCertificate(x509);
  } catch (error) {
    const request = { method: 'GET', path: '/' } as const;
    throw exchangeError(
      { device, request, credential: undefined, via: viaText(options.route) },
      error,
    );
  }
}

interface Trusted {
  readonly socket: TLSSocket;
  readonly x509: X509Certificate;
}

/** `through the proxy http://proxy:3128`, for messages; undefined for a direct connection. */
export function viaText(route: Route = DIRECT): string | undefined {
  return route.kind === 'direct'
    ? undefined
    : textOf({ code: 'route', is: 'via', route: routeText(route) });
}

/** Throws UntrustedError, CancelledError or TransportFault (nothing sent). */
async function openTrusted(options: ConnectOptions): Promise<Trusted> {
  const { address, route = DIRECT, connectTimeoutMs, signal, opening } = options;
  let abortRoute: AbortController | undefined;
  let stream: Duplex | undefined;
  let socket: TLSSocket | undefined;
  const connection: Destroyable = {
    destroy(reason) {
      abortRoute?.abort(reason);
      socket?.destroy(reason);
    },
  };
  const cancel = (): void => connection.destroy(new CancelledError());
  const deadline = new Deadline(connectTimeoutMs, () => {
    const detail = { code: 'transfer', is: 'connect', seconds: connectTimeoutMs / 1000 } as const;
    connection.destroy(new TransportFault('connect timeout', detail, { sent: false }));
  });
  signal?.addEventListener('abort', cancel, { once: true });
  opening?.add(connection);
  try {
    if (signal?.aborted) throw new CancelledError();
    if (route.kind === 'direct') {
      // TCP and TLS in one socket, because most connections are direct and a fleet opens many.
      socket = connect({ ...tlsOptions(options), port: address.port });
    } else {
      abortRoute = new AbortController();
      const tunnel = await openRoute(route, address, abortRoute.signal);
      stream = tunnel;
      // Stays attached, so that a late error does not crash.
      tunnel.on('error', () => undefined);
      abortRoute.signal.throwIfAborted();
      socket = connect({ ...tlsOptions(options), socket: tunnel });
      socket.once('close', () => tunnel.destroy());
    }
    const trusted = await secured(socket, options);
    if (stream === undefined) socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_DELAY_MS);
    return trusted;
  } catch (error) {
    stream?.destroy();
    throw connectError(routeFault(route, error));
  } finally {
    deadline.stop();
    opening?.delete(connection);
    signal?.removeEventListener('abort', cancel);
  }
}

function secured(socket: TLSSocket, options: ConnectOptions): Promise<Trusted> {
  return new Promise((resolve, reject) => {
    // Stays attached: an error before undici adds its own listener must not crash.
    socket.on('error', reject);
    const onClose = (): void =>
      reject(new TransportFault('reset', { code: 'transfer', is: 'handshake' }, { sent: false }));
    socket.once('close', onClose);
    socket.once('secureConnect', () => {
      socket.off('close', onClose);
      try {
        // Read once: Node returns it only once per socket.
        const x509 = socket.getPeerX509Certificate();
        if (!x509)
          throw new TransportFault('tls', { code: 'transfer', is: 'anonymous' }, { sent: false });
        verify(options, x509, socket);
        resolve({ socket, x509 });
      } catch (error) {
        socket.destroy();
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
  });
}

function connectError(error: unknown): Error {
  if (error instanceof DevshError) return error;
  const fault = faultOf(error, false);
  if (fault) return fault;
  const message = error instanceof Error ? error.message : String(error);
  return new TransportFault('tls', message, { sent: false, cause: error });
}

function tlsOptions({ address, trust }: ConnectOptions): ConnectionOptions {
  const host = address.host;
  return {
    host,
    // An IP address must not be sent as a server name (RFC 6066).
    servername: isIP(host) ? '' : host.replace(/\.$/, ''),
    ALPNProtocols: ONLY_HTTP1,
    // `verify` decides, because it reports every problem.
    rejectUnauthorized: false,
    secureContext: contextFor(trust),
  };
}

/** Shared by all devices with the same trust; a context contains nothing else. */
const contexts = new Map<string, SecureContext>();

function contextFor(trust: Trust): SecureContext {
  const ca = authorityOf(trust);
  const key = ca !== undefined ? `ca ${ca.pem}` : trust.kind === 'system' ? 'system' : 'none';
  const known = contexts.get(key);
  if (known !== undefined) return known;
  const context = createSecureContext({
    minVersion: 'TLSv1.2',
    ...(ca && { ca: ca.pem }),
    // Loading the root store takes 18 ms; a pin does not need it.
    ...(key === 'none' && { ca: [] }),
  });
  contexts.set(key, context);
  return context;
}

function authorityOf(trust: Trust): Authority | undefined {
  return trust.kind === 'ca' ? trust : trust.kind === 'pinned' ? trust.ca : undefined;
}

function verify(
  { device, trust, address }: ConnectOptions,
  x509: X509Certificate,
  socket: TLSSocket,
): void {
  if (trust.kind === 'insecure') return;
  if (trust.kind === 'pinned') {
    const { fingerprint } = trust;
    const isPinned =
      fingerprint === x509.fingerprint256 ||
      normalizeFingerprint(fingerprint) === x509.fingerprint256;
    if (!isPinned) throw changedCertificate(device, describeCertificate(x509));
    if (trust.ca === undefined) return;
  }
  const ca = authorityOf(trust);
  const problem = certificateProblem(socket, x509, address.host);
  if (problem === undefined) return;
  const presented = describeCertificate(x509);
  const [code, certificate] = ['untrusted' as const, certificateText(x509)];
  if (ca !== undefined) {
    const what = { code, is: 'ca', file: ca.file, problem, certificate } as const;
    throw new UntrustedError(device, what, { reason: 'ca', presented });
  }
  const what = { code, is: 'unknown', problem, device: device.name } as const;
  throw new UntrustedError(device, what, { reason: 'unknown', presented });
}

export function changedCertificate(
  device: DeviceRef,
  presented: PresentedCertificate,
): UntrustedError {
  const what = { code: 'untrusted', is: 'changed', device: device.name } as const;
  return new UntrustedError(device, what, { reason: 'changed', presented });
}
