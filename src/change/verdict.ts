import type { DeviceRecord, DeviceRef, Value } from '../device/record.ts';
import type { DevshError } from '../errors.ts';

/** What a step does to one record. */
export type Action = 'add' | 'set' | 'delete';

/** What a device really holds after a step, in the order of a summary. */
export const VERDICTS = [
  'done', // read back as planned
  'unchanged', // was so already, nothing was sent
  'no effect', // accepted (2xx), but nothing changed
  'differs', // sent one thing, the device holds another
  'failed', // not carried out
  'drift', // the device changed since the plan; nothing was sent
  'unknown', // the answer was lost and reading back did not settle it
  'skipped', // not reached
] as const;
export type Verdict = (typeof VERDICTS)[number];

/** One field where the device holds something else. Only one of the first three says than what. */
export interface Difference {
  readonly field: string;
  readonly sent?: Value;
  /** What it was before: nothing was sent for it. */
  readonly was?: Value;
  /** What it is to be: nothing was sent at all. */
  readonly wanted?: Value;
  readonly held: Value;
}

/** What a device does not hold, and whether that was sent. */
export function expectedIn({ sent, was, wanted }: Difference): {
  readonly word: 'sent' | 'was' | 'wanted';
  readonly value: Value;
} {
  if (sent !== undefined) return { word: 'sent', value: sent };
  return was === undefined
    ? { word: 'wanted', value: wanted ?? null }
    : { word: 'was', value: was };
}

/** The end of one step on one device. */
export interface StepResult {
  readonly device: DeviceRef;
  readonly resource: string;
  /** The natural key of the record (`username` of a user), or its id where there is none. */
  readonly key: string;
  readonly action: Action;
  readonly verdict: Verdict;
  readonly differences?: readonly Difference[] | undefined;
  /** The record as read back; absent when it is gone or could not be read. */
  readonly record?: DeviceRecord | undefined;
  /** Other records that the list no longer shows, as they were. */
  readonly gone?: readonly DeviceRecord[] | undefined;
  /** What the user should know besides the verdict, one sentence. */
  readonly note?: string | undefined;
  readonly error?: DevshError | undefined;
}

/** The end of a step, without what is known of it before. */
export type StepEnd = Omit<StepResult, 'device' | 'resource' | 'key' | 'action'>;

/** Whether a result means that the device is as it was meant to be. */
export function isGood({ verdict }: StepResult): boolean {
  return verdict === 'done' || verdict === 'unchanged';
}
