import { setMaxListeners } from 'node:events';
import type { Candidate } from './grammar/option.ts';
import type { AllowWord } from '../change/allow.ts';
import type { DeviceRef } from '../device/record.ts';
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
import { DeviceError } from '../device/errors.ts';
import { CredentialError, RefusedError, unlessCancelled, UsageError } from '../errors.ts';
import type { DeviceSession } from '../fleet/device-session.ts';
import { type DeviceEntry, namedDevices, withConnected } from '../fleet/inventory.ts';
import type { SeenDevice } from './seen-devices.ts';
import { originText } from '../settings/settings.ts';
import type { Width } from '../fleet/fan-out.ts';
import { ShellAccess } from './access/access.ts';
import type { RotationStore } from '../credentials/rotation-store.ts';
import type { Credentials } from '../credentials/sources.ts';
import type { ShellSession, ShellIo } from './session.ts';
import { someOf } from '../text/one-line.ts';
import { type Arguments, parseLine, quoteLine, quoteWord, type Word } from '../text/words.ts';

/** The data for completion. It is known already: completion never uses the network. */
export interface CompletionScope {
  readonly commands: readonly CommandSpec[];
  readonly fleet: Fleet;
  /** The devices that `--on` names, else the selection. */
  readonly devices: readonly SeenDevice[];
  readonly targets: readonly Candidate[];
  /** The ids of the runs, newest first. */
  readonly runs: readonly string[];
  /** The word being completed, without quotes. */
  readonly typed: string;
  /** The arguments before it. */
  readonly given: readonly string[];
}

export interface ArgSpec {
  readonly name: string;
  readonly summary: string;
  readonly isRequired?: boolean;
  readonly isRest?: boolean;
  /** Accepts an empty word (`""`, an unset variable), which is a mistake elsewhere. */
  readonly mayBeEmpty?: boolean;
  complete?(scope: CompletionScope): readonly Candidate[] | Promise<readonly Candidate[]>;
}

/** One verb of a noun (`user add`), or a command that has no verbs (`connect`: its name is ''). */
export interface VerbSpec<K extends OptionKey = OptionKey> {
  readonly name: string;
  readonly summary: string;
  /** The words of other tools for this verb. */
  readonly synonyms?: readonly string[];
  readonly args: readonly ArgSpec[];
  /** The options that it takes besides the general ones. */
  readonly options: readonly K[];
  /** `nothing`: no device, no setting, no file. `choice`: only what the next lines work on. Absent: anything. */
  readonly changes?: 'nothing' | 'choice';
  /** The word of `--allow` that `--force` stands for here; `own-account` by default. */
  readonly forced?: AllowWord;
  readonly details?: string;
  readonly examples?: readonly string[];
  run(call: Call<K>): AsyncGenerator<Output> | Generator<Output>;
}

/** A verb as its command declares it. An absent part is empty. */
type Stated<K extends OptionKey> = Omit<VerbSpec<K>, 'args' | 'options' | 'run'> & {
  readonly args?: readonly ArgSpec[];
  readonly options?: readonly K[];
  readonly run: (call: Call<K>) => ReturnType<VerbSpec['run']>;
};

/** Defines a verb. Its `run` gets the options that it lists and no others. */
export function verb<const K extends OptionKey = never>(spec: Stated<K>): VerbSpec {
  return { args: [], options: [], ...spec };
}

export interface CommandSpec {
  readonly name: string;
  readonly aliases?: readonly string[] | undefined;
  readonly summary: string;
  /** The heading under which `help` lists it. */
  readonly section: 'Devices' | 'Records' | 'Change sets' | 'Raw API' | 'Trust and login' | 'Shell';
  readonly verbs: readonly VerbSpec[];
  /** The verb that runs if none is given. */
  readonly defaultVerb?: string;
  /** The words of other tools for this noun. */
  readonly synonyms?: readonly string[];
}

/** Defines a command without verbs. `brief`: a shorter summary for places with less room than `help`. */
export function command<const K extends OptionKey = never>({
  brief,
  section,
  aliases,
  ...spec
}: Stated<K> & { readonly brief?: string } & Pick<
    CommandSpec,
    'section' | 'aliases'
  >): CommandSpec {
  const { name, summary } = spec;
  const verbs = [verb({ ...spec, name: '' })];
  return { name, section, summary: brief ?? summary, aliases, verbs };
}

export function commandNamed(
  commands: readonly CommandSpec[],
  word: string | undefined,
): CommandSpec | undefined {
  return commands.find(
    ({ name, aliases = [] }) => name === word || (word !== undefined && aliases.includes(word)),
  );
}

export function namedVerbs({ verbs }: CommandSpec): readonly VerbSpec[] {
  return verbs.filter(({ name }) => name !== '');
}

