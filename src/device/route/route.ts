import { type Address, formatAddress, parseAddress } from '../address.ts';
import { UsageError } from '../../errors.ts';
import { redact } from '../redact.ts';

/** The way from here to one device. The TLS connection to the device itself goes all the way, whatever it is. */
export type Route =
  | { readonly kind: 'direct' }
  | {
      readonly kind: 'proxy';
      readonly proxy: ProxyServer;
      /** The environment variable that asks for it; undefined when it was set for this device. */
      readonly variable: string | undefined;
    }
  | {
      readonly kind: 'jump';
      readonly jump: JumpHost;
      /** What ssh gets to see of the environment. */
      readonly env: NodeJS.ProcessEnv;
    };

/** A way by others. */
export type Detour = Exclude<Route, { kind: 'direct' }>;

export const DIRECT: Route = { kind: 'direct' };

/** `proxy http://proxy:3128`, `jump host admin@bastion`; never a password. */
export function routeText(route: Route): string {
  switch (route.kind) {
    case 'direct':
      return 'direct';
    case 'proxy':
      return `proxy ${route.proxy.url}`;
    case 'jump':
      return `jump host ${route.jump.text}`;
  }
}

type ProxyScheme = 'http' | 'https' | 'socks5' | 'socks5h';

export interface ProxyLogin {
  readonly user: string;
  readonly password: string;
}

const DEFAULT_PORT: Readonly<Record<ProxyScheme, number>> = {
  http: 80,
  https: 443,
  socks5: 1080,
  socks5h: 1080,
};

/** A proxy. Its login is private to the object: neither `util.inspect` nor `JSON.stringify` shows it. */
export class ProxyServer {
  readonly scheme: ProxyScheme;
  readonly address: Address;
  readonly #login: ProxyLogin | undefined;

  constructor(scheme: ProxyScheme, address: Address, login?: ProxyLogin) {
    this.scheme = scheme;
    this.address = address;
    this.#login = login;
  }

  /** `http://proxy:3128`, without the login. */
  get url(): string {
    return `${this.scheme}://${formatAddress(this.address)}`;
  }

  /** In clear, for the one who sends it. */
  login(): ProxyLogin | undefined {
    return this.#login;
  }

  /** `text` with the login's password replaced: a proxy may repeat what it was sent. */
  redact(text: string): string {
    if (this.#login === undefined) return text;
    const { user, password } = this.#login;
    return redact(text, [password, `${user}:${password}`]);
  }
}

/**
 * Reads `http://host:port`, `https://…`, `socks5://…` or `socks5h://…`; without a scheme it is http.
 * Throws UsageError, which repeats nothing that may be a password.
 */
export function parseProxy(text: string): ProxyServer {
  const trimmed = text.trim();
  const whole = /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `http://${trimmed}`;
  // The error of `new URL` would hold the whole text.
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  if (url === undefined || url.hostname === '' || /[\s\p{Cc}]/u.test(trimmed)) {
    throw new UsageError('this is no address of a proxy: write http://HOST:PORT');
  }
  const scheme = schemeOf(url);
  if (!/^\/?$/.test(url.pathname) || url.search !== '' || url.hash !== '') {
    throw new UsageError('a proxy has no path, only http://HOST:PORT');
  }
  return new ProxyServer(scheme, addressOf(url, scheme), loginOf(url));
}

function schemeOf(url: URL): ProxyScheme {
  const scheme = url.protocol.slice(0, -1);
  if (scheme === 'http' || scheme === 'https' || scheme === 'socks5' || scheme === 'socks5h') {
    return scheme;
  }
  // `user:password` without a scheme reads like one: what stands there is not repeated.
  throw new UsageError('a proxy is http://, https://, socks5:// or socks5h://');
}

function addressOf(url: URL, scheme: ProxyScheme): Address {
  // A URL leaves out the port that its scheme has anyway.
  const port = url.port === '' ? DEFAULT_PORT[scheme] : url.port;
  try {
    return parseAddress(`${url.hostname}:${port}`);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError('the host or the port of the proxy cannot be right');
  }
}

function loginOf(url: URL): ProxyLogin | undefined {
  if (url.username === '' && url.password === '') return undefined;
  try {
    const user = decodeURIComponent(url.username);
    return { user, password: decodeURIComponent(url.password) };
  } catch {
    throw new UsageError('a "%" in the login of a proxy is written as %25');
  }
}

/** Where `ssh` goes to reach a device from there: a name of `~/.ssh/config`, or `USER@HOST:PORT`. */
export interface JumpHost {
  /** `HOST` or `USER@HOST`. */
  readonly destination: string;
  readonly port: number | undefined;
  /** As it was written. */
  readonly text: string;
}

// What a shell in a ProxyCommand, or ssh's own options, could be led astray by has no place here.
const JUMP = /^((?:[\w.+][\w.+-]*@)?(?:[\w.][\w.-]*|\[[\da-f:.]+\]))(?::(\d{1,5}))?$/i;

/** Throws UsageError. */
export function parseJumpHost(text: string): JumpHost {
  const trimmed = text.trim();
  const [, destination, port] = JUMP.exec(trimmed) ?? [];
  if (destination === undefined) {
    throw new UsageError(
      'this is no jump host: write HOST, USER@HOST or USER@HOST:PORT, as ssh knows it',
    );
  }
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) {
    throw new UsageError('the port of a jump host is a number from 1 to 65535');
  }
  return {
    // ssh takes an IPv6 address bare.
    destination: destination.replace(/[[\]]/g, ''),
    port: port === undefined ? undefined : Number(port),
    text: trimmed,
  };
}
