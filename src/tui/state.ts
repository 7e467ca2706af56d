import type { StepResult } from '../change/verdict.ts';
import type { DevshError } from '../errors.ts';
import type { PlanGroup } from '../output/change-text.ts';
import type { LabelColor } from '../fleet/inventory-schema.ts';
import type { DeviceQuestion } from '../shell/commands/questions.ts';
import type { FoldedEvent } from '../history/fold-events.ts';
import type { Findable, FindableLine } from '../shell/findable.ts';
import { FIRST_STEPS, type FirstStep } from '../shell/help/first-run.ts';
import type { DriftOutput, TableOutput } from '../shell/output.ts';
import type { Question } from '../shell/session.ts';
import type { DriftRow } from '../fleet/drift.ts';
import type { Draft, FormState } from './form/form-state.ts';
import type { ThemeName } from '../text/choices.ts';
import { EMPTY_EDITING, type Editing } from './editor/line.ts';
import type { SessionFacts } from '../shell/devices/probe.ts';
import type { DeniedWrites } from '../shell/writing/denied-writes.ts';
import type { Binding, Part } from './keys/key-binding.ts';
import type { KeyName } from './terminal/keys.ts';
import type { Size } from './terminal/painter.ts';
import type { PromptState } from './prompt/prompt-state.ts';
import type { TableState } from './table/table-state.ts';

export type KeyBinding = Binding<State, Context>;

export type Keymap = readonly KeyBinding[];

/** Where a key binding applies: a part of the screen, or a view with keys of its own. */
export type Context = Part | Exclude<Overlay['kind'], 'none'>;

/** Everything on the screen, except what can be computed from it. */
export interface State {
  readonly size: Size;
  /** The theme; undefined: see `themeFor`. */
  readonly theme: ThemeName | undefined;
  readonly keymap: Keymap;
  /** The first keys of a sequence: `ctrl-x`. */
  readonly pendingKeys: KeyName | undefined;
  readonly focus: 'prompt' | 'table';
  /** Whether the user has hidden the details beside the table. */
  readonly isPaneHidden: boolean;
  readonly prompt: PromptState;
  readonly table: TableState;
  readonly fleet: FleetView;
  /** The path for an inventory, offered while nothing is connected and nothing was ever set up. */
  readonly firstRun: { readonly inventory: string } | undefined;
  /** Suggested commands; shown before `firstRun`. */
  readonly nextSteps: readonly FirstStep[];
  /** The number of pending changes, by device name. */
  readonly pending: ReadonlyMap<string, number>;
  /** The history of the record whose details are shown. */
  readonly recordHistory: RecordHistory | undefined;
  /** Messages of the last line, and all messages. */
  readonly log: { readonly current: readonly LogLine[]; readonly all: readonly LogLine[] };
  readonly work: Work | undefined;
  /** The last run on several devices, also if its view is not open. */
  readonly rollOut: RollOutState | undefined;
  /** Progress of reading the table in the background. */
  readonly reading: string | undefined;
  /** The view over the table; `none`: the table itself. */
  readonly overlay: Overlay;
  /** The places that Esc goes back to, the nearest one last. No view is in it twice. */
  readonly backStack: readonly Place[];
  /** By `tableId`, the tables that the user has left, with cursor, filter, order and marks. */
  readonly tables: ReadonlyMap<string, TableState>;
  readonly find: Find;
  /** The open form, which replaces the table. A view may cover it. */
  readonly form: FormState | undefined;
  /** The input of forms that were closed, by form id. */
  readonly drafts: ReadonlyMap<string, Draft>;
  /** The screen shows the first question, the others wait. */
  readonly questions: readonly OpenQuestion[];
}

export interface DeviceTab {
  readonly name: string;
  readonly address: string;
  /** A device is also `failed` while devsh tries it again. */
  readonly kind: 'new' | 'connecting' | 'ready' | 'failed';
  readonly error: DevshError | undefined;
  /** When it began to fail. */
  readonly since?: Date | undefined;
  /** Other known facts; absent before the first use. */
  readonly facts?: SessionFacts;
}

export interface FleetView {
  readonly devices: readonly DeviceTab[];
  readonly selected: readonly string[];
  readonly isNarrowed: boolean;
  /** Open questions of devices, in the order of the list. */
  readonly questions: readonly DeviceQuestion[];
  readonly prompt: string;
  readonly color?: LabelColor | undefined;
  /** "as admin · pinned · read-write" */
  readonly rights: readonly { readonly text: string; readonly isAlarming: boolean }[];
  /** Whether devsh may change none of the selected devices. */
  readonly isReadOnly: boolean;
  /** By resource, the writes that no selected device offers, and why. */
  readonly denied: ReadonlyMap<string, DeniedWrites>;
}

export type LogTone = 'plain' | 'heading' | 'good' | 'bad' | 'warning' | 'quiet' | 'accent';

/** One message, with control characters made visible. It may be longer than a line of the screen. */
export interface LogLine {
  readonly tone: LogTone;
  readonly text: string;
  /** The text with all names, for the list of messages. */
  readonly whole?: string;
  /** The output of a command, laid out for this number of columns. */
  readonly linesAt?: (columns: number) => readonly string[];
}

/** The line that runs in the foreground. */
export interface Work {
  readonly isStopping: boolean;
  readonly progress: string | undefined;
  /** The lines that wait for it, with control characters made visible. */
  readonly waiting: readonly string[];
  /** The devices that it plans to change. */
  readonly writes: readonly string[];
}

