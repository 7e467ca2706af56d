import { connect, isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { DevshError } from '../../errors.ts';
import { formatAddress, type Address } from '../address.ts';
import { faultOf, TransportFault } from '../fault.ts';
import { oneLine } from '../../text/one-line.ts';
import { askHttpProxy, askSocksProxy, closedTooEarly, ReplyError } from './ask-proxy.ts';
import { JumpLostError, openByJump } from './jump.ts';
import type { IndirectRoute, ProxyServer, Route } from './route.ts';
import { type Note, textOf } from '../../output/sentences.ts';

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
  const { text: jump } = route.jump;
  const what = { code: 'route', is: 'jump', jump, problem: error.message } as const;
  return new TransportFault('route', what, { sent: false, cause: error });
}

async function byProxy(
  proxy: ProxyServer,
  variable: string | undefined,
  address: Address,
  opened: Duplex[],
): Promise<Duplex> {
  const url = variable === undefined ? proxy.url : `${proxy.url} (${variable})`;
  const fault = (what: Note, cause: unknown): TransportFault => {
    const detail = { code: 'route', is: 'proxy', url, problem: textOf(what) } as const;
    return new TransportFault('route', detail, { sent: false, cause });
  };
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
    const found = { code: 'route', url, problem: textOf(unreachable(error)) } as const;
    const detail: Note =
      variable === undefined
        ? { ...found, is: 'no-proxy' }
        : { ...found, is: 'no-variable', variable };
    throw new TransportFault('route', detail, { sent: false, cause: error });
  }
  const ask = proxy.scheme.startsWith('socks') ? askSocksProxy : askHttpProxy;
  try {
    await ask(stream, proxy, address);
    return stream;
  } catch (error) {
    if (error instanceof ReplyError) throw fault(error.what, error);
    const kind = error instanceof DevshError ? undefined : faultOf(error, false)?.kind;
    if (kind === 'connect timeout') {
      const target = formatAddress(address);
      throw fault({ code: 'proxy-refused', is: 'late', target }, error);
    }
    if (kind === 'reset' || kind === 'malformed' || kind === 'too large')
      throw fault({ code: 'proxy-refused', is: kind }, error);
    throw error;
  }
}

const UNREACHABLE = ['name', 'refused', 'no route', 'connect timeout', 'reset'] as const;

function unreachable(error: unknown): Note {
  const fault = faultOf(error, false);
  const is = UNREACHABLE.find((kind) => kind === fault?.kind);
  if (is !== undefined) return { code: 'proxy-unreachable', is };
  const message = fault?.message ?? (error instanceof Error ? error.message : String(error));
  return { code: 'proxy-unreachable', is: 'tls', reason: oneLine(message) };
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
