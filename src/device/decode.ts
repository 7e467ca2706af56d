import { isValueObject } from './value-text.ts';
import { declinedReason } from './complaint.ts';
import { DeclinedFailure, DecodeFailure } from './errors.ts';
import { JsonFailure, parseJson, type RepeatedName } from './json.ts';
import {
  type DecodedList,
  decodeJsonList,
  holdsRecords,
  isRecordLike,
  MAX_RECORDS,
  singleObject,
  unwrapped,
} from './json-records.ts';
import { documentedProfile } from './built-in-profiles.ts';
import { type Profile, saidSingle } from './profile.ts';
import type { DeviceRecord, Value } from './record.ts';
import { htmlTitle, isHtml, oneLine } from '../text/one-line.ts';

/** Is told a name that is there twice in one object. */
type OnRepeated = ((repeated: RepeatedName) => void) | undefined;

/** Reads every list format that devices are known to use. Throws DecodeFailure or DeclinedFailure. */
export function decodeList(
  text: string,
  resource: string,
  profile: Profile = documentedProfile,
  onRepeated?: OnRepeated,
): DecodedList {
  const list = decodeListOf(text, resource, profile, onRepeated);
  if (profile.list.attributes === undefined) return list;
  return { ...list, records: list.records.map((record) => sideBySide(record, profile)) };
}

