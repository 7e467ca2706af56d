import { CredentialError } from '../errors.ts';
import {
  askKeychain,
  type KeychainResponse,
  type KeychainRequest,
  KeychainUnavailableError,
} from './keychain-process.ts';
import {
  accountOf,
  type CredentialStore,
  isAccountOf,
  pickLogin,
  RecentCache,
  type RotationChange,
  type StoredAccount,
  type StoredCredential,
  type StoredEntries,
  type StoredEntry,
  type StoredLogin,
} from './store.ts';

const LIMIT_MS = 3_000;
/** Over SSH no one sits at the desktop that shows the unlock dialog for a new entry. */
const REMOTE_LIMIT_MS = 1_500;
/** Changes of one request, so that it ends within the limit. */
const MAX_CHANGES = 20;

/** The keychain of macOS or Windows, or the Secret Service of a Linux desktop. */
export class OsKeychain implements CredentialStore {
  readonly #env: NodeJS.ProcessEnv;
  readonly #service: string;
  readonly #limitMs: number;
  /** The rotations are in a service of their own. A fleet asks device by device: one listing serves all of them. */
  readonly #listing = new RecentCache<StoredEntries>();

  /** @param options.service tests use another name than `devsh`, to stay away from real entries */
  constructor(options: {
    readonly env: NodeJS.ProcessEnv;
    readonly service?: string;
    readonly limitMs?: number;
  }) {
    this.#env = options.env;
    this.#service = options.service ?? 'devsh';
    this.#limitMs = options.limitMs ?? LIMIT_MS;
  }

  async find(address: string, user?: string): Promise<StoredLogin | undefined> {
    return pickLogin(await this.#listed(), address, user, 'keychain');
  }

  async store(address: string, credential: StoredCredential): Promise<void> {
    const { kind, user, secret } = credential;
    // An account has a password or a token, never both: remove the other kind.
    const other = kind === 'basic' ? 'token' : 'basic';
    await this.#ask({
      service: this.#service,
      set: [{ account: accountName({ address, kind, user }), password: secret }],
      remove: user === undefined ? [] : [accountName({ address, kind: other, user })],
    });
  }

  async forget(address: string, user?: string): Promise<number> {
    const accounts = (await this.list()).filter(isAccountOf(address, user)).map(accountName);
    if (accounts.length === 0) return 0;
    return (await this.#ask({ service: this.#service, remove: accounts })).removed;
  }

  refresh(): void {
    this.#listing.clear();
  }

  async list(): Promise<StoredAccount[]> {
    this.refresh();
    return (await this.#listed()).entries.map(accountOf);
  }

  /** What is kept of accounts under rotation, in a service of its own that no other look-up reads. */
  async readRotations(): Promise<StoredEntry[]> {
    return entriesIn((await this.#ask({ service: this.#rotations })).entries);
  }

  async writeRotations(changes: readonly RotationChange[]): Promise<void> {
    const service = this.#rotations;
    for (let at = 0; at < changes.length; at += MAX_CHANGES) {
      const part = changes.slice(at, at + MAX_CHANGES);
      const set = part.flatMap(({ account, text: password }) =>
        password === undefined ? [] : [{ account, password }],
      );
      const removed = part.filter(({ text }) => text === undefined);
      await this.#ask({ service, set, remove: removed.map(({ account }) => account) });
    }
  }

  get #rotations(): string {
    return `${this.#service}-rotation`;
  }

  #listed(): Promise<StoredEntries> {
    return this.#listing.get('', async () => {
      const { entries, others } = await this.#ask({
        service: this.#service,
        also: this.#rotations,
      });
      return { entries: entriesIn(entries), rotations: entriesIn(others) };
    });
  }

  async #ask(request: KeychainRequest): Promise<KeychainResponse> {
    const isRemote = Boolean(this.#env['SSH_CONNECTION']) && request.set !== undefined;
    const limitMs = isRemote ? Math.min(REMOTE_LIMIT_MS, this.#limitMs) : this.#limitMs;
    const answer = await askKeychain(request, { env: this.#env, limitMs });
    // The change makes an earlier listing stale.
    if (request.set || request.remove) this.#listing.clear();
    return answer;
  }
}

function entriesIn(entries: KeychainResponse['entries']): StoredEntry[] {
  return entries.flatMap(({ account, password }) => {
    const parsed = parseAccount(account);
    // Skips entries of other programs and of later versions.
    return parsed === undefined ? [] : [{ ...parsed, secret: password }];
  });
}

const TOKEN = 'token:';

/** `admin@10.0.0.5:443`, `token:admin@…`, `token:@…`. No user of Basic has a colon, and no address an `@`. */
export function accountName({ address, kind, user = '' }: StoredAccount): string {
  if (kind === 'basic' && (user === '' || user.includes(':'))) {
    throw new CredentialError(
      user === '' ? 'a password needs a user' : `"${user}": a user name must not contain ":"`,
    );
  }
  return `${kind === 'token' ? TOKEN : ''}${user}@${address}`;
}

/** The inverse of `accountName`; undefined for an account that it cannot have written. */
export function parseAccount(account: string): StoredAccount | undefined {
  const isToken = account.startsWith(TOKEN);
  const rest = isToken ? account.slice(TOKEN.length) : account;
  const separator = rest.lastIndexOf('@');
  if (separator < 0) return undefined;
  const address = rest.slice(separator + 1);
  const user = rest.slice(0, separator);
  if (isToken) return { address, kind: 'token', user: user || undefined };
  return user === '' || user.includes(':') ? undefined : { address, kind: 'basic', user };
}

export type OptionalKeychain = ReturnType<typeof optionalKeychain>;

/** A keychain that may be missing or locked; `onUnavailable` gets the reason. */
export function optionalKeychain(
  keychain: CredentialStore,
  onUnavailable: (error: KeychainUnavailableError) => Promise<void>,
) {
  let isAvailable = true;
  /** Throws KeychainUnavailableError. */
  const use = async <T>(work: (keychain: CredentialStore) => Promise<T>): Promise<T> => {
    try {
      return await work(keychain);
    } catch (error) {
      if (error instanceof KeychainUnavailableError) isAvailable = false;
      throw error;
    }
  };
  return {
    use,
    /** False after a failure. */
    isAvailable: () => isAvailable,
    refresh: () => keychain.refresh?.(),
    /** Returns undefined if the keychain is unavailable, and does not ask it again. */
    async ask<T>(work: (keychain: CredentialStore) => Promise<T>): Promise<T | undefined> {
      if (!isAvailable) return undefined;
      try {
        return await use(work);
      } catch (error) {
        if (!(error instanceof KeychainUnavailableError)) throw error;
        await onUnavailable(error);
        return undefined;
      }
    },
  };
}
