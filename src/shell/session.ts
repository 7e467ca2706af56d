import type { LabelColor } from '../fleet/inventory-schema.ts';
import { CancelledError } from '../errors.ts';
import type { ReadIncluded } from '../fleet/import/ssh-config.ts';
import type { Credentials } from '../credentials/sources.ts';
import type { Vault } from '../credentials/vault.ts';
import { Credential } from '../device/credential.ts';
import type { ConfiguredRoute } from '../device/route/choose-route.ts';
import type { Route } from '../device/route/route.ts';
import type { Trust } from '../device/tls.ts';
import { CredentialGate } from '../fleet/access.ts';
import { Fleet } from '../fleet/fleet.ts';
import type { ColumnMemory, Settings } from '../settings/settings.ts';
import type { HistoryFile } from '../settings/history-file.ts';
import type { LockOptions } from '../os/lock.ts';
import type { InventoryFile } from '../settings/inventory-file.ts';
import type { KnownDevices } from '../settings/known-devices.ts';
import type { ProfileFiles } from '../settings/profile-files.ts';
import type { RunFiles } from '../settings/run-files.ts';
import type { Paths } from '../os/paths.ts';
import type { SeenKeys } from '../settings/seen-keys.ts';
import type { ThemeName } from '../text/choices.ts';
import type { Format, Given as GivenOptions, Options } from './grammar/options.ts';
import type { Output } from './output.ts';

/**
 * A question to the user. `confirm` is answered by typing `expected` (a `y`, a count); `secret` is
 * typed without being shown.
 */
export interface Question {
  readonly kind: 'confirm' | 'text' | 'secret';
  readonly text: string;
  /** Lines to show above it. */
  readonly details?: readonly string[];
  readonly expected?: string;
  /** The colour of the label that the text begins with. */
  readonly color?: LabelColor | undefined;
  /** Aborted when the answer is no longer of use: the question is taken away. */
  readonly until?: AbortSignal;
  /** It follows from work, and is taken back where the user has gone on with something else. */
  readonly isLate?: boolean;
}

/** Where a line comes from: what it may ask, read, and when it is to stop. */
export interface ShellIo {
  /** Absent when there is nobody to ask. Resolves to `undefined` when the user declines. */
  readonly ask?: (question: Question) => Promise<string | undefined>;
  /** Certificates and logins wait in a list (`questions`) until the user opens it. */
  readonly asksLater?: boolean;
  /** Lets the user change a text in an editor; absent without a terminal. Resolves to what was saved. */
  readonly edit?: (draft: { readonly text: string; readonly name: string }) => Promise<string>;
  /** Somebody reads the tables on a screen, not a program. */
  readonly isOnScreen?: boolean;
  /** Somebody types one line after the other: what one says of columns may hold for the next. */
  readonly isPrompt?: boolean;
  /** Another line goes on meanwhile: a login that it found refused stays refused. */
  readonly isBeside?: boolean;
  /** With `--watch` the reader reads again by itself. */
  readonly isRefreshing?: boolean;
  /** No other line follows: a connection is of no more use when what it was opened for is read. */
  readonly isLast?: boolean;
  /** Standard input as text, for `run -`. */
  readonly readInput: () => Promise<string>;
  /** Aborted by Ctrl-C: finish what is in flight, then stop. */
  readonly signal: AbortSignal;
  /** Receives what has come of an answer that takes long: `fw1: 12.4 MB, 41,000 users`. */
  readonly arriving?: (text: string) => void;
  /** Receives one line for each request when `-v` is given. */
  readonly trace: (line: string) => void;
}

/** What is waited for, or CancelledError when `signal` ends it: a pipe or a terminal may never give anything. */
export async function unlessCancelled<T>(waiting: Promise<T>, signal: AbortSignal): Promise<T> {
  const over = new AbortController();
  const cancelled = new Promise<never>((_resolve, reject) => {
    const cancel = (): void => {
      reject(new CancelledError());
    };
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true, signal: over.signal });
  });
  try {
    return await Promise.race([waiting, cancelled]);
  } finally {
    over.abort();
  }
}

