import { createHash } from 'node:crypto';
import type { Step } from './step.ts';
import { type DeviceRecord, type DeviceRef, grouped, valueText } from '../device/record.ts';
import { type DevshError, SettingsError, UsageError } from '../errors.ts';
import type { Change } from './change.ts';
import { causeText } from '../fleet/failure-cause.ts';
import type { About, Action, StepResult } from './verdict.ts';
import { DeviceError, type FieldIssues } from '../device/errors.ts';
import { shortened, unmistakable, visible } from '../text/visible.ts';
import { someOf } from '../text/one-line.ts';
import type { Note } from '../output/sentences.ts';

/** A kind of write that only convention describes. */
export interface Assumption {
  readonly action: Action;
  readonly resource: string;
  /** In words: `DELETE /api/user/<uuid>/`. */
  readonly way: string;
}

/** What a key of the line turned out to be on a device. */
export interface KeyReading extends About {
  /** Absent: no record has it. */
  readonly by?: 'name' | 'id';
  /** The field that has the key: `username`, `uuid`. */
  readonly field?: string;
  /** The natural key of the record with that id. */
  readonly name?: string;
}

/** A field that the line names, on a device whose fields are known. */
export interface FieldReading {
  readonly resource: string;
  readonly field: string;
  /** All fields of the device, if this is not one of them. */
  readonly others?: readonly string[];
}

/** A record whose name looks like that of another record on the device. */
export interface LookAlike {
  readonly action: Action;
  readonly key: string;
  readonly others: readonly string[];
}

export interface DevicePlan {
  readonly device: DeviceRef;
  readonly steps: readonly Step[];
  /** Steps that need no request: unchanged, differs from an existing record, not possible. */
  readonly settled: readonly StepResult[];
  readonly assumed?: readonly Assumption[];
  /** A request that the user typed, and of which nobody knows what it does; without its secrets. There are no steps. */
  readonly raw?: string | undefined;
  /** The fingerprint of its certificate, or `verified` by an authority; absent if it was not checked. */
  readonly pin?: string | undefined;
  /** The device's certificate was not checked. */
  readonly isUnchecked?: true;
  readonly lookAlikes?: readonly LookAlike[];
  /** Needed until the whole plan is known: a key has one meaning on all devices. */
  readonly keyReadings?: readonly KeyReading[] | undefined;
  /** Needed until the whole plan is known: a field that no device has is a mistake. */
  readonly fieldReadings?: readonly FieldReading[] | undefined;
  /** Numbers by resource; absent if the device could not be read. */
  readonly total?: Readonly<Record<string, number>>;
  /** Set if the device could not be read: it has no steps, and nothing is sent there. */
  readonly error?: DevshError;
  /** The requested changes in short, if the device could not be read. */
  readonly wanted?: readonly About[];
  /** The requested changes in full that are still to be planned: `resume` does it. */
  readonly changes?: readonly Change[] | undefined;
  /** The work that this run takes over from the run that it continues: it is no longer pending there. */
  readonly takesOver?: readonly About[] | undefined;
}

/** A step of a plan file: whom it means, what was there, and what is wanted. It has no request: `apply` encodes it anew. */
export type Wish = Pick<
  Step,
  'action' | 'resource' | 'key' | 'keyField' | 'before' | 'asked' | 'removes' | 'meant' | 'effects'
>;

/** A device in a plan file. */
export interface StoredDevice extends Omit<DevicePlan, 'steps'> {
  readonly steps: readonly Wish[];
}

/** The shard of a plan file, and the file for its result. */
export interface PlanPart {
  /** The SHA-256 of the plan file. */
  readonly digest: string;
  readonly shard: Shard;
  /** An absolute path. */
  readonly result: string;
}

/** A whole plan, device by device, in the order of the selection. */
export interface Plan {
  /** The run's id: sorts after all earlier ones. */
  readonly run: string;
  readonly devices: readonly DevicePlan[];
  readonly part?: PlanPart | undefined;
  /** Why, in the words of the user. */
  readonly reason?: string | undefined;
  /** A keyed digest of the file that the line reads: the same line with another file is another line. */
  readonly input?: string | undefined;
  /** The first of the runs that this run continues, and its line. */
  readonly of?: { readonly run: string; readonly command: string } | undefined;
  /** The run that this run undoes, and the addresses of the devices concerned. */
  readonly undoes?: { readonly run: string; readonly on: readonly string[] } | undefined;
}

export function stepCount(plan: Plan): number {
  return plan.devices.reduce((count, device) => count + device.steps.length, 0);
}

/** Throws a `UsageError` if two changes affect the same record: each was planned without the other. */
export function mergeDevicePlans(device: DeviceRef, parts: readonly DevicePlan[]): DevicePlan {
  // All parts were planned from the same reading, so the same record is the same object.
  const steps = new Map<DeviceRecord | string, Step>();
  for (const step of parts.flatMap((part) => part.steps)) {
    const id = step.before ?? recordName(step);
    const earlier = steps.get(id);
    if (earlier !== undefined && !(earlier.action === 'delete' && step.action === 'delete')) {
      const name = recordName(step);
      throw new UsageError({ code: 'not-sent', is: 'twice', name }, { where: device.name });
    }
    steps.set(id, step);
  }
  return {
    device,
    steps: [...steps.values()],
    settled: parts.flatMap(({ settled }) => settled),
    keyReadings: parts.flatMap(({ keyReadings = [] }) => keyReadings),
    total: Object.fromEntries(parts.flatMap(({ total = {} }) => Object.entries(total))),
  };
}

