import type { Change, Target } from '../change/change.ts';
import type { Value } from '../device/record.ts';
import { isResourceName } from '../device/profile.ts';
import { UsageError } from '../errors.ts';
import { parseChoice } from '../fleet/filter.ts';

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

const ACTIONS = ['add', 'set', 'delete'] as const;
const PARTS = {
  add: ['fields'],
  set: ['key', 'where', 'fields'],
  delete: ['key', 'where'],
} as const;

/** Throws UsageError for what is no change: not every caller has types. */
export function changeOf(spec: ChangeSpec): Change {
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

/** A part that is not known was meant for something. */
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