/** A pin and a credential that belong to this session alone. */
export interface Given {
  readonly trust: Trust;
  readonly credential: Credential;
}

/** As the options of the same names. */
export interface SimulatorSpec extends Options<
  'faults' | 'profile' | 'envelope' | 'paging' | 'quirks'
> {
  readonly devices: number;
  readonly users: number;
  readonly latencyMs: number;
  readonly seed: number;
  readonly port: number;
}

/** A started simulator, as far as the command that starts it has to know. */
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

/** What devsh runs on. */
export interface Machine {
  /** As `process.version`: `v20.18.1`. */
  readonly node: string;
  /** As in `linux 6.8.0 (x64)`. */
  readonly system: string;
  readonly terminal: {
    readonly isTty: boolean;
    readonly type: string;
    readonly columns: number;
    readonly rows: number;
  };
  readonly locale: string;
}

/** The world outside, built in `main` and handed down. */
export interface Services {
  readonly version: string;
  readonly machine: Machine;
  readonly paths: Paths;
  /** What holds for this user, in this place and environment. */
  readonly settings: Settings;
  /** What is said once in a session. */
  readonly notices: Notices;
  readonly inventory: InventoryFile;
  readonly knownDevices: KnownDevices;
  readonly history: HistoryFile;
  /** The columns of lists, as the user wants them. */
  readonly columns: ColumnMemory;
  /** The looks of the full screen that the user has set; undefined: what fits to the terminal. */
  readonly theme: {
    readonly get: () => ThemeName | undefined;
    readonly set: (name: ThemeName | undefined) => Promise<void>;
  };
  /** Profiles, and what was learned of devices. */
  readonly profiles: ProfileFiles;
  /** The keys of records last seen, for completion. */
  readonly seenKeys: SeenKeys;
  /** The journals of runs. */
  readonly runs: RunFiles;
  /** Who uses devsh, for the journal: `user@machine`. */
  readonly operator: string;
  /** What this devsh and the others of its terminal have in common, for the journal. */
  readonly terminalSession: string;
  /** Runs `work` while no other devsh writes to this device; `waiting`: how one that does is waited for. */
  readonly exclusive: <T>(
    address: string,
    work: () => Promise<T>,
    waiting: Pick<LockOptions, 'signal' | 'onWait'>,
  ) => Promise<T>;
  /** Whether the user may be asked to keep a login. */
  readonly offersToSave: boolean;
  /** Logins in a file of the user's, for machines without a keychain. */
  readonly vault: Vault;
  /** The credential sources for these options; opened when first used. */
  credentials(
    options: Options<'tokenStdin' | 'passwordStdin' | 'passphraseStdin' | 'user'>,
  ): Credentials;
  /** The way to `host:port`: what is configured for it, else what the environment asks for. */
  readonly route: (address: string, configured: ConfiguredRoute | undefined) => Route;
  /** The proxy of the environment, without its login, and the variable that names it. */
  readonly environmentProxy: () => { url: string; variable: string; noProxy: string } | undefined;
  /** A variable of the environment; undefined where it is not set. */
  readonly environment: (name: string) => string | undefined;
  readonly readFile: (path: string) => Promise<string>;
  /** What reading a foreign inventory needs. */
  readonly importing: ImportWorld;
  /** A file that devsh has written; undefined when there is none. */
  readonly readIfThere: (path: string) => Promise<string | undefined>;
  readonly writeFile: (path: string, text: string) => Promise<void>;
  /** The same where nothing is yet, and nothing is replaced. Throws a RefusedError otherwise. */
  readonly writeNewFile: (path: string, text: string) => Promise<void>;
  readonly fileExists: (path: string) => Promise<boolean>;
  /** What a command says, as the text of a file. */
  readonly render: (format: Format, outputs: readonly Output[]) => Promise<string>;
  /** Takes a file of the user's for this devsh alone; resolves to what gives it back. */
  readonly holdFile: (path: string) => Promise<() => Promise<void>>;
  readonly startSimulator: (spec: SimulatorSpec) => Promise<RunningSimulator>;
  /** Says whether a browser could be started. */
  readonly openInBrowser: (url: string) => Promise<boolean>;
  readonly quirks: () => Promise<readonly { name: string; summary: string }[]>;
  /** The keys of the full screen, as they hold for this user. */
  readonly keys: () => Promise<readonly KeyRow[]>;
  readonly faults: () => Promise<readonly { name: string; stage: string; summary: string }[]>;
  now(): Date;
}

