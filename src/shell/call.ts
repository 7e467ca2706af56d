import { setMaxListeners } from 'node:events';
import { newRunId } from '../change/plan.ts';
import { formatAddress, parseAddress } from '../device/address.ts';
import type { DeviceRef } from '../device/record.ts';
import { UsageError } from '../errors.ts';
import type { Member } from '../fleet/member.ts';
import { Inventory } from '../fleet/inventory.ts';
import { selectDevices, type DeviceEntry } from '../fleet/selector.ts';
import { originText } from '../settings/settings.ts';
import type { Width } from '../fleet/fan-out.ts';
import { ShellAccess } from './access/access.ts';
import type { Credentials } from '../credentials/sources.ts';
import type { Arguments, Grammar, Invocation } from './grammar/bind.ts';
import { type ShellIo, unlessCancelled } from './io.ts';
import {
  FALLBACKS,
  inherit,
  type AllOptions,
  type GeneralOption,
  type Given,
  type OptionKey,
  type Options,
  type RollOutOption,
  type WriteOption,
} from './grammar/options.ts';
import type { Session } from './session.ts';

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
  readonly session: Session;
  readonly io: ShellIo;
  /** For `help` and nested lines. */
  readonly grammar: Grammar;
  readonly #given: Given;
  readonly #all: AllOptions;
  #access: ShellAccess | undefined;
  /** The selection that the prompt named when the line began. */
  readonly #began: readonly Member[];

  constructor(
    { args, line, given }: Pick<Invocation, 'args' | 'given' | 'line'>,
    session: Session,
    io: ShellIo,
    grammar: Grammar,
  ) {
    this.args = args;
    this.line = line;
    this.#given = given;
    this.#all = { ...FALLBACKS, ...session.defaults, ...given };
    this.given = given;
    this.options = this.#all;
    this.session = session;
    this.#began = session.fleet.selection;
    this.io = io;
    // Each request of a wide fleet listens to it.
    setMaxListeners(0, io.signal);
    this.grammar = grammar;
  }

  /** A line of a script, which inherits what was said of the whole script. */
  nested(invocation: Invocation): Call<OptionKey> {
    const given = inherit(this.#given, invocation.given);
    const io = { ...this.io, isLast: false, isPrompt: false };
    return new Call({ ...invocation, given }, this.session, io, this.grammar);
  }

  /** The same call with every question answered by yes: what must happen by itself. */
  nestedYes(): Call<K, M> {
    const { args, line, session, grammar } = this;
    const given: Given = { ...this.#given, yes: true, canary: undefined };
    const io = { ...this.io, signal: new AbortController().signal };
    return new Call({ args, line, given }, session, io, grammar);
  }

  /** A file of the user's, or standard input for `-`. */
  async readText(file: string): Promise<string> {
    if (file !== '-') return unlessCancelled(this.session.services.readFile(file), this.io.signal);
    const { tokenStdin, passwordStdin, passphraseStdin } = this.#all;
    if (tokenStdin || passwordStdin || passphraseStdin) {
      throw new UsageError('"-" and a secret cannot both be read from standard input');
    }
    return unlessCancelled(this.io.readInput(), this.io.signal);
  }

  newRun(): string {
    return newRunId(this.session.services.now());
  }

  get access(): ShellAccess {
    this.#access ??= this.accessWith(this.io);
    return this.#access;
  }

  /** The same access for one who asks elsewhere, or nobody. */
  accessWith(io: ShellIo): ShellAccess {
    return new ShellAccess(this.session, io, this.#all);
  }

  get credentials(): Credentials {
    return this.session.services.credentials(this.#all);
  }

  /** Trust and credentials were decided in this call. */
  get hasAccess(): boolean {
    return this.#access !== undefined;
  }

  /** Reads go to as many devices as machine and network bear, unless `--concurrency` says otherwise. */
  get readWidth(): Width {
    return this.#all.concurrency ?? 'adaptive';
  }

  /** Writes go in turn, unless `--concurrency` says otherwise. */
  get writeWidth(): number {
    return this.#all.concurrency ?? 1;
  }

  get isReadOnly(): boolean {
    return this.#all.readOnly || this.session.isReadOnly;
  }

  /** The devices that `--on` names, or those selected in the session. Throws when there are none. */
  async members(): Promise<readonly Member[]> {
    const members = await this.selected();
    if (members.length > 0) return members;
    const { connected } = this.session.fleet;
    throw new UsageError(
      connected.length > 0
        ? `none of the ${connected.length} connected devices is selected: "use" chooses, "use all" takes all`
        : 'no device is selected: name some with --on (10.0.0.5, @group), or connect to them first',
    );
  }

  /** The same, where there may be none. */
  async selected(): Promise<readonly Member[]> {
    // Who went on without this line may have chosen others since.
    this.io.signal.throwIfAborted();
    const { on } = this.#all;
    const { fleet } = this.session;
    const members = on.length > 0 ? await this.resolve(on) : this.#began;
    // The prompt names no others where those that were selected have left.
    return members.length > 0 || fleet.connected.length > 0 ? members : this.#usualMembers();
  }

  /**
   * Those of the setting `on`. A file in the folder of a project, which may come with a checkout, names
   * devices of the inventory only: no login goes where it leads.
   */
  async #usualMembers(): Promise<readonly Member[]> {
    const { settings, notices } = this.session.services;
    const selector = settings.get('on');
    if (selector === undefined) return [];
    const origin = settings.origin('on');
    if (origin.kind !== 'project') return this.resolve([selector]);
    const members = await this.resolveKnown([selector], originText(origin));
    notices.add(`the devices are those of ${selector}, as ${originText(origin)} says`);
    return members;
  }

  /** The members at the addresses of a plan; with `--on`, only those that it names, too. */
  async membersAt(devices: readonly DeviceRef[]): Promise<readonly Member[]> {
    const { on } = this.#all;
    const named = on.length > 0 ? await this.resolve(on) : undefined;
    const wanted = named && new Set(named.map(({ ref }) => ref.address));
    const addresses = devices
      .map(({ address }) => address)
      .filter((address) => wanted?.has(address) !== false);
    return addresses.length === 0 ? [] : this.resolve(addresses);
  }

  /** The members for selectors over inventory, addresses and the devices of this session. */
  async resolve(
    selectors: readonly string[],
    overrides: Partial<DeviceEntry> = {},
  ): Promise<readonly Member[]> {
    const { fleet, services } = this.session;
    const { devices } = await services.inventory.load();
    const connected = fleet.connected.map(({ entry }) => entry);
    const addresses = new Set(connected.map(({ address }) => address));
    const others = devices.filter(
      ({ address }) => !addresses.has(formatAddress(parseAddress(address))),
    );
    const { profile } = this.#all;
    const said = profile === undefined ? {} : { profile };
    const entries = this.#select(selectors, new Inventory([...connected, ...others]));
    return fleet.members(entries.map((entry) => ({ ...entry, ...said, ...overrides })));
  }

  /**
   * The members that a file names which may come from anywhere: those of the inventory and of this
   * session only, as no login is to go where such a file leads. Throws a `UsageError` for others.
   */
  async resolveKnown(selectors: readonly string[], file: string): Promise<readonly Member[]> {
    const { fleet, services } = this.session;
    const connected = new Set(fleet.connected.map(({ ref }) => ref.address));
    const members = await this.resolve(selectors);
    const inventory = await services.inventory.load();
    const foreign = members.find(
      ({ ref: { address } }) =>
        !connected.has(address) && inventory.findByAddress(address) === undefined,
    );
    if (foreign === undefined) return members;
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
