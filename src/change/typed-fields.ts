import { asBoolean } from '../device/equality.ts';
import { fieldShape, type FieldShape, nestedIn, typedValue } from '../device/typed-value.ts';
import { describedFields, fieldFacts, type Profile } from '../device/profile.ts';
import type { FieldFacts } from '../device/profile-schema.ts';
import {
  type DeviceRecord,
  sorted,
  isValueList,
  isValueObject,
  type Value,
  valueAt,
  isNested,
  valueText,
} from '../device/record.ts';
import { UsageError } from '../errors.ts';
import { type Note, textOf } from '../output/sentences.ts';
import { someOf } from '../text/one-line.ts';

export interface Known {
  readonly profile: Profile;
  readonly resource: string;
  readonly records: readonly DeviceRecord[];
}

export function shapeOf({ profile, resource, records }: Known, field: string): FieldShape {
  return fieldShape(fieldFacts(profile, resource, field), valuesAt(records, [field]));
}

interface Reading {
  readonly before?: DeviceRecord | undefined;
  /** Fields whose values are JSON already. */
  readonly asJson?: readonly string[] | undefined;
  /** The request is JSON: only JSON has types that may be wrong. */
  readonly isJson?: boolean | undefined;
}

/**
 * Converts typed values to the types of the device: `mtu=1500` to a number, `groups=a,b` to a list.
 * `address.city=Berlin` changes one part of the nested field `address` and keeps the others from `before`;
 * a field that is really called `address.city` comes first. If the type is unknown, a list or an object in
 * JSON is taken as such, anything else as text; `untyped` names those that look like more than text. Throws a
 * `UsageError` for invalid JSON where JSON is required.
 */
export function typedFields(
  known: Known,
  fields: DeviceRecord,
  { before = {}, asJson = [], isJson = false }: Reading = {},
): { readonly fields: DeviceRecord; readonly untyped: readonly string[] } {
  const typed = new Map<string, Value>();
  const untyped: string[] = [];
  for (const [name, given] of Object.entries(fields)) {
    const path = pathOf(known, name);
    const [field = name] = path;
    const place = {
      facts: path.length === 1 ? fieldFacts(known.profile, known.resource, field) : undefined,
      values: valuesAt(known.records, path),
      own: valuesAt([before], path)[0],
    };
    const isText = typeof given === 'string' && !asJson.includes(name);
    const isOpen = isJson && isText && shapeAt(place).kind === 'unknown';
    const read = asJson.includes(name) ? given : valueOf(given, name, place);
    const value = (isOpen && !showsText(place) ? nestedIn(given) : undefined) ?? read;
    if (isOpen && value !== null && LOOKS_LIKE_MORE.test(given)) untyped.push(name);
    const held = typed.get(field) ?? valueAt(before, field) ?? {};
    typed.set(field, path.length === 1 ? value : withPart(held, path.slice(1), value));
  }
  // `fromEntries` makes `__proto__` a field like any other.
  return { fields: Object.fromEntries(typed), untyped };
}

