import { fileStamp, readText, writeTextAtomically } from '../os/files.ts';
import { withLock } from '../os/lock.ts';
import { CredentialError, RefusedError } from '../errors.ts';
import {
  accountOf,
  type CredentialStore,
  isAccountOf,
  pickLogin,
  type RotationChange,
  type StoredAccount,
  type StoredCredential,
  type StoredEntry,
  type StoredLogin,
  WrongPassphraseError,
} from './store.ts';
import { accountName, parseAccount } from './keychain.ts';
import type { OpenedVault } from './vault-file.ts';

/** The vault exists but is locked. The message says how to unlock it. */
export class VaultLockedError extends CredentialError {
  constructor(path: string) {
    super(
      `the vault ${path} is locked: "vault unlock" asks for its passphrase, --passphrase-stdin reads it`,
    );
  }
}

export class NoVaultError extends CredentialError {
  constructor(path: string) {
    super(`there is no vault at ${path}: "vault init" creates one`);
  }
}

/** The default of age: about half a second to open. */
const WORK_FACTOR = 18;
/** Sealing takes half a second, and several devsh processes may wait for the lock. */
const WAIT_MS = 20_000;
const MIN_PASSPHRASE = 8;

interface Opened extends OpenedVault {
  readonly passphrase: string;
  /** The file stamp when the entries were read. */
  readonly stamp: string;
}

/** An age file (`age -d` opens it) for machines without a keychain. Passphrase and entries stay until `lock`. */
export class Vault implements CredentialStore {
  readonly path: string;
  /** For a new vault; an existing one keeps its work factor. */
  readonly #workFactor: number;
  #opened: Opened | undefined;

  constructor(path: string, options: { readonly workFactor?: number } = {}) {
    this.path = path;
    this.#workFactor = options.workFactor ?? WORK_FACTOR;
  }

  get isUnlocked(): boolean {
    return this.#opened !== undefined;
  }

  async exists(): Promise<boolean> {
    return (await fileStamp(this.path)) !== '';
  }

  /** Creates an empty vault and unlocks it. Throws RefusedError if the file exists. */
  async create(passphrase: string): Promise<void> {
    if (passphrase.length < MIN_PASSPHRASE) {
      throw new CredentialError(
        `the passphrase of the vault needs at least ${MIN_PASSPHRASE} characters`,
      );
    }
    await this.#exclusive(async () => {
      if (await this.exists()) {
        throw new RefusedError(`there is already a vault: ${this.path}; nothing was changed`);
      }
      await this.#write([], passphrase, this.#workFactor);
    });
  }

  /** Throws WrongPassphraseError, or SettingsError if the file is damaged or missing. */
  async unlock(passphrase: string): Promise<void> {
    this.#opened = await this.#read(passphrase);
  }

  lock(): void {
    this.#opened = undefined;
  }

  async find(address: string, user?: string): Promise<StoredLogin | undefined> {
    const { entries } = await this.#current();
    return pickLogin({ entries, rotations: rotationsIn(entries) }, address, user, 'vault');
  }

  async store(address: string, credential: StoredCredential): Promise<void> {
    const { kind, user, secret } = credential;
    const entry = { address, kind, user, secret };
    // An account has a password or a token, never both: replace the old entry.
    await this.#change((other) => isSameAccount(other, entry), [entry]);
  }

  async forget(address: string, user?: string): Promise<number> {
    return this.#change(isAccountOf(address, user));
  }

  async list(): Promise<StoredAccount[]> {
    return (await this.#current()).entries.filter((entry) => !isRotation(entry)).map(accountOf);
  }

  /** What is kept of accounts under rotation, in entries that no other look-up finds. */
  async readRotations(): Promise<StoredEntry[]> {
    return rotationsIn((await this.#current()).entries);
  }

  async writeRotations(changes: readonly RotationChange[]): Promise<void> {
    const names = new Set(changes.map(({ account }) => account));
    await this.#change(
      (entry) => isRotation(entry) && names.has(accountName(entry).replace(ROTATION, '')),
      changes.flatMap(({ account, text: secret }) => {
        const entry = parseAccount(account);
        if (entry === undefined || secret === undefined) return [];
        return [{ ...entry, address: `${ROTATION}${entry.address}`, secret }];
      }),
    );
  }

  /** Removes and adds entries; returns how many were removed. */
  async #change(
    isRemoved: (entry: StoredEntry) => boolean,
    added: readonly StoredEntry[] = [],
  ): Promise<number> {
    return this.#exclusive(async () => {
      const { entries, passphrase, workFactor } = await this.#current();
      const kept = entries.filter((entry) => !isRemoved(entry));
      const count = entries.length - kept.length;
      if (count > 0 || added.length > 0) {
        await this.#write([...kept, ...added], passphrase, workFactor);
      }
      return count;
    });
  }

  /** The entries of the file; reads it again only if another process has written it. */
  async #current(): Promise<Opened> {
    const opened = this.#opened;
    if (opened === undefined) throw new VaultLockedError(this.path);
    if ((await fileStamp(this.path)) === opened.stamp) return opened;
    try {
      const read = await this.#read(opened.passphrase);
      // A write during the reading is newer, also if the stamp of a replaced file is used again.
      if (this.#opened === opened) this.#opened = read;
      return this.#opened ?? read;
    } catch (error) {
      this.lock();
      throw error;
    }
  }

  async #read(passphrase: string): Promise<Opened> {
    // Take the stamp first: a write in between is then noticed and read later.
    const stamp = await fileStamp(this.path);
    const text = await readText(this.path);
    if (text === undefined) throw new NoVaultError(this.path);
    const { openVault } = await import('./vault-file.ts');
    return { ...(await openVault(text, passphrase, this.path)), passphrase, stamp };
  }

  async #write(
    entries: readonly StoredEntry[],
    passphrase: string,
    workFactor: number,
  ): Promise<void> {
    const { sealVault } = await import('./vault-file.ts');
    await writeTextAtomically(this.path, await sealVault(entries, passphrase, workFactor));
    this.#opened = { passphrase, entries, workFactor, stamp: await fileStamp(this.path) };
  }

  #exclusive<T>(work: () => Promise<T>): Promise<T> {
    return withLock(this.path, work, { waitMs: WAIT_MS });
  }
}

