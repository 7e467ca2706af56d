import type { Duplex } from 'node:stream';
import { type Address, formatAddress } from '../address.ts';
import { oneLine } from '../../text/one-line.ts';
import type { ProxyServer } from './route.ts';

const MAX_HEADERS = 16 * 1024;

/** Opens a tunnel through an HTTP proxy (RFC 9110, CONNECT). Throws ReplyError if the proxy refuses. */
export async function askHttpProxy(
  stream: Duplex,
  proxy: ProxyServer,
  address: Address,
): Promise<void> {
  const target = formatAddress(address);
  const login = proxy.login();
  const headers = [`CONNECT ${target} HTTP/1.1`, `Host: ${target}`];
  if (login !== undefined) {
    const pair = Buffer.from(`${login.user}:${login.password}`, 'utf8').toString('base64');
    headers.push(`Proxy-Authorization: Basic ${pair}`);
  }
  stream.write(`${headers.join('\r\n')}\r\n\r\n`);
  await readReply(stream, (received) => sizeOfTunnelReply(received, proxy, target), MAX_HEADERS);
}

/** Only the headers matter; the body of a refusal is not read. */
function sizeOfTunnelReply(
  received: Buffer,
  proxy: ProxyServer,
  target: string,
): number | undefined {
  const text = received.toString('latin1');
  if (!'HTTP/'.startsWith(text.slice(0, 5))) {
    throw new ReplyError('did not respond in HTTP. Is it an HTTP proxy?');
  }
  const end = /\r?\n\r?\n/.exec(text);
  if (end === null) return undefined;
  const [, code, reason = ''] = /^HTTP\/1\.\d (\d{3})(?: ([^\r\n]*))?\r?\n/.exec(text) ?? [];
  if (code === undefined) throw new ReplyError('sent a broken HTTP status line');
  if (code.startsWith('2')) return end.index + end[0].length;
  const reply = `returned ${`${code} ${oneLine(proxy.redact(reason))}`.trim()}`;
  throw new ReplyError(`${reply}${meaningOf(Number(code), target, proxy.login() !== undefined)}`);
}

function meaningOf(status: number, target: string, hasLogin: boolean): string {
  switch (status) {
    case 407:
      return hasLogin
        ? ': it rejects the login'
        : ': it requires a login; put one into HTTPS_PROXY, as in http://USER:PASSWORD@HOST:PORT';
    case 401:
    case 403:
    case 405:
      return `: it does not allow connections to ${target}`;
    case 502:
    case 503:
    case 504:
      return `: it cannot reach ${target}`;
    default:
      return ` for ${target}`;
  }
}

/** The proxy refused, or replied with something else. The message continues its name. */
export class ReplyError extends Error {}

/**
 * Reads one reply and leaves the stream paused after it. `measure` returns the length of the reply once it
 * is known, and throws ReplyError for a refusal. Also throws ReplyError if more data follows (a device
 * never speaks first in TLS), if the reply exceeds `maxBytes`, and if the stream ends.
 */
export function readReply(
  stream: Duplex,
  measure: (received: Buffer) => number | undefined,
  maxBytes: number,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const settle = (): void => {
      stream.off('data', take).off('end', end).off('close', end).off('error', fail);
    };
    const fail = (error: Error): void => {
      settle();
      reject(error);
    };
    const end = (): void => {
      fail(new ReplyError('closed the connection before its reply was complete'));
    };
    const take = (chunk: Buffer): void => {
      received = Buffer.concat([received, chunk]);
      try {
        const size = measure(received);
        if ((size ?? received.length) > maxBytes) {
          throw new ReplyError('sent a reply that is too long for a proxy');
        }
        if (size === undefined || received.length < size) return;
        if (received.length > size) {
          throw new ReplyError(
            'sent data after its reply, before TLS began. Is the port of the device its HTTPS port?',
          );
        }
        stream.pause();
        settle();
        resolve(received);
      } catch (error) {
        stream.pause();
        fail(error instanceof Error ? error : new Error(String(error)));
      }
    };
    stream.on('data', take).once('end', end).once('close', end).once('error', fail);
    stream.resume();
  });
}
