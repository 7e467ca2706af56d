import { rm } from 'node:fs/promises';
import type { RotatedAccount, RotatedSecrets } from '../device/credential.ts';
import { attempt, CredentialError, expectedError, RefusedError } from '../errors.ts';
import { appendText, readText } from '../os/files.ts';
import { withLock } from '../os/lock.ts';
import { visible } from '../text/visible.ts';
import { accountName, type OsKeychain, parseAccount } from './keychain.ts';
import { KeychainUnavailableError } from './keychain-process.ts';
import type { RotationChange, StoredEntry } from './store.ts';
import { type Vault, VaultLockedError } from './vault.ts';

interface RotationOptions {
  readonly keychain: OsKeychain;
  readonly vault: Vault;
  /** Whether the vault is open; may ask for its passphrase. */
  readonly unlockVault: () => Promise<boolean>;
  /** Its lock file is the lock of all changes. */
  readonly lockPath: string;
}

interface Change {
  readonly account: RotatedAccount;
  readonly apply: (secrets: RotatedSecrets) => RotatedSecrets;
  error?: Error;
}

type Place = OsKeychain | Vault;

interface State {
  readonly place: Place;
  /** As it was read; undefined for a new one. */
  readonly text?: string;
  readonly secrets: RotatedSecrets;
}

/** A vault needs half a second for each change, and several devsh processes may change it. */
const WAIT_MS = 30_000;
const SCHEMA = 'devsh-rotation/1';

/** The secrets under rotation, apart from logins: one entry per account, which is replaced in one step. */
export class RotationStore {
  /** A new entry goes where the login of the account is, whose look-up asks for it; else to the first. */
  readonly #places: readonly [Place, ...Place[]];
  readonly #options: RotationOptions;
  readonly #changes: Change[] = [];
  #written = Promise.resolve();
  readonly #triesPath: string;

  private constructor(options: RotationOptions, places: readonly [Place, ...Place[]]) {
    this.#options = options;
    this.#places = places;
    this.#triesPath = `${options.lockPath}-tries`;
  }

  /** Opens the keychain and the vault, as far as they exist. Throws CredentialError if none does, or one is locked. */
  static async open(options: RotationOptions): Promise<RotationStore> {
    const { keychain, vault, unlockVault } = options;
    const hasVault = await vault.exists();
    let hasKeychain = true;
    try {
      await keychain.readRotations();
    } catch (error) {
      if (!(error instanceof KeychainUnavailableError && error.isAbsent)) throw error;
      if (!hasVault) {
        const text =
          'a rotation needs the OS keychain or the vault to keep secrets, and there is neither: "vault init"; nothing was sent';
        throw new CredentialError(text, { cause: error });
      }
      hasKeychain = false;
    }
    if (hasVault && !(await unlockVault())) throw new VaultLockedError(vault.path);
    const places = [...(hasKeychain ? [keychain] : []), ...(hasVault ? [vault] : [])];
    return new RotationStore(options, places as [Place, ...Place[]]);
  }

  /** Without the ordinary logins. */
  async list(): Promise<(RotatedAccount & RotatedSecrets)[]> {
    return [...(await this.#read())].flatMap(([name, { secrets }]) => {
      const account = parseAccount(name);
      return account === undefined ? [] : [{ ...account, user: account.user ?? '', ...secrets }];
    });
  }

  async read(account: RotatedAccount): Promise<RotatedSecrets> {
    const [secrets = {}] = await this.readAll([account]);
    return secrets;
  }

  /** In this order. An account that devsh logs in with has its current secret in the ordinary login alone. */
  async readAll(accounts: readonly RotatedAccount[]): Promise<RotatedSecrets[]> {
    const states = await this.#read();
    const read = accounts.map(async (account) => {
      const { secrets = {} } = states.get(accountName(account)) ?? {};
      const current = secrets.current ?? (await this.login(account)).secret;
      return current === undefined ? secrets : { ...secrets, current };
    });
    return Promise.all(read);
  }

