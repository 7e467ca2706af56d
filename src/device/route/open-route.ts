import { connect, isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { DevshError } from '../../errors.ts';
import { formatAddress, type Address } from '../address.ts';
import { faultOf, TransportFault, type FaultKind } from '../fault.ts';
import { oneLine } from '../../text/one-line.ts';
import { askHttpProxy, askSocksProxy, closedTooEarly, ReplyError } from './ask-proxy.ts';
import { JumpLostError, openByJump } from './jump.ts';
import type { IndirectRoute, ProxyServer, Route } from './route.ts';

/** Opens a connection to an address. Throws TransportFault, of the kind `route` if the proxy or jump host failed. */
export async function openRoute(
  route: IndirectRoute,
  address: Address,
  signal: AbortSignal,
): Promise<Duplex> {
  if (route.kind === 'jump') return openByJump(route.jump, address, route.env);
  signal.throwIfAborted();
  const opened: Duplex[] = [];
  const end = (reason?: Error): void => {
    for (const stream of opened.toReversed()) stream.destroy(reason);
  };
  const abort = (): void => end(signal.reason instanceof Error ? signal.reason : undefined);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await byProxy(route.proxy, route.variable, address, opened);
  } catch (error) {
    end();
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** The fault for an error of a route before the device is reached. */
export function routeFault(route: Route, error: unknown): unknown {
  if (route.kind !== 'jump' || !(error instanceof JumpLostError)) return error;
  const message = `not reached through the jump host ${route.jump.text}: ${error.message}. Try "ssh ${route.jump.text}"`;
  return new TransportFault('route', message, { sent: false, cause: error });
}

async function byProxy(
  proxy: ProxyServer,
  variable: string | undefined,
  address: Address,
  opened: Duplex[],
): Promise<Duplex> {
  const named = `the proxy ${proxy.url}${variable === undefined ? '' : ` (${variable})`}`;
  const fault = (what: string, cause: unknown): TransportFault =>
    new TransportFault('route', `${named} ${what}`, { sent: false, cause });
  let stream: Socket;
  try {
    const { host, port } = proxy.address;
    stream = connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 });
    await ready(stream, 'connect', opened);
    if (proxy.scheme === 'https') {
      const servername = isIP(host) > 0 ? '' : host;
      // To the proxy itself, whose certificate the system must trust.
      const options = { socket: stream, host, servername, minVersion: 'TLSv1.2' } as const;
      stream = connectTls({ ...options, ALPNProtocols: ['http/1.1'] });
      await ready(stream, 'secureConnect', opened);
    }
  } catch (error) {
    if (error instanceof DevshError) throw error;
    const problem = unreachable(error);
    throw fault(`${problem}; devsh did not try the device. ${remedy(variable)}`, error);
  }
  const ask = proxy.scheme.startsWith('socks') ? askSocksProxy : askHttpProxy;
  try {
    await ask(stream, proxy, address);
    return stream;
  } catch (error) {
    if (error instanceof ReplyError) throw fault(error.message, error);
    const kind = error instanceof DevshError ? undefined : faultOf(error, false)?.kind;
    if (kind === 'connect timeout') {
      throw fault(`made no connection to ${formatAddress(address)} in time`, error);
    }
    const what = kind && NO_REPLY[kind];
    if (what !== undefined) throw fault(what, error);
    throw error;
  }
}

const NO_REPLY: Partial<Record<FaultKind, string>> = {
  reset: 'closed the connection before its reply was complete',
  malformed: 'did not respond in HTTP. Is it an HTTP proxy?',
  'too large': 'sent a reply that is too long for a proxy',
};

const UNREACHABLE: Partial<Record<FaultKind, string>> = {
  name: 'has a name that does not resolve',
  refused: 'refuses the connection',
  'no route': 'cannot be reached: no route to it',
  'connect timeout': 'does not respond in time',
  reset: 'closes the connection at once',
};

function unreachable(error: unknown): string {
  const fault = faultOf(error, false);
  const known = fault && UNREACHABLE[fault.kind];
  if (known !== undefined) return known;
  const message = fault?.message ?? (error instanceof Error ? error.message : String(error));
  return `has no trusted TLS: ${oneLine(message)}`;
}

function remedy(variable: string | undefined): string {
  return variable === undefined
    ? 'Check "proxy" in the inventory, or --proxy'
    : `Check ${variable}, or add the device to NO_PROXY`;
}

/** Waits for `event`. `opened` collects the streams to destroy if a later step fails. */
function ready(stream: Duplex, event: string, opened: Duplex[]): Promise<void> {
  opened.push(stream);
  // Stays attached, so that a late error does not crash; the owner sees the close.
  stream.on('error', () => undefined);
  return new Promise((resolve, reject) => {
    stream.once(event, resolve);
    stream.once('error', reject);
    stream.once('close', () => reject(closedTooEarly()));
  });
}
