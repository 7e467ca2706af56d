import type { Change } from '../change/change.ts';
import type { Value } from '../device/record.ts';
import { isResourceName } from '../device/profile.ts';
import { UsageError } from '../errors.ts';

/** Field by field; a text is read in the type that the device told for the field. */
export type Fields = Readonly<Record<string, Value>>;

/**
 * One change, as in a change-set file: which resource it is about, the record by its natural key or id
 * (`key`) or all that a filter picks (`where`), and the fields to be written.
 */
export type ChangeSpec =
  | { readonly add: string; readonly fields: Fields }
  | { readonly set: string; readonly key: string; readonly fields: Fields }
  | { readonly set: string; readonly where: string; readonly fields: Fields }
  | { readonly delete: string; readonly key: string }
  | { readonly delete: string; readonly where: string };

/** Throws UsageError for what is no change: not every caller has types. */
export function changeOf(spec: ChangeSpec): Change {
  if (!isObject(spec)) throw new UsageError('a change is an object, as { add: "user", fields }');
  if ('add' in spec) {
    return { action: 'add', resource: resourceOf(spec.add), fields: fieldsOf(spec.fields) };
  }
  if (!('set' in spec) && !('delete' in spec)) throw noAction();
  const target =
    'key' in spec
      ? ({ kind: 'key', key: spec.key } as const)
      : ({ kind: 'where', filter: spec.where } as const);
  if (typeof Object.values(target)[1] !== 'string') {
    throw new UsageError('a change says which records it is about: key or where');
  }
  if ('set' in spec) {
    const fields = fieldsOf(spec.fields);
    return { action: 'set', resource: resourceOf(spec.set), target, fields };
  }
  return { action: 'delete', resource: resourceOf(spec.delete), target };
}

function resourceOf(name: unknown): string {
  if (typeof name === 'string' && isResourceName(name)) return name;
  throw noAction();
}

function noAction(): UsageError {
  return new UsageError('a change says add, set or delete with the name of a resource, as "user"');
}

function fieldsOf(fields: unknown): Fields {
  if (isObject(fields) && Object.keys(fields).length > 0) {
    return fields as Fields;
  }
  throw new UsageError('a change that writes has fields, at least one');
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
