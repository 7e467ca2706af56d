import type { Change, Target } from '../change/change.ts';
import type { Value } from '../device/record.ts';
import { isResourceName } from '../device/profile.ts';
import { CancelledError, UsageError } from '../errors.ts';
import { parseChoice } from '../fleet/filter.ts';
import { allowedBy, type AllowedWord } from '../change/allow.ts';
import { doubtfulFields } from '../change/doubts.ts';
import { readAndPlan } from '../change/read-and-plan.ts';
import type { DevicePlan } from '../change/plan.ts';
import { fanOut } from '../fleet/fan-out.ts';
import { gate, OpenDevice } from './open-device.ts';

/** By field name. A text is converted to the type that the device reports for the field. */
export type Fields = Readonly<Record<string, Value>>;

/**
 * One change, as in a change-set file: the resource, the record by its natural key or id (`key`) or all
 * that match a filter (`where`), and the fields to write.
 */
export type ChangeSpec =
  | { readonly add: string; readonly fields: Fields }
  | { readonly set: string; readonly key: string; readonly fields: Fields }
  | { readonly set: string; readonly where: string; readonly fields: Fields }
  | { readonly delete: string; readonly key: string }
  | { readonly delete: string; readonly where: string };

const ACTIONS = ['add', 'set', 'delete'] as const;
const PARTS = {
  add: ['fields'],
  set: ['key', 'where', 'fields'],
  delete: ['key', 'where'],
} as const;

/** Throws UsageError for an invalid change: callers in JavaScript have no types. */
function changeOf(spec: ChangeSpec): Change {
  if (!isObject(spec)) throw new UsageError('a change is an object, as { add: "user", fields }');
  const parts: Readonly<Record<string, unknown>> = { ...spec };
  const [action, second] = ACTIONS.filter((one) => one in parts);
  if (action === undefined) throw noAction();
  if (second !== undefined) {
    throw new UsageError(`one change cannot be both ${action} and ${second}`);
  }
  refuseOthers(parts, [action, ...PARTS[action]]);
  const resource = resourceOf(parts[action]);
  if (action === 'add') return { action, resource, fields: fieldsOf(parts['fields']) };
  const target = targetOf(parts['key'], parts['where']);
  if (action === 'delete') return { action, resource, target };
  return { action, resource, target, fields: fieldsOf(parts['fields']) };
}

function targetOf(key: unknown, where: unknown): Target {
  if (typeof key === 'string' && key !== '' && where === undefined) return { kind: 'key', key };
  if (typeof where === 'string' && key === undefined) {
    parseChoice(where);
    return { kind: 'where', filter: where };
  }
  throw new UsageError('a change says which records it is about: key or where, as a text');
}

/** An unknown part is probably a typo. */
function refuseOthers(parts: object, known: readonly string[]): void {
  const other = Object.keys(parts).find((part) => !known.includes(part));
  if (other === undefined) return;
  throw new UsageError(`a change has no part "${other}" beside ${known.join(', ')}`);
}

function resourceOf(name: unknown): string {
  if (typeof name === 'string' && isResourceName(name)) return name;
  throw noAction();
}

function noAction(): UsageError {
  return new UsageError('a change says add, set or delete with the name of a resource, as "user"');
}

function fieldsOf(fields: unknown): Fields {
  if (!isObject(fields) || Array.isArray(fields) || Object.keys(fields).length === 0) {
    throw new UsageError('a change that writes has fields, at least one');
  }
  for (const [field, value] of Object.entries(fields)) {
    if (!isValue(value)) throw new UsageError(`the field ${field} has no value that can be sent`);
  }
  return fields as Fields;
}

function isValue(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object') return ['string', 'boolean', 'bigint'].includes(typeof value);
  return value === null || Object.values(value).every(isValue);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** What changes would do, device by device, computed from the current records. */
export class ReadyPlan {
  /** In the order of the given devices. A device that could not be read has an `error`. */
  readonly devices: readonly DevicePlan[];
  /** The warnings that the command line shows before its question. */
  readonly warnings: readonly string[];
  readonly #on: readonly OpenDevice[];

  private constructor(devices: readonly DevicePlan[], on: readonly OpenDevice[]) {
    this.devices = devices;
    this.#on = on;
    this.warnings = doubtfulFields({ devices });
  }

  /** @internal */
  static of(devices: readonly DevicePlan[], on: readonly OpenDevice[]): ReadyPlan {
    return new ReadyPlan(devices, on);
  }

  /** Number of requests that `apply` would send, reads not counted. */
  get steps(): number {
    return this.devices.reduce((count, { steps }) => count + steps.length, 0);
  }

  /** @internal */
  static behind(ready: ReadyPlan): readonly OpenDevice[] {
    return ready.#on;
  }
}

/**
 * Reads the devices and plans the changes on each of them; sends no write. Failures of one device
 * (unreachable, another certificate) are reported in its part of the plan. Throws UsageError for invalid
 * changes: a field without a name, one record changed twice, a value that a device rejects (`allow:
 * ['invalid']` plans it anyway).
 */
export async function plan(
  devices: OpenDevice | readonly OpenDevice[],
  changes: readonly ChangeSpec[],
  {
    signal = new AbortController().signal,
    allow = [],
  }: { readonly signal?: AbortSignal; readonly allow?: readonly AllowedWord[] } = {},
): Promise<ReadyPlan> {
  const allowed = allowedBy(allow);
  const all = devices instanceof OpenDevice ? [devices] : devices;
  refuseTwice(all);
  const wanted = changes.map(changeOf);
  gate.forgetRefusals();
  const planned = fanOut<OpenDevice, readonly [OpenDevice, DevicePlan]>(
    all,
    'adaptive',
    async (device, emit) => {
      const { access, session } = OpenDevice.behind(device);
      emit([device, await readAndPlan({ access, signal, allow: allowed }, session, wanted)]);
    },
    signal,
  );
  const plans = new Map<OpenDevice, DevicePlan>();
  for await (const [device, devicePlan] of planned) plans.set(device, devicePlan);
  if (signal.aborted) throw new CancelledError('cancelled: nothing was sent');
  return ReadyPlan.of(
    all.flatMap((device) => plans.get(device) ?? []),
    all,
  );
}

/** Plans, journals and results identify devices by name, locks by address. */
function refuseTwice(devices: readonly OpenDevice[]): void {
  for (const part of ['name', 'address'] as const) {
    const known = new Set<string>();
    for (const device of devices) {
      if (known.has(device[part]))
        throw new UsageError(`two devices have the ${part} ${device[part]}`);
      known.add(device[part]);
    }
  }
}
