import type { NotCovered, Plan } from '../change/plan.ts';
import type { StepResult, Verdict } from '../change/verdict.ts';
import type { DeviceRecord, DeviceRef, JsonValue, Value } from '../device/record.ts';
import type { DevshError } from '../errors.ts';
import type { RecordChange } from '../fleet/record-changes.ts';
import type { Drift } from '../fleet/drift.ts';
import type { Format } from './grammar/options.ts';
import type { TableName, TextName } from './help/document-schema.ts';

/**
 * What a command says, as data. Every reader (one-shot, script, plain REPL, TUI) draws it in its own
 * way; strings in it may come from a device and are not yet safe to show.
 */
export type Output =
  | ReadOutput
  | ChangeOutput
  | DriftOutput
  | PlanOutput
  | ProgressOutput
  | ResultOutput
  | SummaryOutput
  | TableOutput
  | TextOutput
  | AnswerOutput
  | MessageOutput
  | ErrorOutput
  | CheckpointOutput
  | QuitOutput;

/** How records want to be shown. */
export interface View {
  readonly resource: string;
  /** `table`: one row a record; `record`: one block a record, every field. */
  readonly layout: 'table' | 'record';
  /** The natural key's field (`username`): first column, and what folding compares by. */
  readonly key?: string | undefined;
  /** Field names to show, in order; absent: chosen by content. */
  readonly columns?: readonly string[] | undefined;
  /** The columns of the last time: those that records have come in place of the choice by content. */
  readonly recalled?: readonly string[] | undefined;
  /** Field names to sort by, most important first; a leading `-` reverses. Absent: device order. */
  readonly sort?: readonly string[] | undefined;
  /** Show records that are equal on several devices as one row. */
  readonly fold: boolean;
  /** Fields that differ from device to device by nature (id, token): no drift, no obstacle to folding. */
  readonly perDevice: readonly string[];
  /** A filter left records out: that a key is missing on a device is then not known. */
  readonly filtered?: boolean;
  /** The records go to a file: whole and exact. */
  readonly file?: {
    /** Only records that match this are in it. */
    readonly filter?: string;
    /** One device has the file for itself. */
    readonly isOneDevice?: boolean;
  };
}

export type ReadOutcome =
  | { readonly ok: true; readonly records: readonly DeviceRecord[] }
  | { readonly ok: false; readonly error: DevshError };

/** The records of one device, filtered, as soon as it has answered. A table is many of these. */
export interface ReadOutput {
  readonly kind: 'read';
  readonly view: View;
  readonly device: DeviceRef;
  /** Where the device stands among those selected, from 0; they answer in any order. */
  readonly position?: number;
  /** How many are selected: of those that have not answered nothing is known. */
  readonly total?: number;
  readonly outcome: ReadOutcome;
}

/** A record that is other than when its device was last read: `user list --watch`. */
export interface ChangeOutput {
  readonly kind: 'change';
  readonly at: Date;
  readonly device: DeviceRef;
  readonly view: View;
  readonly change: RecordChange;
}

/** The records of all devices that answered, compared: `user list --drift`. */
export interface DriftOutput {
  readonly kind: 'drift';
  readonly resource: string;
  readonly drift: Drift;
  /** Fields that differ by nature and were not compared. */
  readonly perDevice: readonly string[];
}

/** What a write is going to do; shown before the question, and all there is with `--dry-run`. */
export interface PlanOutput {
  readonly kind: 'plan';
  /** `--dry-run`: nothing follows, so the plan is the data and goes to stdout. */
  readonly dryRun?: boolean;
  readonly plan: Plan;
}

/** Long work goes on. Replaces the progress shown before; never part of the data. */
export interface ProgressOutput {
  readonly kind: 'progress';
  readonly done: number;
  /** 0: nothing is counted, the text says it all. */
  readonly total: number;
  readonly text: string;
}

/** One step has ended. */
export interface ResultOutput {
  readonly kind: 'result';
  readonly run: string;
  readonly result: StepResult;
  /** Told from the journal: it says nothing about how this command went. */
  readonly isPast?: true;
}

/** All steps of a run have ended. */
export interface SummaryOutput {
  readonly kind: 'summary';
  readonly run: string;
  readonly counts: Readonly<Partial<Record<Verdict, number>>>;
  /** The selected devices that could not be read; nothing was sent there. */
  readonly notCovered: readonly NotCovered[];
}

/** A table that is not about device records: devices, pins, history. `name` is its key in JSON. */
export interface TableOutput {
  readonly kind: 'table';
  readonly name: TableName;
  readonly columns: readonly TableColumn[];
  readonly rows: readonly Readonly<Record<string, Value>>[];
  /** Of a table that tells how devices answered: whether any did as asked, for the exit code. */
  readonly hasSuccess?: boolean;
  /** Secrets in it are what it is for (the accounts of the simulator): they are not masked. */
  readonly showsSecrets?: true;
}

interface TableColumn {
  readonly key: string;
  readonly title: string;
  /** Left out where a terminal has no room for it. */
  readonly isExtra?: true;
}

/** A column by its key where that is its title, too; false for one that is not wanted now. */
export type Column = string | TableColumn | false;

export function table(
  name: TableName,
  columns: readonly Column[],
  rows: TableOutput['rows'],
  more: Pick<TableOutput, 'hasSuccess' | 'showsSecrets'> = {},
): TableOutput {
  const shown = columns.flatMap((column) =>
    typeof column === 'string' ? { key: column, title: column.toUpperCase() } : column || [],
  );
  return { kind: 'table', name, columns: shown, rows, ...more };
}