  /** Which secret was tried last: a killed devsh begins with the other one, or each kill would add a refused login. */
  async lastTried(account: RotatedAccount): Promise<'new' | 'old' | undefined> {
    const lines = ((await readText(this.#triesPath)) ?? '').split('\n');
    const placeOf = (secret: 'new' | 'old') => lines.lastIndexOf(tryLine(account, secret));
    if (placeOf('new') === placeOf('old')) return undefined;
    return placeOf('new') > placeOf('old') ? 'new' : 'old';
  }

  /** To be called before each login that may be refused. Throws SettingsError. */
  trying(account: RotatedAccount, secret: 'new' | 'old'): Promise<void> {
    return appendText(this.#triesPath, `${tryLine(account, secret)}\n`);
  }

  /** The secret of the ordinary login, and its place; without one, the place of new entries. */
  async login(
    account: RotatedAccount,
  ): Promise<{ readonly place: Place; readonly secret?: string }> {
    for (const place of this.#places) {
      const login = await place.find(account.address, account.user);
      if (login?.kind === account.kind) return { place, secret: login.secret };
    }
    return { place: this.#places[0] };
  }

  /** Keeps a secret on disk before it is sent. Throws RefusedError if another run has sent one. */
  keepPending(
    account: RotatedAccount,
    secret: string,
    options: { readonly run: string } & Pick<RotatedSecrets, 'replaces'>,
  ): Promise<void> {
    const { run, replaces: given } = options;
    return this.#change(account, (kept) => {
      const { current, previous, isSent, run: earlier = '', ...secrets } = kept;
      const replaces = given ?? secrets.replaces;
      if (isSent === true && earlier !== run) {
        // This run ends what that one has begun.
        if (secret === secrets.pending) return { ...kept, run };
        throw refusal(
          account,
          `run ${earlier} has sent a new secret, which may be in effect: "resume ${earlier}" first`,
        );
      }
      if (secret === (replaces ?? current)) throw refusal(account, 'the new secret is the old one');
      return { pending: secret, run, replaces, current, previous };
    });
  }

  /** To be called before the request. On disk when it resolves. Throws RefusedError if another run has replaced it. */
  markSent(account: RotatedAccount, run: string): Promise<void> {
    return this.#change(account, (secrets) => {
      if (secrets.pending !== undefined && secrets.run === run) {
        return { ...secrets, isSent: true, isInDoubt: true };
      }
      throw refusal(account, 'another rotation has begun');
    });
  }

  /**
   * The pending secret is in effect: makes it the current one. Replaces the ordinary login of the account
   * first; until both are written the pending one stays. Does nothing if none is pending.
   *
   * @param options.isLogin devsh itself logs in with it: becomes an ordinary login, also if there was none
   */
  async promote(account: RotatedAccount, options: { readonly isLogin: boolean }): Promise<void> {
    const { pending, replaces, current } = await this.read(account);
    if (pending === undefined) return;
    const isLogin = await this.#replaceLogin(account, pending, replaces, options.isLogin);
    const old = replaces ?? current;
    await this.#change(account, (secrets) => {
      if (secrets.pending !== pending) return secrets;
      const previous = old === pending ? secrets.previous : (old ?? secrets.previous);
      return { run: secrets.run, current: isLogin ? undefined : pending, previous };
    });
  }

  /** The device has refused the pending secret, or never got it. The old one stays kept somewhere. */
  async dropPending(account: RotatedAccount): Promise<void> {
    const { secret: login } = await this.login(account);
    return this.#change(account, ({ current, previous, replaces = previous }) => ({
      current,
      previous: replaces === (current ?? login) ? previous : replaces,
    }));
  }

  /** Forgets all secrets of these accounts but pending ones, with what belongs to those. Returns how many accounts. */
  forget(isForgotten: (account: RotatedAccount) => boolean): Promise<number> {
    return this.#changeAll(
      (one) => one.pending === undefined && isForgotten(one),
      (secrets) => (secrets.pending === undefined ? {} : secrets),
    );
  }

  /** The ordinary logins have just opened the devices: pending secrets may still come into effect. */
  endDoubts(accounts: readonly RotatedAccount[]): Promise<number> {
    const names = new Set(accounts.map(accountName));
    return this.#changeAll(
      (one) => one.isInDoubt === true && names.has(accountName(one)),
      (secrets) => ({ ...secrets, isInDoubt: undefined }),
    );
  }

  async #changeAll(
    isConcerned: (one: RotatedAccount & RotatedSecrets) => boolean,
    apply: Change['apply'],
  ): Promise<number> {
    const concerned = (await this.list()).filter(isConcerned);
    await Promise.all(concerned.map((account) => this.#change(account, apply)));
    return concerned.length;
  }

  /** Returns whether the secret is an ordinary login now. */
  async #replaceLogin(
    { address, kind, user }: RotatedAccount,
    secret: string,
    replaced: string | undefined,
    isLogin: boolean,
  ): Promise<boolean> {
    const logins: { place: Place; owner: string | undefined }[] = [];
    for (const place of this.#places) {
      const accounts = (await place.list()).filter((one) => one.address === address);
      for (const { user: owner } of accounts.filter((one) => one.kind === kind)) {
        // A token may be stored without its user.
        const isOurs = owner === undefined && (await place.find(address, ''))?.secret === replaced;
        if ((owner ?? '') === user || isOurs) logins.push({ place, owner });
      }
    }
    const isNew = logins.length === 0 && isLogin;
    if (isNew) logins.push({ place: this.#places[0], owner: user || undefined });
    for (const { place, owner } of logins)
      await place.store(address, { kind, user: owner, secret });
    return logins.length > 0;
  }

  /** Changes that arrive during a write are written together: a fleet changes many accounts at a time. */
  async #change(account: RotatedAccount, apply: Change['apply']): Promise<void> {
    const change: Change = { account, apply };
    this.#changes.push(change);
    this.#written = this.#written.then(() => this.#writeAll());
    await this.#written;
    if (change.error !== undefined) throw change.error;
  }

  async #writeAll(): Promise<void> {
    if (this.#changes.length === 0) return;
    let batch: Change[] = [];
    const write = (): Promise<void> => this.#write((batch = this.#changes.splice(0)));
    await withLock(this.#options.lockPath, write, { waitMs: WAIT_MS }).catch((error: unknown) => {
      const failed = batch.length > 0 ? batch : this.#changes.splice(0);
      for (const change of failed) change.error ??= expectedError(error);
    });
  }

  /** Notes why a change cannot be applied. */
  async #write(batch: readonly Change[]): Promise<void> {
    const states = await this.#read();
    for (const change of batch) {
      const name = accountName(change.account);
      const { place } = states.get(name) ?? (await this.login(change.account));
      const state = states.get(name) ?? { place, secrets: {} };
      try {
        states.set(name, { ...state, secrets: change.apply(state.secrets) });
      } catch (error) {
        change.error = expectedError(error);
      }
    }
    for (const place of this.#places) await place.writeRotations(changesOf(place, states));
    const isOpen = [...states.values()].some(({ secrets }) => secrets.isSent);
    if (!isOpen) await rm(this.#triesPath, { force: true });
  }

  async #read(): Promise<Map<string, State>> {
    const states = new Map<string, State>();
    for (const place of this.#places) {
      for (const entry of await place.readRotations()) {
        const secrets = parsed(entry);
        const name = accountName(entry);
        // The same account in both places: the keychain was away for a while.
        if (states.has(name) && secrets.pending === undefined) continue;
        states.set(name, { place, text: entry.secret, secrets });
      }
    }
    return states;
  }
}