export function verbNamed(command: CommandSpec, word: string | undefined): VerbSpec | undefined {
  return namedVerbs(command).find(({ name }) => name === word);
}

/** Whether a line changes nothing: no device, no setting, no file. */
export function changesNothing({ verb, given }: Pick<Invocation, 'verb' | 'given'>): boolean {
  const { output, forget } = given;
  return verb.changes === 'nothing' && output === undefined && forget === undefined;
}

export function defaultVerb({ verbs, defaultVerb = '' }: CommandSpec): VerbSpec | undefined {
  return verbs.find(({ name }) => name === defaultVerb);
}

export function later<C>(
  load: () => Promise<(call: C) => AsyncGenerator<Output>>,
): (call: C) => AsyncGenerator<Output> {
  return async function* run(call) {
    yield* (await load())(call);
  };
}

const MINUTE_MS = 60_000;

/** The number of devices that `atOnce` writes at the same time, unless `--concurrency` sets it. */
const MOST_AT_ONCE = 256;

/** One execution of a verb, with the values of its options. `K`: those that it has. `M`: those that it may have. */
export class Call<K extends OptionKey = never, M extends OptionKey = never> {
  readonly args: Arguments<OptionKey>;
  /** The line with secrets masked, safe to keep. */
  readonly line: string;
  /** Whether the line began with an alias. */
  readonly isAlias: boolean;
  readonly stray: UsageError | undefined;
  readonly options: Options<K | GeneralOption> & Partial<Options<M>>;
  /** The options of the line alone, without those of the session. */
  readonly given: Pick<Given, K | GeneralOption>;
  readonly shell: ShellSession;
  readonly io: ShellIo;
  readonly grammar: Grammar;
  readonly #given: Given;
  readonly #all: AllOptions;
  #access: ShellAccess | undefined;
  /** Whether this call has decided about trust and credentials. */
  hasAccess = false;
  /** The selection when the line began: the prompt named it. */
  readonly #began: readonly DeviceSession[];

