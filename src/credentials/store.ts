import { CredentialError } from '../errors.ts';

/** A login with its secret in clear text. A password needs a user; the user of a token may be unknown. */
export interface StoredCredential {
  readonly kind: 'basic' | 'token';
  readonly user?: string | undefined;
  readonly secret: string;
}

/** A stored login; `rotation` is what is kept of its account under rotation. */
export interface StoredLogin extends StoredCredential {
  readonly rotation?: string | undefined;
}

export interface StoredAccount {
  readonly address: string;
  readonly user?: string | undefined;
  readonly kind: StoredCredential['kind'];
}

export type StoredEntry = StoredAccount & StoredCredential;

export interface StoredEntries {
  readonly entries: readonly StoredEntry[];
  readonly rotations: readonly StoredEntry[];
}

/** What to keep of an account under rotation; without a text its entry is removed. */
export interface RotationChange {
  readonly account: string;
  readonly text: string | undefined;
}

export class WrongPassphraseError extends CredentialError {}

export interface CredentialStore {
  /** Without a user the only account; throws CredentialError for several. The empty user: a token without one. */
  find(address: string, user?: string): Promise<StoredLogin | undefined>;
  /** Replaces the entry of the same account. */
  store(address: string, credential: StoredCredential): Promise<void>;
  /** Forgets one account, or without a user all of the device; returns how many entries there were. */
  forget(address: string, user?: string): Promise<number>;
  list(): Promise<StoredAccount[]>;
  /** The next look-up reads what another devsh may have changed. */
  refresh?(): void;
}

/** Matches entries of this account, or without a user of this device. */
export function isAccountOf(
  address: string,
  user: string | undefined,
): (entry: StoredAccount) => boolean {
  return (entry) =>
    entry.address === address && (user === undefined || (entry.user ?? '') === user);
}

/** Implements `CredentialStore.find`; `rotations` are what the place keeps of accounts under rotation. */
export function pickLogin(
  { entries, rotations }: StoredEntries,
  address: string,
  user: string | undefined,
  place: 'keychain' | 'vault',
): StoredLogin | undefined {
  const found = entries.filter(isAccountOf(address, user));
  if (found.length > 1) {
    const users = found.map((entry) => entry.user ?? 'a token without a user').sort();
    throw new CredentialError(
      `${address}: the ${place} has ${found.length} accounts (${users.join(', ')}); ` +
        'choose one with --user, or forget one with "devsh logout"',
    );
  }
  const [login] = found;
  const isOwn = isAccountOf(address, login?.user ?? '');
  const rotation = rotations.find((one) => isOwn(one) && one.kind === login?.kind)?.secret;
  return login && { kind: login.kind, user: login.user, secret: login.secret, rotation };
}

export function accountOf({ address, kind, user }: StoredAccount): StoredAccount {
  return { address, kind, user };
}

const RECENT_MS = 10_000;

/** Caches responses and failures for ten seconds, so that the devices of a fleet share one request. */
export class RecentCache<Answer> {
  readonly #answers = new Map<
    string,
    { readonly answer: Promise<Answer>; readonly until: number }
  >();

  get(key: string, ask: () => Promise<Answer>): Promise<Answer> {
    const known = this.#answers.get(key);
    if (known !== undefined && performance.now() < known.until) return known.answer;
    const answer = ask();
    this.#answers.set(key, { answer, until: performance.now() + RECENT_MS });
    return answer;
  }

  clear(): void {
    this.#answers.clear();
  }
}