/** What lasts from one line to the next. */
export class Session {
  readonly services: Services;
  readonly fleet = new Fleet();
  readonly gate = new CredentialGate();
  /** By device name: trust and credential of this session alone. */
  readonly given = new Map<string, Given>();
  /** By device name: who typed a password that the device refused, and is not asked who he is again. */
  readonly refusedUsers = new Map<string, string>();
  /** As they were typed; the next session offers them. */
  readonly connectLines: string[] = [];
  /** Options of `devsh connect` that hold for all lines that follow. */
  defaults: GivenOptions = {};
  /** Set by `--read-only`: every write is refused until the session ends. */
  isReadOnly = false;
  readonly #background: Promise<void>[] = [];
  /** To be closed with the session: a simulator that was started in it. */
  readonly closing: (() => Promise<void>)[] = [];

  constructor(services: Services) {
    this.services = services;
  }

  /** Lets this session reach a device of its own without the user's pins and keychain. */
  give(name: string, own: { fingerprint: string; username: string; password: string }): void {
    const pinnedAt = this.services.now().toISOString();
    this.given.set(name, {
      trust: { kind: 'pinned', fingerprint: own.fingerprint, pinnedAt },
      credential: Credential.basic(own.username, own.password),
    });
  }

  /** Work that no line waits for; the session waits for it before it closes. */
  inBackground(work: Promise<void>): void {
    this.#background.push(work);
  }

  async close(): Promise<void> {
    // Closing ends the requests that background work waits for.
    await this.fleet.close();
    await Promise.allSettled(this.#background);
    await Promise.all(this.closing.map((close) => close()));
  }
}

/** What a session says once, however often it is met: a keychain that is locked, a file that was changed. */
export class Notices {
  readonly #told = new Set<string>();
  readonly #waiting = new Set<string>();

  /** Will be said when the line ends, unless it was said before. */
  add(text: string): void {
    if (!this.#told.has(text)) this.#waiting.add(text);
  }

  isTold(text: string): boolean {
    return this.#told.has(text);
  }

  /** It was said in another way: as the error that ended a line. */
  markTold(text: string): void {
    this.#told.add(text);
    this.#waiting.delete(text);
  }

  /** What is to be said now. */
  take(): string[] {
    const texts = [...this.#waiting];
    for (const text of texts) this.markTold(text);
    return texts;
  }
}

/** One key of the full screen (or several that do the same) and what it does. */
export interface KeyRow {
  /** By these names the settings know place and action. */
  readonly place: string;
  readonly action: string;
  /** The place in words: "In the table". */
  readonly title: string;
  readonly keys: readonly string[];
  readonly label: string;
  /** The line that does the same. */
  readonly command?: string;
}

/** What reading a source needs of the machine. */
export interface ImportWorld {
  readonly home: string;
  /** The token for NetBox that the environment has. */
  readonly netBoxToken: () => string | undefined;
  readonly isFolder: (path: string) => Promise<boolean>;
  readonly readIncluded: ReadIncluded;
  /** What `ansible-inventory --list` prints for a file or a folder. Throws a UsageError. */
  readonly ansibleInventory: (path: string, signal: AbortSignal) => Promise<string>;
}
