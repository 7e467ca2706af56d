import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { OsKeychain } from '../credentials/keychain.ts';
import { Credentials } from '../credentials/sources.ts';
import type { RotationStore } from '../credentials/rotation-store.ts';
import { type AskPassphrase, Vault } from '../credentials/vault.ts';
import { formatAddress, parseAddress } from '../device/address.ts';
import { chooseRoute, type ConfiguredRoute, type Route } from '../device/route/route.ts';
import { type LockOptions, takeLock, withLock } from '../os/lock.ts';
import { operatorName, type Paths, sessionName } from '../os/environment.ts';
import type { DeviceEntry, InventoryDevice } from '../fleet/inventory.ts';
import type { HistoryLimits } from '../history/history-files.ts';
import { GoodCopy } from '../settings/cache.ts';
import { HistoryFile } from '../settings/history-file.ts';
import { type InventoryFile, openInventory } from '../settings/inventory-file.ts';
import { KnownDevices, type Pin } from '../settings/known-devices.ts';
import { ProfileFiles } from '../settings/profile-files.ts';
import { RunFiles } from '../settings/run-files.ts';
import { SeenKeys } from '../settings/seen-keys.ts';
import type { Settings } from '../settings/settings.ts';
import type { Format, Options, SimulatorOption } from './grammar/options.ts';
import type { Output } from './output.ts';
import { durationText } from '../text/time.ts';

export interface Start {
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
  readonly paths: Paths;
  /** The settings for this user, folder and environment. */
  readonly settings: Settings;
  readonly readStdin: () => Promise<string>;
  readonly stdout: { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };
}

type LoginOptions = Options<'tokenStdin' | 'passwordStdin' | 'passphraseStdin' | 'user'> &
  Partial<Options<'newStdin'>>;

/** How long one devsh waits for another that writes to the same device. */
const WRITE_WAIT_MS = 120_000;

/** Files, keychain and environment of one user; nothing is opened yet. Subclasses add the layers above. */
export abstract class Services {
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
  readonly paths: Paths;
  readonly settings: Settings;
  readonly stdout: Start['stdout'];
  readonly notices = new Notices();
  readonly inventory: InventoryFile;
  readonly knownDevices: KnownDevices;
  readonly vault: Vault;
  readonly profiles: ProfileFiles;
  readonly runs: RunFiles;
  /** The user of devsh, for the journal: `user@machine`. */
  readonly operator: string;
  /** Identifies the terminal, for the journal: all devsh processes in it share the value. */
  readonly terminalSession: string;
  readonly #readStdin: () => Promise<string>;
  readonly #keychain: OsKeychain;
  readonly #sources = new Map<string, Credentials>();
  #history: HistoryFile | undefined;
  #seenKeys: SeenKeys | undefined;
  #isClockNoted = false;

  constructor({ version, env, paths, settings, readStdin, stdout }: Start) {
    const { config, data, state, cache } = paths;
    this.version = version;
    this.env = env;
    this.operator = operatorName(env);
    this.paths = paths;
    this.settings = settings;
    this.stdout = stdout;
    this.#readStdin = readStdin;
    if (settings.remark !== undefined) this.notices.add(settings.remark);
    this.inventory = openInventory(paths, settings, (notice) => this.notices.add(notice));
    const goodPins = new GoodCopy(join(state, 'good-copies', 'known-devices'));
    this.knownDevices = new KnownDevices(join(data, 'known-devices'), goodPins);
    this.vault = new Vault(join(data, 'vault.age'));
    this.#keychain = new OsKeychain({ env });
    this.profiles = new ProfileFiles(join(config, 'profiles'), join(cache, 'learned'));
    this.runs = new RunFiles(join(state, 'runs'));
    this.terminalSession = sessionName(env);
  }

