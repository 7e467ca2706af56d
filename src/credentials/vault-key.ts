import { CredentialError } from '../errors.ts';
import type { Vault } from './vault.ts';
import { WrongPassphraseError } from './wrong-passphrase.ts';

/**
 * Asks the user for the passphrase; `complaint` says why again. Undefined when the user does not want
 * to say it.
 */
export type AskPassphrase = (complaint?: string) => Promise<string | undefined>;

const MAX_ATTEMPTS = 3;

/** Opens the vault when it is needed, and asks only once whoever needs it. */
export class VaultKey {
  readonly #vault: Vault;
  readonly #read: (() => Promise<string>) | undefined;
  #opening: Promise<boolean> | undefined;

  /** @param read gives the passphrase that `--passphrase-stdin` promises */
  constructor(vault: Vault, read?: () => Promise<string>) {
    this.#vault = vault;
    this.#read = read;
  }

  /**
   * Whether the vault is open now: not when nobody can be asked, or when the user did not want to say
   * the passphrase, who is not asked again then. Throws CredentialError for a wrong passphrase, and
   * SettingsError when the file is damaged.
   */
  async open(ask: AskPassphrase | undefined): Promise<boolean> {
    if (this.#vault.isUnlocked) return true;
    if (this.#opening === undefined && ask === undefined && this.#read === undefined) return false;
    this.#opening ??= this.#unlock(ask);
    const isOpen = await this.#opening;
    // Locked again, it is asked for again.
    if (isOpen) this.#opening = undefined;
    return isOpen;
  }

  /** What was declined may be asked for again. */
  reset(): void {
    this.#opening = undefined;
  }

  async #unlock(ask: AskPassphrase | undefined): Promise<boolean> {
    if (this.#read !== undefined) {
      const passphrase = await this.#read();
      if (passphrase === '') {
        throw new CredentialError('--passphrase-stdin: standard input holds no passphrase');
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
