import type { Word } from '../text/words.ts';
import { setMaxListeners } from 'node:events';
import type { Candidate } from './grammar/option.ts';
import type { AllowWord } from '../change/allow.ts';
import type { DeviceRecord, DeviceRef } from '../device/record.ts';
import type { Fleet, FleetCall, FleetRead } from '../fleet/fleet.ts';
import {
  type AllOptions,
  FALLBACKS,
  type GeneralOption,
  type Given,
  inherit,
  type OptionKey,
  type Options,
  type RollOutOption,
  type WriteOption,
} from './grammar/options.ts';
import type { Output } from './output.ts';
import { readUserFile } from '../os/user-file.ts';
import { newRunId } from '../change/plan.ts';
import { formatAddress, parseAddress } from '../device/address.ts';
import { UsageError } from '../errors.ts';
import type { DeviceSession } from '../fleet/device-session.ts';
import { Inventory } from '../fleet/inventory.ts';
import { type DeviceEntry, selectDevices } from '../fleet/selector.ts';
import { originText } from '../settings/settings.ts';
import type { Width } from '../fleet/fan-out.ts';
import { ShellAccess } from './access/access.ts';
import type { Credentials } from '../credentials/sources.ts';
import { type ShellSession, type ShellIo, unlessCancelled } from './session.ts';

/** A device that a line is about, as far as it is known without asking it. */
export interface KnownDevice {
  readonly name: string;
  /** The records read in this session. */
  cached(resource: string): readonly DeviceRecord[] | undefined;
  /** What is left of those read in an earlier one. */
  cachedKeys(resource: string): CachedKeys | undefined;
}

/** The records of one resource without what they hold. */
interface CachedKeys {
  readonly keys: readonly string[];
  /** No secret ones. */
  readonly fields: readonly string[];
}

/** What completion may look at: only what is known already, never the network. */
export interface CompletionScope {
  /** The commands there are, for `help`. */
  readonly commands: readonly CommandSpec[];
  readonly fleet: Fleet;
  /** The devices that `--on` names, else the selection. */
  readonly devices: readonly KnownDevice[];
  /** Names, groups and addresses of the inventory. */
  readonly targets: readonly Candidate[];
  /** The ids of the runs, the newest first. */
  readonly runs: readonly string[];
  /** The word being completed, as far as it is typed, quotes taken off. */
  readonly typed: string;
  /** The arguments before it. */
  readonly given: readonly string[];
}

export interface ArgSpec {
  readonly name: string;
  readonly summary: string;
  readonly isRequired?: boolean;
  /** Takes all words that are left. */
  readonly isRest?: boolean;
  /** An empty word (`""`, a variable that was not set) is taken; elsewhere it is a mistake. */
  readonly mayBeEmpty?: boolean;
  complete?(scope: CompletionScope): readonly Candidate[];
}

/** One verb of a noun (`user add`), or a command that has no verbs (`connect`: its name is ''). */
export interface VerbSpec<K extends OptionKey = OptionKey> {
  readonly name: string;
  readonly summary: string;
  readonly args: readonly ArgSpec[];
  /** Which options it understands, besides the general ones. */
  readonly options: readonly K[];
  /**
   * `nothing`: neither on a device nor on this machine. `choice`: only what the next lines are about. A verb that
   * does not say it may change anything.
   */
  readonly changes?: 'nothing' | 'choice';
  /** Which word of `--allow` stands for `--force` here; `own-account` unless given. */
  readonly forced?: AllowWord;
  /** More lines for `help`. */
  readonly details?: string;
  readonly examples?: readonly string[];
  run(call: Call<K>): AsyncGenerator<Output> | Generator<Output>;
}

/** What is written of a verb: what it does not say, it does not take. */
type Stated<K extends OptionKey> = Omit<VerbSpec<K>, 'args' | 'options' | 'run'> & {
  readonly args?: readonly ArgSpec[];
  readonly options?: readonly K[];
  readonly run: (call: Call<K>) => ReturnType<VerbSpec['run']>;
};

/** A verb whose `run` gets the options that it lists, and no others. */
export function verb<const K extends OptionKey = never>(spec: Stated<K>): VerbSpec {
  return { args: [], options: [], ...spec };
}

