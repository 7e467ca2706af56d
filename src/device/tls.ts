import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { checkServerIdentity, connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import type { buildConnector } from 'undici';
import { CancelledError, DevshError } from '../errors.ts';
import type { Address } from './address.ts';
import { UntrustedError, type PresentedCertificate } from './errors.ts';
import { faultOf, TransportFault } from './fault.ts';
import type { DeviceRef } from './record.ts';
import { oneLine } from './text.ts';
import { exchangeError } from './translate.ts';

/** What makes a certificate good enough for one device. */
export type Trust =
  | { readonly kind: 'pinned'; readonly fingerprint: string; readonly pinnedAt: string }
  | { readonly kind: 'ca'; readonly pem: string; readonly file: string }
  | { readonly kind: 'system' }
  | { readonly kind: 'insecure' };

export interface ConnectOptions {
  readonly device: DeviceRef;
  readonly address: Address;
  readonly trust: Trust;
  /** For TCP and TLS together. */
  readonly connectTimeoutMs: number;
  /** Ends connections that are still being made. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A SHA-256 fingerprint in its one spelling (upper case, colons); undefined when it is not 32 bytes
 * of hex. Takes any case, colons or none, and a leading `sha256:`.
 */
export function normalizeFingerprint(text: string): string | undefined {
  const hex = text
    .trim()
    .replace(/^sha-?256(?:[:=]|\s+fingerprint=)/i, '')
    .toUpperCase();
  if (!/^(?:[0-9A-F]{64}|(?:[0-9A-F]{2}:){31}[0-9A-F]{2})$/.test(hex)) return undefined;
  return hex.replaceAll(':', '').replace(/..(?!$)/g, '$&:');
}

/** The connector for undici: it gets a socket only after the certificate was found good. */
export function connectTls(options: ConnectOptions): buildConnector.connector {
  return (_target, callback) => {
    openTrusted(options).then(
      ({ socket }) => {
        callback(null, socket);
      },
      (error: unknown) => {
        callback(error instanceof Error ? error : new Error(String(error)), null);
      },
    );
  };
}

/** Connects, reads the certificate and leaves; no byte of HTTP is sent. */
export async function scanCertificate(
  device: DeviceRef,
  address: Address,
  options: { readonly connectTimeoutMs: number; readonly signal?: AbortSignal },
): Promise<PresentedCertificate> {
  try {
    const trust = { kind: 'insecure' } as const;
    const { socket, certificate } = await openTrusted({ device, address, trust, ...options });
    socket.destroy();
    return certificate;
  } catch (error) {
    const request = { method: 'GET', path: '/' } as const;
    throw exchangeError({ device, request, credential: undefined }, error);
  }
}

/** Throws UntrustedError, CancelledError or TransportFault (nothing sent). */
function openTrusted(
  options: ConnectOptions,
): Promise<{ socket: TLSSocket; certificate: PresentedCertificate }> {
  const { address, connectTimeoutMs, signal } = options;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(new CancelledError());
      return;
    }
    const socket = connect(tlsOptions(options));
    const cancel = (): void => {
      socket.destroy(new CancelledError());
    };
    const timer = setTimeout(() => {
      const detail = `no connection within ${connectTimeoutMs} ms`;
      socket.destroy(new TransportFault('connect timeout', detail, { sent: false }));
    }, connectTimeoutMs);
    const settle = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
    };
    signal?.addEventListener('abort', cancel, { once: true });
    socket.setNoDelay(true).setKeepAlive(true, 60_000);
    // Stays for the socket's life: an error between this check and undici's own listener is no crash.
    socket.on('error', (error: Error) => {
      settle();
      reject(
        error instanceof DevshError
          ? error
          : (faultOf(error, false) ??
              new TransportFault('tls', error.message, { sent: false, cause: error })),
      );
    });
    socket.once('close', () => {
      settle();
      reject(new TransportFault('reset', 'closed before TLS was ready', { sent: false }));
    });
    socket.once('secureConnect', () => {
      settle();
      try {
        // Read once: Node gives it out only once for each socket.
        const x509 = socket.getPeerX509Certificate();
        if (!x509) throw new TransportFault('tls', 'no certificate was presented', { sent: false });
        const certificate = describe(x509);
        verify(options, x509, certificate, verifyFailure(socket, x509, address.host));
        resolve({ socket, certificate });
      } catch (error) {
        socket.destroy();
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
  });
}

function tlsOptions({ address, trust }: ConnectOptions): ConnectionOptions {
  const host = address.host;
  return {
    host,
    port: address.port,
    // An IP address must not be sent as a server name (RFC 6066).
    servername: isIP(host) ? '' : host.replace(/\.$/, ''),
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['http/1.1'],
    // Decided in `verify`, which also sees what Node's own check would not say.
    rejectUnauthorized: false,
    // Loading the root store takes 18 ms; a pin does not need it.
    ...(trust.kind === 'ca' && { ca: trust.pem }),
    ...((trust.kind === 'pinned' || trust.kind === 'insecure') && { ca: [] }),
  };
}

/** Why the chain or the name is not good, in words; undefined when both are. */
function verifyFailure(socket: TLSSocket, x509: X509Certificate, host: string): string | undefined {
  if (!socket.authorized) {
    // Node's types say Error; at run time it is the code.
    const code = String(socket.authorizationError);
    if (code !== 'ERR_TLS_CERT_ALTNAME_INVALID') return REASONS[code] ?? oneLine(code);
    return 'it is made out to another name';
  }
  const mismatch = checkServerIdentity(host.replace(/%.*$/, ''), x509.toLegacyObject());
  return mismatch && 'it is made out to another name';
}

const REASONS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its CA is not known here',
  UNABLE_TO_GET_ISSUER_CERT: 'its CA is not known here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its CA is not known here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its CA is not known here',
  CERT_HAS_EXPIRED: 'it has expired',
  CERT_NOT_YET_VALID: 'it is not valid yet',
  CERT_REVOKED: 'it was revoked',
};

