import type { StoredCredential } from './store.ts';
import { attempt } from '../errors.ts';

/** Reads JSON or `key=value` lines with `token`, or `username` and `password`; or one line, a token. Else undefined. */
export function readLogin(output: string): StoredCredential | undefined {
  const text = output.trim();
  if (text.startsWith('{')) {
    return attempt(SyntaxError, () => loginOf(JSON.parse(text) as Record<string, unknown>));
  }
  const lines = output.split(/\r?\n/);
  const login = readKeyValues(lines);
  if (login !== undefined) return login;
  const [token, ...others] = lines.filter((line) => line.trim() !== '');
  if (token === undefined || others.length > 0) return undefined;
  return { kind: 'token', user: undefined, secret: token.trim() };
}

/** Reads lines `key=value`; ignores keys that are not about the login. */
function readKeyValues(lines: readonly string[]): StoredCredential | undefined {
  const pairs = lines.map((line): [string, string] => {
    const at = line.indexOf('=');
    return [line.slice(0, Math.max(0, at)), line.slice(at + 1)];
  });
  return loginOf(Object.fromEntries(pairs));
}

/** The user that marks a token in sources that know only users and passwords. */
const TOKEN_USER = '__token__';

function loginOf(parts: Readonly<Record<string, unknown>>): StoredCredential | undefined {
  const { token, password, username } = parts;
  const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
  if (username !== undefined && typeof username !== 'string') return undefined;
  const user = username || undefined;
  if (isText(token)) return { kind: 'token', user, secret: token };
  if (!isText(password)) return undefined;
  return user === TOKEN_USER
    ? { kind: 'token', user: undefined, secret: password }
    : { kind: 'basic', user, secret: password };
}
