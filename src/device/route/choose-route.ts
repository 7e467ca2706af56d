import { BlockList, isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { childEnvironment } from '../../os/program.ts';
import { UsageError } from '../../errors.ts';
import type { Address } from '../address.ts';
import { DIRECT, parseJumpHost, parseProxy, type ProxyServer, type Route } from './route.ts';

/** What is set for one device, in the inventory or by an option. Holds no password. */
export type ConfiguredRoute =
  | { readonly kind: 'direct' }
  | { readonly kind: 'proxy'; readonly proxy: string }
  | { readonly kind: 'jump'; readonly jump: string };

/** In the order in which they are asked, as curl does. */
const VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'] as const;

/**
 * Reads the value of `proxy` or `jump`; `none` is the direct way, whatever the environment says. Throws
 * UsageError, also for a login in it: neither a file of ours nor an argument is a place for a password.
 */
export function parseRoute(key: 'proxy' | 'jump', text: string): ConfiguredRoute {
  if (text.trim().toLowerCase() === 'none') return { kind: 'direct' };
  if (key === 'jump') return { kind: 'jump', jump: parseJumpHost(text).text };
  const proxy = parseProxy(text);
  if (proxy.login() !== undefined) {
    throw new UsageError(
      'no login of a proxy is kept here; HTTPS_PROXY may hold the same proxy with its login',
    );
  }
  return { kind: 'proxy', proxy: proxy.url };
}

/** `http://proxy:3128`, `jump bastion`, `direct`: a configured route as a table shows it. */
export function configuredText(route: ConfiguredRoute): string {
  switch (route.kind) {
    case 'direct':
      return 'direct';
    case 'proxy':
      return `proxy ${route.proxy}`;
    case 'jump':
      return `jump host ${route.jump}`;
  }
}

/**
 * The way to an address: what is set for the device, else the proxy of the environment unless `NO_PROXY`
 * leaves the address out. Loopback and link-local addresses are reached by no proxy of the environment.
 * Throws UsageError for a variable that cannot be understood.
 */
export function chooseRoute(
  address: Address,
  configured: ConfiguredRoute | undefined,
  env: NodeJS.ProcessEnv,
): Route {
  switch (configured?.kind) {
    case 'direct':
      return DIRECT;
    case 'jump':
      return {
        kind: 'jump',
        jump: parseJumpHost(configured.jump),
        env: childEnvironment(env),
      };
    case 'proxy':
      return {
        kind: 'proxy',
        proxy: withLogin(parseProxy(configured.proxy), env),
        variable: undefined,
      };
    case undefined: {
      const asked = environmentProxy(env);
      if (asked === undefined) return DIRECT;
      const isOwn = isLoopback(address.host) || address.host.includes('%');
      if (isOwn || isLeftOut(noProxyOf(env), address)) return DIRECT;
      return { kind: 'proxy', ...asked };
    }
  }
}

/** What the environment wants reached without a proxy. */
export function noProxyOf(env: NodeJS.ProcessEnv): string {
  return env['no_proxy'] ?? env['NO_PROXY'] ?? '';
}

/** The proxy that the environment asks for. Throws UsageError that names the variable. */
export function environmentProxy(
  env: NodeJS.ProcessEnv,
): { proxy: ProxyServer; variable: string } | undefined {
  const variable = VARIABLES.find((name) => (env[name] ?? '').trim() !== '');
  if (variable === undefined) return undefined;
  return { proxy: parseVariable(variable, env), variable };
}

/** A proxy that is configured without a login has the one that the environment gives for the same proxy. */
function withLogin(proxy: ProxyServer, env: NodeJS.ProcessEnv): ProxyServer {
  const known = VARIABLES.filter((variable) => (env[variable] ?? '').trim() !== '');
  const proxies = known.map((variable) => parseVariable(variable, env));
  return proxies.find(({ url }) => url === proxy.url) ?? proxy;
}

function parseVariable(variable: string, env: NodeJS.ProcessEnv): ProxyServer {
  try {
    return parseProxy(env[variable] ?? '');
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`${variable} in the environment: ${error.message}`);
  }
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** This machine: no proxy of the environment is meant for it. */
function isLoopback(host: string): boolean {
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