function verify(
  { device, trust }: ConnectOptions,
  x509: X509Certificate,
  presented: PresentedCertificate,
  failure: string | undefined,
): void {
  switch (trust.kind) {
    case 'insecure':
      return;
    case 'pinned':
      if (normalizeFingerprint(trust.fingerprint) === presented.fingerprint) return;
      throw changedCertificate(device, trust, presented);
    case 'ca':
      if (failure === undefined) return;
      throw new UntrustedError(
        device,
        `the certificate does not pass ${trust.file}: ${failure} (${describeShort(x509, presented)}). ` +
          `Nothing was sent; check the CA file or the device`,
        { reason: 'ca', presented },
      );
    case 'system':
      if (failure === undefined) return;
      throw new UntrustedError(
        device,
        `the certificate is not trusted: ${failure} (${describeShort(x509, presented)}). Nothing was sent. ` +
          `Compare the SHA-256 fingerprint ${presented.fingerprint} with the device, then ` +
          `"trust accept ${device.name} --fingerprint ${presented.fingerprint}"`,
        { reason: 'unknown', presented },
      );
  }
}

/** The device presents another certificate than the pinned one. */
export function changedCertificate(
  device: DeviceRef,
  pin: { readonly fingerprint: string; readonly pinnedAt: string },
  presented: PresentedCertificate,
): UntrustedError {
  return new UntrustedError(
    device,
    `THE CERTIFICATE HAS CHANGED. Pinned on ${pin.pinnedAt}: ${pin.fingerprint}. ` +
      `Presented now: ${presented.fingerprint} (${presented.subject}). Nothing was sent. Someone ` +
      `may be in between; if the certificate was renewed, "trust replace ${device.name}"`,
    { reason: 'changed', presented },
  );
}

function describeShort(x509: X509Certificate, presented: PresentedCertificate): string {
  const names = x509.subjectAltName ?? presented.subject;
  return `${oneLine(names)}, valid ${presented.validFrom.slice(0, 10)} to ${presented.validTo.slice(0, 10)}`;
}

function describe(x509: X509Certificate): PresentedCertificate {
  return {
    fingerprint: x509.fingerprint256,
    subject: oneLine(x509.subject),
    validFrom: isoDate(x509.validFrom),
    validTo: isoDate(x509.validTo),
  };
}

function isoDate(text: string): string {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? oneLine(text) : date.toISOString();
}