/** The progress of a run on several devices. */
export interface RollOutState {
  readonly devices: readonly { readonly name: string; readonly steps: number }[];
  /** The devices on which it has begun. */
  readonly begun: readonly string[];
  /** The results in the order of arrival. */
  readonly results: readonly StepResult[];
  /** Each cause why other devices have no plan, with these devices. */
  readonly refusals: readonly string[];
  /** The line without its secrets. */
  readonly line: string;
  readonly control: 'running' | 'paused' | 'stopping' | 'interrupted' | 'ended';
  readonly elapsedMs: number;
  /** The number of devices with a step to send. */
  readonly toSend: number;
  /** Whether it runs without pauses and questions, so that its rate tells when it will end. */
  readonly isSteady: boolean;
}

/** One row of `changes`: its texts with control characters made visible, and its event. */
export interface TimeLineEntry {
  readonly id: string;
  /** The times of the two readings around it, in a short form. */
  readonly when: string;
  readonly on: string;
  readonly what: string;
  readonly by: string;
  readonly change: FoldedEvent;
}

/** The changes of a record over time, from the readings. */
export interface RecordHistory {
  /** The line that lists it. */
  readonly line: string;
  readonly entries: readonly TimeLineEntry[];
  /** Why the history is not known, if it is not. */
  readonly problem?: string;
}

/** The texts above a question: steps in columns, and lines below them. */
export interface PlanTexts {
  readonly steps: readonly PlanGroup[];
  readonly below: readonly LogLine[];
}

/** A question on the screen. If a key is pressed before a late one is open, it is cancelled. */
export interface OpenQuestion extends Omit<Question, 'details' | 'expected' | 'until'> {
  readonly id: number;
  readonly expected: string | undefined;
  /** False at first, because the next keys may not be meant for it. */
  readonly isOpen: boolean;
  /** The text in the edge of its box: `11 to delete`. */
  readonly title: string;
  readonly about: PlanTexts;
  /** The plan device by device, if there is a plan. */
  readonly unfolded: PlanTexts | undefined;
  readonly isUnfolded: boolean;
  /** The search in a plan. */
  readonly find: Find;
  readonly top: number;
  readonly editing: Editing;
  readonly complaint: string | undefined;
}

/** The view over the table; `none`: the table itself. */
export type Overlay =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'pager';
      readonly title: string;
      /** The text, laid out for this number of columns. */
      readonly linesAt: (columns: number) => readonly string[];
      readonly top: number;
    }
  | { readonly kind: 'help'; readonly top: number }
  | {
      readonly kind: 'palette';
      readonly entries: readonly PaletteEntry[];
      /** True until devices, users and runs are among the entries. */
      readonly isFilling: boolean;
      readonly cursor: number;
    }
  | { readonly kind: 'roll-out' }
  | { readonly kind: 'runs'; readonly runs: TableOutput['rows']; readonly cursor: number }
  | {
      readonly kind: 'time-line';
      /** The line that lists them again. */
      readonly command: string;
      readonly entries: readonly TimeLineEntry[];
      readonly cursor: number;
    }
  | { readonly kind: 'change'; readonly entry: TimeLineEntry; readonly top: number }
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

/** A key of the view below, or a line. */
export type PaletteEntry =
  | (Findable & {
      readonly kind: 'key';
      readonly binding: KeyBinding;
      /** Why it did nothing when the palette opened. */
      readonly reason: string | undefined;
    })
  | FindableLine;

/** The record whose fields are shown: of the table or of a comparison. */
export type Details =
  | { readonly kind: 'of-table'; readonly key: string }
  | {
      readonly kind: 'of-drift';
      readonly key: string;
      readonly drift: DriftOutput;
      readonly row: DriftRow;
    };

export interface Offer {
  readonly resource: string;
  readonly devices: readonly string[];
}

/** Records and devices as a matrix: same, differs, missing. */
export interface DriftOverlay {
  readonly kind: 'drift';
  /** The line that compares them again. */
  readonly command: string;
  readonly filter: string;
  readonly output: DriftOutput;
  readonly cursor: number;
  /** The index of the device under the cursor in `devicesOf`. */
  readonly device: number;
  /** Whether records that are the same on all devices are shown, too. */
  readonly isWhole: boolean;
}

/** A visited place: a table, and the view over it. */
export interface Place {
  readonly focus: State['focus'];
  /** The `tableId`. */
  readonly table: string;
  readonly overlay: Overlay;
  readonly find: Find;
}

/** The search after `/` in a view: filters a list, or scrolls a text to the match. */
export interface Find {
  readonly editing: Editing;
  readonly isOpen: boolean;
  /** Line index of the current match in a text. */
  readonly at: number | undefined;
  /** The sort order of a list, as in `--sort`; undefined for failed and unconfirmed items first. */
  readonly sort: string | undefined;
}

export const NO_FIND: Find = {
  editing: EMPTY_EDITING,
  isOpen: false,
  at: undefined,
  sort: undefined,
};

/** The steps that the first screen offers while nothing is connected, each under its number. */
export function firstSteps({ nextSteps, fleet }: State): readonly FirstStep[] {
  if (fleet.devices.length > 0) return [];
  return nextSteps.length > 0 ? nextSteps : FIRST_STEPS;
}
