import type { Account, Store } from './store.ts';

/** How a request identified itself. */
export type Scheme = 'basic' | 'token' | 'none';

export function schemeOf(authorization: string | undefined): Scheme {
  const scheme = authorization?.trim().split(/\s+/)[0]?.toLowerCase();
  return scheme === 'basic' || scheme === 'token' ? scheme : 'none';
}

/** The account behind the header, or the words with which the device refuses it (401). */
export function authenticate(store: Store, authorization: string | undefined): Account | string {
  const scheme = schemeOf(authorization);
  if (scheme === 'none') return 'Authentication credentials were not provided.';
  const [, credentials, ...rest] = (authorization ?? '').trim().split(/\s+/);
  const noun = scheme === 'basic' ? 'Credentials' : 'Token';
  if (credentials === undefined) return `Invalid ${scheme} header. No credentials provided.`;
  if (rest.length > 0) return `Invalid ${scheme} header. ${noun} string should not contain spaces.`;
  return scheme === 'token'
    ? (store.accountByToken(credentials) ?? 'Invalid token.')
    : byPassword(store, credentials);
}

function byPassword(store: Store, credentials: string): Account | string {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(credentials) || credentials.length % 4 !== 0) {
    return 'Invalid basic header. Credentials not correctly base64 encoded.';
  }
  const [username = '', ...password] = Buffer.from(credentials, 'base64').toString().split(':');
  const account = store.accountByPassword(username, password.join(':'));
  return account ?? 'Invalid username/password.';
}