const LOOKS_LIKE_MORE = /^(?:true|false|null|-?\d+(?:\.\d+)?|\s*[[{].*)$/s;

function showsText({ values, own }: Place): boolean {
  return [...values, own].some((value) => typeof value === 'string');
}

/** The path from the field down to the part: one name for a whole field. */
function pathOf(known: Known, name: string): readonly string[] {
  if (isField(known, name)) return [name];
  const field = objectAbove(known, name);
  if (field === undefined) return [name];
  const parts = known.records.map((record) => valueAt(record, field));
  return [field, ...partsOf(parts, name.slice(field.length + 1))];
}

/** The nested field that a dotted name is a part of; one that no record has yet is named before the first dot. */
function objectAbove(known: Known, name: string): string | undefined {
  const above = Array.from(name.matchAll(/\./g), ({ index }) => name.slice(0, index));
  const field = above.find((one) => one !== '' && shapeOf(known, one).kind === 'object');
  const [first] = above;
  const isNew = /^[^.]+(?:\.[^.]+)+$/.test(name) && first !== undefined && !isField(known, first);
  return field ?? (isNew ? first : undefined);
}

/** The path below a field. Parts that no record has are split at the dots. */
function partsOf(values: readonly (Value | undefined)[], name: string): string[] {
  const objects = values.filter(isValueObject);
  if (objects.some((object) => Object.hasOwn(object, name))) return [name];
  const dot = name.indexOf('.');
  if (dot < 1) return [name];
  const part = name.slice(0, dot);
  const below = objects.map((object) => valueAt(object, part));
  return [part, ...partsOf(below, name.slice(dot + 1))];
}

function isField({ profile, resource, records }: Known, name: string): boolean {
  return (
    describedFields(profile, resource).includes(name) ||
    records.some((record) => Object.hasOwn(record, name))
  );
}

interface Place {
  readonly facts: FieldFacts | undefined;
  /** The values of all records there, and of the record to change. */
  readonly values: readonly (Value | undefined)[];
  readonly own: Value | undefined;
}

function valueOf(given: Value, name: string, place: Place): Value {
  const { values, own } = place;
  if (isValueList(given)) {
    const items = values.flatMap((value) => (isValueList(value) ? value : []));
    const typed = given.map((item) =>
      valueOf(item, name, { facts: undefined, values: items, own: undefined }),
    );
    return place.facts?.type === 'set' ? sorted(typed) : typed;
  }
  if (isValueObject(given)) {
    return Object.fromEntries(
      Object.entries(given).map(([part, item]) => {
        const [below] = valuesAt([own], [part]);
        const parts = { facts: undefined, values: valuesAt(values, [part]), own: below };
        return [part, valueOf(item, `${name}.${part}`, parts)];
      }),
    );
  }
  if (typeof given !== 'string') return given;
  const shape = shapeAt(place);
  if (given === 'null' && isNullable(place, shape)) return null;
  const typed = typedValue(given, shape);
  if (typed.problem === undefined) return typed.value;
  throw new UsageError(typed.problem, { where: name, field: name });
}

function shapeAt({ facts, values, own }: Place): FieldShape {
  const shared = fieldShape(facts, values);
  // If records differ in type, the record to change decides.
  return shared.kind === 'unknown' ? fieldShape(undefined, [own]) : shared;
}

/** Whether `null` means null: records have null there, and no text. A user called "null" keeps the name. */
function isNullable({ facts, values, own }: Place, { kind }: FieldShape): boolean {
  if (facts?.nullable !== undefined) return facts.nullable;
  const held = [...values, own];
  if (kind === 'text' || !held.includes(null)) return false;
  return kind !== 'unknown' || held.every((value) => value === undefined || value === null);
}

function valuesAt(
  values: readonly (Value | undefined)[],
  path: readonly string[],
): readonly (Value | undefined)[] {
  return path.reduce(
    (above, part) =>
      above.map((value) => (isValueObject(value) ? valueAt(value, part) : undefined)),
    values,
  );
}

function withPart(held: Value, [part = '', ...rest]: readonly string[], value: Value): Value {
  const object = isValueObject(held) ? held : {};
  const below = rest.length === 0 ? value : withPart(valueAt(object, part) ?? {}, rest, value);
  return Object.fromEntries([...Object.entries(object), [part, below]]);
}

export interface FieldLimits {
  readonly type?: string | undefined;
  readonly maxLength?: number | undefined;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly choices?: readonly { readonly value: string }[] | undefined;
  readonly nested?: FieldShape | undefined;
}

const MOST_NAMED = 6;

const NUMERIC = ['integer', 'float', 'decimal', 'number'];

/** Why a device with these limits would refuse the value; undefined if it would not. */
export function checkValue(limits: FieldLimits, value: Value): Note | undefined {
  const text = valueText(value);
  if (text === '') return undefined;
  const { type = '', maxLength, min, max, choices } = limits;
  const code = { code: 'bad-value' } as const;
  if (choices !== undefined && choices.length > 0) {
    const values = choices.map((choice) => choice.value);
    const items = isValueList(value) ? value.map(valueText) : [text];
    const wrong = items.find((item) => item !== '' && !values.includes(item));
    if (wrong === undefined) return undefined;
    const is = isValueList(value) ? 'choice-of-list' : 'choice';
    return { ...code, is, item: wrong, choices: someOf(values, MOST_NAMED) };
  }
  if (type === 'boolean' && asBoolean(text) === undefined) return { ...code, is: 'boolean' };
  if (type === 'integer' && !/^[+-]?\d+$/.test(text.trim())) return { ...code, is: 'integer' };
  if (NUMERIC.includes(type)) {
    const number = Number(text);
    if (text.trim() === '' || !Number.isFinite(number)) return { ...code, is: 'number' };
    if (min !== undefined && number < min) return { ...code, is: 'less', min };
    if (max !== undefined && number > max) return { ...code, is: 'more', max };
  }
  const length = Array.from(text).length;
  if (maxLength === undefined || isNested(value) || length <= maxLength) return undefined;
  return { ...code, is: 'long', length, most: maxLength };
}

/** A text that is no valid list or nested value is the first problem. */
export function checkText(limits: FieldLimits, text: string): string | undefined {
  const typed = typedValue(text, limits.nested ?? { kind: 'text' });
  const problem = typed.problem ?? checkValue(limits, typed.value);
  return problem && textOf(problem);
}

/** Returns problems by field. A change, unlike a record that `isNew`, may omit required fields, but not empty them. */
export function checkFields(
  known: Readonly<Record<string, FieldFacts>>,
  fields: DeviceRecord,
  isNew: boolean,
): ReadonlyMap<string, Note> {
  const problems = Object.entries(known).flatMap(([name, facts]) => {
    const problem = fieldProblem(facts, valueAt(fields, name), isNew);
    return problem === undefined ? [] : [[name, problem] as const];
  });
  return new Map(problems);
}

function fieldProblem(
  facts: FieldFacts,
  value: Value | undefined,
  isNew: boolean,
): Note | undefined {
  const code = { code: 'not-planned' } as const;
  const isGiven = value !== undefined;
  const isMissing = facts.required === true && valueText(value) === '' && (isNew || isGiven);
  if (facts.readOnly === true) return isGiven ? { ...code, is: 'read-only' } : undefined;
  if (facts.createOnly === true && isGiven && !isNew) return { ...code, is: 'create-only' };
  if (facts.nullable === false && value === null) return { ...code, is: 'null' };
  if (isMissing) return { ...code, is: 'required' };
  return isGiven ? checkValue(facts, value) : undefined;
}