/** A prefix that no address has. A devsh without rotation keeps such entries as they are. */
const ROTATION = 'rotation/';

function rotationsIn(entries: readonly StoredEntry[]): StoredEntry[] {
  const kept = entries.filter(isRotation);
  return kept.map((entry) => ({ ...entry, address: entry.address.slice(ROTATION.length) }));
}

function isRotation({ address }: StoredAccount): boolean {
  return address.startsWith(ROTATION);
}

function isSameAccount(a: StoredAccount, b: StoredAccount): boolean {
  if (a.address !== b.address || (a.user ?? '') !== (b.user ?? '')) return false;
  return a.user !== undefined || a.kind === b.kind;
}

/** `complaint` says what was wrong with the last one. Undefined if the user declines. */
export type AskPassphrase = (complaint?: string) => Promise<string | undefined>;

const MAX_ATTEMPTS = 3;

/** Opens the vault on first use; callers at the same time share one question. */
export class VaultKey {
  readonly #vault: Vault;
  readonly #read: (() => Promise<string>) | undefined;
  #opening: Promise<boolean> | undefined;

  /** @param read reads the passphrase for `--passphrase-stdin` */
  constructor(vault: Vault, read?: () => Promise<string>) {
    this.#vault = vault;
    this.#read = read;
  }

  /** Opens the vault; false if nobody answers. Throws CredentialError for a wrong passphrase. */
  async open(ask: AskPassphrase | undefined): Promise<boolean> {
    if (this.#vault.isUnlocked) return true;
    if (this.#opening === undefined && ask === undefined && this.#read === undefined) return false;
    this.#opening ??= this.#unlock(ask);
    const isOpen = await this.#opening;
    // After a later `lock`, ask again.
    if (isOpen) this.#opening = undefined;
    return isOpen;
  }

  /** Allows asking again after the user declined. */
  reset(): void {
    this.#opening = undefined;
  }

  async #unlock(ask: AskPassphrase | undefined): Promise<boolean> {
    if (this.#read !== undefined) {
      const passphrase = await this.#read();
      if (passphrase === '') {
        throw new CredentialError('--passphrase-stdin: standard input contains no passphrase');
      }
      await this.#vault.unlock(passphrase);
      return true;
    }
    let complaint: string | undefined;
    for (let attempt = 1; ask !== undefined; attempt += 1) {
      const passphrase = await ask(complaint);
      if (passphrase === undefined || passphrase === '') return false;
      try {
        await this.#vault.unlock(passphrase);
        return true;
      } catch (error) {
        if (!(error instanceof WrongPassphraseError) || attempt === MAX_ATTEMPTS) throw error;
        complaint = 'That is not the passphrase.';
      }
    }
    return false;
  }
}
