import type { WriteRequest } from '../device/encode.ts';
import { type DeviceRecord, type DeviceRef, grouped, valueText } from '../device/record.ts';
import { type DevshError, SettingsError, UsageError } from '../errors.ts';
import type { Change } from './change.ts';
import type { Action, StepResult } from './verdict.ts';
import { DeviceError, type FieldIssues, isChangedCertificate } from '../device/errors.ts';
import { unmistakable } from '../text/look-alike.ts';
import { someOf } from '../text/one-line.ts';
import { visible } from '../text/visible.ts';

/** One write to one record of one device, computed from what the device held. */
export interface Step {
  readonly action: Action;
  readonly resource: string;
  /** The natural key before the step. */
  readonly key: string;
  readonly keyField: string;
  readonly request: WriteRequest;
  /** The record before; absent for `add`. */
  readonly before?: DeviceRecord | undefined;
  /** What the record must hold afterwards, as far as it is known; absent for `delete`. */
  readonly after?: DeviceRecord | undefined;
  /** The fields that the user asked for. */
  readonly asked: DeviceRecord;
  /** Fields that nobody asked for but that must be sent: field -> where its value comes from. */
  readonly filled: Readonly<Record<string, string>>;
  /** What the body leaves out and the device erases with that. */
  readonly erases?: readonly string[] | undefined;
  /** What it leaves out of which nobody knows whether it is kept; none: of what is not shown. */
  readonly mayErase?: readonly string[] | undefined;
  /** Of a step that takes another one back: what it does not bring back. Of a delete: what no undo would. */
  readonly lost?: DeviceRecord | undefined;
  /** Fields that all records have and that may give rights: they are not filled in. */
  readonly leftOut?: readonly string[] | undefined;
  /** Fields of whose type nobody has told, although they look like more than text; a part as `a.b`. */
  readonly untyped?: readonly string[] | undefined;
}

/** A kind of write of which only convention says how it is done. */
export interface Assumption {
  readonly action: Action;
  readonly resource: string;
  /** In words: `DELETE /api/user/<uuid>/`. */
  readonly way: string;
}

/** A record whose name can be taken for that of another one on the same device. */
export interface LookAlike {
  readonly action: Action;
  readonly key: string;
  /** The names that it looks like. */
  readonly others: readonly string[];
}

/** What is to happen on one device. */
export interface DevicePlan {
  readonly device: DeviceRef;
  readonly steps: readonly Step[];
  /** Steps that need no request: unchanged, differs from an existing record, not possible. */
  readonly settled: readonly StepResult[];
  /** Ways to write that are convention only: neither documented, nor observed, nor configured. */
  readonly assumed?: readonly Assumption[];
  /** Nobody has proved that it is this device: its certificate was not checked. */
  readonly isUnchecked?: true;
  /** Records that can be taken for others on the device. */
  readonly lookAlikes?: readonly LookAlike[];
  /** How many records the device held, by resource; absent when it could not be read. */
  readonly total?: Readonly<Record<string, number>>;
  /** Set when the device could not be read: nothing is planned there, and nothing will be sent. */
  readonly error?: DevshError;
  /** What was wanted there, when it could not be read. */
  readonly wanted?: readonly Pick<StepResult, 'action' | 'resource' | 'key'>[];
  /** The same in full, so that `retry` can plan it. */
  readonly changes?: readonly Change[];
}

/** Which part of a plan file a plan is, and the file that its result is kept in. */
export interface PlanPart {
  /** The SHA-256 of the plan file. */
  readonly digest: string;
  readonly shard: Shard;
  /** An absolute path. */
  readonly result: string;
}

/** All that one change will do, device by device, in the order of the selection. */
export interface Plan {
  /** The run's id, also in every result; sorts by time. */
  readonly run: string;
  readonly devices: readonly DevicePlan[];
  readonly part?: PlanPart | undefined;
}

export function stepCount(plan: Plan): number {
  return plan.devices.reduce((count, device) => count + device.steps.length, 0);
}

/** In the order in which names are sorted. */
const ID_LETTERS = '23456789abcdefghijkmnpqrstuvwxyz';

/**
 * A run's id: the UTC time, two letters for the milliseconds and four random ones, as in
 * `20261121-093041-k3qd7m`. Runs of the same second sort by time, too: `undo` takes the latest.
 */
export function newRunId(now: Date, random: () => number = Math.random): string {
  const time = now.toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
  const letter = (index: number): string => ID_LETTERS[index % ID_LETTERS.length] ?? '';
  const milliseconds = now.getUTCMilliseconds();
  const tail = [0, 1, 2, 3].map(() => letter(Math.floor(random() * ID_LETTERS.length)));
  return `${time}-${letter(milliseconds >> 5)}${letter(milliseconds)}${tail.join('')}`;
}

/**
 * The parts of one device's plan, one for each change, as one. Throws a `UsageError` when two changes
 * are about the same record: each was planned as if the other were not there.
 */
export function mergeDevicePlans(device: DeviceRef, parts: readonly DevicePlan[]): DevicePlan {
  // One record is one object: all parts were planned from the same reading.
  const steps = new Map<DeviceRecord | string, Step>();
  for (const step of parts.flatMap((part) => part.steps)) {
    const name = recordName(step);
    const id = step.before ?? name;
    const earlier = steps.get(id);
    if (earlier !== undefined && !(earlier.action === 'delete' && step.action === 'delete')) {
      throw new UsageError(`${device.name}: ${name} would be changed twice: say it in one change`);
    }
    steps.set(id, step);
  }
  return {
    device,
    steps: [...steps.values()],
    settled: parts.flatMap(({ settled }) => settled),
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
    key: wantedKey(change),
  }));
  return { device, steps: [], settled: [], error, wanted, changes };
}

