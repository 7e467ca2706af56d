import { constants, open } from 'node:fs/promises';
import { parseAddress } from '../device/address.ts';
import { CredentialError } from '../errors.ts';
import { errorCode, fileError } from '../os/files.ts';

/** One `machine` of a .netrc file. */
export interface NetrcEntry {
  /** As written, in lower case; undefined for the entry `default`. */
  readonly machine: string | undefined;
  readonly login: string | undefined;
  readonly password: string | undefined;
}

const MAX_BYTES = 1024 * 1024;
const OTHERS = 0o077;

/** Throws CredentialError if the file is missing, readable by others, or invalid. */
export async function readNetrc(path: string): Promise<NetrcEntry[]> {
  const text = await readPrivate(path);
  return parseNetrc(text, path);
}

/** `machine host:port` wins over `machine host`. Never `default`: it would give one password to every device. */
export function netrcEntryFor(
  entries: readonly NetrcEntry[],
  address: string,
  user: string | undefined,
): (NetrcEntry & { readonly password: string }) | undefined {
  const { host } = parseAddress(address);
  for (const name of [address, host]) {
    for (const { machine, login, password } of entries) {
      const isUser = user === undefined || login === undefined || login === user;
      if (machine === name && isUser && password !== undefined) return { machine, login, password };
    }
  }
  return undefined;
}

/** The entries in file order. Throws CredentialError with the line number. */
export function parseNetrc(text: string, path: string): NetrcEntry[] {
  const words = new Words(text, path);
  const entries: { machine: string | undefined; login?: string; password?: string }[] = [];
  for (let key = words.nextKey(); key !== undefined; key = words.nextKey()) {
    const entry = entries.at(-1);
    if (key === 'machine') entries.push({ machine: words.value(key).toLowerCase() });
    else if (key === 'default') entries.push({ machine: undefined });
    else if (key === 'macdef') words.skipMacro();
    else if (entry === undefined) throw words.error('it must begin with "machine NAME"');
    else if (key === 'login' || key === 'user') entry.login = words.value(key);
    else if (key === 'password') entry.password = words.value(key);
    else if (key === 'account') words.value(key);
    else
      throw words.error(
        'the known words are machine, default, login, password, account and macdef',
      );
  }
  return entries.map(({ machine, login, password }) => ({ machine, login, password }));
}

/** The words of a .netrc, separated by white space; `"…"` with backslashes keeps white space. */
class Words {
  readonly #text: string;
  readonly #path: string;
  #at = 0;

  constructor(text: string, path: string) {
    this.#text = text;
    this.#path = path;
  }

  /** Names the line, but never quotes it. */
  error(what: string): CredentialError {
    const line = this.#text.slice(0, this.#at).split('\n').length;
    return new CredentialError(`${this.#path}:${line}: not a .netrc file: ${what}`);
  }

  nextKey(): string | undefined {
    let word = this.#next();
    while (word?.startsWith('#') === true) {
      this.#skip(/[^\n]*/y);
      word = this.#next();
    }
    return word;
  }

  value(key: string): string {
    const word = this.#next();
    if (word === undefined) throw this.error(`nothing follows "${key}"`);
    return word;
  }

  /** An ftp macro ends with an empty line. */
  skipMacro(): void {
    this.#skip(/[^]*?(?:\n\s*?\n|$)/y);
  }

  #next(): string | undefined {
    this.#skip(/\s*/y);
    if (this.#at >= this.#text.length) return undefined;
    if (this.#text[this.#at] !== '"') return this.#skip(/\S+/y);
    const quoted = this.#skip(/"(?:[^"\\\n]|\\.)*"/y);
    if (quoted === '') throw this.error('a quotation mark is not closed');
    return quoted.slice(1, -1).replace(/\\(.)/g, '$1');
  }

  #skip(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [match = ''] = pattern.exec(this.#text) ?? [];
    this.#at += match.length;
    return match;
  }
}

async function readPrivate(path: string): Promise<string> {
  try {
    // Non-blocking, so that a pipe at this path does not hang the read.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await file.stat();
      if (!stats.isFile()) throw new CredentialError(`${path} is not a file`);
      const { mode, size, uid } = stats;
      const isForeign = process.getuid !== undefined && uid !== process.getuid() && uid !== 0;
      if (process.platform !== 'win32' && ((mode & OTHERS) !== 0 || isForeign)) {
        throw new CredentialError(
          isForeign
            ? `${path} belongs to another user: devsh does not read it`
            : `${path} is readable by others (mode ${(mode & 0o777).toString(8)}): ` +
                `devsh does not use it before "chmod 600 ${path}"`,
        );
      }
      if (size > MAX_BYTES) throw new CredentialError(`${path} is too large to be a .netrc`);
      return await file.readFile('utf8');
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof CredentialError) throw error;
    if (errorCode(error) === 'ENOENT') throw new CredentialError(`there is no ${path}`);
    throw new CredentialError(fileError('read', path, error).message, { cause: error });
  }
}
