import { CredentialError } from '../errors.ts';
import { askKeychain, type KeychainAnswer, type KeychainRequest } from './keychain-process.ts';

/** A credential as it is kept: with the secret in clear. */
export type StoredCredential =
  | { readonly kind: 'basic'; readonly user: string; readonly password: string }
  | { readonly kind: 'token'; readonly token: string; readonly user?: string | undefined };

/** Which account of which device a keychain entry is for. */
export interface StoredAccount {
  readonly address: string;
  readonly user?: string;
  readonly kind: StoredCredential['kind'];
}

/** Credentials kept by the operating system. Each call may throw KeychainUnavailableError. */
export interface Keychain {
  /**
   * Without a user, the only account there is; throws CredentialError when there are several. The
   * empty user is the owner of a token that was stored without a name.
   */
  find(address: string, user?: string): Promise<StoredCredential | undefined>;
  /** Replaces what was stored for the same account. */
  store(address: string, credential: StoredCredential): Promise<void>;
  /** Forgets one account, or without a user all of the device; says how many entries there were. */
  forget(address: string, user?: string): Promise<number>;
  list(): Promise<StoredAccount[]>;
}

const LIMIT_MS = 3_000;
/** A fleet is asked for device by device: one listing does for all of them. */
const LISTING_MS = 10_000;

/** The keychain of macOS or Windows, or the Secret Service of a Linux desktop. */
export class OsKeychain implements Keychain {
  readonly #env: NodeJS.ProcessEnv;
  readonly #service: string;
  readonly #limitMs: number;
  #listing: { readonly answer: Promise<KeychainAnswer>; readonly until: number } | undefined;

  /** @param options.service another name than `devsh` keeps tests apart from real entries */
  constructor(options: {
    readonly env: NodeJS.ProcessEnv;
    readonly service?: string;
    readonly limitMs?: number;
  }) {
    this.#env = options.env;
    this.#service = options.service ?? 'devsh';
    this.#limitMs = options.limitMs ?? LIMIT_MS;
  }

  async find(address: string, user?: string): Promise<StoredCredential | undefined> {
    const found = (await this.#credentials()).filter(
      (entry) => entry.address === address && (user === undefined || (entry.user ?? '') === user),
    );
    if (found.length > 1) {
      const users = found.map((entry) => entry.user ?? 'a token without a user').sort();
      throw new CredentialError(
        `${address}: the keychain holds ${found.length} accounts (${users.join(', ')}); ` +
          'say which with --user, or forget one with "devsh logout"',
      );
    }
    return found[0]?.credential;
  }

  async store(address: string, credential: StoredCredential): Promise<void> {
    const { kind, user } = credential;
    const account = accountName({ address, kind, ...(user !== undefined && { user }) });
    const secret = credential.kind === 'basic' ? credential.password : credential.token;
    // An account has a password or a token here: what was stored before has been replaced.
    const other = { address, kind: kind === 'basic' ? 'token' : 'basic' } as const;
    await this.#ask({
      service: this.#service,
      set: [{ account, password: secret }],
      remove: user === undefined ? [] : [accountName({ ...other, user })],
    });
  }

  async forget(address: string, user?: string): Promise<number> {
    const accounts = (await this.list())
      .filter((entry) => entry.address === address && (user === undefined || entry.user === user))
      .map(accountName);
    if (accounts.length === 0) return 0;
    return (await this.#ask({ service: this.#service, remove: accounts })).removed;
  }

  async list(): Promise<StoredAccount[]> {
    this.#listing = undefined;
    return (await this.#credentials()).map(({ address, kind, user }) => ({
      address,
      kind,
      ...(user !== undefined && { user }),
    }));
  }

  async #credentials(): Promise<(StoredAccount & { credential: StoredCredential })[]> {
    if (this.#listing === undefined || performance.now() > this.#listing.until) {
      this.#listing = {
        answer: this.#ask({ service: this.#service }),
        until: performance.now() + LISTING_MS,
      };
    }
    const { entries } = await this.#listing.answer;
    return entries.flatMap(({ account, password }) => {
      const parsed = parseAccount(account);
      if (parsed === undefined) return []; // not ours, or of a later version
      const { kind, user } = parsed;
      const credential: StoredCredential =
        kind === 'basic' ? { kind, user: user ?? '', password } : { kind, user, token: password };
      return { ...parsed, credential };
    });
  }

  async #ask(request: KeychainRequest): Promise<KeychainAnswer> {
    const answer = await askKeychain(request, { env: this.#env, limitMs: this.#limitMs });
    // What was listed while this change was under way may be out of date.
    if (request.set || request.remove) this.#listing = undefined;
    return answer;
  }
}

const TOKEN = 'token:';

/**
 * `admin@10.0.0.5:443`, for a token `token:admin@10.0.0.5:443`, for one without a user
 * `token:@10.0.0.5:443`. No user of Basic authentication has a colon (RFC 7617, section 2), and no
 * address has an `@`: each name can be read in one way only.
 */
export function accountName({ address, kind, user = '' }: StoredAccount): string {
  if (kind === 'basic' && (user === '' || user.includes(':'))) {
    throw new CredentialError(
      user === '' ? 'a password needs a user' : `"${user}": a user name must not contain ":"`,
    );
  }
  return `${kind === 'token' ? TOKEN : ''}${user}@${address}`;
}

/** The inverse of `accountName`; undefined for what it cannot have written. */
export function parseAccount(account: string): StoredAccount | undefined {
  const isToken = account.startsWith(TOKEN);
  const rest = isToken ? account.slice(TOKEN.length) : account;
  const separator = rest.lastIndexOf('@');
  if (separator < 0) return undefined;
  const address = rest.slice(separator + 1);
  const user = rest.slice(0, separator);
  if (isToken) return { address, kind: 'token', ...(user !== '' && { user }) };
  return user === '' || user.includes(':') ? undefined : { address, kind: 'basic', user };
}
