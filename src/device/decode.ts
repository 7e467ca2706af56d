import { declinedReason } from './complaint.ts';
import { DeclinedFailure, DecodeFailure } from './decode-failure.ts';
import { JsonFailure, parseJson, type RepeatedName } from './json.ts';
import {
  decodeJsonList,
  holdsRecords,
  isObject,
  isRecordLike,
  MAX_RECORDS,
  singleObject,
  unwrapped,
  type DecodedList,
} from './json-records.ts';
import { sideBySide } from './attributes.ts';
import { documentedProfile } from './built-in-profiles.ts';
import { saidSingle, type Profile } from './profile.ts';
import type { DeviceRecord, Value } from './record.ts';
import { htmlTitle, isHtml, oneLine } from './text.ts';
import { decodeGroups, decodeTextList } from './text-list.ts';

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
  if (value === undefined || !isObject(value)) {
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