/** A first word of the grammar. */
export interface CommandSpec {
  readonly name: string;
  readonly aliases?: readonly string[] | undefined;
  readonly summary: string;
  /** Under which heading `help` lists it. */
  readonly section: 'Devices' | 'Records' | 'Change sets' | 'Raw API' | 'Trust and login' | 'Shell';
  readonly verbs: readonly VerbSpec[];
  /** The verb that is meant when none is given. */
  readonly defaultVerb?: string;
  /** Its argument is a line: options behind its first word are those of the line. */
  readonly takesLine?: true | undefined;
}

/** A command without verbs. `brief`: its summary where there is less room than in `help`. */
export function command<const K extends OptionKey = never>({
  brief,
  section,
  aliases,
  takesLine,
  ...spec
}: Stated<K> & { readonly brief?: string } & Pick<
    CommandSpec,
    'section' | 'aliases' | 'takesLine'
  >): CommandSpec {
  const { name, summary } = spec;
  const verbs = [verb({ ...spec, name: '' })];
  return { name, section, summary: brief ?? summary, aliases, takesLine, verbs };
}

/** The command of a first word. */
export function commandNamed(
  commands: readonly CommandSpec[],
  word: string | undefined,
): CommandSpec | undefined {
  return commands.find(
    ({ name, aliases = [] }) => name === word || (word !== undefined && aliases.includes(word)),
  );
}

/** The verbs that have a name. */
export function namedVerbs({ verbs }: CommandSpec): readonly VerbSpec[] {
  return verbs.filter(({ name }) => name !== '');
}

export function verbNamed(command: CommandSpec, word: string | undefined): VerbSpec | undefined {
  return namedVerbs(command).find(({ name }) => name === word);
}

/** The verb that is meant when none is named. */
export function defaultVerb({ verbs, defaultVerb = '' }: CommandSpec): VerbSpec | undefined {
  return verbs.find(({ name }) => name === defaultVerb);
}

/** The work of a verb that is loaded when it is called for. */
export function later<C>(
  load: () => Promise<(call: C) => AsyncGenerator<Output>>,
): (call: C) => AsyncGenerator<Output> {
  return async function* run(call) {
    yield* (await load())(call);
  };
}

/**
 * One line being carried out: what a verb's `run` gets. Of its options it has the values of `K`, and of
 * `M` where the verb has them: what several verbs share asks for those that it reads.
 */
export class Call<K extends OptionKey = never, M extends OptionKey = never> {
  readonly args: Arguments;
  /** The line as it may be kept: secrets masked. */
  readonly line: string;
  readonly options: Options<K | GeneralOption> & Partial<Options<M>>;
  /** What the line itself says, without what holds for the session. */
  readonly given: Pick<Given, K | GeneralOption>;
  readonly shell: ShellSession;
  readonly io: ShellIo;
  /** For `help` and nested lines. */
  readonly grammar: Grammar;
  readonly #given: Given;
  readonly #all: AllOptions;
  #access: ShellAccess | undefined;
  /** Trust and credentials were decided in this call. */
  hasAccess = false;
  /** The selection that the prompt named when the line began. */
  readonly #began: readonly DeviceSession[];

  constructor(
    { args, line, given }: Pick<Invocation, 'args' | 'given' | 'line'>,
    shell: ShellSession,
    io: ShellIo,
    grammar: Grammar,
  ) {
    this.args = args;
    this.line = line;
    this.#given = given;
    this.#all = { ...FALLBACKS, ...shell.defaults, ...given };
    this.given = given;
    this.options = this.#all;
    this.shell = shell;
    this.#began = shell.fleet.selection;
    this.io = io;
    // Each request of a wide fleet listens to it.
    setMaxListeners(0, io.signal);
    this.grammar = grammar;
  }

