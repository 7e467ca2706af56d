import { isIPv4, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';
import { UsageError } from '../errors.ts';

/** Where a device listens: `host` is a name or an IP in lower case, IPv6 without brackets. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

const DEFAULT_PORT = 443;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** `host[:port]`, `[v6]:port`, bare IPv6, `https://host[:port][/]`. Throws UsageError without a password. */
export function parseAddress(text: string): Address {
  const trimmed = text.trim();
  if (trimmed.includes('@')) {
    throw new UsageError({ code: 'bad-address', is: 'login' });
  }
  const shown = JSON.stringify(trimmed.slice(0, 200));
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(trimmed);
  if (scheme && scheme[1]?.toLowerCase() !== 'https') {
    throw new UsageError({ code: 'bad-address', is: 'scheme', shown });
  }
  const authority = scheme ? trimmed.slice(scheme[0].length).replace(/\/$/, '') : trimmed;
  if (authority === '') throw new UsageError({ code: 'bad-address', is: 'missing' });
  if (/[/\\?#]/.test(authority)) {
    throw new UsageError({ code: 'bad-address', is: 'path', shown });
  }
  const { host, port } = split(authority, shown);
  return {
    host: checkHost(host, shown),
    port: port === undefined ? DEFAULT_PORT : checkPort(port, shown),
  };
}

/** `host:port`, or `[v6]:port`: the key of a pin. */
export function formatAddress(address: Address): string {
  return `${bracketed(address.host)}:${address.port}`;
}

/** The shortest unambiguous form: without port 443. The default device name. */
export function shortAddress(address: Address): string {
  return address.port === DEFAULT_PORT ? address.host : formatAddress(address);
}

/** The origin for URLs. A zone (`fe80::1%eth0`) selects the interface and is not part of a URL. */
export function originOf(address: Address): string {
  const host = address.host.replace(/%.*$/, '');
  return new URL(`https://${bracketed(host)}:${address.port}`).origin;
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function split(authority: string, shown: string): { host: string; port: string | undefined } {
  if (authority.startsWith('[')) {
    const match = /^\[([^\]]*)\](?::(.*))?$/.exec(authority);
    if (!match || !isIPv6(match[1] ?? '')) {
      throw new UsageError({ code: 'bad-address', is: 'brackets', shown });
    }
    return { host: match[1] ?? '', port: match[2] };
  }
  const [host = '', port, ...others] = authority.split(':');
  return others.length > 0 ? { host: authority, port: undefined } : { host, port };
}

function checkHost(host: string, shown: string): string {
  if (host.includes(':')) {
    if (!isIPv6(host)) throw new UsageError({ code: 'bad-address', is: 'ipv6', shown });
    // One spelling per address, so that its pin is found.
    const [, address = '', zone = ''] = /^([^%]*)(%.*)?$/.exec(host) ?? [];
    const canonical = new URL(`https://[${address}]`).hostname.slice(1, -1);
    return mappedIPv4(canonical) ?? canonical + zone;
  }
  if (isIPv4(host)) return host;
  const name = domainToASCII(host).toLowerCase();
  const labels = name.replace(/\.$/, '').split('.');
  // Programs disagree about which host 10.1, 010.0.0.1 and 0x7f.1 mean.
  if (/^(?:\d+|0x[0-9a-f]*)$/i.test(labels.at(-1) ?? '') || looksNumeric(host)) {
    throw new UsageError({ code: 'bad-address', is: 'ipv4', shown });
  }
  if (name.length > 253 || !labels.every((label) => LABEL.test(label))) {
    throw new UsageError({ code: 'bad-address', is: 'name', shown });
  }
  return name;
}

/** `::ffff:a00:5` is 10.0.0.5 (RFC 4291, section 2.5.5.2). */
function mappedIPv4(address: string): string | undefined {
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(address) ?? [];
  if (high === undefined || low === undefined) return undefined;
  return [high, low]
    .map((part) => Number.parseInt(part, 16))
    .flatMap((part) => [part >> 8, part & 0xff])
    .join('.');
}

function looksNumeric(host: string): boolean {
  return /(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$/i.test(host);
}

function checkPort(port: string, shown: string): number {
  const number = /^\d{1,5}$/.test(port) ? Number(port) : 0;
  if (number < 1 || number > 65535) {
    throw new UsageError({ code: 'bad-address', is: 'port', shown });
  }
  return number;
}

/** `{item}` in a template. */
export const PLACEHOLDER = /\{([^{}]+)\}/g;

/** Whether a path names one record: `{item}`, `{id}`, `{key}` or any field of it. */
export function namesRecord(template: string): boolean {
  return placeholdersIn(template).some((name) => name !== 'collection' && name !== 'resource');
}

export function placeholdersIn(template: string): string[] {
  return [...template.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
}
