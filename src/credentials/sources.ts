import { Credential } from '../device/credential.ts';
import type { DeviceRef } from '../device/record.ts';
import { CredentialError } from '../errors.ts';
import { KeychainUnavailableError } from './keychain-process.ts';
import type { Keychain, StoredCredential } from './keychain.ts';

export interface CredentialRequest {
  readonly device: DeviceRef;
  /** The account that is wanted, from the inventory or `--user`. */
  readonly user: string | undefined;
}

export interface FoundCredential {
  readonly credential: Credential;
  readonly source: 'stdin' | 'environment' | 'keychain' | 'prompt';
  /** The account, also for a token when it is known. */
  readonly user: string | undefined;
}

/** `--token-stdin` or `--password-stdin`. */
export interface StdinSecret {
  readonly kind: 'token' | 'password';
  /** All of standard input, or its first line. */
  readonly read: () => Promise<string>;
}

export interface CredentialOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin?: StdinSecret | undefined;
  /** `--user` */
  readonly user?: string | undefined;
  /** Called when the keychain is needed for the first time. */
  readonly keychain: () => Keychain;
}

/** The places that a credential may come from without asking, the first that has one wins. */
export class Credentials {
  readonly #options: CredentialOptions;
  #keychain: Keychain | undefined;
  #keychainProblem: string | undefined;
  #stdin: Promise<string> | undefined;

  constructor(options: CredentialOptions) {
    this.#options = options;
  }

  /** Why the keychain is not asked any more in this process; undefined while it works. */
  get keychainProblem(): string | undefined {
    return this.#keychainProblem;
  }

  /**
   * Undefined when no source has a credential for the device. Throws CredentialError when one is
   * given but cannot be used.
   */
  async find(request: CredentialRequest): Promise<FoundCredential | undefined> {
    return (
      (await this.#fromStdin(request)) ??
      this.#fromEnvironment(request) ??
      (await this.#fromKeychain(request))
    );
  }

  async store(device: DeviceRef, credential: StoredCredential): Promise<void> {
    await this.#use((keychain) => keychain.store(device.address, credential));
  }

  /** Forgets one account, or all of the device; says how many there were. */
  async forget(device: DeviceRef, user?: string): Promise<number> {
    return this.#use((keychain) => keychain.forget(device.address, user));
  }

  async #fromStdin(request: CredentialRequest): Promise<FoundCredential | undefined> {
    const { stdin } = this.#options;
    if (stdin === undefined) return undefined;
    const user = this.#userFor(request);
    if (stdin.kind === 'password' && user === undefined) {
      throw noUser(request.device, '--password-stdin');
    }
    this.#stdin ??= stdin.read();
    const [line = ''] = (await this.#stdin).split(/\r?\n/);
    const option = `--${stdin.kind}-stdin`;
    if (line === '') throw new CredentialError(`${option}: standard input holds no ${stdin.kind}`);
    return stdin.kind === 'password' && user !== undefined
      ? { credential: Credential.basic(user, line), source: 'stdin', user }
      : { credential: tokenCredential(line, option, user), source: 'stdin', user };
  }

  #fromEnvironment(request: CredentialRequest): FoundCredential | undefined {
    const { env } = this.#options;
    const token = env['DEVSH_TOKEN'];
    if (token) {
      const user = this.#userFor(request);
      const credential = tokenCredential(token, 'DEVSH_TOKEN', user);
      return { credential, source: 'environment', user };
    }
    const password = env['DEVSH_PASSWORD'];
    if (!password) return undefined;
    const owner = env['DEVSH_USER'] || undefined;
    const asked = this.#options.user;
    // The password is that of DEVSH_USER: it must not be tried on another account.
    if (owner !== undefined && asked !== undefined && asked !== owner) return undefined;
    const user = owner ?? this.#userFor(request);
    if (user === undefined) throw noUser(request.device, 'DEVSH_PASSWORD');
    return { credential: Credential.basic(user, password), source: 'environment', user };
  }

  async #fromKeychain(request: CredentialRequest): Promise<FoundCredential | undefined> {
    if (this.#keychainProblem !== undefined) return undefined;
    try {
      const stored = await this.#use((keychain) => this.#look(keychain, request));
      if (stored === undefined) return undefined;
      const credential =
        stored.kind === 'basic'
          ? Credential.basic(stored.user, stored.password)
          : tokenCredential(stored.token, 'the token in the keychain', stored.user);
      return { credential, source: 'keychain', user: stored.user };
    } catch (error) {
      if (error instanceof KeychainUnavailableError) return undefined;
      throw error;
    }
  }

  async #look(
    keychain: Keychain,
    request: CredentialRequest,
  ): Promise<StoredCredential | undefined> {
    const { address } = request.device;
    const user = this.#userFor(request);
    const stored = await keychain.find(address, user);
    // A token does not say whose it is. It will do, unless --user asks for a certain account.
    const mayBeUnnamed = user !== undefined && this.#options.user === undefined;
    return stored ?? (mayBeUnnamed ? keychain.find(address, '') : undefined);
  }

  #userFor(request: CredentialRequest): string | undefined {
    return this.#options.user ?? request.user ?? (this.#options.env['DEVSH_USER'] || undefined);
  }

  async #use<T>(work: (keychain: Keychain) => Promise<T>): Promise<T> {
    try {
      this.#keychain ??= this.#options.keychain();
      return await work(this.#keychain);
    } catch (error) {
      if (error instanceof KeychainUnavailableError) this.#keychainProblem ??= error.message;
      throw error;
    }
  }
}

/** Refuses what cannot stand in a header; says where it came from, and never what it is. */
function tokenCredential(text: string, origin: string, user: string | undefined): Credential {
  const token = text.trim();
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new CredentialError(`${origin}: a token is one word of visible ASCII characters`);
  }
  return Credential.token(token, user);
}

function noUser(device: DeviceRef, origin: string): CredentialError {
  return new CredentialError(
    `${device.name}: ${origin} gives a password, but no user; add --user NAME, DEVSH_USER, ` +
      'or "user" in the inventory',
  );
}
