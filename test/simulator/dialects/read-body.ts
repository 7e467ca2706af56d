import {
  type ApiRequest,
  CONTENT_TYPES,
  mediaType,
  type Outcome,
  refusal,
  unsupported,
} from '../../../src/simulator/view.ts';
import type { Dialect, ResourceTable } from './site.ts';
import {
  type ChoiceField,
  type Field,
  type IntegerField,
  isRequired,
  type ListField,
  type StringField,
} from './resources.ts';
import type { DeviceRecord, Value } from '../../../src/device/record.ts';
import type { NumberedTable, StoredRecord } from './dialect-store.ts';

/** The fields of a request, or why it cannot be read. */
type Body = { readonly input: Input } | { readonly refused: Outcome };

/**
 * Reads JSON or a form, whichever the dialect accepts. A form without a boolean means false, without a
 * list an empty list, because browsers omit what is not ticked; a partial one changes only what it has.
 */
export function readBody(
  { traits }: Dialect,
  request: ApiRequest,
  fields: readonly Field[],
  isPartial: boolean,
): Body {
  const type = mediaType(request);
  if (request.body === '' && type === '') return { input: {} };
  const encoding = traits.encodings.find((known) => CONTENT_TYPES[known] === type);
  switch (encoding) {
    case undefined:
      return { refused: unsupported(request) };
    case 'form':
      return { input: formInput(new URLSearchParams(request.body), fields, isPartial) };
    case 'json':
      return jsonInput(request.body);
  }
}

function jsonInput(body: string): Body {
  let sent: unknown;
  try {
    sent = JSON.parse(body);
  } catch {
    return {
      refused: refusal(400, 'JSON parse error - Expecting value: line 1 column 1 (char 0)'),
    };
  }
  if (isObject(sent)) return { input: sent };
  const text = `Invalid data. Expected a dictionary, but got ${typeName(sent)}.`;
  return { refused: { status: 400, value: { non_field_errors: [text] } } };
}

/** Nested fields are written `ipv4.mode`; the last of a repeated field wins, except in lists. */
function formInput(
  form: URLSearchParams,
  fields: readonly Field[],
  isPartial: boolean,
  prefix = '',
): Input {
  const input: Record<string, unknown> = {};
  // The action and the id are not fields of the resource.
  if (prefix === '') for (const [name, text] of form) input[name] = text;
  for (const field of fields) {
    const name = `${prefix}${field.name}`;
    const texts = form.getAll(name);
    if (field.type === 'nested object') {
      const nested = [...form.keys()].some((key) => key.startsWith(`${name}.`));
      if (nested) input[field.name] = formInput(form, field.children, isPartial, `${name}.`);
      continue;
    }
    const missing = field.type === 'boolean' ? false : field.type === 'list' ? [] : undefined;
    if (texts.length > 0) {
      // `addresses=` means an empty list.
      const items = texts.length === 1 && texts[0] === '' ? [] : texts;
      input[field.name] = field.type === 'list' ? items : texts.at(-1);
    } else if (!isPartial && missing !== undefined) {
      input[field.name] = missing;
    }
  }
  return input;
}

/** Messages per field, like in the body of a 400. */
type Problems = readonly string[] | ProblemsByField;
type ProblemsByField = { readonly [field: string]: Problems };

type Read<T, P = Problems> = { readonly value: T } | { readonly problems: P };

interface Reading {
  /** The current record; undefined for a new one. */
  readonly before?: DeviceRecord | undefined;
  /** Whether missing fields stay unchanged, even required ones. */
  readonly isPartial: boolean;
  /** Whether missing fields are emptied. */
  readonly replaces: boolean;
  readonly trims: boolean;
}

/** Unchecked fields. */
type Input = Readonly<Record<string, unknown>>;

const TRUE = ['true', 't', 'yes', 'y', 'on', '1'];
const FALSE = ['false', 'f', 'no', 'n', 'off', '0'];

/** All fields of a record, or the problems of each. Unknown and read-only fields are ignored. */
function readFields(
  fields: readonly Field[],
  input: Input,
  reading: Reading,
): Read<DeviceRecord, ProblemsByField> {
  const record: Record<string, Value> = {};
  const problems: Record<string, Problems> = {};
  for (const field of fields) {
    const isGiven = [input, reading.before ?? {}].some((record) =>
      Object.hasOwn(record, field.name),
    );
    if (field.mayLack === true && !isGiven) continue;
    const read = readField(field, input, reading);
    if ('problems' in read) problems[field.name] = read.problems;
    else record[field.name] = read.value;
  }
  return Object.keys(problems).length > 0 ? { problems } : { value: record };
}

function readField(field: Field, input: Input, reading: Reading): Read<Value> {
  const before = reading.before?.[field.name];
  if (field.type === 'datetime') return { value: new Date().toISOString() };
  if (field.readOnly !== true && Object.hasOwn(input, field.name)) {
    return readValue(field, input[field.name], reading);
  }
  const isKept = reading.isPartial || (!isRequired(field) && !reading.replaces);
  if (before !== undefined && (isKept || field.readOnly === true)) return { value: before };
  return field.fallback === undefined
    ? { problems: ['This field is required.'] }
    : { value: field.fallback };
}