function tryLine(account: RotatedAccount, secret: 'new' | 'old'): string {
  return JSON.stringify([accountName(account), secret]);
}

/** An entry without a secret is removed. */
function changesOf(place: Place, states: ReadonlyMap<string, State>): RotationChange[] {
  return [...states].flatMap(([account, { secrets, text: before, place: owner }]) => {
    const { pending, current, previous } = secrets;
    const isEmpty = (pending ?? current ?? previous) === undefined;
    const text = isEmpty ? undefined : JSON.stringify({ schema: SCHEMA, ...secrets });
    return owner !== place || text === before ? [] : [{ account, text }];
  });
}

/** The run that replaced the secret of a login, or may have. The old one might lock the account until a login shows. */
export function runInDoubt(rotation: string, secret: string): string | undefined {
  // Damaged: a rotation says so.
  const kept = attempt(SyntaxError, () => JSON.parse(rotation) as RotatedSecrets);
  return kept?.isInDoubt === true && kept.replaces === secret ? kept.run : undefined;
}

interface Stored extends Omit<RotatedSecrets, 'previous'> {
  readonly schema: string;
  readonly previous?: string | { readonly secret: string };
}

function refusal({ address, kind, user }: RotatedAccount, reason: string): RefusedError {
  const what = kind === 'basic' ? 'the password' : 'the token';
  return new RefusedError(
    `${address}: ${what}${user && ` of ${visible(user)}`}: ${reason}; nothing was sent`,
  );
}

/** Throws CredentialError for the entry of a later devsh: to write it again would lose what is in it. */
function parsed({ address, user, secret }: StoredEntry): RotatedSecrets {
  const stored = attempt(SyntaxError, () => JSON.parse(secret) as Stored);
  const { schema, previous, ...secrets } = stored ?? { schema: '' };
  // It had an end once.
  const text = typeof previous === 'object' ? previous.secret : previous;
  if (schema === SCHEMA) return { ...secrets, previous: text };
  throw new CredentialError(
    `${address}: what is kept of the rotation of ${user ?? 'its token'} is damaged, or of a later devsh; it was left unchanged`,
  );
}
