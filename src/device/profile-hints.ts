import { attempt } from '../errors.ts';
import { decodeList } from './decode.ts';
import type { Device } from './device.ts';
import { BodyFailure } from './errors.ts';
import type { Response } from './exchange.ts';
import { jsonIn } from './json.ts';
import { pathsElsewhere } from './record-path.ts';
import { idOf, isNamedByKey, managedFields, type Profile, resourceOf } from './profile.ts';
import {
  type DeviceRecord,
  ID_NAME,
  isDeviceTime,
  isTimeStamp,
  isValueList,
  isValueObject,
  type Value,
  valueText,
} from './record.ts';
import { isSecretField, maskedPath } from './sensitive-fields.ts';
import { textOf } from '../output/sentences.ts';

/** A fact, as a profile file names it, that would make a profile fit what a device responded. */
export type Hint = Readonly<{ fact: string; value: string; why: string }>;

const MAX_DEPTH = 4;
/** Names of natural keys, most likely first; then any other. */
const KEY_NAMES = [/^(?:user_?name|login|user|account|name)$/i, /name$|mail$|key$/i, /./];

/** Where the records are, if a response has a list at a place that the profile does not name. */
export function itemsHint(body: Value | undefined): Hint | undefined {
  const [largest] = [...listsIn(body, [])].sort((a, b) => b.count - a.count);
  if (largest === undefined) return undefined;
  const { place: value, count } = largest;
  const why = textOf({ code: 'hint', is: 'items', count, place: value });
  return { fact: 'list.items', value, why };
}

/** Every list of objects below an object. Not below a name with a dot, which would be read as two names. */
function* listsIn(
  value: Value | undefined,
  path: string[],
): Generator<{ place: string; count: number }> {
  if (!isValueObject(value) || path.length === MAX_DEPTH) return;
  for (const [name, inner] of Object.entries(value)) {
    if (!/^[\w@$-]+$/.test(name)) continue;
    const place = [...path, name];
    const isList = isValueList(inner) && inner.length > 0 && inner.every(isValueObject);
    if (isList) yield { place: place.join('.'), count: inner.length };
    else yield* listsIn(inner, place);
  }
}

/** The records of a list, as they were read with a profile. */
interface Listed {
  readonly profile: Profile;
  readonly resource: string;
  readonly records: readonly DeviceRecord[];
}

/** What else would fit the records of a list. */
export function recordHints(listed: Listed): Hint[] {
  const others = [attributesHint(listed) ?? keyHint(listed), idHint(listed)];
  return others.filter((hint) => hint !== undefined);
}

/** The object that has the fields of every record, below which the profile does not look. */
function attributesHint({ profile, resource, records }: Listed): Hint | undefined {
  const { keyField } = resourceOf(profile, resource);
  const value = Object.keys(records[0] ?? {}).find((name) =>
    records.every((record) => {
      const [inner, own] = [record[name], valueText(record[keyField])];
      const key = isValueObject(inner) ? valueText(inner[keyField]) : '';
      return key !== '' && (own === '' || own === key);
    }),
  );
  if (value === undefined) return undefined;
  const why = textOf({ code: 'hint', is: 'attributes', field: keyField, place: value });
  return { fact: 'list.attributes', value, why };
}

/** Another natural key, if the profile's does not tell these records apart. */
function keyHint({ profile, resource, records }: Listed): Hint | undefined {
  const { keyField, parent } = resourceOf(profile, resource);
  const keys = records.map((record) => valueText(record[keyField]));
  const present = keys.filter((key) => key !== '');
  const isUnique = new Set(present).size === present.length;
  const isGood = isUnique && present.length === keys.length;
  // Below other records the key is unique in each list only.
  if (records.length === 0 || parent !== undefined || isGood) return undefined;
  const managed = [...profile.idFields, ...managedFields(profile, resource)];
  // Nobody knows a record by its date, or by a number that looks like one.
  const isDate = (field: string): boolean =>
    records.some((record) => isDeviceTime(field, record[field]) || isTimeStamp(record[field]));
  const unique = uniqueFields(records).filter(
    (field) => !managed.includes(field) && !isDate(field),
  );
  const [value] = KEY_NAMES.flatMap((name) => unique.find((field) => name.test(field)) ?? []);
  if (value === undefined) return undefined;
  const counts = { present: present.length, count: keys.length, isUnique };
  const why = textOf({ code: 'hint', is: 'key', field: keyField, better: value, ...counts });
  return { fact: `resources.${resource}.key_field`, value, why };
}