function decodeListOf(
  text: string,
  resource: string,
  profile: Profile,
  onRepeated: OnRepeated,
): DecodedList {
  const body = text.startsWith('\ufeff') ? text.slice(1) : text;
  if (body.trim() === '') throw new DecodeFailure('an empty body instead of records');
  if (/^\s*(?:[[{"]|(?:null|true|false|-?\d+)\s*$)/.test(body))
    return decodeJsonList(readJson(body, onRepeated), resource, profile);
  if (isHtml(body)) throw new DecodeFailure(`an HTML page instead of records: ${htmlTitle(body)}`);
  const declined = declinedReason(body);
  if (declined !== undefined) throw new DeclinedFailure(declined);
  if (hasMoreLines(body, MAX_RECORDS)) throw new DecodeFailure(`more than ${MAX_RECORDS} lines`);
  const { groupField } = profile.list;
  const list =
    groupField === undefined
      ? decodeTextList(body)
      : decodeGroups(body, profile.resources[resource]?.keyField ?? 'name', groupField);
  // Any line with "=" looks like a field; a record without a key is more likely a message.
  if (list?.records.every((record) => isRecordLike(record, resource, profile)) === true)
    return list;
  const [only] = list?.records.length === 1 ? list.records : [];
  const said = saidSingle(profile, resource);
  if (only !== undefined && (said ?? Object.keys(only).length > 1)) return singleObject(only);
  throw new DecodeFailure(
    `neither JSON nor another known format: ${oneLine(body) || 'nothing but control characters'}`,
  );
}

/** The one record at a path of its own, whatever it is wrapped in. Throws like `decodeList`. */
export function decodeRecord(
  text: string,
  resource: string,
  profile: Profile,
  onRepeated?: OnRepeated,
): DeviceRecord {
  const body = text.startsWith('\ufeff') ? text.slice(1) : text;
  const value = /^\s*\{/.test(body) ? readJson(body, onRepeated) : undefined;
  if (value === undefined || !isValueObject(value)) {
    const { records } = decodeList(text, resource, profile);
    const [only] = records;
    if (only !== undefined && records.length === 1) return only;
    throw new DecodeFailure(`${records.length} records instead of one`);
  }
  const declined = declinedReason(value);
  const isRecord = isRecordLike(value, resource, profile) && !holdsRecords(value, resource);
  if (declined !== undefined && !isRecord) throw new DeclinedFailure(declined);
  const record = isRecord ? value : unwrapped(value, resource, profile);
  return sideBySide(record, profile);
}

/** The record in the answer to a write, when there is exactly one. Throws DeclinedFailure. */
export function decodeWritten(
  text: string,
  resource: string,
  profile: Profile = documentedProfile,
): DeviceRecord | undefined {
  try {
    const { records } = decodeList(text, resource, profile);
    return records.length === 1 ? records[0] : undefined;
  } catch (error) {
    // A 2xx need not say anything; what the device holds is read back anyway.
    if (error instanceof DecodeFailure) return undefined;
    throw error;
  }
}

function readJson(text: string, onRepeated: OnRepeated): Value {
  try {
    return parseJson(text, onRepeated);
  } catch (error) {
    if (!(error instanceof JsonFailure)) throw error;
    throw new DecodeFailure(`${error.message}: ${oneLine(text)}`, { cause: error });
  }
}

/** Counts without splitting: the lines of a hostile body take many times its size. */
function hasMoreLines(text: string, limit: number): boolean {
  const ends = /\r\n|\n|\r/g;
  for (let lines = 0; lines < limit; lines += 1) if (!ends.test(text)) return false;
  return true;
}

/** A record that has its fields under one name, and its id beside them (JSON:API): all side by side. */
function sideBySide(record: DeviceRecord, { list }: Profile): DeviceRecord {
  const { attributes: name } = list;
  const held = name !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
  if (typeof held !== 'object' || held === null) return record;
  const own = Object.entries(held).filter(([field]) => !Object.hasOwn(record, field));
  return Object.fromEntries(
    Object.entries(record).flatMap((entry) => (entry[0] === name ? own : [entry])),
  );
}

const FIELD_LINE = /^[\w.-]{1,200}=/;

/**
 * Records as text: forms (`a=b&c=d`, one record a line) or `key=value` lines with an empty line
 * between records. All values are strings. Undefined when the text is neither.
 */
function decodeTextList(
  text: string,
): { records: readonly DeviceRecord[]; envelope: string } | undefined {
  const lines = text.split(/\r\n|\n|\r/).map((line) => line.trim());
  const filled = lines.filter((line) => line !== '');
  if (filled.length === 0 || !filled.every((line) => FIELD_LINE.test(line))) return undefined;
  const isForm = filled.some((line) => /&[\w.-]{1,200}=/.test(line));
  return isForm
    ? { records: filled.map(formRecord), envelope: 'form text' }
    : { records: blockRecords(lines), envelope: 'key=value lines' };
}

/** A field that occurs more than once is a list. */
function formRecord(line: string): DeviceRecord {
  const fields = new URLSearchParams(line);
  return Object.fromEntries(
    [...new Set(fields.keys())].map((field) => {
      const texts = fields.getAll(field);
      return [field, texts.length === 1 ? (texts[0] ?? '') : texts];
    }),
  );
}

/** A record ends at an empty line, and where a field comes a second time. */
function blockRecords(lines: readonly string[]): DeviceRecord[] {
  const records: DeviceRecord[] = [];
  let fields = new Map<string, string>();
  const finish = (): void => {
    if (fields.size > 0) records.push(Object.fromEntries(fields));
    fields = new Map();
  };
  for (const line of lines) {
    if (line === '') {
      finish();
      continue;
    }
    const equals = line.indexOf('=');
    const field = line.slice(0, equals);
    if (fields.has(field)) finish();
    fields.set(field, unquoted(line.slice(equals + 1).trim()));
  }
  finish();
  return records;
}

function unquoted(text: string): string {
  const match = /^(["'])(.*)\1$/.exec(text);
  return match?.[2] ?? text;
}

/**
 * Lines as `admin="root,joe"`: groups with their members. Each member is a record, with its groups in a
 * field. Undefined when the text has another form.
 */
function decodeGroups(
  text: string,
  keyField: string,
  groupField: string,
): { records: readonly DeviceRecord[]; envelope: string } | undefined {
  const lines = text.split(/\r\n|\n|\r/).filter((line) => line.trim() !== '');
  const groups = new Map<string, string[]>();
  for (const line of lines) {
    const [, group = '', quoted, bare = ''] =
      /^\s*([\w.-]{1,200})=(?:"(.*)"|(.*?))\s*$/.exec(line) ?? [];
    if (group === '') return undefined;
    for (const member of (quoted ?? bare).split(',').map((name) => name.trim())) {
      if (member !== '') groups.set(member, [...(groups.get(member) ?? []), group]);
    }
  }
  const records = [...groups].map(([member, names]) => ({
    [keyField]: member,
    [groupField]: names.length === 1 ? (names[0] ?? '') : names,
  }));
  return { records, envelope: 'groups' };
}