  get history(): HistoryFile {
    const path = join(this.paths.state, 'history');
    return (this.#history ??= new HistoryFile(path, this.settings.get('historySize')));
  }

  get seenKeys(): SeenKeys {
    const folder = join(this.paths.cache, 'seen');
    return (this.#seenKeys ??= new SeenKeys(folder, this.settings.get('rememberKeys')));
  }

  abstract render(format: Format, outputs: readonly Output[]): Promise<string>;
  /** The keys of the full screen, with those of aliases. */
  abstract keys(): Promise<readonly KeyRow[]>;
  abstract startSimulator(spec: SimulatorSpec): Promise<RunningSimulator>;

  /** The credential sources for these options. One object for each combination, so that sources are read once. */
  credentials(options: LoginOptions): Credentials {
    const { tokenStdin, passwordStdin, passphraseStdin, newStdin = false, user } = options;
    const { env } = this;
    const read = this.#readStdin;
    const key = JSON.stringify([tokenStdin, passwordStdin, passphraseStdin, newStdin, user]);
    const known = this.#sources.get(key);
    if (known !== undefined) return known;
    const kind = tokenStdin ? 'token' : passwordStdin ? 'password' : undefined;
    // The passphrase is in the line behind the token or password, if both come from standard input.
    const line = kind === undefined ? 0 : 1;
    const credentials = new Credentials({
      env,
      user,
      keychain: this.#keychain,
      vault: this.vault,
      passphrase: passphraseStdin
        ? async () => (await read()).split(/\r?\n/)[line] ?? ''
        : undefined,
      stdin: kind && { kind, read, otherLines: Number(passphraseStdin) + Number(newStdin) },
    });
    this.#sources.set(key, credentials);
    return credentials;
  }

  /** The secrets of accounts under rotation. Throws CredentialError if keychain or vault is locked. */
  async rotation(
    options: LoginOptions,
    askPassphrase: AskPassphrase | undefined,
  ): Promise<RotationStore> {
    const { RotationStore: Store } = await import('../credentials/rotation-store.ts');
    const { vault, paths } = this;
    return Store.open({
      keychain: this.#keychain,
      vault,
      unlockVault: () => this.credentials(options).unlockVault(askPassphrase),
      lockPath: join(paths.data, 'rotation'),
    });
  }

  /** The pin that devsh keeps of a device, else the fingerprint of its inventory. */
  async pinOf(entry: DeviceEntry): Promise<Pin | undefined> {
    return (await this.knownDevices.find(entry.address)) ?? this.#inventoryPin(entry);
  }

  /** The pins of all devices, by address. */
  async pins(): Promise<ReadonlyMap<string, Pin>> {
    const { pins } = await this.knownDevices.pinFile();
    const { devices } = await this.inventory.load();
    const listed = devices.flatMap((device): [string, Pin][] => {
      const pin = this.#inventoryPin(device);
      return pin === undefined ? [] : [[pin.address, pin]];
    });
    return listed.length === 0 ? pins : new Map([...listed, ...pins]);
  }

  #inventoryPin({ address, fingerprint }: InventoryDevice): Pin | undefined {
    if (fingerprint === undefined || !this.inventory.vouches) return undefined;
    return { address: formatAddress(parseAddress(address)), fingerprint, firstSeen: '' };
  }

  /** The route to `host:port`: the configured one, else the proxy of the environment. */
  route(address: string, configured: ConfiguredRoute | undefined): Route {
    return chooseRoute(parseAddress(address), configured, this.env);
  }

  /** Runs `work` while no other devsh writes to this device. Throws SettingsError if that takes too long. */
  exclusive<T>(
    address: string,
    work: () => Promise<T>,
    waiting: Pick<LockOptions, 'signal' | 'onWait'>,
  ): Promise<T> {
    const path = join(this.paths.state, 'locks', address.replace(/[^\w.-]/g, '_'));
    const purpose = `cannot write to ${address} now`;
    return withLock(path, work, { waitMs: WRITE_WAIT_MS, purpose, ...waiting });
  }

  /** Locks a user's file; resolves to the release. The lock is in the state folder, as the file may be copied elsewhere. */
  holdFile(path: string): Promise<() => Promise<void>> {
    const name = createHash('sha256').update(path).digest('hex').slice(0, 32);
    const purpose = `${path} is being written`;
    return takeLock(join(this.paths.state, 'locks', `file-${name}`), { waitMs: 0, purpose });
  }

  /** How long readings are kept, and how many megabytes. */
  get historyLimits(): HistoryLimits {
    const isOn = this.settings.get('rememberKeys');
    const days = isOn ? this.settings.get('historyDays') : 0;
    const isClosed = this.settings.get('historyValues') === 'harmless';
    return { days, megabytes: this.settings.get('historyMegabytes'), isClosed };
  }

  now(): Date {
    return new Date();
  }

  /** Says once that the clock of this machine was set back. */
  noteClockBehind(behindMs: number, what: 'the last run' | 'the last reading'): void {
    if (this.#isClockNoted) return;
    this.#isClockNoted = true;
    this.notices.add(
      `the clock is ${durationText(behindMs)} behind ${what}: runs and readings keep their order, but their times do not show it`,
    );
  }
}

/** A message that is not about one line alone. */
export interface Notice {
  readonly text: string;
  readonly level: 'info' | 'warning';
}

/** Messages that a session shows once, however often they occur: a locked keychain, a changed file. */
export class Notices {
  readonly #shown = new Set<string>();
  readonly #waiting = new Map<string, Notice>();

  /** Adds a message to show when the line ends, unless it was shown before. */
  add(text: string, level: Notice['level'] = 'warning'): void {
    if (!this.#shown.has(text)) this.#waiting.set(text, { text, level });
  }

  isShown(text: string): boolean {
    return this.#shown.has(text);
  }

  /** Marks a message as shown by other means, for example by the error that ended a line. */
  markShown(text: string): void {
    this.#shown.add(text);
    this.#waiting.delete(text);
  }

  take(): Notice[] {
    const notices = [...this.#waiting.values()];
    for (const { text } of notices) this.markShown(text);
    return notices;
  }
}

/** One key of the full screen (or several with the same action) and its action. */
export interface KeyRow {
  /** The place of the screen in words: "In the table". */
  readonly place: string;
  readonly keys: readonly string[];
  readonly label: string;
  /** The equivalent line. */
  readonly command?: string;
}

export type SimulatorSpec = Readonly<Record<SimulatorOption, number>>;

export interface RunningSimulator {
  readonly devices: readonly {
    readonly name: string;
    readonly address: string;
    readonly fingerprint: string;
    readonly accounts: Readonly<
      Record<'admin' | 'viewer', { username: string; password: string; token: string }>
    >;
  }[];
  close(): Promise<void>;
}
