import {
  type DeviceRecord,
  isNested,
  isValueList,
  isValueObject,
  nestedValue,
  sorted,
  type Value,
  valueAt,
  valueText,
} from './record.ts';
import { declinedReason, issuesIn, issuesText } from './complaint.ts';
import { DeclinedFailure, DecodeFailure } from './errors.ts';
import { JsonFailure, parseJson, type RepeatedName } from './json.ts';
import { documentedProfile } from './built-in-profiles.ts';
import { configuredSingle, idFieldOf, listFacts, type Profile } from './profile.ts';
import { htmlTitle, isHtml, oneLine, pluralOf } from '../text/one-line.ts';
import { type DecodedList, MAX_RECORDS, pageMarksOf } from './pages.ts';
import { decodeGroups, decodeTextList } from './decode-text.ts';
import { attempt } from '../errors.ts';
import { textOf } from '../output/sentences.ts';

/** Receives a name that one object has twice. */
type OnRepeated = (repeated: RepeatedName) => void;

/** Reads every known list format. Throws DecodeFailure or DeclinedFailure. */
export function decodeList(
  text: string,
  resource: string,
  profile: Profile = documentedProfile,
  onRepeated?: OnRepeated,
): DecodedList {
  const body = text.startsWith('\ufeff') ? text.slice(1) : text;
  if (body.trim() === '') throw new DecodeFailure({ code: 'bad-body', is: 'empty' });
  const isJson = /^\s*(?:[[{"]|(?:null|true|false|-?\d+)\s*$)/.test(body);
  const list = isJson
    ? decodeJsonList(readJson(body, onRepeated), resource, profile)
    : decodeText(body, resource, profile);
  const shaped = shaperOf(profile, resource);
  return shaped === undefined ? list : { ...list, records: list.records.map(shaped) };
}

function decodeText(body: string, resource: string, profile: Profile): DecodedList {
  if (isHtml(body))
    throw new DecodeFailure({ code: 'bad-body', is: 'html', title: htmlTitle(body) });
  const declined = declinedReason(body, profile.successIf);
  if (declined !== undefined) throw new DeclinedFailure(declined);
  if (hasMoreLines(body, MAX_RECORDS))
    throw new DecodeFailure({ code: 'bad-body', is: 'lines', most: MAX_RECORDS });
  const [, groupField] = /^members:(.+)$/.exec(listFacts(profile, resource).items ?? '') ?? [];
  const list =
    groupField === undefined
      ? decodeTextList(body)
      : decodeGroups(body, profile.resources[resource]?.keyField ?? 'name', groupField);
  // Any line with "=" looks like a field, but without a key it is more likely a message.
  if (list?.records.every((record) => isRecordLike(record, resource, profile)) === true)
    return list;
  const [only] = list?.records.length === 1 ? list.records : [];
  const configured = configuredSingle(profile, resource);
  if (only !== undefined && (configured ?? Object.keys(only).length > 1)) return singleObject(only);
  const start = oneLine(body);
  throw new DecodeFailure({ code: 'bad-body', is: start === '' ? 'controls' : 'format', start });
}

/** Reads one record, with or without an envelope. Throws like `decodeList`. */
export function decodeRecord(
  text: string,
  resource: string,
  profile: Profile,
  onRepeated?: OnRepeated,
): DeviceRecord {
  const body = text.startsWith('\ufeff') ? text.slice(1) : text;
  const value = /^\s*\{/.test(body) ? readJson(body, onRepeated) : undefined;
  if (!isValueObject(value)) {
    const { records } = decodeList(text, resource, profile);
    const [only] = records;
    if (only !== undefined && records.length === 1) return only;
    throw new DecodeFailure({ code: 'bad-body', is: 'several', count: records.length });
  }
  const declined = declinedReason(value, profile.successIf);
  const isRecord = isRecordLike(value, resource, profile) && !holdsRecords(value, resource);
  if (declined !== undefined && !isRecord) throw new DeclinedFailure(declined);
  const record = isRecord ? value : unwrapped(value, resource, profile);
  return shaperOf(profile, resource)?.(record) ?? record;
}

/** Lifts the fields of a record, and gives its sets one order; undefined if it stays as it is. */
function shaperOf(
  profile: Profile,
  resource: string,
): ((record: DeviceRecord) => DeviceRecord) | undefined {
  const { attributes } = listFacts(profile, resource);
  const sets = Object.entries(profile.resources[resource]?.fields ?? {}).flatMap(
    ([field, { type }]) => (type === 'set' ? field : []),
  );
  if (attributes === undefined && sets.length === 0) return undefined;
  return (record) => {
    const own = lifted(record, attributes);
    const ordered = sets.flatMap((field) => {
      const value = valueAt(own, field);
      return value === undefined ? [] : [[field, sorted(value)] as const];
    });
    return { ...own, ...Object.fromEntries(ordered) };
  };
}

/** The record in the response to a write, if there is exactly one. Throws DeclinedFailure. */
export function decodeWritten(
  text: string,
  resource: string,
  profile: Profile = documentedProfile,
): DeviceRecord | undefined {
  // A 2xx need not contain a record; the write is read back anyway.
  const records = attempt(DecodeFailure, () => decodeList(text, resource, profile).records);
  return records?.length === 1 ? records[0] : undefined;
}

function readJson(text: string, onRepeated?: OnRepeated): Value {
  try {
    return parseJson(text, onRepeated);
  } catch (error) {
    if (!(error instanceof JsonFailure)) throw error;
    throw new DecodeFailure(`${error.message}: ${oneLine(text)}`, { cause: error });
  }
}

/** Counts without splitting, because the lines of a hostile body take many times its size. */
function hasMoreLines(text: string, limit: number): boolean {
  const ends = /\r\n|\n|\r/g;
  for (let lines = 0; lines < limit; lines += 1) if (!ends.test(text)) return false;
  return true;
}

/** Lifts the fields of a record out of its attributes object, as in JSON:API, beside the id. */
function lifted(record: DeviceRecord, name: string | undefined): DeviceRecord {
  const inner = name === undefined ? undefined : valueAt(record, name);
  if (!isNested(inner)) return record;
  const own = Object.entries(inner).filter(([field]) => !Object.hasOwn(record, field));
  return Object.fromEntries(
    Object.entries(record).flatMap((entry) => (entry[0] === name ? own : [entry])),
  );
}

/** Envelope names of known devices, besides the name of the resource. */
const ENVELOPES = 'results data rows records items value Members users user'.split(' ');

/** Keys beside the records that are not records themselves. */
const METADATA =
  /^(?:status|code|message|msg|success|ok|result|meta|metadata|_meta|links|_links|paging|pagination|page|pages|count|total|rowCount|current|next|previous|prev|offset|limit|version|timestamp|size|per_?page|page_?size|number|first|last|empty|sort|pageable|has_?(?:more|next)|(?:total|num|number_?of)_?(?:records|items|elements|pages|count|results|objects)|@.+|.+@odata\..+)$/i;

const COMPLAINT = /^(?:message|msg|error|errors|detail|validations)$/;

function decodeJsonList(value: Value, resource: string, profile: Profile): DecodedList {
  if (isValueList(value)) return { records: recordsOf(value), envelope: 'array' };
  if (!isValueObject(value)) throw new DecodeFailure({ code: 'bad-body', is: 'value' });
  const declined = declinedReason(value, profile.successIf);
  // A record may have a status of its own; a complaint also has a reason.
  const isComplaint =
    !isRecordLike(value, resource, profile) ||
    Object.keys(value).some((name) => COMPLAINT.test(name));
  if (declined !== undefined && isComplaint) throw new DeclinedFailure(declined);
  if (configuredSingle(profile, resource) === true) {
    return singleObject(unwrapped(value, resource, profile));
  }
  const { items } = listFacts(profile, resource);
  if (items === undefined) return decodeObject(value, '', resource, profile);
  const inner = nestedValue(value, items);
  if (inner === undefined) throw new DecodeFailure({ code: 'bad-body', is: 'place', place: items });
  // Some devices write `null` for an empty list.
  const list = decodeInner(inner ?? [], items, resource, profile);
  return { ...list, ...pageMarksOf(value) };
}

function decodeInner(value: Value, place: string, resource: string, profile: Profile): DecodedList {
  if (isValueList(value)) return { records: recordsOf(value), envelope: place };
  if (!isValueObject(value))
    throw new DecodeFailure({ code: 'bad-body', is: 'empty-place', place });
  return decodeObject(value, place, resource, profile);
}

/** The records in an object: itself, a list or object in it, or its parts by id. `place`: empty for a whole response. */
function decodeObject(
  value: DeviceRecord,
  place: string,
  resource: string,
  profile: Profile,
): DecodedList {
  const isList = configuredSingle(profile, resource) === false;
  if (isRecordLike(value, resource, profile) && (isList || !holdsRecords(value, resource))) {
    return isList ? { records: [value], envelope: place || 'one record' } : singleObject(value);
  }
  const complaint = place === '' ? [value.error, value.errors].find(isFilled) : undefined;
  if (complaint !== undefined) throw new DeclinedFailure(issuesText(issuesIn(complaint)));
  if (place !== '' && Object.keys(value).length === 0) return { records: [], envelope: place };
  const name = envelopeOf(value, resource);
  if (name !== undefined && (isList || !isPlainList(value[name]))) {
    const inner = [place, name].filter(Boolean).join('.');
    const list = decodeInner(value[name] ?? null, inner, resource, profile);
    return list.single ? list : { ...list, ...pageMarksOf(value) };
  }
  const lists = listsWithin(value, resource, isList);
  const [deep] = lists;
  if (deep !== undefined && lists.length === 1) {
    const envelope = [place, deep[0]].filter(Boolean).join('.');
    return { records: recordsOf(deep[1]), envelope, ...pageMarksOf(value) };
  }
  if (deep === undefined && isKeyedById(value)) {
    const envelope = [place, textOf({ code: 'keyed-by-id' })].filter(Boolean).join(', ');
    return { records: keyedRecords(value, resource, profile), envelope };
  }
  if (!isList && !isKeyedById(value) && hasContent(value)) return singleObject(value);
  if (lists.length > 1) {
    const names = lists.map(([name]) => [place, name].filter(Boolean).join('.')).join(', ');
    throw new DecodeFailure({ code: 'bad-body', is: 'lists', names: oneLine(names) });
  }
  if (place !== '') throw new DecodeFailure({ code: 'bad-body', is: 'empty-place', place });
  const names = oneLine(Object.keys(value).join(', '));
  throw new DecodeFailure({ code: 'bad-body', is: names === '' ? 'fields' : 'list', names });
}

/** The key of the records: a list, or an object if nothing else can be a record. */
function envelopeOf(value: DeviceRecord, resource: string): string | undefined {
  const names = [resource, pluralOf(resource), ...ENVELOPES].filter((name) =>
    Object.hasOwn(value, name),
  );
  const list = names.find((name) => isValueList(value[name]));
  if (list !== undefined) return list;
  const only = onlyList(value);
  if (only !== undefined) return only;
  return names.find(
    (name) =>
      isValueObject(value[name] ?? null) &&
      Object.keys(value).every((other) => other === name || METADATA.test(other)),
  );
}

/** A list under an unknown name, if only counts and page numbers are beside it. */
function onlyList(value: DeviceRecord): string | undefined {
  const [name, ...others] = Object.keys(value).filter((key) => !METADATA.test(key));
  const inner = name === undefined ? undefined : value[name];
  if (name === undefined || others.length > 0 || !isValueList(inner)) return undefined;
  const isList =
    inner.length > 0 ? inner.every(isValueObject) : pageMarksOf(value).total !== undefined;
  return isList ? name : undefined;
}

type PlacedList = readonly [place: string, items: readonly DeviceRecord[]];

/** The lists of objects further inside: those with the name of the records, or one that is all there is, or several. */
function listsWithin(value: DeviceRecord, resource: string, isList: boolean): PlacedList[] {
  // Several objects with the same fields are records by their ids.
  const parts = new Set(Object.values(value).map((part) => Object.keys(part ?? {}).join()));
  const isKeyed = isKeyedById(value) && parts.size < Object.keys(value).length;
  const lists = (isList || isEnvelope(value)) && !isKeyed ? [...listsIn(value)] : [];
  const names = [resource, pluralOf(resource)];
  const named = lists.filter(([place]) => names.includes(place.replace(/.*\./, '')));
  if (named.length > 0) return named;
  const filled = lists.filter(([, items]) => items.length > 0);
  // Beside other parts, one list is a part of a single object.
  return filled.length > 1 || wrapsOne(value) ? filled : [];
}

/** Whether it wraps one list and nothing else, but for what tells of the request. */
function wrapsOne(value: DeviceRecord): boolean {
  const parts = Object.entries(value).filter(([, inner]) => isNested(inner));
  const own = parts.filter(([name]) => !METADATA.test(name));
  const [inner = null, ...others] = (own.length > 0 ? own : parts).map(([, part]) => part);
  return others.length === 0 && (isValueList(inner) || (isValueObject(inner) && wrapsOne(inner)));
}

/** Whether it has nothing of a record: only lists, objects, and the outcome of a request. */
function isEnvelope(value: DeviceRecord): boolean {
  return Object.entries(value).every(([name, inner]) => METADATA.test(name) || isNested(inner));
}

/** Recursion is safe because `parseJson` limits the depth. */
function* listsIn(value: DeviceRecord, above = ''): Generator<PlacedList> {
  for (const [name, inner] of Object.entries(value)) {
    const place = above + name;
    if (isValueObject(inner)) {
      if (isEnvelope(inner)) yield* listsIn(inner, `${place}.`);
    } else if (isValueList(inner) && inner.every(isValueObject)) {
      yield [place, inner];
    }
  }
}

function singleObject(object: DeviceRecord): DecodedList {
  return { records: [object], envelope: 'one object', single: true };
}

/** The object itself, without its envelope. */
function unwrapped(value: DeviceRecord, resource: string, profile: Profile): DeviceRecord {
  const { items } = listFacts(profile, resource);
  const name =
    items !== undefined && Object.hasOwn(value, items) ? items : envelopeOf(value, resource);
  const inner = name === undefined ? undefined : value[name];
  const [only, ...others] = isValueList(inner) ? inner : [inner];
  return only !== undefined && isValueObject(only) && others.length === 0 ? only : value;
}

/** Whether it is an envelope, whatever other keys it has (FortiOS puts its own name there). */
function holdsRecords(value: DeviceRecord, resource: string): boolean {
  const name = envelopeOf(value, resource);
  const inner = name === undefined ? undefined : value[name];
  return isValueList(inner) && inner.length > 0 && !isPlainList(inner);
}

/** A list of texts or numbers is a field value. */
function isPlainList(value: Value | undefined): boolean {
  return isValueList(value) && value.some((item) => !isValueObject(item));
}

/** Whether it has more than the outcome of a request. */
function hasContent(value: DeviceRecord): boolean {
  return Object.keys(value).some((name) => !METADATA.test(name) && !COMPLAINT.test(name));
}

function recordsOf(items: readonly Value[]): readonly DeviceRecord[] {
  if (items.length > MAX_RECORDS)
    throw new DecodeFailure({ code: 'bad-body', is: 'records', most: MAX_RECORDS });
  if (items.every(isValueObject)) return items;
  throw new DecodeFailure({ code: 'bad-body', is: 'items' });
}

function isKeyedById(value: DeviceRecord): boolean {
  const items = Object.values(value);
  return items.length > 0 && items.every(isValueObject);
}

/** The key becomes the field that the record lacks: its id or its natural key. */
function keyedRecords(value: DeviceRecord, resource: string, profile: Profile): DeviceRecord[] {
  const keyField = profile.resources[resource]?.keyField ?? 'name';
  return Object.entries(value).map(([key, item]) => {
    const record = item as DeviceRecord;
    if (Object.values(record).some((inner) => valueText(inner) === key)) return record;
    const hasId = idFieldOf(profile, record) !== undefined;
    const isUuid = /^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(key);
    const isIdLike = isUuid || /^\d+$/.test(key);
    if (!Object.hasOwn(record, keyField) && (hasId || !isIdLike)) {
      return { [keyField]: key, ...record };
    }
    // Under another field name the device would not recognise it and create a second record.
    return hasId ? record : { [isUuid ? 'uuid' : 'id']: key, ...record };
  });
}

/** A record has a natural key or an id. */
function isRecordLike(value: DeviceRecord, resource: string, profile: Profile): boolean {
  const keyField = profile.resources[resource]?.keyField;
  const keys = [
    ...(keyField === undefined ? ['username', 'name'] : [keyField]),
    ...profile.idFields,
  ];
  return keys.some((field) =>
    ['string', 'number', 'bigint'].includes(typeof valueAt(value, field)),
  );
}

/** `"error": ""`, `null`, `0` and `[]` mean no error. */
function isFilled(value: Value | undefined): boolean {
  if (isNested(value)) return Object.keys(value).length > 0;
  return typeof value === 'string' && value !== '';
}
