import type { Account, Store } from './store.ts';
import type { ApiRequest } from './view.ts';

/** Basic and Token. The account of a request, or the message of the 401. */
export function authenticate(store: Store, { headers }: ApiRequest): Account | string {
  const [name = '', credentials, ...rest] = (headers.authorization ?? '').trim().split(/\s+/);
  const scheme = name.toLowerCase();
  if (scheme !== 'basic' && scheme !== 'token') {
    return 'Authentication credentials were not provided.';
  }
  const noun = scheme === 'basic' ? 'Credentials' : 'Token';
  if (credentials === undefined) return `Invalid ${scheme} header. No credentials provided.`;
  if (rest.length > 0) return `Invalid ${scheme} header. ${noun} string should not contain spaces.`;
  return scheme === 'token'
    ? (store.accountByToken(credentials) ?? 'Invalid token.')
    : byPassword(store, credentials);
}

function byPassword(store: Store, credentials: string): Account | string {
  const login = loginIn(credentials);
  if (login === undefined) {
    return 'Invalid basic header. Credentials not correctly base64 encoded.';
  }
  return store.accountByPassword(...login) ?? 'Invalid username/password.';
}

export function loginIn(credentials: string): [username: string, password: string] | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(credentials) || credentials.length % 4 !== 0) return undefined;
  const [username = '', ...password] = Buffer.from(credentials, 'base64').toString().split(':');
  return [username, password.join(':')];
}