/** Devices that could not be read: nothing was planned there, which is a failure to be listed. */
export function unplannedResults({ devices }: Plan): StepResult[] {
  return devices.flatMap(({ device, error, wanted = [] }) =>
    error === undefined ? [] : wanted.map((one) => ({ device, ...one, verdict: 'failed', error })),
  );
}

function wantedKey(change: Change): string {
  if (change.action === 'add') {
    return valueText(change.fields['username'] ?? change.fields['name']);
  }
  return change.target.kind === 'key' ? change.target.key : change.target.filter;
}

/** Why a step makes no sense on a device as it is. */
type Impossibility = 'not-found' | 'ambiguous' | 'taken' | 'invalid';

/** The step makes no sense on this device as it is: no such record, more than one, a value it refuses. */
export class NotPossibleError extends DeviceError {
  override readonly code: Impossibility;
  /** What speaks against single fields. */
  readonly issues: FieldIssues;

  constructor(device: DeviceRef, code: Impossibility, message: string, issues: FieldIssues = {}) {
    super(device, message);
    this.code = code;
    this.issues = issues;
  }
}

/** The journal ends before its first line does: the run had sent nothing yet. */
export class EmptyJournalError extends SettingsError {}

/** More machines than that share no work. */
const MOST = 10_000;

/** One of several parts of a plan, each for a machine or a job of its own. */
export interface Shard {
  /** From 1. */
  readonly index: number;
  readonly total: number;
}

export const WHOLE: Shard = { index: 1, total: 1 };

/** `2/4`: the second of four. Throws a `UsageError`. */
export function parseShard(text: string): Shard {
  const [, index = '', total = ''] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  if (index === '') throw new UsageError(`"${text}" is no shard: the second of four is 2/4`);
  return shardOf(Number(index), Number(total));
}

/** Throws a `UsageError` for a shard that there is not: `0/3`, `5/3`. */
export function shardOf(index: number, total: number): Shard {
  if (total < 1 || total > MOST) {
    throw new UsageError(`there are 1 to ${MOST} shards, not ${total}`);
  }
  if (index < 1 || index > total) {
    throw new UsageError(`there is no shard ${index} of ${total}: they count from 1 to ${total}`);
  }
  return { index, total };
}

export function shardText({ index, total }: Shard): string {
  return `${index}/${total}`;
}

/**
 * The devices of a shard, by their places in the plan: the first shard of four has the first device,
 * the fifth, the ninth. The same plan gives the same shards everywhere, and no two differ by more
 * than one device.
 */
export function devicesOfShard<Device>(
  devices: readonly Device[],
  { index, total }: Shard,
): readonly Device[] {
  return devices.filter((_device, place) => place % total === index - 1);
}

/** What a step is about, in words: `user bob`, or `system` where there is one object only. */
export function recordName({
  resource,
  key,
}: {
  readonly resource: string;
  readonly key: string;
}): string {
  return key === '' ? resource : `${resource} ${quotedKey(key)}`;
}

/** In quotes where blanks would not be seen: at its ends, or two in a row. No two keys become the same. */
export function quotedKey(key: string): string {
  const shown = unmistakable(key);
  return /^\s|\s$|\s\s/.test(key) ? `'${shown}'` : shown;
}

/** A selected device of which nothing is known, and to which nothing was sent. */
export interface NotCovered {
  readonly device: DeviceRef;
  /** Why it could not be read. */
  readonly error: DevshError;
}

/** Codes of errors in words, behind a count or in parentheses. */
const IN_WORDS: Readonly<Record<string, string>> = {
  protocol: 'without a usable answer',
  unauthorized: 'refused the login',
  forbidden: 'forbid it',
  credentials: 'without a login',
  rejected: 'refused the request',
  refused: 'read-only',
  settings: 'with a settings file in the way',
};

/** Why a device failed, in one or two words. */
export function failureWord(error: DevshError): string {
  return isChangedCertificate(error) ? 'certificate CHANGED' : error.code;
}

export function causeText(error: DevshError): string {
  return IN_WORDS[error.code] ?? failureWord(error);
}

/** The selected devices that a plan says nothing of. */
export function notCoveredBy({ devices }: Pick<Plan, 'devices'>): readonly NotCovered[] {
  return devices.flatMap(({ device, error }) => (error === undefined ? [] : [{ device, error }]));
}

/**
 * "not covered: fw11, fw12 (unreachable); fw7 (refused the login)"; empty when there is none.
 *
 * @param most of one cause, so many are named; of more, how many they are is said, too
 */
export function notCoveredText(list: readonly NotCovered[], most = Infinity): string {
  const causes = grouped(list, ({ error }) => causeText(error));
  const parts = [...causes].map(([cause, devices]) => {
    const names = devices.map(({ device }) => visible(device.name));
    return `${someOf(names, most)} (${cause})`;
  });
  if (parts.length === 0) return '';
  const isCut = [...causes.values()].some(({ length }) => length > most);
  return `not covered${isCut ? ` (${list.length} devices)` : ''}: ${parts.join('; ')}`;
}

/** All of them as plain data. */
export function notCoveredData(list: readonly NotCovered[]) {
  if (list.length === 0) return undefined;
  return list.map(({ device, error }) => ({
    device: device.name,
    address: device.address,
    code: error.code,
  }));
}
