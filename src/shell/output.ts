import type { NotCovered, Plan } from '../change/plan.ts';
import type { StepResult, Verdict } from '../change/verdict.ts';
import type { DeviceRecord, DeviceRef, JsonValue, Value } from '../device/record.ts';
import type { DevshError } from '../errors.ts';
import type { RecordChange } from '../fleet/compared.ts';
import type { Drift } from '../fleet/drift.ts';
import type { FoldedEvent } from '../history/fold-events.ts';
import type { Format } from './grammar/options.ts';
import { type Note, textOf } from '../output/sentences.ts';
import { someOf } from '../text/one-line.ts';
import type { TableName, TextName } from './help/document-schema.ts';

/** The output of a command as data, for each reader to draw. Its strings may come from a device and are not escaped. */
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
  | { readonly kind: 'quit' };

export interface View {
  readonly resource: string;
  /** `table`: one row for each record. `record`: one block with every field for each record. */
  readonly layout: 'table' | 'record';
  /** The field of the natural key (`username`): the first column, by which folding finds the same record. */
  readonly key?: string | undefined;
  /** Field names to show, in order. If absent, devsh chooses them by content. */
  readonly columns?: readonly string[] | undefined;
  /** The columns of an earlier line. Those that the records have replace the choice by content. */
  readonly recalled?: readonly string[] | undefined;
  /** Field names to sort by, most important first; a leading `-` reverses. Absent: device order. */
  readonly sort?: readonly string[] | undefined;
  /** Show records that are equal on several devices as one row. */
  readonly fold: boolean;
  /** Fields that differ between devices by nature (id, token): they are no drift and do not prevent folding. */
  readonly perDevice: readonly string[];
  /** Whether a filter left out records, so that a missing key proves nothing. */
  readonly filtered?: boolean;
  /** Whether the records are from an earlier reading, without a request. */
  readonly isPast?: boolean;
  /** Present if the records go to a file, complete and exact. */
  readonly file?: {
    readonly filter?: string;
    /** Whether the file contains the records of one device. */
    readonly isOneDevice?: boolean;
  };
}

export type ReadOutcome =
  | { readonly ok: true; readonly records: readonly DeviceRecord[] }
  | { readonly ok: false; readonly error: DevshError };

/** The filtered records of one device, as soon as it has responded. A table consists of many of these. */
export interface ReadOutput {
  readonly kind: 'read';
  readonly view: View;
  readonly device: DeviceRef;
  /** The position of the device in the selection, from 0: devices respond in any order. */
  readonly position?: number;
  /** Number of selected devices, including those without a response. */
  readonly total?: number;
  readonly outcome: ReadOutcome;
  /** The fields that the list is known to leave out. */
  readonly omits?: readonly string[] | undefined;
  /** Whether the list may leave records out. */
  readonly mayLack?: boolean;
  /** The times (ms UTC) of the earlier reading that the records are from. `next`: when the reading after it ended. */
  readonly past?: { readonly from: number; readonly to: number; readonly next: number | undefined };
}

/** A record that changed since the device was last read: `user list --watch`. */
export interface ChangeOutput {
  readonly kind: 'change';
  readonly at: Date;
  readonly device: DeviceRef;
  readonly view: View;
  readonly change: RecordChange;
}

/** The records of all devices that responded, compared: `user list --drift`. */
export interface DriftOutput {
  readonly kind: 'drift';
  readonly resource: string;
  readonly drift: Drift;
  /** Fields that differ by nature and were not compared. */
  readonly perDevice: readonly string[];
}

/** The plan of a write: shown before the question, and the only output with `--dry-run`. */
export interface PlanOutput {
  readonly kind: 'plan';
  /** True with `--dry-run`: no results follow, so the plan is the data and goes to stdout. */
  readonly dryRun?: boolean;
  /** True with `--yes`: nobody is asked, and the results tell what was done. */
  readonly isAgreed?: boolean;
  readonly plan: Plan;
}

