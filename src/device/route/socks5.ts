import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import ipaddr from 'ipaddr.js';
import { formatAddress, type Address } from '../address.ts';
import { faultOf } from '../fault.ts';
import type { ProxyLogin, ProxyServer } from './route.ts';
import { readReply, ReplyError } from './http-connect.ts';

const VERSION = 5;
const METHOD = { none: 0, password: 2 } as const;
const KIND = { ipv4: 1, name: 3, ipv6: 4 } as const;
const MAX_REPLY = 4 + 1 + 255 + 2;

/** RFC 1928, section 6. */
const REFUSALS: readonly string[] = [
  '',
  'failed inside the proxy',
  'was not allowed',
  'found no route to its network',
  'could not reach the host',
  'was refused by it',
  'timed out',
  'used a command that the proxy does not support',
  'used an address type that the proxy does not support',
];

/** Opens a connection through a SOCKS5 proxy (RFC 1928, 1929). Throws ReplyError if the proxy refuses. */
export async function askSocksProxy(
  stream: Duplex,
  proxy: ProxyServer,
  address: Address,
): Promise<void> {
  const host = proxy.scheme === 'socks5' ? await resolved(address.host) : address.host;
  const login = proxy.login();
  const methods = login === undefined ? [METHOD.none] : [METHOD.none, METHOD.password];
  stream.write(Buffer.from([VERSION, methods.length, ...methods]));
  const [, method] = await readReply(stream, (reply) => sizeOfPair(reply, VERSION), MAX_REPLY);
  if (method === METHOD.password && login !== undefined) await logIn(stream, login);
  else if (method === 0xff || method === METHOD.password) {
    throw new ReplyError(
      'requires a login; put one into ALL_PROXY, as in socks5h://USER:PASSWORD@HOST:PORT',
    );
  } else if (method !== METHOD.none)
    throw new ReplyError('selected a login method that devsh did not offer');

  stream.write(requestFor(host, address.port));
  await readReply(stream, (reply) => sizeOfReply(reply, address), MAX_REPLY);
}

async function logIn(stream: Duplex, { user, password }: ProxyLogin): Promise<void> {
  const fields = [user, password].map((text) => Buffer.from(text, 'utf8'));
  if (fields.some(({ length }) => length < 1 || length > 255)) {
    throw new ReplyError('accepts only users and passwords of 1 to 255 bytes');
  }
  const parts = fields.flatMap((field) => [Buffer.from([field.length]), field]);
  stream.write(Buffer.concat([Buffer.from([1]), ...parts]));
  const [, status] = await readReply(stream, (reply) => sizeOfPair(reply, 1), MAX_REPLY);
  if (status !== 0) throw new ReplyError('rejects the login');
}

function requestFor(host: string, port: number): Buffer {
  const family = isIP(host);
  const target =
    family === 0
      ? [KIND.name, Buffer.byteLength(host), ...Buffer.from(host, 'ascii')]
      : [family === 4 ? KIND.ipv4 : KIND.ipv6, ...ipaddr.parse(host).toByteArray()];
  return Buffer.from([VERSION, 1, 0, ...target, port >> 8, port & 0xff]);
}

/** A reply of a version and one byte. */
function sizeOfPair([version]: Buffer, expected: number): number {
  if (version !== expected) throw noSocks();
  return 2;
}

function sizeOfReply(reply: Buffer, address: Address): number | undefined {
  const [version, code, , kind, length] = reply;
  if (version !== VERSION) throw noSocks();
  if (code !== undefined && code !== 0) {
    const refusal = REFUSALS[code] ?? `failed with the unknown code ${code}`;
    throw new ReplyError(`reports: the connection to ${formatAddress(address)} ${refusal}`);
  }
  switch (kind) {
    case undefined:
      return undefined;
    case KIND.ipv4:
      return 4 + 4 + 2;
    case KIND.ipv6:
      return 4 + 16 + 2;
    case KIND.name:
      return length === undefined ? undefined : 4 + 1 + length + 2;
    default:
      throw noSocks();
  }
}

function noSocks(): ReplyError {
  return new ReplyError('does not respond like a SOCKS5 proxy');
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