/** What else names the records in paths, if none has an id of the profile. */
function idHint({ profile, resource, records }: Listed): Hint | undefined {
  const { keyField } = resourceOf(profile, resource);
  const isName = (record: DeviceRecord): boolean =>
    idOf(profile, record) === valueText(record[keyField]);
  const isChosen = records.every(isName) && !profile.idFields.includes(keyField);
  if (records.length > 1 && isChosen && !isNamedByKey(profile, resource)) {
    const why = textOf({ code: 'hint', is: 'chosen', count: records.length, field: keyField });
    return { fact: 'id_fields', value: '[]', why };
  }
  const isKnown = records.some((record) => idOf(profile, record) !== undefined);
  if (records.length === 0 || isKnown || isNamedByKey(profile, resource)) return undefined;
  const id = uniqueFields(records).find((field) => ID_NAME.test(field));
  const fields = profile.idFields.join(', ');
  const why = textOf({
    code: 'hint',
    is: id === undefined ? 'by-key' : 'id',
    fields,
    id: id ?? '',
  });
  return { fact: 'id_fields', value: `[${id ?? ''}]`, why };
}

/** Fields with another text or number in each record, without secrets. */
function uniqueFields(records: readonly DeviceRecord[]): string[] {
  return Object.keys(records[0] ?? {}).filter((field) => {
    const texts = records.map((record) => valueText(record[field]));
    const isFlat = records.every((record) => typeof record[field] !== 'object');
    const isUnique = new Set(texts).size === texts.length && !texts.includes('');
    return isFlat && isUnique && !isSecretField(field);
  });
}

export interface FoundList {
  /** What each path answered: `/rest/user (404)`. */
  readonly tried: readonly string[];
  /** Without a login, as one was refused. */
  readonly isOpen: boolean;
  /** Where its records are; undefined if they are nowhere. */
  readonly path?: string;
  /** Where they are in the response, if devsh would not find them there. */
  readonly items?: string | undefined;
}

/**
 * Looks for the records of a resource where devices usually have them. Sends only GET; once a login was refused none,
 * and leaves each base path whose first answer is another 401.
 */
export async function findList(
  device: Device,
  resource: string,
  signal: AbortSignal,
  wasRefused = false,
): Promise<FoundList> {
  const tried: string[] = [];
  const closed = new Set<string>();
  let isOpen = wasRefused;
  for (const [path, base] of pathsElsewhere(device.profile, resource)) {
    if (closed.has(base)) continue;
    const request = { method: 'GET', path, ...(isOpen && { isOpen }) } as const;
    const response = await device.raw(request, signal);
    const { status, movedTo = path } = response;
    const list = status < 300 ? listIn(response, resource, device.profile) : undefined;
    if (list !== undefined && list.records.length > 0) {
      return { tried, isOpen, path: movedTo, items: list.items };
    }
    const answer = list ? 'empty' : status < 300 ? 'none' : 'status';
    const withoutLogin = isOpen ? ` ${textOf({ code: 'account', is: 'none' })}` : '';
    const what = textOf({ code: 'tried', is: answer, status });
    tried.push(`${maskedPath(path)} (${what}${withoutLogin})`);
    if (isOpen && status === 401) closed.add(base);
    isOpen ||= status === 401;
  }
  return { tried, isOpen };
}

/** The list in a response, wherever it is wrapped, if its records have a name. */
function listIn({ body }: Response, resource: string, profile: Profile) {
  for (const items of [undefined, itemsHint(jsonIn(body))?.value]) {
    const there = items === undefined ? profile : { ...profile, list: { ...profile.list, items } };
    const list = attempt(BodyFailure, () => decodeList(body, resource, there));
    if (list !== undefined && list.single !== true && list.records.every(hasName)) {
      return { ...list, items };
    }
  }
  return undefined;
}

function hasName(record: DeviceRecord): boolean {
  const [likely, other] = KEY_NAMES;
  return Object.keys(record).some((field) => likely?.test(field) ?? other?.test(field));
}
