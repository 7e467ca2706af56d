import type { WriteRequest } from '../device/encode.ts';
import type { FieldFacts } from '../device/field-facts.ts';
import { fieldShape, type FieldShape } from '../device/field-shape.ts';
import type { Profile } from '../device/profile.ts';
import type { DeviceRecord, Value } from '../device/record.ts';
import { typedValue } from '../device/typed-value.ts';
import { isValueList } from '../device/value-text.ts';
import { UsageError } from '../errors.ts';
import type { Change } from './change.ts';
import type { Step } from './plan.ts';

/** What is known of the fields of a resource on one device. */
interface Known {
  readonly profile: Profile;
  readonly resource: string;
  readonly records: readonly DeviceRecord[];
}

/** What kind of value a field holds on a device. */
export function shapeOf({ profile, resource, records }: Known, field: string): FieldShape {
  return fieldShape(factsOf({ profile, resource }, field), valuesAt(records, [field]));
}

function factsOf(
  { profile, resource }: Omit<Known, 'records'>,
  field: string,
): FieldFacts | undefined {
  return ownOf(profile.resources[resource]?.details ?? {}, field);
}

/**
 * What was typed, in the types that the device has: `mtu=1500` a number, `groups=a,b` a list, and
 * `address.city=Berlin` one part of the nested field `address`, whose other parts stay as `before` has
 * them. A field that is really called `address.city` comes first. Throws UsageError for text that is no
 * JSON where JSON is wanted.
 */
export function typedFields(
  known: Known,
  fields: DeviceRecord,
  before: DeviceRecord = {},
): DeviceRecord {
  const typed = new Map<string, Value>();
  for (const [name, said] of Object.entries(fields)) {
    const path = pathOf(known, name);
    const [field = name] = path;
    const value = valueOf(said, name, {
      facts: path.length === 1 ? factsOf(known, field) : undefined,
      values: valuesAt(known.records, path),
      own: valuesAt([before], path)[0],
    });
    const held = typed.get(field) ?? ownOf(before, field) ?? {};
    typed.set(field, path.length === 1 ? value : withPart(held, path.slice(1), value));
  }
  // `fromEntries` makes `__proto__` a field like any other.
  return Object.fromEntries(typed);
}

/** In a form all is text: only JSON has types to be wrong about. */
export function untypedIn(
  known: Known,
  { fields, isExact }: Change & { readonly action: 'add' | 'set' },
  { json }: WriteRequest,
): Pick<Step, 'untyped'> {
  const untyped = json === undefined || isExact ? [] : untypedFields(known, fields);
  return untyped.length > 0 ? { untyped } : {};
}

/** The fields that are sent as text because nobody has told their type, although they look like more. */
export function untypedFields(known: Known, fields: DeviceRecord): string[] {
  return Object.entries(fields).flatMap(([field, value]) =>
    typeof value === 'string' &&
    /^(?:true|false|null|-?\d+(?:\.\d+)?|[[{].*)$/s.test(value) &&
    shapeOf(known, field).kind === 'unknown'
      ? [field]
      : [],
  );
}

/** The names from the field down to the part that is meant: one name for a field as a whole. */
function pathOf(known: Known, name: string): readonly string[] {
  if (isField(known, name)) return [name];
  for (let dot = name.indexOf('.'); dot > 0; dot = name.indexOf('.', dot + 1)) {
    const field = name.slice(0, dot);
    if (shapeOf(known, field).kind !== 'object') continue;
    const parts = known.records.map((record) => ownOf(record, field));
    return [field, ...partsOf(parts, name.slice(dot + 1))];
  }
  return [name];
}

/** The same below a field; what no record has yet is made of the names between the dots. */
function partsOf(values: readonly (Value | undefined)[], name: string): string[] {
  const objects = values.filter(isObject);
  if (objects.some((object) => Object.hasOwn(object, name))) return [name];
  const dot = name.indexOf('.');
  if (dot < 1) return [name];
  const part = name.slice(0, dot);
  const below = objects.map((object) => ownOf(object, part));
  return [part, ...partsOf(below, name.slice(dot + 1))];
}

function isField({ profile, resource, records }: Known, name: string): boolean {
  const known = profile.resources[resource];
  return (
    known?.fields.includes(name) === true ||
    Object.hasOwn(known?.details ?? {}, name) ||
    records.some((record) => Object.hasOwn(record, name))
  );
}

/** What is known of the place that a text is for. */
interface Place {
  readonly facts: FieldFacts | undefined;
  /** What records hold there, and what the one that is changed does. */
  readonly values: readonly (Value | undefined)[];
  readonly own: Value | undefined;
}

function valueOf(said: Value, name: string, place: Place): Value {
  const { facts, values, own } = place;
  if (isValueList(said)) {
    const items = values.flatMap((value) => (isValueList(value) ? value : []));
    return said.map((item) =>
      valueOf(item, name, { facts: undefined, values: items, own: undefined }),
    );
  }
  if (isObject(said)) {
    return Object.fromEntries(
      Object.entries(said).map(([part, item]) => {
        const [below] = valuesAt([own], [part]);
        const parts = { facts: undefined, values: valuesAt(values, [part]), own: below };
        return [part, valueOf(item, `${name}.${part}`, parts)];
      }),
    );
  }
  if (typeof said !== 'string') return said;
  const shared = fieldShape(facts, values);
  // Where records differ in kind, the one that is changed tells.
  const shape = shared.kind === 'unknown' ? fieldShape(undefined, [own]) : shared;
  const typed = typedValue(said, shape);
  if (typed.problem !== undefined) {
    throw new UsageError(`${name}: ${typed.problem}`, { field: name });
  }
  return typed.value;
}

/** What each of the values holds below these names. */
function valuesAt(
  values: readonly (Value | undefined)[],
  path: readonly string[],
): readonly (Value | undefined)[] {
  return path.reduce(
    (above, part) => above.map((value) => (isObject(value) ? ownOf(value, part) : undefined)),
    values,
  );
}

function withPart(held: Value, [part = '', ...rest]: readonly string[], value: Value): Value {
  const object = isObject(held) ? held : {};
  const below = rest.length === 0 ? value : withPart(ownOf(object, part) ?? {}, rest, value);
  return Object.fromEntries([...Object.entries(object), [part, below]]);
}

function isObject(value: Value | undefined): value is { readonly [field: string]: Value } {
  return typeof value === 'object' && value !== null && !isValueList(value);
}

function ownOf<T>(record: Readonly<Record<string, T>>, field: string): T | undefined {
  return Object.hasOwn(record, field) ? record[field] : undefined;
}
