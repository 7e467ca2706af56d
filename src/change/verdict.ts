import type { DeviceRecord, DeviceRef, Value } from '../device/record.ts';
import type { DevshError } from '../errors.ts';
import { type Note, textOf } from '../output/sentences.ts';

/** What a step does to one record. */
export type Action = 'add' | 'set' | 'delete';

/** The outcomes of a step, in the order of a summary. */
export const VERDICTS = [
  'done', // read back as planned
  'unchanged', // was so already, nothing was sent
  'no effect', // accepted (2xx), but nothing changed
  'differs', // sent one thing, the device holds another
  'failed', // not carried out
  'drift', // the device changed since the plan; nothing was sent
  'unknown', // the answer was lost and reading back did not settle it
  'skipped', // not sent
] as const;
export type Verdict = (typeof VERDICTS)[number];

/** One field that differs. At most one of `sent`, `was` and `wanted` has the expected value. */
export interface Difference {
  readonly field: string;
  readonly sent?: Value | undefined;
  /** The value before; nothing was sent for the field. */
  readonly was?: Value | undefined;
  /** The requested value; nothing was sent at all. */
  readonly wanted?: Value | undefined;
  /** Absent, like the expected value: the record does not have the field. */
  readonly held?: Value | undefined;
}

/** The expected value of a difference, and its kind. */
export function expectedIn({ sent, was, wanted }: Difference): {
  readonly word: 'sent' | 'was' | 'wanted';
  readonly value: Value | undefined;
} {
  if (sent !== undefined) return { word: 'sent', value: sent };
  return wanted === undefined ? { word: 'was', value: was } : { word: 'wanted', value: wanted };
}

/** What is done to which record. */
export interface About {
  readonly resource: string;
  readonly action: Action;
  /** The natural key of the record (`username` of a user), or its id if it has none. */
  readonly key: string;
}

export function isAbout(one: About, { resource, action, key }: About): boolean {
  return one.resource === resource && one.action === action && one.key === key;
}

/** The end of one step on one device. */
export interface StepResult extends About {
  readonly device: DeviceRef;
  readonly verdict: Verdict;
  readonly differences?: readonly Difference[] | undefined;
  /** The record as read back; absent if it is gone or could not be read. */
  readonly record?: DeviceRecord | undefined;
  /** Other records that disappeared from the list, as they were. */
  readonly gone?: readonly DeviceRecord[] | undefined;
  /** What the user should know besides the verdict. A text is what an earlier run said: journals have no codes. */
  readonly notes?: readonly (Note | string)[] | undefined;
  readonly error?: DevshError | undefined;
  /** Why a filter that found nothing here cannot be right. */
  readonly doubt?: Note | undefined;
  /** The fields of a set that needed no request. */
  readonly asked?: DeviceRecord | undefined;
  /** No response confirmed the add: only reading shows that the record is ours. */
  readonly isByReading?: true | undefined;
  /** The response to a request that the user typed; no journal has it. */
  readonly response?: { readonly status: number; readonly body: string } | undefined;
}

/** The part of a result that is known only after the step. */
export type StepEnd = Omit<StepResult, 'device' | keyof About>;

export function resultFor(
  device: DeviceRef,
  { resource, key, action }: About,
  end: StepEnd,
): StepResult {
  return { device, resource, key, action, ...end };
}

/** Whether the device is in the requested state. */
export function isGood({ verdict }: StepResult): boolean {
  return verdict === 'done' || verdict === 'unchanged';
}

/** The same end with more notes. A note with an empty list of names says nothing. */
export function withNotes(end: StepEnd, ...more: readonly (Note | string | undefined)[]): StepEnd {
  const notes = [end.notes ?? [], more.map((one) => one ?? [])]
    .flat(2)
    .filter((one) => typeof one === 'string' || !('names' in one) || one.names !== '');
  return notes.length === 0 ? end : { ...end, notes };
}

/** What each note says, for scripts: `seen.no-change`. */
export function codesOf({ notes = [] }: Pick<StepEnd, 'notes'>): readonly string[] {
  return notes.flatMap((note) =>
    typeof note === 'string' ? [] : [note.code, 'is' in note ? note.is : []].flat().join('.'),
  );
}

/** All notes as one text; undefined without any. */
export function noteText({ notes }: Pick<StepEnd, 'notes'>): string | undefined {
  return notes?.map(textOf).join('; ');
}
