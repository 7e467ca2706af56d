import type { AllowWord } from '../../change/allow.ts';
import type { DeviceRecord } from '../../device/record.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import type { Call } from '../call.ts';
import type { OptionKey } from './options.ts';
import type { Output } from '../output.ts';

/** One proposal for the word at the cursor. */
export interface Candidate {
  readonly text: string;
  readonly summary?: string | undefined;
  /** More of the same word follows (`lang=`): no space is typed behind it. */
  readonly continues?: boolean;
}

/** A device that a line is about, as far as it is known without asking it. */
export interface KnownDevice {
  readonly name: string;
  /** The records read in this session. */
  seen(resource: string): readonly DeviceRecord[] | undefined;
  /** What is left of those read in an earlier one. */
  remembered(resource: string): RememberedRecords | undefined;
}

/** The records of one resource without what they hold. */
export interface RememberedRecords {
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

/** A verb whose `run` gets the options that it lists, and no others. */
export function verb<const K extends OptionKey>(spec: VerbSpec<K>): VerbSpec {
  return spec;
}

/** A first word of the grammar. */
export interface CommandSpec {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly summary: string;
  /** Under which heading `help` lists it. */
  readonly section: 'Devices' | 'Records' | 'Change sets' | 'Raw API' | 'Trust and login' | 'Shell';
  readonly verbs: readonly VerbSpec[];
  /** The verb that is meant when none is given. */
  readonly defaultVerb?: string;
  /** Its argument is a line: options behind its first word are those of the line. */
  readonly takesLine?: true;
}
