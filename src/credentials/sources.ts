import type { Credential } from '../device/credential.ts';
import type { DeviceRef } from '../device/record.ts';
import { CredentialError, SettingsError } from '../errors.ts';
import {
  ConfiguredPlaces,
  type ConfiguredSource,
  type CredentialPlaces,
} from './configured-places.ts';
import {
  type FoundCredential,
  foundIn,
  GivenLogin,
  type GivenOptions,
  noUser,
  type SourceName,
} from './given-login.ts';
import { KeychainIfAny } from './keychain.ts';
import { KeychainUnavailableError } from './keychain-process.ts';
import type { CredentialStore, StoredCredential } from './store.ts';
import { type AskPassphrase, type Vault, VaultKey, VaultLockedError } from './vault.ts';

export interface CredentialRequest {
  readonly device: DeviceRef;
  /** The account that is wanted, from the inventory or `--user`. */
  readonly user: string | undefined;
  /** What the inventory says about where the login is. */
  readonly places?: CredentialPlaces | undefined;
  /** Absent when there is nobody to ask. */
  readonly askPassphrase?: AskPassphrase | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The login of the environment is for other devices. */
  readonly skipsEnvironment?: boolean | undefined;
}

/** Where a login would come from, without the login. */
export interface CredentialOrigin {
  /** Undefined when there is none: it is asked for. `session`: the demo's own. */
  readonly source: SourceName | 'session' | undefined;
  readonly user?: string | undefined;
  readonly kind?: Credential['kind'] | undefined;
  readonly note?: string | undefined;
}

export interface CredentialOptions extends GivenOptions {
  /** `--passphrase-stdin` */
  readonly passphrase?: (() => Promise<string>) | undefined;
  /** Called when the keychain is needed for the first time. */
  readonly keychain: () => CredentialStore;
  readonly vault: Vault;
}

/** Where a login is kept. */
export type StoreName = 'keychain' | 'vault';

/** The places that a credential may come from without asking, the first that has one wins. */
export class Credentials {
  readonly #options: CredentialOptions;
  readonly #vaultKey: VaultKey;
  readonly #configured: ConfiguredPlaces;
  readonly #problems = new Set<string>();
  readonly #keychain: KeychainIfAny;
  readonly #given: GivenLogin;

