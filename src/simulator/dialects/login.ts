import type { Account } from '../store.ts';
import { type ApiRequest, CONTENT_TYPES, type Outcome, refusal, type Site } from '../view.ts';
import type { Dialect } from './dialect.ts';

/** Where a session begins (POST) and ends (DELETE). */
export const LOGIN_PATH = '/api/login';

export function hasSessions({ quirks }: Dialect): boolean {
  return quirks.has('session-token') || quirks.has('session-cookie');
}

/** The account of a session or an API key, or the message of the 401. Undefined: the usual logins count. */
export function specialLogin(site: Site, request: ApiRequest): Account | string | undefined {
  const { quirks } = site.dialect;
  const { authorization } = request.headers;
  if (quirks.has('api-key') && authorization === undefined) {
    const apiKey = request.headers['x-api-key']?.toString();
    if (apiKey === undefined) return 'The header X-API-Key is missing.';
    return site.store.accountByToken(apiKey) ?? 'Invalid key.';
  }
  if (quirks.has('api-key') && !/^basic /i.test(authorization ?? '')) {
    return 'Tokens belong in the header X-API-Key.';
  }
  if (!hasSessions(site.dialect)) return undefined;
  const account = site.sessions.use(tokenIn(site, request), quirks.has('short-sessions'));
  if (account === undefined) return 'No session.';
  return site.store.get(account.uuid) === undefined ? 'No such user.' : account;
}

function tokenIn({ dialect }: Site, { headers }: ApiRequest): string {
  const { authorization = '', cookie = '' } = headers;
  const pattern = dialect.quirks.has('session-cookie') ? /(?:^|; )sid=(\w+)/ : /^Bearer (\w+)$/;
  return pattern.exec(dialect.quirks.has('session-cookie') ? cookie : authorization)?.[1] ?? '';
}

/** POST with a password opens a session, DELETE ends that of the request. */
export function loginOutcome(site: Site, request: ApiRequest): Outcome {
  if (request.method === 'DELETE') {
    const isEnded = site.sessions.end(tokenIn(site, request));
    return isEnded ? { status: 204 } : refusal(401, 'No session.');
  }
  if (request.method !== 'POST') return refusal(405, `Method "${request.method}" not allowed.`);
  const { username, password } = fieldsOf(request);
  const account = site.store.accountByPassword(String(username), String(password));
  if (account === undefined) return refusal(401, 'Invalid username/password.');
  const token = site.sessions.start(account);
  if (!site.dialect.quirks.has('session-cookie'))
    return { status: 200, value: { data: { token } } };
  const cookie = `sid=${token}; Path=/; Secure; HttpOnly; SameSite=Strict`;
  return { status: 200, value: { status: 'ok' }, headers: { 'Set-Cookie': cookie } };
}

function fieldsOf({ headers, body }: ApiRequest): Readonly<Record<string, unknown>> {
  if (headers['content-type']?.startsWith(CONTENT_TYPES.json) !== true) {
    return Object.fromEntries(new URLSearchParams(body));
  }
  try {
    const fields: unknown = JSON.parse(body);
    return typeof fields === 'object' && fields !== null ? { ...fields } : {};
  } catch {
    return {};
  }
}