/** The progress of long work. Replaces the progress shown before; never part of the data. */
export interface ProgressOutput {
  readonly kind: 'progress';
  readonly done: number;
  /** 0 if nothing is counted: only the text is shown. */
  readonly total: number;
  readonly text: string;
}

/** How many devices have ended, and which are still awaited, the longest ones first. */
export function awaiting(
  text: string,
  awaited: ReadonlySet<{ readonly ref: DeviceRef }>,
  total: number,
): ProgressOutput {
  const { size } = awaited;
  const names = awaited.values().map(({ ref }) => ref.name);
  return { kind: 'progress', done: total - size, total, text: awaitingText(text, names, size) };
}

/** `connecting: waiting for fw12, fw21 and 14 more`. Reads no more names than it shows: there may be thousands. */
export function awaitingText(text: string, names: Iterable<string>, count: number): string {
  if (count === 0) return text;
  const [first = '', second = ''] = names;
  return `${text}: waiting for ${someOf(count === 1 ? [first] : [first, second], 2, count)}`;
}

export interface ResultOutput {
  readonly kind: 'result';
  readonly run: string;
  readonly result: StepResult;
  /** True if the result comes from a journal: it does not count for the exit status of this command. */
  readonly isPast?: true;
}

export interface SummaryOutput {
  readonly kind: 'summary';
  readonly run: string;
  readonly counts: Readonly<Partial<Record<Verdict, number>>>;
  /** The selected devices that could not be read and were not written to. */
  readonly notCovered: readonly NotCovered[];
  /** The names of the devices on which the run still has something to do. */
  readonly pending?: readonly string[] | undefined;
}

/** A table that is not about device records: devices, pins, history. `name` is its key in JSON. */
export interface TableOutput {
  readonly kind: 'table';
  readonly name: TableName;
  readonly columns: readonly TableColumn[];
  readonly rows: readonly Readonly<Record<string, Value>>[];
  /** Whether any device responded as asked, for the exit code; absent if the table reports no responses. */
  readonly hasSuccess?: boolean;
  /** A comparison found differences: exit code 8. */
  readonly hasDifferences?: boolean;
  /** The events of the rows, one for each, for the screen. */
  readonly changes?: readonly FoldedEvent[];
  /** True if the results beside it tell the same to people. */
  readonly isDataOnly?: true;
  /** The table exists to show secrets (the accounts of the simulator): they are not masked. */
  readonly showsSecrets?: true;
}

interface TableColumn {
  readonly key: string;
  readonly title: string;
  /** True if a narrow terminal may leave the column out. */
  readonly isExtra?: true;
}

/** A string is both key and title of the column; false leaves the column out. */
export type Column = string | TableColumn | false;

export function table(
  name: TableName,
  columns: readonly Column[],
  rows: TableOutput['rows'],
  more: Pick<
    TableOutput,
    'hasSuccess' | 'hasDifferences' | 'changes' | 'isDataOnly' | 'showsSecrets'
  > = {},
): TableOutput {
  const shown = columns.flatMap((column) =>
    typeof column === 'string' ? { key: column, title: column.toUpperCase() } : column || [],
  );
  return { kind: 'table', name, columns: shown, rows, ...more };
}

/** Text of devsh itself (help, a report), printed unchanged to stdout. `name` is its key in JSON. */
export interface TextOutput {
  readonly kind: 'text';
  readonly name: TextName;
  readonly text: string;
  /** The text is Markdown: a terminal shows it without the markup. */
  readonly isMarkdown?: true;
  /** Replaces the text in JSON and YAML. */
  readonly data?: JsonValue | undefined;
}

export interface AnswerOutput {
  readonly kind: 'answer';
  readonly device: DeviceRef;
  readonly status: number;
  readonly body: string;
  /** The decoded body, if it is JSON and `--raw` is not given. */
  readonly value?: Value | undefined;
  /** True if a verdict judges the request, so that its status does not count. */
  readonly isJudged?: true;
}

