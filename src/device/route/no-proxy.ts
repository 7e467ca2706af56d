import { BlockList, isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import type { Address } from '../address.ts';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** This machine: no proxy of the environment is meant for it. */
export function isLoopback(host: string): boolean {
  return /^(?:.*\.)?localhost\.?$/.test(host) || isIn(loopback, host);
}

/**
 * Whether `NO_PROXY` leaves this address out: `*`, a host name (with what is below it), `.suffix` (only
 * what is below it), an IP address, a CIDR block; each with or without `:port`; commas or blanks between.
 */
export function isLeftOut(noProxy: string, { host, port }: Address): boolean {
  return noProxy.split(/[\s,]+/).some((entry) => {
    const { pattern, port: only } = splitPort(entry);
    return (only === undefined || only === port) && matches(pattern, host);
  });
}

function splitPort(entry: string): { pattern: string; port: number | undefined } {
  const match =
    /^\[([^\]]*)\](?::(\d{1,5}))?$/.exec(entry) ?? /^([^:]*)(?::(\d{1,5}))?$/.exec(entry);
  // With more than one colon and no brackets it is an IPv6 address.
  if (match === null) return { pattern: entry, port: undefined };
  const [, pattern = '', port] = match;
  return { pattern, port: port === undefined ? undefined : Number(port) };
}

function matches(pattern: string, host: string): boolean {
  if (pattern === '') return false;
  if (pattern === '*') return true;
  const [net = '', bits] = pattern.split('/');
  if (isIP(net) > 0) return matchesNet(net, bits, host);
  const name = domainToASCII(pattern.replace(/^\*?\./, ''))
    .toLowerCase()
    .replace(/\.$/, '');
  const wanted = host.replace(/\.$/, '');
  const isBelow = name !== '' && isIP(wanted) === 0 && wanted.endsWith(`.${name}`);
  return isBelow || (wanted === name && !/^\*?\./.test(pattern));
}

function matchesNet(net: string, bits: string | undefined, host: string): boolean {
  const family = isIP(net) === 4 ? 'ipv4' : 'ipv6';
  const most = family === 'ipv4' ? 32 : 128;
  const prefix = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Infinity;
  if (prefix > most) return false;
  const list = new BlockList();
  list.addSubnet(net, prefix, family);
  return isIn(list, host);
}

function isIn(list: BlockList, host: string): boolean {
  const address = host.replace(/%.*$/, '');
  const family = isIP(address);
  return family > 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6');
}