function readValue(
  field: Exclude<Field, { type: 'datetime' }>,
  sent: unknown,
  reading: Reading,
): Read<Value> {
  if (sent === null) return { problems: ['This field may not be null.'] };
  switch (field.type) {
    case 'string':
      return readString(field, sent, reading);
    case 'choice':
      return readChoice(field, sent);
    case 'boolean':
      return readBoolean(sent);
    case 'integer':
      return readInteger(field, sent);
    case 'list':
      return readList(field, sent, reading);
    case 'nested object': {
      if (!isObject(sent)) {
        const text = `Invalid data. Expected a dictionary, but got ${typeName(sent)}.`;
        return { problems: { non_field_errors: [text] } };
      }
      const before = reading.before?.[field.name];
      return readFields(field.children, sent, {
        ...reading,
        before: isObject(before) ? before : undefined,
      });
    }
  }
}

function readString(
  {
    maxLength,
    mayBeBlank,
    pattern,
    patternMessage: patternMessage,
  }: Omit<StringField, 'name' | 'type'>,
  sent: unknown,
  { trims }: Reading,
): Read<string> {
  if (typeof sent !== 'string' && typeof sent !== 'number') {
    return { problems: ['Not a valid string.'] };
  }
  const text = trims ? String(sent).trim() : String(sent);
  if (text.trim() === '' && mayBeBlank !== true) {
    return { problems: ['This field may not be blank.'] };
  }
  const problems = [
    ...(pattern?.test(text) === false ? [patternMessage ?? 'Enter a valid value.'] : []),
    ...(text.includes('\0') ? ['Null characters are not allowed.'] : []),
    ...(Array.from(text).length > maxLength
      ? [`Ensure this field has no more than ${maxLength} characters.`]
      : []),
  ];
  return problems.length > 0 ? { problems } : { value: text };
}

function readChoice({ choices }: ChoiceField, sent: unknown): Read<string> {
  const text = typeof sent === 'string' ? sent : JSON.stringify(sent);
  return choices.some(([value]) => value === text)
    ? { value: text }
    : { problems: [`"${text}" is not a valid choice.`] };
}

function readBoolean(sent: unknown): Read<boolean> {
  const text = String(sent).toLowerCase();
  if (typeof sent !== 'object' && TRUE.includes(text)) return { value: true };
  if (typeof sent !== 'object' && FALSE.includes(text)) return { value: false };
  return { problems: ['Must be a valid boolean.'] };
}

function readInteger({ min, max }: IntegerField, sent: unknown): Read<number> {
  const isNumber = typeof sent === 'number' || typeof sent === 'string';
  const text = isNumber ? String(sent).trim() : '';
  if (!/^-?\d{1,15}$/.test(text)) return { problems: ['A valid integer is required.'] };
  const value = Number(text);
  if (value < min) {
    return { problems: [`Ensure this value is greater than or equal to ${min}.`] };
  }
  if (value > max) return { problems: [`Ensure this value is less than or equal to ${max}.`] };
  return { value };
}

function readList({ maxLength }: ListField, sent: unknown, reading: Reading): Read<Value> {
  if (!Array.isArray(sent)) {
    return { problems: [`Expected a list of items but got type "${typeName(sent)}".`] };
  }
  const items = sent.map((item) => readString({ maxLength }, item, reading));
  const problems = items.flatMap((item, index) =>
    'problems' in item ? [[String(index), item.problems] as const] : [],
  );
  return problems.length > 0
    ? { problems: Object.fromEntries(problems) }
    : { value: items.flatMap((item) => ('value' in item ? [item.value] : [])) };
}

function isObject<T>(value: T): value is T & Readonly<Record<string, never>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Python's name of a type. */
function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'string') return 'str';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float';
  return value === null ? 'NoneType' : 'dict';
}

/** A write that has been read and not yet validated. */
interface RecordWrite {
  readonly input: Input;
  /** The record to change; undefined for a new one. */
  readonly before?: StoredRecord | undefined;
  readonly isPartial: boolean;
}

/** Stores a record if all of its fields are valid and its key is free. */
export function storeRecord(
  { site, resource, table }: ResourceTable,
  { input, before, isPartial }: RecordWrite,
): { readonly record: StoredRecord } | { readonly refused: Outcome } {
  const { trims, replaces } = site.dialect.traits;
  const read = readFields(resource.fields, input, { before, isPartial, trims, replaces });
  if ('problems' in read) return { refused: { status: 400, value: read.problems } };
  const { key, name } = resource;
  const isTaken =
    key !== undefined &&
    table.records.some((record) => record[key] === read.value[key] && record.uuid !== before?.uuid);
  if (isTaken) {
    const value = { [key]: [`A ${name} with that ${key} already exists.`] };
    return { refused: { status: 400, value } };
  }
  if (before === undefined) return { record: site.store.insertInto(table, read.value) };
  return { record: replaceRecord(table, before, read.value) };
}

function replaceRecord(
  table: NumberedTable,
  { uuid }: StoredRecord,
  fields: DeviceRecord,
): StoredRecord {
  const record = { ...fields, uuid };
  table.put(record);
  return record;
}
