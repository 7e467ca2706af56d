import { maskedRequest, type WriteRequest } from '../device/encode.ts';
import {
  type DeviceRecord,
  ExactNumber,
  isList,
  jsonText,
  type JsonValue,
} from '../device/record.ts';
import { isMask, journaled, maskedRecord, shownKey } from '../device/sensitive-fields.ts';
import { DevshError } from '../errors.ts';
import { MASK } from '../text/one-line.ts';
import type { Change } from './change.ts';
import { maskedDifference } from './compare.ts';
import type { DevicePlan, Plan, StoredDevice } from './plan.ts';
import { type Difference, noteText, type StepResult } from './verdict.ts';
import type { Step } from './step.ts';

/**
 * The one format of stored runs, as JSON Lines. A plan file is the opening of a journal and a seal. A
 * journal is the opening and the events since. The result of a shard is its journal and a seal.
 */
export const RUN_SCHEMA = 'devsh-run/4';
/** Those of an older devsh. The first did not record which device a plan was for. */
export const OLDER_RUN_SCHEMAS: readonly string[] = ['devsh-run/2', 'devsh-run/3'];

/** Who started a run, when, and with which command line. Contains no secret. */
export interface RunHead {
  readonly run: string;
  /** ISO 8601. */
  readonly at: string;
  readonly command: string;
  /** Why, in the words of the user. */
  readonly reason?: string | undefined;
  /** `user@machine` */
  readonly by: string;
  /** The terminal; absent in journals of programs. */
  readonly session?: string | undefined;
  readonly version: string;
}

/** The first line of a journal. */
export interface JournalHead extends RunHead, Pick<Plan, 'input' | 'part' | 'of' | 'undoes'> {}

/** The first line of a plan file. */
export interface PlanHead extends RunHead {
  readonly expiresAt: string;
  /** The changes to plan again with `--replan`. */
  readonly changes: readonly Change[];
}

/** What a run left to do, and the user gives up. */
export interface Drop {
  readonly at: string;
  readonly by: string;
  readonly reason: string;
  /** The addresses of the devices. */
  readonly on: readonly string[];
}

/** Identifies a step of a plan: the device's name and the index among its steps, from 0. */
export interface StepRef {
  readonly device: string;
  readonly index: number;
}

/** Whether a run is a `lockout`, which leaves devsh a login on each device. */
export function isLockout({ command }: Pick<RunHead, 'command'>): boolean {
  return /^lockout(?:\s|$)/.test(command);
}

/** One line. `send` is on disk before the request is sent. */
export type JournalEntry =
  | ({ readonly kind: 'run' } & JournalHead)
  | ({ readonly kind: 'plan' } & PlanHead)
  | { readonly kind: 'device'; readonly plan: DevicePlan }
  | { readonly kind: 'planned' }
  /** An older devsh continued a run in its journal. `at`: the place in the run of each of these steps. */
  | { readonly kind: 'replan'; readonly plan: DevicePlan; readonly at: readonly number[] }
  | {
      readonly kind: 'send';
      readonly ref: StepRef;
      readonly at: string;
      /** The step as sent, if its record has moved since the plan. */
      readonly step?: Step | undefined;
    }
  | {
      readonly kind: 'verdict';
      readonly ref: StepRef;
      readonly at: string;
      readonly result: StepResult;
    }
  | { readonly kind: 'stop'; readonly at: string; readonly reason: string }
  | {
      readonly kind: 'resume';
      readonly at: string;
      readonly by: string;
      readonly reason?: string | undefined;
    }
  | { readonly kind: 'end'; readonly at: string }
  | ({ readonly kind: 'drop' } & Drop)
  /** The last line of a portable file: the hash of all lines above. */
  | { readonly kind: 'seal'; readonly sha256: string };

/** The entry of a device in a plan file. Its steps have no requests. */
interface StoredEntry {
  readonly kind: 'device';
  readonly plan: StoredDevice;
}

/** The state of a step. `sent` without a verdict is unconfirmed: only reading shows the outcome. */
export type StepState =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'sent'; readonly at: string }
  /** `sentAt`: absent if no request left. */
  | {
      readonly kind: 'ended';
      readonly at: string;
      readonly sentAt?: string | undefined;
      readonly result: StepResult;
    };

/** When its request left; undefined if none did. */
export function sentTime(state: StepState | undefined): string | undefined {
  return state?.kind === 'ended' ? state.sentAt : state?.kind === 'sent' ? state.at : undefined;
}