/** The part of a plan for a device that could not be read. */
export function unplanned(
  device: DeviceRef,
  changes: readonly Change[],
  error: DevshError,
): DevicePlan {
  const wanted = changes.map((change) => ({
    action: change.action,
    resource: change.resource,
    key: keyOfChange(change),
  }));
  return { device, steps: [], settled: [], error, wanted, changes };
}

export function unplannedResults({ device, error, wanted = [] }: DevicePlan): StepResult[] {
  if (error === undefined) return [];
  return wanted.map((one) => ({ device, ...one, verdict: 'failed', error }));
}

export function keyOfChange(change: Change): string {
  if (change.action === 'add') {
    return valueText(change.fields['username'] ?? change.fields['name']);
  }
  return change.target.kind === 'key' ? change.target.key : change.target.filter;
}

/** Why a step is not possible on a device. */
type Impossibility = 'not-found' | 'not-known' | 'ambiguous' | 'taken' | 'invalid';

/** The step is not possible on this device: no such record, several of them, or a value that it refuses. */
export class NotPossibleError extends DeviceError {
  override readonly code: Impossibility;
  override readonly exitCode: number;
  /** Problems of single fields. */
  readonly issues: FieldIssues;

  constructor(
    device: DeviceRef,
    code: Impossibility,
    what: Note | string,
    issues: FieldIssues = {},
  ) {
    super(device, what);
    this.code = code;
    this.exitCode = code === 'not-known' ? 3 : 1;
    this.issues = issues;
  }
}

/** The journal ends within its first line: the run had sent nothing yet. */
export class EmptyJournalError extends SettingsError {}

/** The most machines that share a plan. */
const MOST = 10_000;

/** One of several parts of a set of devices, each for another machine or job. */
export interface Shard {
  /** From 1. */
  readonly index: number;
  readonly total: number;
}

export const WHOLE: Shard = { index: 1, total: 1 };

/** Parses `2/4`, the second of four. Throws a `UsageError`. */
export function parseShard(text: string): Shard {
  const [, index = '', total = ''] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  if (index === '') throw new UsageError({ code: 'bad-shard', is: 'form', text });
  return shardOf(Number(index), Number(total));
}

/** Throws a `UsageError` for a shard out of range: `0/3`, `5/3`. */
export function shardOf(index: number, total: number): Shard {
  if (total < 1 || total > MOST) {
    throw new UsageError({ code: 'bad-shard', is: 'total', most: MOST, total });
  }
  if (index < 1 || index > total) {
    throw new UsageError({ code: 'bad-shard', is: 'index', index, total });
  }
  return { index, total };
}

export function shardText({ index, total }: Shard): string {
  return `${index}/${total}`;
}

/** Decides by a hash of the address, `host:port`, so that another inventory or order moves no device. */
export function isInShard(address: string, { index, total }: Shard): boolean {
  const hash = createHash('sha256').update(address).digest();
  return hash.readUIntBE(0, 6) % total === index - 1;
}

/** `user bob`, or `system` for a single object. */
export function recordName({
  resource,
  key,
}: {
  readonly resource: string;
  readonly key: string;
}): string {
  return key === '' ? resource : `${resource} ${quotedKey(key)}`;
}

/** Longer keys are cut in messages. */
const LONGEST_KEY = 400;

/** Quoted if blanks would not be seen. Different keys give different texts: plans fold by them. */
export function quotedKey(key: string): string {
  if (key.length > LONGEST_KEY) {
    const digest = createHash('sha256').update(key, 'utf16le').digest('hex').slice(0, 16);
    return `${unmistakable(shortened(key, LONGEST_KEY))} (SHA-256 ${digest}…)`;
  }
  const shown = unmistakable(key);
  return /^\s|\s$|\s\s/.test(key) ? `'${shown}'` : shown;
}

/** A selected device that could not be read, and to which nothing was sent. */
export interface NotCovered {
  readonly device: DeviceRef;
  /** Why it could not be read. */
  readonly error: DevshError;
  /** Number of its steps, which have the verdict `failed`. */
  readonly steps?: number;
}

/** Codes of errors by which a change never reached its device. Any other failure is an answer, and leaves nothing pending. */
const OWING_CODES = ['unreachable', 'untrusted', 'unauthorized', 'login-failed', 'credentials'];

export function isOwing({ error }: { readonly error?: DevshError | undefined }): boolean {
  return error !== undefined && OWING_CODES.includes(error.code);
}

/** Stopped by the gate, or because values have changed: nothing was sent. */
export function isStopped({ verdict, error }: Pick<StepResult, 'verdict' | 'error'>): boolean {
  return verdict === 'drift' || (verdict === 'skipped' && error?.code === 'doubt');
}

export function notCoveredBy({ devices }: Pick<Plan, 'devices'>): readonly NotCovered[] {
  return devices.flatMap(({ device, error, wanted = [] }) =>
    error === undefined ? [] : [{ device, error, steps: wanted.length }],
  );
}

/** "not reached: fw11, fw12; refused the login: fw7"; of each cause `most` are named. */
export function notCoveredText(list: readonly NotCovered[], most = Infinity): string {
  const causes = grouped(list, ({ error }) => causeText(error));
  const parts = [...causes].map(([cause, devices]) => {
    const names = devices.map(({ device }) => visible(device.name));
    return `${cause}: ${someOf(names, most)}`;
  });
  return parts.join('; ');
}

export function notCoveredData(list: readonly NotCovered[]) {
  if (list.length === 0) return undefined;
  return list.map(({ device, error }) => ({
    device: device.name,
    address: device.address,
    code: error.code,
  }));
}
