import type { StepResult } from '../change/verdict.ts';
import type { DevshError } from '../errors.ts';
import { parseFilter, type Filter } from '../fleet/filter.ts';
import type { LabelColor } from '../fleet/inventory-schema.ts';
import type { DeviceQuestion } from '../shell/access/open-questions.ts';
import type { Completion } from '../shell/completion/complete.ts';
import type { FirstStep } from '../shell/help/first-run.ts';
import type { DriftOutput, ReadOutcome, ReadOutput, View } from '../shell/output.ts';
import type { DriftRow } from '../fleet/drift.ts';
import type { Draft, FormState } from './form/form-state.ts';
import type { ThemeName } from '../text/choices.ts';
import { EMPTY_EDITING, type Editing, type Line } from './editor/line.ts';
import type { DeviceFacts } from '../shell/devices/device-facts.ts';
import type { DeniedWrites } from '../shell/writing/denied-writes.ts';
import type { Binding, Part } from './keys/key-binding.ts';
import type { ViState } from './editor/vi.ts';
import type { KeyName } from './terminal/keys.ts';
import type { Size } from './terminal/painter.ts';

export type KeyBinding = Binding<State, Context>;

/** All keys with their meaning, as they hold for this user. */
export type Keymap = readonly KeyBinding[];

/** Where a key counts: a part of the screen, or a view that has keys of its own. */
export type Context = Part | Exclude<Overlay['kind'], 'none'>;

/** All that is on the screen, and nothing that can be computed from it. */
export interface State {
  readonly size: Size;
  /** The looks; undefined: see `themeFor`. */
  readonly theme: ThemeName | undefined;
  /** The keys as they hold for this user. */
  readonly keymap: Keymap;
  /** The first presses of a key that has several: `ctrl-x`. */
  readonly pendingKeys: KeyName | undefined;
  readonly focus: 'prompt' | 'table';
  readonly prompt: PromptState;
  readonly table: TableState;
  readonly fleet: FleetView;
  /** What is offered while nothing is connected: where an inventory would be, when nothing was set up. */
  readonly firstRun: { readonly inventory: string } | undefined;
  /** What can be gone on with: comes before that. */
  readonly nextSteps: readonly FirstStep[];
  /** By address, what devices held in an earlier session: "41 users yesterday 17:02". */
  readonly lastSeen: ReadonlyMap<string, string>;
  /** What the last line said, and all that was said before. */
  readonly log: { readonly current: readonly LogLine[]; readonly all: readonly LogLine[] };
  readonly work: Work | undefined;
  /** The table is being read in the background: how far. */
  readonly reading: string | undefined;
  /** What lies over the table; `none`: the table itself is the view. */
  readonly overlay: Overlay;
  /** What Esc goes back to, the nearest last; no view is in it twice. */
  readonly trail: readonly Place[];
  /** By `tableId`: tables that were left, with cursor, filter, order and marks. */
  readonly tables: ReadonlyMap<string, TableState>;
  /** What is looked for in the text on the screen. */
  readonly find: Find;
  /** Stands in place of the table; an overlay lies over it, too. */
  readonly form: FormState | undefined;
  /** By the id of a form: what was typed into it before it was closed. */
  readonly drafts: ReadonlyMap<string, Draft>;
  /** The first one is asked, the others wait. */
  readonly questions: readonly OpenQuestion[];
}

export interface PromptState {
  readonly editing: Editing;
  /** Absent: the keys of emacs edit the line. */
  readonly vi: ViState | undefined;
  /** Oldest first. */
  readonly history: readonly string[];
  /** While history is walked through: where, and the line that was being typed. */
  readonly recall: { readonly at: number; readonly draft: string } | undefined;
  readonly lastArgument?: LastArgument;
  readonly search: HistorySearch | undefined;
  readonly menu: Menu | undefined;
  /** What is wrong with the line as it stands; gone with the next key. */
  readonly problem: LineProblem | undefined;
}

export interface LineProblem {
  readonly message: string;
  /** In UTF-16 units from 0. */
  readonly column: number | undefined;
  readonly suggestions: readonly string[];
}

/** Ctrl-R: `at` is the history's index of the match. */
export interface HistorySearch {
  readonly query: string;
  readonly at: number | undefined;
}

export interface Menu {
  readonly completion: Completion;
  /** The line that it is about. */
  readonly line: string;
  /** The proposal chosen; undefined until Tab is pressed again. */
  readonly chosen: number | undefined;
}

