import type { DriftRow } from '../../fleet/drift.ts';
import type { DriftOutput } from '../../shell/output.ts';
import type { Editing } from '../editor/line.ts';
import type { RollOutState, RunRow, State } from '../state.ts';

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
