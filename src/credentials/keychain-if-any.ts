import { KeychainUnavailableError } from './keychain-process.ts';
import type { CredentialStore } from './store.ts';

/** A keychain that this machine may not have, or that may be locked; opened when first needed. */
export class KeychainIfAny {
  readonly #open: () => CredentialStore;
  readonly #tell: (error: KeychainUnavailableError) => Promise<void>;
  #store: CredentialStore | undefined;
  #mayAnswer = true;

  /** @param tell called with why there is none, when the others are gone on with */
  constructor(
    open: () => CredentialStore,
    tell: (error: KeychainUnavailableError) => Promise<void>,
  ) {
    this.#open = open;
    this.#tell = tell;
  }

  /** False once it did not answer. */
  get mayAnswer(): boolean {
    return this.#mayAnswer;
  }

  /** Undefined when no keychain answers; it is not asked again then. */
  async ask<T>(work: (keychain: CredentialStore) => Promise<T>): Promise<T | undefined> {
    if (!this.#mayAnswer) return undefined;
    try {
      return await this.use(work);
    } catch (error) {
      if (!(error instanceof KeychainUnavailableError)) throw error;
      await this.#tell(error);
      return undefined;
    }
  }

  /** Throws KeychainUnavailableError where none answers. */
  async use<T>(work: (keychain: CredentialStore) => Promise<T>): Promise<T> {
    try {
      this.#store ??= this.#open();
      return await work(this.#store);
    } catch (error) {
      if (error instanceof KeychainUnavailableError) this.#mayAnswer = false;
      throw error;
    }
  }
}
