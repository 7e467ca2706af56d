import { CredentialError } from '../errors.ts';

/** A login with its secret in clear: a password, which needs a user, or a token, whose user may be unknown. */
export interface StoredCredential {
  readonly kind: 'basic' | 'token';
  readonly user?: string | undefined;
  readonly secret: string;
}

/** Which account of which device an entry is for. */
export interface StoredAccount {
  readonly address: string;
  readonly user?: string | undefined;
  readonly kind: StoredCredential['kind'];
}

/** An entry with its secret. */
export type StoredEntry = StoredAccount & StoredCredential;

/** The passphrase does not open the vault. */
export class WrongPassphraseError extends CredentialError {}

/** A place that keeps credentials: the OS keychain, or the vault. */
export interface CredentialStore {
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

/** Whether an entry is of this account, or without a user of this device. */
export function isOf(address: string, user: string | undefined): (entry: StoredAccount) => boolean {
  return (entry) =>
    entry.address === address && (user === undefined || (entry.user ?? '') === user);
}

/** The one entry that is meant, as `CredentialStore.find` says. */
export function pickEntry(
  entries: readonly StoredEntry[],
  address: string,
  user: string | undefined,
  place: 'keychain' | 'vault',
): StoredCredential | undefined {
  const found = entries.filter(isOf(address, user));
  if (found.length > 1) {
    const users = found.map((entry) => entry.user ?? 'a token without a user').sort();
    throw new CredentialError(
      `${address}: the ${place} holds ${found.length} accounts (${users.join(', ')}); ` +
        'say which with --user, or forget one with "devsh logout"',
    );
  }
  const [entry] = found;
  return entry && { kind: entry.kind, user: entry.user, secret: entry.secret };
}

export function accountOf({ address, kind, user }: StoredAccount): StoredAccount {
  return { address, kind, user };
}

/** So long an answer counts as being of now. */
const RECENT_MS = 10_000;

/**
 * Asks once for what all devices of a fleet want to know at about the same time: an answer, or a
 * failure, does for ten seconds.
 */
export class Recent<Answer> {
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

  /** What is asked next is asked anew. */
  clear(): void {
    this.#answers.clear();
  }
}
