import { Credential } from '../device/credential.ts';
import type { DeviceRef } from '../device/record.ts';
import { SettingsError, CredentialError } from '../errors.ts';
import { optionalKeychain, type OptionalKeychain } from './keychain.ts';
import { KeychainUnavailableError } from './keychain-process.ts';
import { askCommand, commandFor } from './program-source.ts';
import {
  type CredentialStore,
  RecentCache,
  type StoredCredential,
  type StoredLogin,
} from './store.ts';
import {
  type AskPassphrase,
  NoVaultError,
  type Vault,
  VaultKey,
  VaultLockedError,
} from './vault.ts';

export interface CredentialRequest {
  readonly device: DeviceRef;
  /** `credential_command`: program and arguments, still with the placeholders `{host}`, `{port}` and `{device}`. */
  readonly command?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The account to log in as, from the inventory or `--user`. */
  readonly user: string | undefined;
  /** Absent if no one can be asked. */
  readonly askPassphrase?: AskPassphrase | undefined;
}

/** Where a login would come from; never the login itself. */
export interface CredentialOrigin {
  /** Undefined if there is none, and the user is asked. `session`: the demo's own. */
  readonly source: SourceName | 'session' | undefined;
  readonly user?: string | undefined;
  readonly kind?: Credential['kind'] | undefined;
  readonly note?: string | undefined;
}

export interface CredentialOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin?: StdinSecret | undefined;
  /** The account that the line names. */
  readonly user?: string | undefined;
  readonly passphrase?: (() => Promise<string>) | undefined;
  readonly keychain: CredentialStore;
  readonly vault: Vault;
}

/** A large fleet must not start hundreds of programs at once. */
const MAX_PROGRAMS = 8;

export type StoreName = 'keychain' | 'vault';

/** The sources that need no question; the first one that has a credential wins. */
export class Credentials {
  readonly #options: CredentialOptions;
  readonly #problems = new Set<string>();
  #stdinText: Promise<string> | undefined;
  readonly #keychain: OptionalKeychain;
  readonly #vault: Vault;
  readonly #vaultKey: VaultKey;
  /** The logins that programs printed: devices whose command is the same share one run. */
  readonly #printed = new RecentCache<StoredCredential>();
  readonly #inTurn = taskQueue(MAX_PROGRAMS);
  /** The last one found, while it is in use: a fleet that has one login prepares its redaction once. */
  #last: WeakRef<Credential> | undefined;
  /** The problem that this machine has no keychain: it matters only if a login is missing. */
  absentKeychain: string | undefined;

