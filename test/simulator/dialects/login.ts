import { randomBytes } from 'node:crypto';
import { readBody } from './read-body.ts';
import { loginIn } from '../../../src/simulator/authenticate.ts';
import type { ResourceTable } from './site.ts';
import type { Account, Store } from '../../../src/simulator/store.ts';
import {
  type ApiRequest,
  CONTENT_TYPES,
  type Outcome,
  refusal,
  type View,
} from '../../../src/simulator/view.ts';
import type { QuirkyDialect } from './dialect.ts';

/** Where a session begins (POST) and ends (DELETE). */
const LOGIN_PATH = '/api/login';

/** Whoever may read without a login, or log in. */
const ANYONE: Account = { uuid: '', mayWrite: true };

/** The quirk `api-key`. */
export function withApiKey(dialect: QuirkyDialect): QuirkyDialect {
  return {
    ...dialect,
    login(site, request) {
      const { authorization, 'x-api-key': key } = request.headers;
      if (authorization !== undefined) {
        if (!/^basic /i.test(authorization)) return 'Tokens belong in the header X-API-Key.';
        return dialect.login(site, request);
      }
      if (key === undefined) return 'The header X-API-Key is missing.';
      return site.store.accountByToken(key.toString()) ?? 'Invalid key.';
    },
  };
}

/** The quirks `session-token` and `session-cookie`: a session is the only login. */
export function withSessions(dialect: QuirkyDialect): QuirkyDialect {
  const { quirks, sessions } = dialect;
  const isCookie = quirks.has('session-cookie');
  const tokenIn = ({ headers: { authorization = '', cookie = '' } }: ApiRequest): string => {
    const [, token = ''] =
      (isCookie ? /(?:^|; )sid=(\w+)/.exec(cookie) : /^Bearer (\w+)$/.exec(authorization)) ?? [];
    return token;
  };
  const open = (store: Store, request: ApiRequest): Outcome => {
    const { username, password } = fieldsOf(request);
    const account = store.accountByPassword(String(username), String(password));
    if (account === undefined) return refusal(401, 'Invalid username/password.');
    const token = sessions.start(account);
    if (!isCookie) return { status: 200, value: { data: { token } } };
    const cookie = `sid=${token}; Path=/; Secure; HttpOnly; SameSite=Strict`;
    return { status: 200, value: { status: 'ok' }, headers: { 'Set-Cookie': cookie } };
  };
  const close = (request: ApiRequest): Outcome =>
    sessions.end(tokenIn(request)) ? { status: 204 } : refusal(401, 'No session.');
  return {
    ...dialect,
    login({ store }, request) {
      if (request.target.split('?')[0] === LOGIN_PATH) return ANYONE;
      const account = sessions.use(tokenIn(request), quirks.has('short-sessions'));
      if (account === undefined) return 'No session.';
      return store.get(account.uuid) === undefined ? 'No such user.' : account;
    },
    findView(site, path): View | undefined {
      if (path !== LOGIN_PATH) return dialect.findView(site, path);
      return {
        title: 'Login',
        allow: ['POST', 'DELETE'],
        respond: (request) =>
          request.method === 'POST' ? open(site.store, request) : close(request),
      };
    },
  };
}

/** The quirk `open-reads`. */
export function withOpenReads(dialect: QuirkyDialect): QuirkyDialect {
  return {
    ...dialect,
    login(site, request) {
      const account = dialect.login(site, request);
      const isOpen = request.method === 'GET' && request.headers.authorization === undefined;
      return typeof account === 'string' && isOpen ? ANYONE : account;
    },
  };
}

const REFUSALS_BEFORE_LOCK = 3;

/** The quirk `locks-accounts`. */
export function withLocks(dialect: QuirkyDialect): QuirkyDialect {
  const refused = new Map<string, number>();
  return {
    ...dialect,
    login(site, request) {
      const account = dialect.login(site, request);
      const [, username] = passwordLogin(request) ?? [];
      if (username === undefined) return account;
      const count = typeof account === 'string' ? (refused.get(username) ?? 0) + 1 : 0;
      refused.set(username, count);
      if (count === REFUSALS_BEFORE_LOCK) lock(site.store, username);
      return account;
    },
  };
}

/** Name and password of a login with Basic. */
export function passwordLogin({ headers }: ApiRequest): ReturnType<typeof loginIn> {
  const [, credentials = ''] = /^basic (\S+)$/i.exec(headers.authorization?.trim() ?? '') ?? [];
  return loginIn(credentials);
}

function lock(store: Store, username: string): void {
  const account = store.accounts.get(store.named(username)?.uuid ?? '');
  if (account !== undefined)
    setLogin(store, account.uuid, { password: randomBytes(20).toString('hex') });
}

/** A user without an account may read. */
export function setLogin(
  store: Store,
  uuid: string,
  login: Pick<Account, 'password' | 'token'>,
): void {
  store.accounts.set(uuid, { uuid, mayWrite: false, ...store.accounts.get(uuid), ...login });
}

/** `/api/user/<id>/password/` wants the old password; `/api/user/<id>/token/` makes a token. */
export function loginView(target: ResourceTable, id: string, action: string): View {
  const { store, dialect } = target.site;
  return {
    title: 'User Login',
    allow: ['POST', 'OPTIONS'],
    respond(request) {
      const user = dialect.find(target, id);
      if (user === undefined) return refusal(404, 'No User matches the given query.');
      if (action === 'token') {
        const token = randomBytes(20).toString('hex');
        setLogin(store, user.uuid, { token });
        return { status: 200, value: { data: { key: token } } };
      }
      const body = readBody(dialect, request, [], true);
      if ('refused' in body) return body.refused;
      const { old_password: old, new_password: password, again_password: again } = body.input;
      if (typeof password !== 'string' || password !== again) {
        return { status: 400, value: { again_password: ['The two passwords differ.'] } };
      }
      if (store.accounts.get(user.uuid)?.password !== old) {
        return { status: 400, value: { old_password: ['Wrong password.'] } };
      }
      setLogin(store, user.uuid, { password });
      return { status: 204 };
    },
  };
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
