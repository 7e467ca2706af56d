import { CredentialError } from '../errors.ts';

/** A credential as it is kept: with the secret in clear. */
export type StoredCredential =
  | { readonly kind: 'basic'; readonly user: string; readonly password: string }
  | { readonly kind: 'token'; readonly token: string; readonly user?: string | undefined };

/** Which account of which device an entry is for. */
export interface StoredAccount {
  readonly address: string;
  readonly user?: string | undefined;
  readonly kind: StoredCredential['kind'];
}

/** An entry with its secret. */
export interface StoredEntry extends StoredAccount {
  readonly secret: string;
}

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
  return entry && credentialOf(entry);
}

export function accountOf({ address, kind, user }: StoredAccount): StoredAccount {
  return { address, kind, user };
}

/** The same as an entry of a list. */
export function entryOf(address: string, credential: StoredCredential): StoredEntry {
  const { kind, user } = credential;
  const secret = credential.kind === 'basic' ? credential.password : credential.token;
  return { address, kind, user, secret };
}

function credentialOf({ kind, user, secret }: StoredEntry): StoredCredential {
  return kind === 'basic'
    ? { kind, user: user ?? '', password: secret }
    : { kind, user, token: secret };
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