export interface TableState {
  /** The command that fills the table, run again by a refresh. */
  readonly command: string;
  /** The filter of that command, as typed. */
  readonly commandFilter: string;
  readonly view: View;
  /** The devices that the command named itself; undefined: the selection. */
  readonly scope: readonly string[] | undefined;
  /** By device name, in the order of the answers. */
  readonly reads: ReadonlyMap<string, TableRead>;
  readonly isFolded: boolean;
  /** The keys of rows that are unfolded where the others are folded, and the other way round. */
  readonly turnedRows: ReadonlySet<string>;
  /** As `--sort` has it; undefined: as the command said. */
  readonly sort: readonly string[] | undefined;
  readonly filter: TableFilter;
  /** Index of the row with the cursor. */
  readonly cursor: number;
  /** Index of the first row on the screen. */
  readonly top: number;
  /** How many columns behind the key are scrolled out. */
  readonly shift: number;
  /** `device\nkey` of each marked record. */
  readonly marks: ReadonlySet<string>;
  /** While rows are marked from one to another: the row it began at, and what was marked before. */
  readonly range: { readonly from: number; readonly before: ReadonlySet<string> } | undefined;
  /** Read again so often; undefined: only when asked to. */
  readonly watchMs: number | undefined;
  /** What the last refresh found changed, shown for a moment. */
  readonly changes: TableChanges | undefined;
}

/** What a device answered, and when. */
export interface TableRead extends ReadOutput {
  readonly at?: Date | undefined;
  /** Where that failed: what it held when it last answered. */
  readonly last?: LastRead | undefined;
}

export interface LastRead {
  readonly records: Extract<ReadOutcome, { ok: true }>['records'];
  readonly at: Date | undefined;
}

/** What is other than before in records that were read again. */
export interface TableChanges {
  /** By mark: the fields with another value; `undefined`: the record is new. */
  readonly fields: ReadonlyMap<string, readonly string[] | undefined>;
  readonly changed: number;
  readonly added: number;
  readonly removed: number;
}

/**
 * What was typed behind `/`; `parsed` is the last text that could be understood, `applied` what the
 * rows were filtered by: in long tables it comes a moment later.
 */
export interface TableFilter {
  readonly editing: Editing;
  readonly isOpen: boolean;
  readonly parsed: Filter;
  readonly applied: Filter;
  readonly problem: string | undefined;
}

export interface DeviceTab {
  readonly name: string;
  readonly address: string;
  /** The digit that selects it, where that is not its position in the list: others have left. */
  readonly number?: number;
  readonly kind: 'new' | 'connecting' | 'ready' | 'failed';
  /** Why it failed, in one word and in full. */
  readonly error: DevshError | undefined;
  /** Since when it fails. */
  readonly since?: Date | undefined;
  /** What is known of it besides; absent before it was first used. */
  readonly facts?: DeviceFacts;
}

/** The fleet at one moment. */
export interface FleetView {
  readonly devices: readonly DeviceTab[];
  readonly selected: readonly string[];
  readonly isNarrowed: boolean;
  /** What devices wait for, in the order of the list. */
  readonly questions: readonly DeviceQuestion[];
  readonly prompt: string;
  /** The colour of the label in it. */
  readonly color?: LabelColor | undefined;
  /** "as admin · pinned · read-write" */
  readonly rights: readonly { readonly text: string; readonly isAlarming: boolean }[];
  /** Nothing may be changed on any of the selected devices. */
  readonly isReadOnly: boolean;
  /** By resource: what none of the selected devices offers, and why. */
  readonly denied: ReadonlyMap<string, DeniedWrites>;
}

export type LogTone = 'plain' | 'heading' | 'good' | 'bad' | 'warning' | 'quiet' | 'accent';

/** One message, harmless already; it may be longer than a line of the screen. */
export interface LogLine {
  readonly tone: LogTone;
  readonly text: string;
  /** The same with all names, for the messages. */
  readonly whole?: string;
}

/** A line being carried out in the foreground. */
interface Work {
  readonly isStopping: boolean;
  readonly progress: string | undefined;
  /** Lines that wait for it. */
  readonly waiting: number;
  /** The devices that it has planned to change. */
  readonly writes: readonly string[];
}

/** A run on several devices while it goes on. */
export interface RollOutState {
  readonly devices: readonly { readonly name: string; readonly steps: number }[];
  /** In the order of their coming. */
  readonly results: readonly StepResult[];
  /** Why nothing is planned on others: each cause with its devices. */
  readonly refusals: readonly string[];
}

