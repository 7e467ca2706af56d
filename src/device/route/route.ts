import { BlockList, isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { type Address, formatAddress, parseAddress } from '../address.ts';
import { attempt, UsageError } from '../../errors.ts';
import { childEnvironment } from '../../os/program.ts';
import { textOf } from '../../output/sentences.ts';

/** The way to one device. TLS with the device itself is always end to end. */
export type Route =
  | { readonly kind: 'direct' }
  | {
      readonly kind: 'proxy';
      readonly proxy: ProxyServer;
      /** The environment variable that sets it; undefined if configured for this device. */
      readonly variable: string | undefined;
    }
  | {
      readonly kind: 'jump';
      readonly jump: JumpHost;
      /** The environment for ssh. */
      readonly env: NodeJS.ProcessEnv;
    };

/** A way through another host. */
export type IndirectRoute = Exclude<Route, { kind: 'direct' }>;

export const DIRECT: Route = { kind: 'direct' };

/** `proxy http://proxy:3128`, `jump host admin@bastion`, `direct`; never a password. */
export function routeText(route: Route | ConfiguredRoute): string {
  if (route.kind === 'direct') return route.kind;
  if (route.kind === 'proxy')
    return `proxy ${typeof route.proxy === 'string' ? route.proxy : route.proxy.url}`;
  const host = typeof route.jump === 'string' ? route.jump : route.jump.text;
  return textOf({ code: 'route', is: 'by-jump', host });
}

type ProxyScheme = 'http' | 'https' | 'socks5' | 'socks5h';

interface ProxyLogin {
  readonly user: string;
  readonly password: string;
}

const DEFAULT_PORT: Readonly<Record<ProxyScheme, number>> = {
  http: 80,
  https: 443,
  socks5: 1080,
  socks5h: 1080,
};

/** A proxy. Its login is private: neither `util.inspect` nor `JSON.stringify` shows it. */
export class ProxyServer {
  readonly scheme: ProxyScheme;
  readonly address: Address;
  readonly #login: ProxyLogin | undefined;

  constructor(scheme: ProxyScheme, address: Address, login?: ProxyLogin) {
    this.scheme = scheme;
    this.address = address;
    this.#login = login;
  }

  get url(): string {
    return `${this.scheme}://${formatAddress(this.address)}`;
  }

  /** In clear text, for sending it. */
  login(): ProxyLogin | undefined {
    return this.#login;
  }
}

/** `http://host:port`, `https`, `socks5`, `socks5h`. Throws UsageError that never contains a possible password. */
function parseProxy(text: string): ProxyServer {
  const trimmed = text.trim();
  const whole = /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `http://${trimmed}`;
  const isPlain = !/[\s\p{Cc}]/u.test(trimmed);
  // The errors of the URL and of its parts contain the text, and so the password.
  const server = isPlain ? attempt(Error, () => serverAt(new URL(whole))) : undefined;
  if (server === undefined) throw new UsageError({ code: 'bad-route', is: 'proxy' });
  return server;
}

function serverAt(url: URL): ProxyServer | undefined {
  const { protocol, hostname, port, pathname, search, hash, username, password } = url;
  const scheme = protocol.slice(0, -1);
  if (!Object.hasOwn(DEFAULT_PORT, scheme) || !/^\/?$/.test(pathname + search + hash))
    return undefined;
  const known = scheme as ProxyScheme;
  // A URL omits the default port of its scheme.
  const address = parseAddress(`${hostname}:${port === '' ? DEFAULT_PORT[known] : port}`);
  const [user, secret] = [decodeURIComponent(username), decodeURIComponent(password)];
  const login = user === '' && secret === '' ? undefined : { user, password: secret };
  return new ProxyServer(known, address, login);
}

/** The ssh destination: a name of `~/.ssh/config`, or `USER@HOST:PORT`. */
export interface JumpHost {
  readonly destination: string;
  readonly port: number | undefined;
  readonly text: string;
}

// Excludes every character that a ProxyCommand's shell or ssh's options could misread.
const JUMP = /^((?:[\w.+][\w.+-]*@)?(?:[\w.][\w.-]*|\[[\da-f:.]+\]))(?::(\d{1,5}))?$/i;

export function parseJumpHost(text: string): JumpHost {
  const trimmed = text.trim();
  const [, destination, port] = JUMP.exec(trimmed) ?? [];
  if (destination === undefined) throw new UsageError({ code: 'bad-route', is: 'jump' });
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535))
    throw new UsageError({ code: 'bad-route', is: 'jump-port' });
  return {
    // ssh expects an IPv6 address without brackets.
    destination: destination.replace(/[[\]]/g, ''),
    port: port === undefined ? undefined : Number(port),
    text: trimmed,
  };
}

