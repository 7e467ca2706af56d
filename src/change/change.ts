import type { WriteRequest } from '../device/encode.ts';
import type { DeviceRecord } from '../device/record.ts';
import { matches, parseChoice } from '../fleet/filter.ts';
import type { Meant } from './identity.ts';
import { type Dependents, type Purpose, type Rotation, rotationOf, type Step } from './step.ts';

export type Target =
  /** Without `by`, the key is a name if a record has that name, else an id. `id=101` and `username=101` say which. */
  | { readonly kind: 'key'; readonly key: string; readonly by?: 'name' | 'id' | undefined }
  | { readonly kind: 'where'; readonly filter: string };

/** Fields whose values are sent as typed (`FIELD:=JSON`), without conversion to the device's type. */
type AsJson = readonly string[];

interface AnyChange {
  readonly resource: string;
  readonly typed?: WriteRequest | undefined;
  /** The earlier record that is changed or made again. */
  readonly meant?: Meant | undefined;
  /** The step of an earlier run whose request may have arrived: the reading may show that it did. */
  readonly sent?: Step | undefined;
  readonly purpose?: Purpose | undefined;
}

interface WithFields extends AnyChange {
  readonly fields: DeviceRecord;
  readonly asJson?: AsJson | undefined;
  /** The values were read from a device, not typed by the user. */
  readonly isExact?: true | undefined;
  /** For a restored record: the fields that cannot be restored, with their old values. */
  readonly lost?: DeviceRecord | undefined;
}

interface WithTarget extends AnyChange {
  readonly target: Target;
  readonly expected?: Expected | undefined;
}

export interface Add extends WithFields {
  readonly action: 'add';
  /** For a record that is restored: see `Effects`. */
  readonly takes?: readonly Dependents[] | undefined;
}

interface SetFields extends WithFields, WithTarget {
  readonly action: 'set';
  /** The fields take a new secret. They are masked; the profile of each device names them. */
  readonly rotation?: Rotation | undefined;
  /** A device that does not have the record needs no change. */
  readonly isOptional?: true | undefined;
  /** The fields that the record shall no longer have. */
  readonly removes?: readonly string[] | undefined;
}

interface Delete extends WithTarget {
  readonly action: 'delete';
}

/** What the user wants on every selected device. Every write starts as a `Change`. Plain data. */
export type Change = Add | SetFields | Delete;

/** The change that a step carries out, for the record that it means by now. Steps of a file have no purpose. */
export function changeOf(
  step: Pick<Step, 'action' | 'resource' | 'key' | 'asked' | 'removes'> & Partial<Step>,
  meant?: Meant,
): Change {
  const { action, resource, asked: fields, purpose, removes, effects: { lost, takes } = {} } = step;
  const about = { resource, meant, purpose: purpose?.kind === 'lockout' ? purpose : undefined };
  const target = { kind: 'key' as const, key: meant?.key ?? step.key };
  if (action === 'delete') return { ...about, action, target };
  const values = {
    fields,
    isExact: true,
    lost: purpose?.kind === 'restore' ? lost : undefined,
  } as const;
  return action === 'add'
    ? { ...about, action, ...values, takes: values.lost && takes }
    : { ...about, action, target, ...values, removes, rotation: rotationOf(step) };
}

/** Values at the last reading: a field that differs now has drifted, and is not changed. */
export type Expected = DeviceRecord;

/**
 * Words must match exactly: a write must not guess. Throws a `UsageError` for an invalid filter.
 *
 * @param without fields whose conditions count as met
 */
export function recordsWhere(
  filter: string,
  records: readonly DeviceRecord[],
  deviceName: string,
  without: readonly string[] = [],
): readonly DeviceRecord[] {
  const parsed = parseChoice(filter);
  const terms = parsed.terms.filter((one) => one.kind === 'word' || !without.includes(one.field));
  return records.filter((record) => matches({ ...parsed, terms }, record, deviceName));
}