  /** A line of a script, which inherits what was said of the whole script. */
  nested(invocation: Invocation): Call<OptionKey> {
    const given = inherit(this.#given, invocation.given);
    const io = { ...this.io, isLast: false, isPrompt: false };
    return new Call({ ...invocation, given }, this.shell, io, this.grammar);
  }

  /** The same call with every question answered by yes: what must happen by itself. */
  nestedYes(): Call<K, M> {
    const { args, line, shell, grammar } = this;
    const given: Given = { ...this.#given, yes: true, canary: undefined };
    const io = { ...this.io, signal: new AbortController().signal };
    return new Call({ args, line, given }, shell, io, grammar);
  }

  /** A file of the user's, or standard input for `-`. */
  async readText(file: string): Promise<string> {
    if (file !== '-') return unlessCancelled(readUserFile(file), this.io.signal);
    const { tokenStdin, passwordStdin, passphraseStdin } = this.#all;
    if (tokenStdin || passwordStdin || passphraseStdin) {
      throw new UsageError('"-" and a secret cannot both be read from standard input');
    }
    return unlessCancelled(this.io.readInput(), this.io.signal);
  }

  newRun(): string {
    return newRunId(this.shell.services.now());
  }

  get access(): ShellAccess {
    this.#access ??= this.accessWith(this.io);
    return this.#access;
  }

  /** The same access for one who asks elsewhere, or nobody. */
  accessWith(io: ShellIo, Kind = ShellAccess): ShellAccess {
    this.hasAccess = true;
    return new Kind(this.shell, io, this.#all);
  }

  /** The same access where nobody is asked, and nothing is said of what is on its way. */
  accessWithoutAsking(): ShellAccess {
    const { signal, readInput, trace } = this.io;
    return this.accessWith({ signal, readInput, trace });
  }

  get credentials(): Credentials {
    return this.shell.services.credentials(this.#all);
  }

  /** Reads go to as many devices as machine and network bear, unless `--concurrency` says otherwise. */
  get readWidth(): Width {
    return this.#all.concurrency ?? 'adaptive';
  }

  /** Writes go in turn, unless `--concurrency` says otherwise. */
  get writeWidth(): number {
    return this.#all.concurrency ?? 1;
  }

  /** Reads a resource from these devices, each as soon as it answers. */
  read(
    sessions: readonly DeviceSession[],
    resource: string,
    more: Partial<FleetCall> = {},
  ): AsyncIterable<FleetRead> {
    const { shell, readWidth: width, io } = this;
    const access = more.access ?? this.access;
    return shell.fleet.read(sessions, resource, { width, signal: io.signal, ...more, access });
  }

  get isReadOnly(): boolean {
    return this.#all.readOnly || this.shell.isReadOnly;
  }

  /** The devices that `--on` names, or those selected in the session. Throws when there are none. */
  async sessions(): Promise<readonly DeviceSession[]> {
    const sessions = await this.selected();
    if (sessions.length > 0) return sessions;
    const { connected } = this.shell.fleet;
    throw new UsageError(
      connected.length > 0
        ? `none of the ${connected.length} connected devices is selected: "use" chooses, "use all" takes all`
        : 'no device is selected: name some with --on (10.0.0.5, @group), or connect to them first',
    );
  }

  /** The same, where there may be none. */
  async selected(): Promise<readonly DeviceSession[]> {
    // Who went on without this line may have chosen others since.
    this.io.signal.throwIfAborted();
    const { on } = this.#all;
    const { fleet } = this.shell;
    const sessions = on.length > 0 ? await this.resolve(on) : this.#began;
    // The prompt names no others where those that were selected have left.
    return sessions.length > 0 || fleet.connected.length > 0 ? sessions : this.#usualSessions();
  }

  /** The devices that the line itself names, else those it is about. */
  async targets(): Promise<readonly DeviceSession[]> {
    const targets = this.args.all('TARGET');
    return targets.length > 0 ? this.resolve(targets) : this.sessions();
  }

  /**
   * Those of the setting `on`. A file in the folder of a project, which may come with a checkout, names
   * devices of the inventory only: no login goes where it leads.
   */
  async #usualSessions(): Promise<readonly DeviceSession[]> {
    const { settings, notices } = this.shell.services;
    const selector = settings.get('on');
    if (selector === undefined) return [];
    const origin = settings.origin('on');
    if (origin.kind !== 'project') return this.resolve([selector]);
    const sessions = await this.resolveKnown([selector], originText(origin));
    notices.add(`the devices are those of ${selector}, as ${originText(origin)} says`);
    return sessions;
  }

  /** The sessions at the addresses of a plan; with `--on`, only those that it names, too. */
  async sessionsAt(devices: readonly DeviceRef[]): Promise<readonly DeviceSession[]> {
    const { on } = this.#all;
    const named = on.length > 0 ? await this.resolve(on) : undefined;
    const wanted = named && new Set(named.map(({ ref }) => ref.address));
    const addresses = devices
      .map(({ address }) => address)
      .filter((address) => wanted?.has(address) !== false);
    return addresses.length === 0 ? [] : this.resolve(addresses);
  }

  /** The sessions for selectors over inventory, addresses and the devices of this session. */
  async resolve(
    selectors: readonly string[],
    overrides: Partial<DeviceEntry> = {},
  ): Promise<readonly DeviceSession[]> {
    const { fleet, services } = this.shell;
    const { devices } = await services.inventory.load();
    const connected = fleet.connected.map(({ entry }) => entry);
    const addresses = new Set(connected.map(({ address }) => address));
    const others = devices.filter(
      ({ address }) => !addresses.has(formatAddress(parseAddress(address))),
    );
    const { profile } = this.#all;
    const said = profile === undefined ? {} : { profile };
    const entries = this.#select(selectors, new Inventory([...connected, ...others]));
    return fleet.sessions(entries.map((entry) => ({ ...entry, ...said, ...overrides })));
  }

  /**
   * The sessions of devices that a file names, which may come from anywhere: those of the inventory and of this
   * session only, as no login is to go where such a file leads. Throws a `UsageError` for others.
   */
  async resolveKnown(
    selectors: readonly string[],
    file: string,
  ): Promise<readonly DeviceSession[]> {
    const { fleet, services } = this.shell;
    const connected = new Set(fleet.connected.map(({ ref }) => ref.address));
    const sessions = await this.resolve(selectors);
    const inventory = await services.inventory.load();
    const foreign = sessions.find(
      ({ ref: { address } }) =>
        !connected.has(address) && inventory.findByAddress(address) === undefined,
    );
    if (foreign === undefined) return sessions;
    const { name } = foreign.ref;
    throw new UsageError(
      `${file}: ${name} is no device of the inventory, and a file leads no login elsewhere; --on ${name} means it`,
    );
  }

  /** As `selectDevices`, but an error's column is counted in the line. */
  #select(selectors: readonly string[], inventory: Inventory): DeviceEntry[] {
    try {
      return selectDevices(selectors, inventory);
    } catch (error) {
      if (!(error instanceof UsageError) || error.column === undefined) throw error;
      const wrong = selectors.find((selector) => !isUnderstood(selector, inventory)) ?? '';
      const start = this.line.lastIndexOf(wrong);
      const column = start < 0 ? undefined : start + error.column;
      throw new UsageError(error.message, { column, suggestions: error.suggestions });
    }
  }
}

/** What all that writes to devices needs of its line. */
export type WriteCall = Call<WriteOption | RollOutOption | 'on', 'asCurl'>;

function isUnderstood(selector: string, inventory: Inventory): boolean {
  try {
    selectDevices([selector], inventory);
    return true;
  } catch {
    return false;
  }
}

/** A line understood: which command, which words for its arguments, which options. */
export interface Invocation {
  readonly command: CommandSpec;
  readonly verb: VerbSpec;
  readonly args: Arguments;
  /** What the options of the line say. */
  readonly given: Given;
  /** The line as it may be kept: secrets masked. */
  readonly line: string;
}

/** What the first word of a line may be. */
export interface Grammar {
  readonly commands: readonly CommandSpec[];
  /**
   * The verbs of a resource of the devices, as those of `user`; undefined for what is none.
   * `isLikeCommand`: it may as well be a command with a slip.
   */
  readonly resourceFor: (
    name: string,
    next: string | undefined,
    isLikeCommand: boolean,
  ) => CommandSpec | undefined;
  /** `resource NAME`: the verbs of the resource of this name, whatever else is called like it. */
  readonly resourceNamed?: ((name: Word) => CommandSpec) | undefined;
  /** The same for a word that nobody knows: the devices decide when it is run; else `mistake` is thrown. */
  readonly guess?: (name: string, mistake: UsageError) => CommandSpec | undefined;
}

/** The words of a line by the names of the verb's arguments. */
export class Arguments {
  /** Where a word that is missing would stand: one behind the last. */
  readonly end: number;
  readonly #words: ReadonlyMap<string, readonly Word[]>;

  constructor(words: ReadonlyMap<string, readonly Word[]>, end: number) {
    this.#words = words;
    this.end = end;
  }

  words(name: string): readonly Word[] {
    return this.#words.get(name) ?? [];
  }

  all(name: string): readonly string[] {
    return this.words(name).map(({ text }) => text);
  }

  optional(name: string): string | undefined {
    return this.words(name)[0]?.text;
  }

  /** An argument that the spec requires; `bind` has made sure that it is there. */
  required(name: string): string {
    const text = this.optional(name);
    if (text === undefined) throw new Error(`the spec has no required argument ${name}`);
    return text;
  }
}