/** Text of our own (help, a report): lines as they are, to stdout. `name` is its key in JSON. */
export interface TextOutput {
  readonly kind: 'text';
  readonly name: TextName;
  readonly text: string;
  /** The text is Markdown: a terminal shows it without its signs. */
  readonly isMarkdown?: true;
  /** The same for programs: JSON and YAML have this in place of the text. */
  readonly data?: JsonValue | undefined;
}

/** The answer to a raw request (`get`, `post`, `delete`). */
export interface AnswerOutput {
  readonly kind: 'answer';
  readonly device: DeviceRef;
  readonly status: number;
  /** The body as it came. */
  readonly body: string;
  /** The body decoded, when it is JSON and was not asked for as it came (`--raw`). */
  readonly value?: Value | undefined;
}

/** A remark beside the data, to stderr. `done` and `warning` are said in words, too. */
export interface MessageOutput {
  readonly kind: 'message';
  readonly level: 'info' | 'done' | 'warning';
  readonly text: string;
}

export function message(level: MessageOutput['level'], text: string): MessageOutput {
  return { kind: 'message', level, text };
}

export function info(text: string): MessageOutput {
  return message('info', text);
}

export function warning(text: string): MessageOutput {
  return message('warning', text);
}

export function success(text: string): MessageOutput {
  return message('done', text);
}

/** Something failed and the command goes on: one device among several, one line of a script. */
export interface ErrorOutput {
  readonly kind: 'error';
  readonly error: DevshError;
  readonly device?: DeviceRef;
}

/**
 * All data so far belongs together: readers that print at the end print it now (`simulator`, the lines
 * of a script). What follows is in `format`, where the line says so.
 */
interface CheckpointOutput {
  readonly kind: 'checkpoint';
  readonly format?: Format | undefined;
}

/** `quit` was typed. */
interface QuitOutput {
  readonly kind: 'quit';
}

const FAILED = 1;
const PARTIAL = 3;
const DRIFT = 7;
const DIFFERENCES = 8;

/** Absent: does not count, unless nothing else was said. */
const CODES: Readonly<Record<Verdict, number | undefined>> = {
  done: 0,
  unchanged: 0,
  'no effect': FAILED,
  differs: FAILED,
  failed: FAILED,
  drift: DRIFT,
  unknown: PARTIAL,
  skipped: undefined,
};

/**
 * The exit status of one command, from all that it said. Everything well: 0. Some well and some not,
 * or something unknown: 3. Drift, and nothing done or failed beside it: 7. Nothing well: the code that all failures share, otherwise 1. A comparison of all devices that found differences: 8. An error that
 * ended the command decides alone.
 */
export class ExitCode {
  readonly #codes = new Set<number>();
  #hasSkipped = false;
  #hasDone = false;
  #hasResults = false;
  #hasSteps = false;
  #hasDifferences = false;
  #ended: DevshError | undefined;

  add(output: Output): void {
    switch (output.kind) {
      case 'read':
        this.#codes.add(output.outcome.ok ? 0 : output.outcome.error.exitCode);
        break;
      case 'drift':
        this.#codes.add(0);
        if (output.drift.rows.some(({ isSame }) => !isSame)) this.#hasDifferences = true;
        break;
      case 'result':
        if (output.isPast === true) break;
        this.#hasResults = true;
        this.#addResult(output.result);
        break;
      case 'plan':
        for (const { steps, settled, error } of output.plan.devices) {
          if (steps.length > 0) this.#hasSteps = true;
          for (const result of settled) this.#addResult(result);
          if (error) this.#codes.add(error.exitCode);
        }
        break;
      case 'error':
        this.#codes.add(output.error.exitCode);
        break;
      case 'answer':
        this.#codes.add(statusCode(output.status));
        break;
      case 'table':
        if (output.hasSuccess === true) this.#codes.add(0);
        break;
      case 'progress':
      case 'change':
      case 'summary':
      case 'text':
      case 'message':
      case 'checkpoint':
      case 'quit':
        break;
    }
  }

  /** The command ended early. */
  addError(error: DevshError): void {
    this.#ended = error;
  }

  get value(): number {
    if (this.#ended) return this.#ended.exitCode;
    const codes = new Set(this.#codes);
    // A plan that nothing followed is well as far as it could be made.
    if (this.#hasSteps && !this.#hasResults) codes.add(0);
    const [only] = codes;
    if (only === undefined) return this.#hasSkipped ? FAILED : 0;
    // What was not reached makes a success a part of one.
    if (codes.size === 1) {
      if (only === 0 && this.#hasDifferences) return DIFFERENCES;
      return only === 0 && this.#hasSkipped ? PARTIAL : only;
    }
    const isDriftAlone = codes.size === 2 && codes.has(0) && codes.has(DRIFT) && !this.#hasDone;
    if (isDriftAlone) return DRIFT;
    return codes.has(0) || codes.has(PARTIAL) ? PARTIAL : FAILED;
  }

  #addResult({ verdict, error }: StepResult): void {
    const code = CODES[verdict];
    if (verdict === 'done') this.#hasDone = true;
    if (code === undefined) this.#hasSkipped = true;
    else this.#codes.add(code === FAILED ? (error?.exitCode ?? FAILED) : code);
  }
}

/** As the errors of a device: 4 for what the account may not do. */
function statusCode(status: number): number {
  if (status < 400) return 0;
  return status === 401 || status === 403 ? 4 : FAILED;
}