/** A run, read from its journal. */
export interface Run extends RunHead {
  readonly plan: Plan;
  /** An older devsh began it, which did not record which devices it was for. */
  readonly isOlder?: true | undefined;
  /** Whether the whole plan is in the journal. If not, nothing was sent. */
  readonly isPlanned: boolean;
  readonly states: ReadonlyMap<string, readonly StepState[]>;
  /** Why the run last stopped early. */
  readonly stopReason: string | undefined;
  readonly endedAt: string | undefined;
  readonly drops?: readonly Drop[];
}

/** The line of an entry, with its line break. Secrets are masked, numbers exact. */
export function journalLine(
  entry: JournalEntry | StoredEntry,
  mask: typeof journaled = journaled,
): string {
  const isHead = entry.kind === 'run' || entry.kind === 'plan';
  const whole = isHead ? { schema: RUN_SCHEMA, ...entry } : entry;
  return `${jsonText(written(whole, mask))}\n`;
}

/** The same for a file that leaves this machine: no digest shows whether two secrets are the same. */
export function portableLine(entry: JournalEntry | StoredEntry): string {
  return journalLine(entry, () => MASK);
}

/** The values under these names, at any depth, are records or lists of records. */
const RECORDS = ['after', 'asked', 'before', 'expected', 'fields', 'gone', 'lost', 'record'];

/** Records as read from a device: digests of secrets show later whether somebody has changed them. */
const READ = ['before', 'record'];

/** The values under these names are results. */
const RESULTS = ['result', 'settled'];

/** The notes as one text: a later devsh may have other codes. */
function withNote({ notes, ...result }: StepResult) {
  return { ...result, ...(notes && { note: noteText({ notes }) }) };
}

/** Any part of an entry as plain data, secrets masked. */
function written(part: unknown, mask: typeof journaled, name = ''): JsonValue {
  if (typeof part !== 'object' || part === null || part instanceof ExactNumber) {
    return part as JsonValue;
  }
  if (isList(part)) return part.map((one) => written(one, mask, name));
  if (part instanceof DevshError) {
    const { code, exitCode, message } = part;
    return { code, exitCode, message };
  }
  if (RECORDS.includes(name)) {
    return maskedRecord(part as DeviceRecord, READ.includes(name) ? mask : undefined);
  }
  if (name === 'differences') return maskedDifference(part as Difference);
  if (name === 'request') return { ...maskedRequest(part as WriteRequest) };
  const fields = Object.entries(RESULTS.includes(name) ? withNote(part as StepResult) : part).map(
    ([field, value]) => [field, written(value, mask, field)],
  );
  const plain = Object.fromEntries(fields) as Readonly<Record<string, JsonValue>>;
  return 'keyField' in part ? withShownKey(plain, part as Step) : plain;
}

/** If the natural key of a step is a secret, its images keep a digest of the key, which finds the record again. */
function withShownKey(plain: Readonly<Record<string, JsonValue>>, step: Step): JsonValue {
  const { before, after, key, keyField } = step;
  if (!isMask(key)) return plain;
  const shown = (image: DeviceRecord | undefined, masked: JsonValue | undefined) =>
    image && { ...(masked as DeviceRecord), [keyField]: shownKey(keyField, image[keyField]) };
  return { ...plain, before: shown(before, plain.before), after: shown(after, plain.after) };
}

/** Records each request before it is sent, and its verdict. */
export interface ApplyJournal {
  /** @param step the step as sent, if its record has moved since the plan */
  sending(ref: StepRef, step?: Step): Promise<void>;
  ended(ref: StepRef, result: StepResult): Promise<void>;
  stopped(reason: string): Promise<void>;
}

/** A step that has no verdict yet. */
export interface PendingStep {
  readonly step: Step;
  readonly ref: StepRef;
}

/** The first entries of a run or of a plan file. */
export function opening<Device extends StoredDevice>(
  head: JournalEntry & { readonly kind: 'run' | 'plan' },
  devices: readonly Device[],
) {
  const planned = devices.map((plan) => ({ kind: 'device' as const, plan }));
  return [head, ...planned, { kind: 'planned' as const }];
}

/** @param append puts an entry on disk */
export function journalIn(
  append: (entry: JournalEntry) => Promise<void>,
  clock: () => Date,
): ApplyJournal {
  const at = (): string => clock().toISOString();
  return {
    sending: (ref, step) => append({ kind: 'send', ref, at: at(), step }),
    ended: (ref, result) => append({ kind: 'verdict', ref, at: at(), result }),
    stopped: (reason) => append({ kind: 'stop', at: at(), reason }),
  };
}
