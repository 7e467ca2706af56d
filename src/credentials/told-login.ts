/** What a program says a login is: a token, or a password with or without its user. */
export interface ToldLogin {
  readonly kind: 'token' | 'password';
  readonly user: string | undefined;
  readonly secret: string;
}

/**
 * Reads what a `credential_command` prints: a JSON object with `token`, or with `username` and
 * `password`; the same as lines `key=value`, as git's credential helpers print them; or one line, which
 * is a token. Undefined for anything else.
 */
export function readLogin(output: string): ToldLogin | undefined {
  const text = output.trim();
  if (text.startsWith('{')) return readJson(text);
  const lines = output.split(/\r?\n/);
  const told = readKeyValues(lines);
  if (told !== undefined) return told;
  const filled = lines.filter((line) => line.trim() !== '');
  const [token] = filled;
  if (token === undefined || filled.length > 1) return undefined;
  return { kind: 'token', user: undefined, secret: token.trim() };
}

/** Lines `key=value`; the keys that say nothing about the login are passed over. */
export function readKeyValues(lines: readonly string[]): ToldLogin | undefined {
  const values = new Map<string, string>();
  for (const line of lines) {
    const at = line.indexOf('=');
    if (at > 0) values.set(line.slice(0, at), line.slice(at + 1));
  }
  const user = values.get('username') || undefined;
  for (const kind of ['token', 'password'] as const) {
    const secret = values.get(kind);
    if (secret !== undefined && secret !== '') return named(kind, user, secret);
  }
  return undefined;
}

/** The user of a token, in the places that know only users and passwords. */
const TOKEN_USER = '__token__';

/** A login from a place that knows only users and passwords: the user `__token__` says it is a token. */
export function named(
  kind: 'token' | 'password',
  user: string | undefined,
  secret: string,
): ToldLogin {
  return kind === 'password' && user === TOKEN_USER
    ? { kind: 'token', user: undefined, secret }
    : { kind, user, secret };
}

function readJson(text: string): ToldLogin | undefined {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof data !== 'object' || data === null) return undefined;
  const { token, password, username: user } = data as Record<string, unknown>;
  if (user !== undefined && typeof user !== 'string') return undefined;
  const isText = (secret: unknown): secret is string => typeof secret === 'string' && secret !== '';
  if (isText(token)) return { kind: 'token', user, secret: token };
  return isText(password) ? { kind: 'password', user, secret: password } : undefined;
}