/** The route of one device from the inventory or an option. Contains no password. */
export type ConfiguredRoute =
  | { readonly kind: 'direct' }
  | { readonly kind: 'proxy'; readonly proxy: string }
  | { readonly kind: 'jump'; readonly jump: string };

/** In order of precedence, as in curl. */
const VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'] as const;

/** `none`: direct, whatever the environment says. Throws UsageError, also for a login: files have no passwords. */
export function parseRoute(key: 'proxy' | 'jump', text: string): ConfiguredRoute {
  if (text.trim().toLowerCase() === 'none') return { kind: 'direct' };
  if (key === 'jump') return { kind: 'jump', jump: parseJumpHost(text).text };
  const proxy = parseProxy(text);
  if (proxy.login() !== undefined) {
    throw new UsageError({ code: 'bad-route', is: 'login' });
  }
  return { kind: 'proxy', proxy: proxy.url };
}

/** The configured route, else the proxy of the environment, unless `NO_PROXY` or a local address excludes it. */
export function chooseRoute(
  address: Address,
  configured: ConfiguredRoute | undefined,
  env: NodeJS.ProcessEnv,
): Route {
  switch (configured?.kind) {
    case 'direct':
      return DIRECT;
    case 'jump':
      return { kind: 'jump', jump: parseJumpHost(configured.jump), env: childEnvironment(env) };
    case 'proxy':
      return {
        kind: 'proxy',
        proxy: withLogin(parseProxy(configured.proxy), env),
        variable: undefined,
      };
    case undefined: {
      const environment = environmentProxy(env);
      if (environment === undefined) return DIRECT;
      const isOwn = isLoopback(address.host) || address.host.includes('%');
      if (isOwn || isExcluded(noProxyOf(env), address)) return DIRECT;
      return { kind: 'proxy', ...environment };
    }
  }
}

export function noProxyOf(env: NodeJS.ProcessEnv): string {
  return env['no_proxy'] ?? env['NO_PROXY'] ?? '';
}

/** The proxy of the environment. Throws UsageError that names the variable. */
export function environmentProxy(
  env: NodeJS.ProcessEnv,
): { proxy: ProxyServer; variable: string } | undefined {
  const variable = VARIABLES.find((name) => (env[name] ?? '').trim() !== '');
  if (variable === undefined) return undefined;
  return { proxy: parseVariable(variable, env), variable };
}

/** Adds the login that the environment has for the same proxy. */
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
    const { message: problem } = error;
    throw new UsageError({ code: 'bad-route', is: 'variable', variable, problem });
  }
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** The environment's proxy is not meant for this machine. */
function isLoopback(host: string): boolean {
  return /^(?:.*\.)?localhost\.?$/.test(host) || isIn(loopback, host);
}

/** Whether `NO_PROXY` excludes an address: `*`, host (and below it), `.suffix`, IP or CIDR, each perhaps with `:port`. */
export function isExcluded(noProxy: string, { host, port }: Address): boolean {
  return noProxy.split(/[\s,]+/).some((entry) => {
    const { pattern, port: only } = splitPort(entry);
    return (only === undefined || only === port) && matches(pattern, host);
  });
}

function splitPort(entry: string): { pattern: string; port: number | undefined } {
  const match =
    /^\[([^\]]*)\](?::(\d{1,5}))?$/.exec(entry) ?? /^([^:]*)(?::(\d{1,5}))?$/.exec(entry);
  // An entry with several colons and no brackets is an IPv6 address.
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
  const max = family === 'ipv4' ? 32 : 128;
  const prefix = bits === undefined ? max : /^\d{1,3}$/.test(bits) ? Number(bits) : Infinity;
  if (prefix > max) return false;
  const list = new BlockList();
  list.addSubnet(net, prefix, family);
  return isIn(list, host);
}

function isIn(list: BlockList, host: string): boolean {
  const address = host.replace(/%.*$/, '');
  const family = isIP(address);
  return family > 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6');
}
