/** A number with the digits that the device wrote, where JavaScript has others: `1.0`, `-0`, `1e-400`. */
export class ExactNumber {
  /** As in JSON. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }

  /** As for a `bigint`: `JSON.stringify` cannot write its digits. */
  toJSON(): never {
    throw new TypeError(`${this.text} is an exact number`);
  }
}

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

/** Groups items by name in order of appearance; drops those without a name. (Node 20 lacks `Map.groupBy`.) */
export function grouped<Item, Name>(
  items: Iterable<Item>,
  nameOf: (item: Item) => Name | undefined,
): Map<Name, [Item, ...Item[]]> {
  const groups = new Map<Name, [Item, ...Item[]]>();
  for (const item of items) {
    const name = nameOf(item);
    if (name === undefined) continue;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [item]);
    else group.push(item);
  }
  return groups;
}

/** How often each item occurs, the most frequent first. */
export function frequencies<Item>(items: Iterable<Item>): [item: Item, count: number][] {
  const counts = new Map<Item, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a);
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

/** Texts that would be taken for another value without quotes. */
const MISTAKABLE = /^(?:absent|null|\[\]|\{\}|".*")$/s;

/**
 * To read where it matters what a value is exactly: `absent`, `null`, `""`, `[]` and `{}` are told apart, and the
 * text `null` is quoted. Not yet safe to show.
 */
export function exactText(value: Value | undefined): string {
  if (value === undefined) return 'absent';
  if (value === null) return 'null';
  const text = valueText(value);
  if (text === '') return isValueList(value) ? '[]' : '""';
  return typeof value === 'string' && MISTAKABLE.test(text) ? `"${text}"` : text;
}

/** What stands in a text for bytes that are none. */
export const UNREADABLE = '\ufffd';

/** Whether a value has parts: a list or an object. */
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

/** An array or object being written, and the next entry. */
interface Level {
  readonly entries: readonly (readonly [label: string, value: JsonValue])[];
  readonly close: string;
  next: number;
}

/**
 * JSON with exact numbers: as the device wrote them; undefined fields are omitted. Not recursive, because a
 * device may nest deeper than the stack.
 */
export function jsonText(value: JsonValue, options: JsonTextOptions = {}): string {
  const indent = options.indent ?? 0;
  const parts: string[] = [];
  const levels: Level[] = [];

  const newLine = (): void => {
    if (indent > 0) parts.push('\n' + ' '.repeat(indent * levels.length));
  };
  const write = (item: JsonValue): void => {
    if (typeof item !== 'object' || item === null || item instanceof ExactNumber) {
      parts.push(scalarText(item));
      return;
    }
    const level = levelOf(item, indent > 0 ? ': ' : ':');
    parts.push(level.close === ']' ? '[' : '{');
    levels.push(level);
  };

  write(value);
  for (let level = levels.at(-1); level; level = levels.at(-1)) {
    const entry = level.entries[level.next];
    if (!entry) {
      levels.pop();
      if (level.entries.length > 0) newLine();
      parts.push(level.close);
      continue;
    }
    if (level.next > 0) parts.push(',');
    level.next += 1;
    newLine();
    parts.push(entry[0]);
    write(entry[1]);
  }
  return parts.join('');
}

function levelOf(
  item: readonly JsonValue[] | { readonly [field: string]: JsonValue },
  colon: string,
): Level {
  if (isList(item)) {
    return { entries: item.map((value) => ['', value]), close: ']', next: 0 };
  }
  const entries = Object.entries(item)
    .filter(([, value]) => value !== undefined)
    .map(([field, value]) => [JSON.stringify(field) + colon, value] as const);
  return { entries, close: '}', next: 0 };
}

function scalarText(
  item: string | number | bigint | ExactNumber | boolean | null | undefined,
): string {
  if (typeof item === 'string') return JSON.stringify(item);
  if (item === undefined || (typeof item === 'number' && !Number.isFinite(item))) return 'null';
  return String(item);
}

/** `Array.isArray` does not narrow read-only arrays. */
export function isList(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value);
}