/** A remark beside the data, to stderr. `done` and `warning` are also written out as words. */
export interface MessageOutput {
  readonly kind: 'message';
  readonly level: 'info' | 'done' | 'warning';
  readonly text: string;
  /** Whether something succeeded, so that failures elsewhere make the line partial. */
  readonly hasSuccess?: boolean;
  /** Whether something is no longer pending that an earlier line named as pending. */
  readonly settles?: boolean;
  /** Whether the message is not about the line itself, so that other output is more important. */
  readonly isAside?: boolean;
}

export function message(level: MessageOutput['level'], what: Note | string): MessageOutput {
  return { kind: 'message', level, text: textOf(what) };
}

export function info(what: Note | string): MessageOutput {
  return message('info', what);
}

export function warning(what: Note | string): MessageOutput {
  return message('warning', what);
}

export function success(what: Note | string): MessageOutput {
  return message('done', what);
}

/** An error after which the command continues: one device among several, one line of a script. */
export interface ErrorOutput {
  readonly kind: 'error';
  readonly error: DevshError;
  readonly device?: DeviceRef;
}

/** Makes readers that print at the end print all output so far. If given, `format` is that of the output after it. */
interface CheckpointOutput {
  readonly kind: 'checkpoint';
  readonly format?: Format | undefined;
}

const FAILED = 1;
const PARTIAL = 3;
/** The exit code for questions of the gate that nobody answered. */
const ASK = 6;
const DRIFT = 7;
const DIFFERENCES = 8;

/** The exit code of each verdict. `undefined` counts only if there is no other verdict. */
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

/** All well 0, differences 8, mixed or unknown 3, only questions 6, only drift 7; else the code that all share, or 1. */
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
        if (output.isJudged !== true) this.#codes.add(statusCode(output.status));
        break;
      case 'message':
        if (output.hasSuccess === true) this.#codes.add(0);
        break;
      case 'table':
        if (output.hasSuccess === true) this.#codes.add(0);
        if (output.hasDifferences === true) this.#hasDifferences = true;
        break;
      case 'progress':
      case 'change':
      case 'summary':
      case 'text':
      case 'checkpoint':
      case 'quit':
        break;
    }
  }

  addError(error: DevshError): void {
    this.#ended = error;
  }

  get value(): number {
    if (this.#ended) return this.#ended.exitCode;
    const codes = new Set(this.#codes);
    // Without results, a plan counts as a success for what could be planned.
    if (this.#hasSteps && !this.#hasResults) codes.add(0);
    const [only] = codes;
    if (only === undefined) return this.#hasSkipped ? FAILED : 0;
    // A skipped step makes a success partial.
    if (codes.size === 1) {
      if (only === 0 && this.#hasDifferences) return DIFFERENCES;
      return only === 0 && this.#hasSkipped ? PARTIAL : only;
    }
    const stops = [DRIFT, ASK].filter((code) => codes.has(code));
    const isStopped =
      !this.#hasDone && [...codes].every((code) => code === 0 || stops.includes(code));
    const [stop] = stops;
    if (isStopped && stop !== undefined) return stops.length === 1 ? stop : PARTIAL;
    return codes.has(0) || codes.has(PARTIAL) ? PARTIAL : FAILED;
  }

  #addResult({ verdict, error }: StepResult): void {
    const code = error?.code === 'doubt' ? ASK : CODES[verdict];
    if (verdict === 'done') this.#hasDone = true;
    if (code === undefined) this.#hasSkipped = true;
    else this.#codes.add(code === FAILED ? (error?.exitCode ?? FAILED) : code);
  }
}

/** The code of a device error with this HTTP status: 4 if the account lacks the permission. */
function statusCode(status: number): number {
  if (status < 400) return 0;
  return status === 401 || status === 403 ? 4 : FAILED;
}