  constructor(
    { args, line, given, isAlias = false, stray }: Omit<Invocation, 'command' | 'verb'>,
    shell: ShellSession,
    io: ShellIo,
    grammar: Grammar,
  ) {
    this.args = args;
    this.line = line;
    this.isAlias = isAlias;
    this.stray = stray;
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

  /** The call of a line in a script, which inherits the options of the script. */
  nested(invocation: Invocation): Call<OptionKey> {
    const given = inherit(this.#given, invocation.given);
    const io = { ...this.io, isLast: false, isPrompt: false };
    return new Call({ ...invocation, given }, this.shell, io, this.grammar);
  }

  /** The same call with every question answered by yes, for steps that must not wait. */
  nestedYes(): Call<K, M> {
    // A pause or stop of this run must not delay these steps.
    const io = { ...this.io, signal: new AbortController().signal, control: undefined };
    return this.with({ yes: true, canary: undefined }, io);
  }

  /** The same call on all devices at once: without canary, batches, pauses and a limit of failures. */
  atOnce(): WriteCall {
    return this.with({
      concurrency: this.#given.concurrency ?? MOST_AT_ONCE,
      canary: undefined,
      batch: undefined,
      pauseMs: undefined,
      maxFailures: undefined,
    }) as Call as WriteCall;
  }

  /** The same call with these options instead of those of the line. */
  with(options: Given, io = this.io): Call<K, M> {
    const { args, line, stray, shell, grammar } = this;
    const given = { ...this.#given, ...options };
    return new Call({ args, line, stray, given }, shell, io, grammar);
  }

  /** Reads a file of the user, or standard input for `-`. */
  async readText(file: string): Promise<string> {
    if (file !== '-') return unlessCancelled(readUserFile(file), this.io.signal);
    const { tokenStdin, passwordStdin, passphraseStdin } = this.#all;
    if (tokenStdin || passwordStdin || passphraseStdin) {
      throw new UsageError('"-" and a secret cannot both be read from standard input');
    }
    return unlessCancelled(this.io.readInput(), this.io.signal);
  }

  /** An id later than those of all runs, whatever the clock says. */
  async newRun(): Promise<string> {
    const { services } = this.shell;
    const { run, behindMs } = await services.runs.nextId(services.now().getTime());
    if (behindMs > MINUTE_MS) services.noteClockBehind(behindMs, 'the last run');
    return run;
  }

  get access(): ShellAccess {
    this.#access ??= this.accessWith(this.io);
    return this.#access;
  }

  /** The same access with another way to ask, or none. */
  accessWith(io: ShellIo): ShellAccess {
    this.hasAccess = true;
    return new ShellAccess(this.shell, io, this.#all);
  }

  /** The same access without questions and without progress. */
  accessWithoutAsking(): ShellAccess {
    const { signal, readInput, trace } = this.io;
    return this.accessWith({ signal, readInput, trace });
  }

  get credentials(): Credentials {
    return this.shell.services.credentials(this.#all);
  }

  /** The secrets of accounts under rotation. Throws CredentialError if keychain or vault is locked. */
  rotations(): Promise<RotationStore> {
    this.access.settlesRotations = true;
    return this.shell.services.rotation(this.#all, this.access.askPassphrase);
  }

  /** Works on one device after the other. If there are several, one that fails does not stop the others. */
  async *inTurn(
    sessions: readonly DeviceSession[],
    work: (session: DeviceSession) => AsyncIterable<Output>,
  ): AsyncGenerator<Output> {
    for (const session of sessions) {
      try {
        yield* work(session);
      } catch (error) {
        const isOwn = error instanceof DeviceError || error instanceof CredentialError;
        if (!isOwn || sessions.length === 1) throw error;
        yield { kind: 'error', error, device: session.ref };
      }
    }
  }

  /** Number of devices read at a time: what machine and network can bear, unless `--concurrency` sets it. */
  get readWidth(): Width {
    return this.#all.concurrency ?? 'adaptive';
  }

  /** Number of devices written at a time: one, unless `--concurrency` sets it. */
  get writeWidth(): number {
    return this.#all.concurrency ?? 1;
  }

  /** Reads a resource from these devices. Yields each result as soon as the device responds. */
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

  /** The devices of `--on`, or else the selection of the session. Throws if there are none. */
  async sessions(): Promise<readonly DeviceSession[]> {
    const sessions = await this.selected();
    if (sessions.length > 0) return sessions;
    const { connected } = this.shell.fleet;
    const suggestions = (await this.devicesInFilter())?.suggestions ?? [];
    if (connected.length > 0)
      throw new UsageError(
        `none of the ${connected.length} connected devices is selected: "use" selects some, "use all" all`,
        { suggestions },
      );
    const inventory = await this.shell.services.inventory.load();
    const groups = inventory.groups().map((group) => quoteWord(`@${group}`));
    const [example = '10.0.0.5', ...others] =
      inventory.devices.length === 0 ? [] : ['@all', ...groups];
    const ways = others.length === 0 ? '' : ` (or ${someOf(others, MOST_GROUPS)})`;
    const first = this.io.isPrompt === true ? `"connect ${example}" connects, or ` : '';
    throw new UsageError(
      `you selected no device: ${first}put --on ${example}${ways} behind the command`,
      { suggestions },
    );
  }

  /** The error for a filter with device names (`--on fw1 fw2`), with the line that is meant; undefined without one. */
  async devicesInFilter(): Promise<UsageError | undefined> {
    const { fleet, services } = this.shell;
    const { devices } = withConnected(
      await services.inventory.load(),
      fleet.connected.map(({ entry }) => entry),
    );
    const names = new Set(devices.flatMap(({ name, address }) => [name, address]));
    const stray = this.args.words('FILTER').flatMap(({ text, start }) => {
      if (names.has(text) || /^[\d.]+\.\d+(?::\d+)?$/.test(text))
        return { text, start, filter: '' };
      // `fw1:lang=de`
      const [, device = '', filter = ''] = /^([^:=~]+):([^:=~]+[=~].*)$/s.exec(text) ?? [];
      return names.has(device) ? { text: device, start, filter } : [];
    });
    const [first] = stray;
    if (first === undefined) return undefined;
    const named = stray.map(({ text }) => text).join();
    const texts = parseLine(this.line).words.flatMap(({ text, start }) => {
      const device = stray.find((word) => word.start === start);
      return device === undefined ? text : device.filter || [];
    });
    const at = texts.findIndex((text) => /^--on(?:=|$)/.test(text));
    if (at < 0) texts.push('--on', named);
    else {
      const value = texts[at] === '--on' ? at + 1 : at;
      texts[value] = `${texts[value] ?? ''},${named}`;
    }
    return new UsageError(`"${first.text}" is a device: --on takes several as in fw1,fw2`, {
      column: first.start,
      suggestions: [quoteLine(texts)],
    });
  }

  /** Like `sessions`, but may be empty. */
  async selected(): Promise<readonly DeviceSession[]> {
    // The user may have left this line and changed the selection.
    this.io.signal.throwIfAborted();
    const { on } = this.#all;
    const { fleet } = this.shell;
    const sessions = on.length > 0 ? await this.resolve(on) : this.#began;
    // If the selected devices have disconnected, no other devices replace them: the prompt names none.
    return sessions.length > 0 || fleet.connected.length > 0 ? sessions : this.#usualSessions();
  }

  /** The devices that the line names as arguments, else `sessions`. */
  async targets(): Promise<readonly DeviceSession[]> {
    const targets = this.args.all('TARGET');
    return targets.length > 0 ? this.resolve(targets) : this.sessions();
  }

  /** The devices of the setting `on`. A project file may name only devices of the inventory, so that no login leaks. */
  async #usualSessions(): Promise<readonly DeviceSession[]> {
    const { settings, notices } = this.shell.services;
    const selector = settings.get('on');
    if (selector === undefined) return [];
    const origin = settings.origin('on');
    if (origin.kind !== 'project') return this.resolve([selector]);
    if (this.#all.yes) {
      throw new RefusedError(
        `--yes needs devices that you name: ${originText(origin)} says ${selector}; --on ${selector} takes them`,
      );
    }
    const sessions = await this.resolveKnown([selector], originText(origin));
    notices.add(`the devices are those of ${selector}, as ${originText(origin)} says`);
    return sessions;
  }

  /** Tests whether `--on` names a device of a journal, by address or name. Without `--on` it is true for each. */
  async namedByOn(): Promise<(device: DeviceRef) => boolean> {
    const { on } = this.#all;
    const named = on.length > 0 ? await this.resolve(on) : undefined;
    return ({ name, address }) =>
      named?.some(({ ref }) => ref.address === address || ref.name === name) !== false;
  }

  /** The sessions at the addresses of a plan, limited to the devices of `--on` if given. */
  async sessionsAt(devices: readonly DeviceRef[]): Promise<readonly DeviceSession[]> {
    const { on } = this.#all;
    const named = on.length > 0 ? await this.resolve(on) : undefined;
    const wanted = named && new Set(named.map(({ ref }) => ref.address));
    const addresses = devices
      .map(({ address }) => address)
      .filter((address) => wanted?.has(address) !== false);
    return addresses.length === 0 ? [] : this.resolve(addresses);
  }

  /** The sessions that selectors match in the inventory, in this session or by address. */
  async resolve(
    selectors: readonly string[],
    overrides: Partial<DeviceEntry> = {},
  ): Promise<readonly DeviceSession[]> {
    const { fleet, services } = this.shell;
    const inventory = await services.inventory.load();
    const connected = fleet.connected.map(({ entry }) => entry);
    const { profile } = this.#all;
    const said = profile === undefined ? {} : { profile };
    const entries = namedDevices(selectors, inventory, connected, this.line);
    return fleet.sessions(entries.map((entry) => ({ ...entry, ...said, ...overrides })));
  }

  /** The sessions of devices that a file names. Refuses unknown devices: a foreign file must lead no login there. */
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
      `${file}: ${name} is not in the inventory, and devsh sends no login to an address from a file; --on ${name} allows it`,
    );
  }
}

export type WriteCall = Call<WriteOption | RollOutOption | 'on'>;

const MOST_GROUPS = 6;

export interface Invocation {
  readonly command: CommandSpec;
  readonly verb: VerbSpec;
  /** Whether the line names the command, but no verb. */
  readonly isImplied?: boolean;
  readonly args: Arguments<OptionKey>;
  readonly given: Given;
  /** The line with secrets masked, safe to keep. */
  readonly line: string;
  /** Whether the line began with an alias. */
  readonly isAlias?: boolean;
  /** The mistake if a word in the place of a verb matches no record; if one matches, the word is a search. */
  readonly stray?: UsageError | undefined;
}

export interface Grammar {
  readonly commands: readonly CommandSpec[];
  /** Undefined if the name is no resource. `isLikeCommand`: it may also be a mistyped command. */
  readonly resourceFor: (
    name: string,
    next: string | undefined,
    isLikeCommand: boolean,
  ) => CommandSpec | undefined;
  /** `resource NAME`: the verbs of this resource, even if a command has the same name. */
  readonly resourceNamed?: ((name: Word) => CommandSpec) | undefined;
  /** Expands an alias at the start of a line. Returns undefined if there is none. */
  readonly expand?: ((words: readonly Word[]) => Expansion | undefined) | undefined;
  /** The command of a word that may be a resource. When it runs, a GET decides; if it is none, it throws `mistake`. */
  readonly guess?: ((name: string, mistake: UsageError) => CommandSpec | undefined) | undefined;
  /** How often devsh may correct the line before it suggests it. Default: 2. */
  readonly corrections?: number;
}

export interface Expansion {
  readonly name: string;
  readonly line: string;
  readonly words: readonly Word[];
  /** The command that runs the program, if the alias is one: `words` are then its options. */
  readonly program: CommandSpec | undefined;
  /** Whether a device chose a value in the line. */
  readonly isForeign: boolean;
}