  constructor(options: CredentialOptions) {
    this.#options = options;
    this.#given = new GivenLogin(options, (text) => this.#problems.add(text));
    this.#vaultKey = new VaultKey(options.vault, options.passphrase);
    this.#keychain = new KeychainIfAny(options.keychain, async (error) => {
      // Where there is a vault, that the machine has no keychain is no news.
      const isNews = !error.isAbsent || !(await options.vault.exists());
      if (isNews) this.#problems.add(error.message);
    });
    this.#configured = new ConfiguredPlaces(options.env, (text) => this.#problems.add(text));
  }

  /** What went wrong without ending anything: a keychain that is locked, a vault that is damaged. */
  get problems(): readonly string[] {
    return [...this.#problems];
  }

  /** Asks the keychain, and says whether it answered; why not is among the problems. */
  async reachesKeychain(): Promise<boolean> {
    return (await this.#keychain.ask((keychain) => keychain.list())) !== undefined;
  }

  /** A new line is a new try: programs and files are asked anew. */
  refresh(): void {
    this.#configured.refresh();
  }

  /** Where a login would be kept, as far as that is known. */
  async placeToStore(): Promise<StoreName | undefined> {
    if (this.#keychain.mayAnswer) return 'keychain';
    return (await this.#options.vault.exists()) ? 'vault' : undefined;
  }

  /**
   * Undefined when no source has a credential for the device. Throws CredentialError when one is
   * given but cannot be used.
   */
  async find(request: CredentialRequest): Promise<FoundCredential | undefined> {
    const { device } = request;
    const user = this.#userFor(request);
    const found =
      (await this.#given.fromStdin(device, user)) ??
      (request.skipsEnvironment === true ? undefined : this.#given.fromEnvironment(device, user)) ??
      (await this.#told('credential_command', request)) ??
      (await this.#fromKeychain(request)) ??
      (await this.#fromVault(request)) ??
      (await this.#told('git_credential', request)) ??
      (await this.#told('netrc', request));
    if (found === undefined) await this.#tellOfLockedVault();
    return found;
  }

  /** Where `find` would look, and who it would be: asks nobody, and starts no configured program. */
  async origin(request: CredentialRequest): Promise<CredentialOrigin> {
    const { stdin, vault } = this.#options;
    const { places } = request;
    if (stdin !== undefined) {
      const kind = stdin.kind === 'token' ? 'token' : 'basic';
      return { source: 'stdin', user: this.#userFor(request), kind };
    }
    const quiet = { ...request, askPassphrase: undefined };
    const given = this.#given.fromEnvironment(request.device, this.#userFor(request));
    if (given !== undefined) return summaryOf(given);
    if (places?.command !== undefined) {
      return { source: 'credential_command', note: 'is run when the device is used' };
    }
    const kept = await this.#fromKeychain(quiet);
    if (kept !== undefined) return summaryOf(kept);
    if (!vault.isUnlocked && (await vault.exists())) {
      return { source: 'vault', note: 'locked: "vault unlock" tells whether it has a login' };
    }
    const found = await this.#fromVault(quiet);
    if (found !== undefined) return summaryOf(found);
    if (places?.git !== undefined) {
      return { source: 'git_credential', note: 'is asked when the device is used' };
    }
    const last = await this.#told('netrc', request);
    return last === undefined ? { source: undefined } : summaryOf(last);
  }

  /** Whether the vault is open now; see VaultKey. An explicit wish asks again. */
  async unlockVault(ask: AskPassphrase | undefined): Promise<boolean> {
    this.#vaultKey.reset();
    return this.#vaultKey.open(ask);
  }

  /**
   * Keeps a login: in the keychain, or where none answers in the vault, unless `to` says which. What
   * goes to the vault is taken out of the keychain, which would come first.
   */
  async store(
    device: DeviceRef,
    credential: StoredCredential,
    options: {
      readonly to?: StoreName | undefined;
      readonly askPassphrase?: AskPassphrase | undefined;
    } = {},
  ): Promise<StoreName> {
    const { vault } = this.#options;
    const { to, askPassphrase } = options;
    if (to !== 'vault') {
      try {
        await this.#keychain.use((keychain) => keychain.store(device.address, credential));
        return 'keychain';
      } catch (error) {
        const isAbsent = error instanceof KeychainUnavailableError;
        if (!isAbsent || to === 'keychain' || !(await vault.exists())) throw error;
      }
    }
    if (!(await vault.exists())) {
      throw new CredentialError(`there is no vault at ${vault.path}: "vault init" makes one`);
    }
    if (!(await this.unlockVault(askPassphrase))) throw new VaultLockedError(vault.path);
    await vault.store(device.address, credential);
    await this.#keychain.ask((keychain) => keychain.forget(device.address, credential.user ?? ''));
    return 'vault';
  }

  /** Forgets one account, or all of the device, in keychain and vault; says how many there were. */
  async forget(
    device: DeviceRef,
    user?: string,
    askPassphrase?: AskPassphrase,
  ): Promise<Readonly<Record<StoreName, number>>> {
    const { vault } = this.#options;
    const forget = (store: CredentialStore): Promise<number> => store.forget(device.address, user);
    if (!(await vault.exists())) return { keychain: await this.#keychain.use(forget), vault: 0 };
    const inKeychain = (await this.#keychain.ask(forget)) ?? 0;
    if (await this.#vaultKey.open(askPassphrase)) {
      return { keychain: inKeychain, vault: await vault.forget(device.address, user) };
    }
    const locked = new VaultLockedError(vault.path);
    if (inKeychain === 0) throw locked;
    this.#problems.add(locked.message);
    return { keychain: inKeychain, vault: 0 };
  }

  async #fromKeychain(request: CredentialRequest): Promise<FoundCredential | undefined> {
    const stored = await this.#keychain.ask((keychain) => this.#look(keychain, request));
    return stored && foundIn('keychain', stored);
  }

  async #fromVault(request: CredentialRequest): Promise<FoundCredential | undefined> {
    const { vault } = this.#options;
    try {
      if (!vault.isUnlocked && !(await vault.exists())) return undefined;
      if (!(await this.#vaultKey.open(request.askPassphrase))) return undefined;
      const stored = await this.#look(vault, request);
      return stored && foundIn('vault', stored);
    } catch (error) {
      // A damaged file must not keep the places after it from being asked.
      if (!(error instanceof SettingsError)) throw error;
      this.#problems.add(error.message);
      return undefined;
    }
  }

  /** It may have what was not found. */
  async #tellOfLockedVault(): Promise<void> {
    const { vault } = this.#options;
    if (vault.isUnlocked || !(await vault.exists())) return;
    this.#problems.add(new VaultLockedError(vault.path).message);
  }

  /** A login that a program or a file told. Another account than that of `--user` is none. */
  async #told(
    source: ConfiguredSource,
    request: CredentialRequest,
  ): Promise<FoundCredential | undefined> {
    const wanted = this.#userFor(request);
    const login = await this.#configured.ask(source, { ...request, user: wanted });
    if (login === undefined) return undefined;
    const asked = this.#options.user;
    if (asked !== undefined && login.user !== undefined && login.user !== asked) return undefined;
    const user = login.user ?? wanted;
    if (login.kind === 'basic' && user === undefined) throw noUser(request.device, source);
    return foundIn(source, { ...login, user }, `${request.device.name}: ${source}`);
  }

  async #look(
    store: CredentialStore,
    request: CredentialRequest,
  ): Promise<StoredCredential | undefined> {
    const { address } = request.device;
    const user = this.#userFor(request);
    const stored = await store.find(address, user);
    // A token does not say whose it is. It will do, unless --user asks for a certain account.
    const mayBeUnnamed = user !== undefined && this.#options.user === undefined;
    return stored ?? (mayBeUnnamed ? store.find(address, '') : undefined);
  }

  #userFor(request: CredentialRequest): string | undefined {
    return this.#options.user ?? request.user ?? (this.#options.env['DEVSH_USER'] || undefined);
  }
}

function summaryOf({ source, credential: { user, kind } }: FoundCredential): CredentialOrigin {
  return { source, user, kind };
}