  constructor(options: CredentialOptions) {
    this.#options = options;
    this.#vault = options.vault;
    this.#vaultKey = new VaultKey(options.vault, options.passphrase);
    this.#keychain = optionalKeychain(options.keychain, async (error) => {
      // A machine with a vault in use needs no message about its keychain.
      const isNews = !error.isAbsent || !(await this.#vault.exists());
      if (isNews) this.#problems.add(error.message);
      if (error.isAbsent) this.absentKeychain = error.message;
    });
  }

  /** Problems that ended nothing, such as a locked keychain or a damaged vault. */
  get problems(): readonly string[] {
    return [...this.#problems];
  }

  /** Whether the keychain responds; the reason why not is among the problems. */
  async reachesKeychain(): Promise<boolean> {
    return (await this.#keychain.ask((keychain) => keychain.list())) !== undefined;
  }

  /** Each command line runs the programs again. */
  refresh(): void {
    this.#printed.clear();
  }

  /** A device refused a login: another devsh may have rotated it in the last seconds. */
  refused(): void {
    this.#keychain.refresh();
  }

  async placeToStore(): Promise<StoreName | undefined> {
    if (this.#keychain.isAvailable()) return 'keychain';
    return (await this.#vault.exists()) ? 'vault' : undefined;
  }

  /** Undefined if no source has a credential. Throws CredentialError if one exists but is unusable. */
  async find(request: CredentialRequest): Promise<FoundCredential | undefined> {
    const { device } = request;
    const user = this.#userFor(request);
    const found =
      (await this.#fromStdin(device, user)) ??
      this.#fromEnvironment(device, user) ??
      (await this.#fromCommand(request)) ??
      (await this.#fromKeychain(request)) ??
      (await this.#fromVault(request));
    if (found === undefined) {
      await this.#reportLockedVault();
      return undefined;
    }
    const last = this.#last?.deref();
    if (last?.equals(found.credential) === true) return { ...found, credential: last };
    this.#last = new WeakRef(found.credential);
    return found;
  }

  /** Where `find` would look, and for which user. Asks no one and starts no configured program. */
  async origin(request: CredentialRequest): Promise<CredentialOrigin> {
    const { stdin } = this.#options;
    const vault = this.#vault;
    if (stdin !== undefined) {
      const kind = stdin.kind === 'token' ? 'token' : 'basic';
      return { source: 'stdin', user: this.#userFor(request), kind };
    }
    const quiet = { ...request, askPassphrase: undefined };
    const given = this.#fromEnvironment(request.device, this.#userFor(request));
    if (given !== undefined) return summaryOf(given);
    if (request.command !== undefined) {
      return { source: 'credential_command', note: 'runs when the device is used' };
    }
    const kept = await this.#fromKeychain(quiet);
    if (kept !== undefined) return summaryOf(kept);
    if (!vault.isUnlocked && (await vault.exists())) {
      return { source: 'vault', note: 'locked: "vault unlock" shows whether it has a login' };
    }
    const found = await this.#fromVault(quiet);
    return found === undefined ? { source: undefined } : summaryOf(found);
  }

  /** Whether the vault is open now. Asks again even if the user declined before; see VaultKey. */
  async unlockVault(ask: AskPassphrase | undefined): Promise<boolean> {
    this.#vaultKey.reset();
    return this.#vaultKey.open(ask);
  }

  /** Throws CredentialError if there is no vault, or if it stays locked. */
  async openVault(ask: AskPassphrase | undefined): Promise<void> {
    const vault = this.#vault;
    if (!vault.isUnlocked && !(await vault.exists())) throw new NoVaultError(vault.path);
    if (!(await this.unlockVault(ask))) throw new VaultLockedError(vault.path);
  }

  /** Stores a login in the keychain, else in the vault, or in `to`. The vault's one is removed from the keychain. */
  async store(
    device: DeviceRef,
    credential: StoredCredential,
    options: {
      readonly to?: StoreName | undefined;
      readonly askPassphrase?: AskPassphrase | undefined;
    } = {},
  ): Promise<StoreName> {
    const vault = this.#vault;
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
    await this.openVault(askPassphrase);
    await vault.store(device.address, credential);
    await this.#keychain.ask((keychain) => keychain.forget(device.address, credential.user ?? ''));
    return 'vault';
  }

  /** Forgets one account, or all of the device, in keychain and vault; returns how many there were. */
  async forget(
    device: DeviceRef,
    user?: string,
    askPassphrase?: AskPassphrase,
  ): Promise<Readonly<Record<StoreName, number>>> {
    const vault = this.#vault;
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

  async #fromStdin(
    device: DeviceRef,
    user: string | undefined,
  ): Promise<FoundCredential | undefined> {
    const { stdin } = this.#options;
    if (stdin === undefined) return undefined;
    if (stdin.kind === 'password' && user === undefined) throw noUser(device, '--password-stdin');
    this.#stdinText ??= stdin.read();
    const [line = '', ...rest] = (await this.#stdinText).split(/\r?\n/);
    const option = `--${stdin.kind}-stdin`;
    if (line === '')
      throw new CredentialError(`${option}: standard input contains no ${stdin.kind}`);
    if (rest.slice(stdin.otherLines).some((other) => other !== '')) {
      this.#problems.add(
        `${option}: standard input has more lines than devsh reads; the first is the ${stdin.kind}`,
      );
    }
    const kind = stdin.kind === 'token' ? 'token' : 'basic';
    return foundIn('stdin', { kind, user, secret: line }, option);
  }

  #fromEnvironment(device: DeviceRef, user: string | undefined): FoundCredential | undefined {
    const { env, user: asked } = this.#options;
    const token = env['DEVSH_TOKEN'];
    if (token) return foundIn('environment', { kind: 'token', user, secret: token }, 'DEVSH_TOKEN');
    const password = env['DEVSH_PASSWORD'];
    if (!password) return undefined;
    const owner = env['DEVSH_USER'] || undefined;
    // The password belongs to DEVSH_USER: it must not be tried on another account.
    if (owner !== undefined && asked !== undefined && asked !== owner) return undefined;
    const account = owner ?? user;
    if (account === undefined) throw noUser(device, 'DEVSH_PASSWORD');
    return foundIn('environment', { kind: 'basic', user: account, secret: password });
  }

  async #fromKeychain(request: CredentialRequest): Promise<FoundCredential | undefined> {
    const stored = await this.#keychain.ask((keychain) => this.#look(keychain, request));
    return stored && foundLogin('keychain', stored);
  }

  async #fromVault(request: CredentialRequest): Promise<FoundCredential | undefined> {
    const vault = this.#vault;
    try {
      if (!vault.isUnlocked && !(await vault.exists())) return undefined;
      if (!(await this.#vaultKey.open(request.askPassphrase))) return undefined;
      const stored = await this.#look(vault, request);
      return stored && (await foundLogin('vault', stored));
    } catch (error) {
      // A damaged vault must not hide the sources after it.
      if (!(error instanceof SettingsError)) throw error;
      this.#problems.add(error.message);
      return undefined;
    }
  }

  /** The locked vault may have the login. */
  async #reportLockedVault(): Promise<void> {
    const vault = this.#vault;
    if (vault.isUnlocked || !(await vault.exists())) return;
    this.#problems.add(new VaultLockedError(vault.path).message);
  }

  /** The login that a program prints. Ignores another account than that of `--user`. */
  async #fromCommand(request: CredentialRequest): Promise<FoundCredential | undefined> {
    const { command } = request;
    if (command === undefined) return undefined;
    const login = await this.#printedBy(command, request);
    const source = 'credential_command';
    const asked = this.#options.user;
    if (asked !== undefined && login.user !== undefined && login.user !== asked) return undefined;
    const user = login.user ?? this.#userFor(request);
    if (login.kind === 'basic' && user === undefined) throw noUser(request.device, source);
    return foundIn(source, { ...login, user }, `${request.device.name}: ${source}`);
  }

  /** Throws CredentialError, also if no login is printed. */
  async #printedBy(
    command: readonly string[],
    { device, signal }: CredentialRequest,
  ): Promise<StoredCredential> {
    const onRemark = (text: string) => void this.#problems.add(text);
    const options = { env: this.#options.env, signal, onRemark };
    try {
      const argv = commandFor(command, device);
      return await this.#printed.get(argv.join('\0'), () =>
        this.#inTurn(() => askCommand(argv, options)),
      );
    } catch (error) {
      throw withDeviceName(device, error);
    }
  }

  async #look(
    store: CredentialStore,
    request: CredentialRequest,
  ): Promise<StoredLogin | undefined> {
    const { address } = request.device;
    const user = this.#userFor(request);
    const stored = await store.find(address, user);
    // A token may be stored without a user. It fits unless --user asks for a certain account.
    const mayBeUnnamed = user !== undefined && this.#options.user === undefined;
    return stored ?? (mayBeUnnamed ? store.find(address, '') : undefined);
  }

  #userFor(request: CredentialRequest): string | undefined {
    return this.#options.user ?? request.user ?? (this.#options.env['DEVSH_USER'] || undefined);
  }
}

function withDeviceName(device: DeviceRef, error: unknown): unknown {
  if (!(error instanceof CredentialError) || error.message.startsWith(`${device.name}: `)) {
    return error;
  }
  return new CredentialError(`${device.name}: ${error.message}`, { cause: error.cause });
}

/** Runs at most `width` tasks at a time; the others wait in a queue. */
function taskQueue(width: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    // A task that ends passes its place on.
    if (running >= width) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

async function foundLogin(place: StoreName, login: StoredLogin): Promise<FoundCredential> {
  const { rotation, secret } = login;
  if (rotation === undefined) return foundIn(place, login);
  const { runInDoubt } = await import('./rotation-store.ts');
  return { ...foundIn(place, login), inDoubt: runInDoubt(rotation, secret) };
}

function summaryOf({ source, credential: { user, kind } }: FoundCredential): CredentialOrigin {
  return { source, user, kind };
}

/** `--token-stdin` or `--password-stdin`. */
export interface StdinSecret {
  readonly kind: 'token' | 'password';
  /** All of standard input, or its first line. */
  readonly read: () => Promise<string>;
  /** How many lines after the secret are for others: the passphrase of the vault, a new secret. */
  readonly otherLines?: number;
}

/** Throws CredentialError for a token that does not fit in a header: with its origin, never the token. */
function foundIn(
  source: SourceName,
  { kind, user, secret }: StoredCredential,
  origin = `the token in the ${source}`,
): FoundCredential {
  if (kind === 'basic') return { source, credential: Credential.basic(user ?? '', secret) };
  if (/^[\x21-\x7e]+$/.test(secret)) return { source, credential: Credential.token(secret, user) };
  throw new CredentialError(
    `${origin}: a token is one word of visible ASCII characters, without spaces around it`,
  );
}

function noUser(device: DeviceRef, origin: string): CredentialError {
  return new CredentialError(
    `${device.name}: ${origin} has a password, but no user; add --user NAME, DEVSH_USER, ` +
      'or "user" in the inventory',
  );
}

/** The sources of a credential, by the names that users know. */
export type SourceName = 'stdin' | 'environment' | 'credential_command' | 'keychain' | 'vault';

export interface FoundCredential {
  readonly credential: Credential;
  readonly source: SourceName;
  /** The run that has sent a new secret for this login and does not know yet whether it is in effect. */
  readonly inDoubt?: string | undefined;
}
