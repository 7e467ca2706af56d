/** A number with the digits that the device wrote, where JavaScript has others: `1.0`, `-0`, `1e-400`. */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }

  toJSON(): unknown {
    return rawJson(this.text);
  }
}

/** For `JSON.stringify`: a number with these digits. The types of TypeScript do not know it yet. */
const { rawJSON: rawJson } = JSON as unknown as { readonly rawJSON: (text: string) => unknown };

/** The number in a text as in JSON, without loss of a digit. */
export function exactNumber(text: string): number | bigint | ExactNumber {
  const number = Number(text);
  if (String(number) === text) return number;
  return /^-?[1-9]\d*$/.test(text) ? BigInt(text) : new ExactNumber(text);
}

/** Integers beyond 2^53 are `bigint`: no digit is lost. Strings are untrusted, made visible only when shown. */
export type Value =
  | string
  | number
  | bigint
  | ExactNumber
  | boolean
  | null
  | readonly Value[]
  | { readonly [field: string]: Value };

/** One record of a resource (a user, an interface), in the field order of the device. */
export type DeviceRecord = Readonly<Record<string, Value>>;

/** The device's name, from the inventory or as typed, and its `host:port`. */
export interface DeviceRef {
  readonly name: string;
  readonly address: string;
}

/** A field of a record. Ignores inherited properties such as `constructor`. */
export function valueAt<T>(
  record: Readonly<Record<string, T>> | undefined,
  field: string,
): T | undefined {
  return record !== undefined && Object.hasOwn(record, field) ? record[field] : undefined;
}

/** Groups items by name in order of appearance; drops those without a name. */
export function grouped<Item, Name>(
  items: Iterable<Item>,
  nameOf: (item: Item) => Name | undefined,
): Map<Name, [Item, ...Item[]]> {
  const groups = Map.groupBy(items, nameOf);
  groups.delete(undefined);
  return groups as Map<Name, [Item, ...Item[]]>;
}

/** How often each item occurs, the most frequent first. */
export function frequencies<Item>(items: Iterable<Item>): [item: Item, count: number][] {
  const counts = new Map<Item, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a);
}

export function withoutFields(record: DeviceRecord, fields: readonly string[]): DeviceRecord {
  if (fields.length === 0) return record;
  return Object.fromEntries(Object.entries(record).filter(([field]) => !fields.includes(field)));
}

export function onlyFields(record: DeviceRecord, fields: readonly string[]): DeviceRecord {
  return Object.fromEntries(Object.entries(record).filter(([field]) => fields.includes(field)));
}

/** To read, compare and sort: empty for `null`, lists as `a, b`, nested values as JSON. Not yet safe to show. */
export function valueText(value: Value | undefined): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  if (!isNested(value)) return String(value);
  if (isValueList(value))
    return value.map((item) => (isNested(item) ? jsonText(item) : valueText(item))).join(', ');
  return jsonText(value);
}

/** Texts that would be taken for another value without quotes, as those that are in quotes. */
const MISTAKABLE = /^(?:absent|null|\[\]|\{\})$/;

/** Tells `absent`, `null`, `""`, `[]`, `{}` and the text `null` apart, for people. Not yet safe to show. */
export function exactText(value: Value | undefined): string {
  if (value === undefined) return 'absent';
  if (value === null) return 'null';
  const text = valueText(value);
  if (text === '') return isValueList(value) ? '[]' : '""';
  const isQuoted = text.length > 1 && text.startsWith('"') && text.endsWith('"');
  return typeof value === 'string' && (isQuoted || MISTAKABLE.test(text)) ? `"${text}"` : text;
}

/** What stands in a text for bytes that are none. */
export const UNREADABLE = '\ufffd';

export function isNested(
  value: Value | undefined,
): value is readonly Value[] | { readonly [field: string]: Value } {
  return typeof value === 'object' && value !== null && !(value instanceof ExactNumber);
}

/** `Array.isArray` does not narrow read-only arrays. */
export function isValueList(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value);
}

export function isValueObject(
  value: Value | undefined,
): value is { readonly [field: string]: Value } {
  return isNested(value) && !isValueList(value);
}

/** The value of a field; `address.city` is a part of a nested field, unless a field has this very name. */
export function nestedValue(record: DeviceRecord, field: string): Value | undefined {
  if (Object.hasOwn(record, field)) return record[field];
  if (!field.includes('.')) return undefined;
  let value: Value | undefined = record;
  for (const name of field.split('.')) {
    value = isValueObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return value;
}

/** Names of fields with an id: `uuid`, `user_id`, `userId`. */
export const ID_NAME = /(?:^|[_-])(?:uu|gu)?id$|[a-z](?:Uu|Gu)?I[dD]$/;

/** Whether a value is a timestamp (`modified`, `last_login`), which changes by itself. */
export function isTimeStamp(value: Value | undefined): boolean {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(value);
}

/** Names of timestamps about the record: `last_login`, `date_joined`, `modifiedAt`. */
const DEVICE_TIME =
  /^(?:last|latest)(?:login|logon|seen|used|active|activity|access|accessed|auth|sync|changed?|updated?|modified)(?:at|on|time|date)?$|^(?:date|time)?(?:created|creation|modified|updated|changed|added|joined)(?:at|on|time|date|timestamp)?$/;

const timeNames = new Map<string, boolean>();
const MAX_CACHED = 1_000;

/** Whether a field is a timestamp by name, and its value a date or empty. */
export function isDeviceTime(field: string, value: Value | undefined): boolean {
  let isName = timeNames.get(field);
  if (isName === undefined) {
    isName = DEVICE_TIME.test(field.toLowerCase().replace(/[^a-z0-9]/g, ''));
    if (timeNames.size >= MAX_CACHED) timeNames.clear();
    timeNames.set(field, isName);
  }
  if (!isName) return false;
  const text = valueText(value);
  return /^[\d\s./:-]*$/.test(text) || (/\d/.test(text) && !Number.isNaN(Date.parse(text)));
}

/** A value in a form: empty for `null`, JSON for nested values. */
export function formText(value: Value): string {
  if (value === null) return '';
  return isNested(value) ? jsonText(value) : String(value);
}

/** Anything that can be written as JSON: device values, and documents with optional parts. */
export type JsonValue =
  | string
  | number
  | bigint
  | ExactNumber
  | boolean
  | null
  | undefined
  | readonly JsonValue[]
  | { readonly [field: string]: JsonValue };

interface JsonTextOptions {
  /** Spaces per level; absent: everything on one line. */
  readonly indent?: number;
}

/** JSON with exact numbers, as the device wrote them; undefined fields are omitted. */
export function jsonText(value: JsonValue, { indent = 0 }: JsonTextOptions = {}): string {
  try {
    // Three times faster, but it refuses large integers.
    return JSON.stringify(value ?? null, null, indent);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const exact = (_name: string, part: unknown): unknown =>
      typeof part === 'bigint' ? rawJson(String(part)) : part;
    return JSON.stringify(value ?? null, exact, indent);
  }
}

/** `Array.isArray` does not narrow read-only arrays. */
export function isList(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** The order of a set says nothing: it is always the same. */
export function sorted(value: Value): Value {
  if (!isValueList(value)) return value;
  return value.toSorted((one, other) => (jsonText(one) < jsonText(other) ? -1 : 1));
}