/** One line of `runs`; harmless texts. */
export interface RunRow {
  readonly id: string;
  readonly began: string;
  readonly devices: string;
  readonly state: string;
  readonly verdicts: string;
  readonly command: string;
}

export interface OpenQuestion {
  readonly id: number;
  readonly kind: 'confirm' | 'text' | 'secret';
  readonly text: string;
  readonly expected: string | undefined;
  /** The colour of the label that the text begins with. */
  readonly color?: LabelColor | undefined;
  /** False while it has just come up: what is typed then was not meant for it. */
  readonly isOpen: boolean;
  /** Taken back when a key comes before it is open. */
  readonly isLate?: boolean;
  /** Shown above it; harmless already. */
  readonly lines: readonly LogLine[];
  /** The same device by device, where there is a plan to be unfolded. */
  readonly unfolded: readonly LogLine[] | undefined;
  readonly isUnfolded: boolean;
  /** What is looked for in a plan. */
  readonly find: Find;
  readonly top: number;
  readonly editing: Editing;
  readonly complaint: string | undefined;
}

/** What Alt-. put in: the word, from which line of history, and the line without and with it. */
export interface LastArgument {
  readonly at: number;
  readonly word: string;
  readonly base: Line;
  readonly line: Line;
}

/** A view that lies over the table; `none`: the table itself is the view. */
export type Overlay =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'pager';
      readonly title: string;
      readonly lines: readonly string[];
      readonly top: number;
    }
  | { readonly kind: 'help'; readonly top: number }
  | { readonly kind: 'roll-out'; readonly rollOut: RollOutState; readonly top: number }
  | { readonly kind: 'runs'; readonly runs: readonly RunRow[]; readonly cursor: number }
  | { readonly kind: 'details'; readonly details: Details; readonly top: number }
  | { readonly kind: 'devices'; readonly cursor: number }
  | { readonly kind: 'resources'; readonly resources: readonly Offer[]; readonly cursor: number }
  | {
      readonly kind: 'questions';
      readonly cursor: number;
      /** Addresses of the devices whose questions are marked. */
      readonly marks: ReadonlySet<string>;
    }
  | DriftOverlay;

/** Of which record the fields are shown: the table's, or one of a comparison. */
export type Details =
  | { readonly kind: 'of-table'; readonly key: string }
  | {
      readonly kind: 'of-drift';
      readonly key: string;
      readonly drift: DriftOutput;
      readonly row: DriftRow;
    };

/** A resource and the devices that have it. */
export interface Offer {
  readonly resource: string;
  readonly devices: readonly string[];
}

/** Records and devices as a matrix: same, differs, missing. */
export interface DriftOverlay {
  readonly kind: 'drift';
  /** The line that compares them again. */
  readonly command: string;
  /** The filter in it, which chose the records. */
  readonly filter: string;
  readonly output: DriftOutput;
  readonly cursor: number;
  /** How many devices are scrolled out on the left. */
  readonly shift: number;
  /** Also the records that are the same on all devices. */
  readonly isWhole: boolean;
}

/** Where one has been: a table, and what lay over it. */
export interface Place {
  readonly focus: State['focus'];
  /** As `tableId` tells it. */
  readonly table: string;
  readonly overlay: Overlay;
  readonly find: Find;
}

/** What was typed behind `/` in a view: a list shows only what has it, in a text it is jumped to. */
export interface Find {
  readonly editing: Editing;
  readonly isOpen: boolean;
  /** The line of a text that was found last. */
  readonly at: number | undefined;
  /** A text, too, shows only the lines that have it. */
  readonly isOnly: boolean;
  /** What a list is sorted by, as `--sort` has it; undefined: failed and doubtful ones first. */
  readonly sort: string | undefined;
}

const EVERYTHING = parseFilter('');

export const NO_FILTER: TableFilter = {
  editing: EMPTY_EDITING,
  isOpen: false,
  parsed: EVERYTHING,
  applied: EVERYTHING,
  problem: undefined,
};

export const NO_FIND: Find = {
  editing: EMPTY_EDITING,
  isOpen: false,
  at: undefined,
  isOnly: false,
  sort: undefined,
};

/** A table that nothing was read for. */
export function newTable(source: Pick<TableState, 'command' | 'commandFilter' | 'scope' | 'view'>) {
  return {
    ...source,
    reads: new Map(),
    isFolded: true,
    turnedRows: new Set<string>(),
    sort: undefined,
    filter: NO_FILTER,
    cursor: 0,
    top: 0,
    shift: 0,
    marks: new Set<string>(),
    range: undefined,
    watchMs: undefined,
    changes: undefined,
  } satisfies TableState;
}
