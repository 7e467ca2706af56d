import { isIP, type Socket } from 'node:net';
import type { Socks5Client } from 'undici/lib/core/socks5-client.js';
import { formatAddress, type Address } from '../address.ts';
import { faultOf } from '../fault.ts';
import { httpConnection } from '../http-connection.ts';
import type { ProxyServer } from './route.ts';
import { type Note, textOf } from '../../output/sentences.ts';

/** The proxy refused, or replied with something else. The message continues its name. */
export class ReplyError extends Error {
  readonly what: Note;

  constructor(what: Note, options?: ErrorOptions) {
    super(textOf(what), options);
    this.what = what;
  }
}

/** Opens a tunnel through an HTTP proxy (RFC 9110, CONNECT). Throws ReplyError if the proxy refuses. */
export async function askHttpProxy(
  stream: Socket,
  proxy: ProxyServer,
  address: Address,
): Promise<void> {
  const target = formatAddress(address);
  const login = proxy.login();
  const pair = login && Buffer.from(`${login.user}:${login.password}`, 'utf8').toString('base64');
  const headers = { Host: target, ...(pair && { 'Proxy-Authorization': `Basic ${pair}` }) };
  const status = await new Promise<number>((resolve, reject) => {
    const connection = httpConnection(proxy.url, (callback) => {
      // undici sends nothing on a socket that it gets at once.
      queueMicrotask(() => callback(null, stream));
    });
    // The caller has a limit for the whole way to the device.
    const request = { method: 'CONNECT', path: target, headers, headersTimeout: 0 } as const;
    connection.dispatch(request, {
      onRequestStart: () => undefined,
      onRequestUpgrade: (_controller, code) => resolve(code),
      onResponseError: (_controller, error) => reject(error),
    });
  });
  if (status < 200 || status > 299) {
    const is = meaningOf(status, login !== undefined);
    throw new ReplyError({ code: 'proxy-refused', is, status, target });
  }
  if (stream.readableLength > 0) {
    throw new ReplyError({ code: 'proxy-refused', is: 'early' });
  }
}

function meaningOf(status: number, hasLogin: boolean) {
  if ([401, 403, 405].includes(status)) return 'target';
  if ([502, 503, 504].includes(status)) return 'reach';
  if (status !== 407) return 'other';
  return hasLogin ? 'login' : 'no-login';
}

/** Opens a connection through a SOCKS5 proxy (RFC 1928, 1929). Throws ReplyError if the proxy refuses. */
export async function askSocksProxy(
  stream: Socket,
  proxy: ProxyServer,
  address: Address,
): Promise<void> {
  const host = proxy.scheme === 'socks5' ? await resolved(address.host) : address.host;
  const { Socks5Client } = await import('undici/lib/core/socks5-client.js');
  const { user: username, password } = proxy.login() ?? {};
  const client = new Socks5Client(stream, { username, password });
  try {
    await connected(client, host, address.port);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (typeof code !== 'string' || !/^UND_ERR_(?:SOCKS5|INVALID_ARG)/.test(code)) throw error;
    const is = /AUTH_(?!VERSION)|INVALID_ARG/.test(code) ? 'socks-login' : 'reported';
    const reason = error instanceof Error ? error.message : '';
    const target = formatAddress(address);
    throw new ReplyError({ code: 'proxy-refused', is, reason, target }, { cause: error });
  }
}

function connected(client: Socks5Client, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    client.on('authenticated', () => client.connect(host, port));
    client.on('connected', () => {
      // Until TLS reads it.
      client.socket.pause();
      resolve();
    });
    client.on('error', reject);
    client.on('close', () => reject(closedTooEarly()));
    client.handshake();
  });
}

/** The error of a connection that its other side closed. */
export function closedTooEarly(): Error {
  return Object.assign(new Error('closed'), { code: 'ECONNRESET' });
}

/** `socks5` resolves names here, `socks5h` at the proxy. */
async function resolved(host: string): Promise<string> {
  if (isIP(host) > 0) return host;
  try {
    const { lookup } = process.getBuiltinModule('node:dns/promises');
    return (await lookup(host)).address;
  } catch (error) {
    // The name is that of the device, not of the proxy.
    throw faultOf(error, false) ?? error;
  }
}
