import { attempt } from '../errors.ts';
import { textOf } from '../output/sentences.ts';
import { decodeList } from './decode.ts';
import type { Device } from './device.ts';
import { BodyFailure } from './errors.ts';
import { idOf, isNamedByKey, managedFields, type Profile, resourceOf } from './profile.ts';
import {
  type DeviceRecord,
  ID_NAME,
  isDeviceTime,
  isTimeStamp,
  isValueObject,
  valueText,
} from './record.ts';
import { pathsElsewhere } from './record-path.ts';
import { isSecretField, maskedPath } from './sensitive-fields.ts';

/** A fact, as a profile file states it, with which devsh would understand a device better. */
export type Proposal = Readonly<{ fact: string; value: string; why: string }>;

/** Names of natural keys, most likely first; then any other. */
const KEY_NAMES = [/^(?:user_?name|login|user|account|name)$/i, /name$|mail$|key$/i, /./];

/** The facts that fit the records of a list, where those of the profile do not. */
export function proposalsFor(
  profile: Profile,
  resource: string,
  records: readonly DeviceRecord[],
): Proposal[] {
  const { keyField, parent } = resourceOf(profile, resource);
  const keys = records.map((record) => valueText(record[keyField]));
  const isKey = !keys.includes('') && new Set(keys).size === keys.length;
  // Nobody knows a record by its date, or by a number that looks like one.
  const isDate = (field: string): boolean =>
    records.some((record) => isDeviceTime(field, record[field]) || isTimeStamp(record[field]));
  const unique = uniqueFields(records);
  const ids = [...profile.idFields, ...managedFields(profile, resource)];
  const likely = unique.filter((field) => !ids.includes(field) && !isDate(field));
  const [better] = KEY_NAMES.flatMap((name) => likely.find((field) => name.test(field)) ?? []);
  const inner = Object.keys(records[0] ?? {}).find((name) =>
    records.every((record, index) => {
      const key = isValueObject(record[name]) ? valueText(record[name][keyField]) : '';
      return key !== '' && ['', key].includes(keys[index] ?? '');
    }),
  );
  const proposals: Proposal[] = [];
  const propose = (fact: string, value: string, is: 'attributes' | 'key' | 'id'): void => {
    const why = textOf({ code: 'proposal', is, field: keyField, value });
    proposals.push({ fact, value, why });
  };
  if (inner !== undefined) propose('list.attributes', inner, 'attributes');
  // Below other records the key is unique in each list only.
  else if (better !== undefined && parent === undefined && !isKey)
    propose(`resources.${resource}.key_field`, better, 'key');
  const isKnown = (record: DeviceRecord, index: number): boolean => {
    const id = idOf(profile, record);
    // One record is no sign that its id is its key.
    const mayEqual = records.length === 1 || profile.idFields.includes(keyField);
    return id !== undefined && (mayEqual || id !== keys[index]);
  };
  if (!records.some(isKnown) && !isNamedByKey(profile, resource)) {
    const other = unique.find((field) => ID_NAME.test(field) && !profile.idFields.includes(field));
    propose('id_fields', `[${other ?? ''}]`, 'id');
  }
  return proposals;
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
}

/**
 * Looks for the records of a resource where devices usually have them. Sends only GET; once a login was refused none,
 * and leaves each base path whose first answer is another 401.
 */
export async function findList(
  device: Device,
  resource: string,
  signal: AbortSignal,
  wasRefused: boolean,
): Promise<FoundList> {
  const tried: string[] = [];
  const closed = new Set<string>();
  let isOpen = wasRefused;
  for (const [path, base] of pathsElsewhere(device.profile, resource)) {
    if (closed.has(base)) continue;
    const request = { method: 'GET', path, ...(isOpen && { isOpen }) } as const;
    const { status, body, movedTo = path } = await device.raw(request, signal);
    const list =
      status < 300
        ? attempt(BodyFailure, () => decodeList(body, resource, device.profile))
        : undefined;
    const records = list?.single === true ? undefined : list?.records;
    const isNamed = records?.every((record) => Object.keys(record).some(isName)) === true;
    if (isNamed && records.length > 0) return { tried, isOpen, path: movedTo };
    const is = isNamed ? 'empty' : status < 300 ? 'none' : 'status';
    const account = isOpen ? ` ${textOf({ code: 'account', is: 'none' })}` : '';
    tried.push(`${maskedPath(path)} (${textOf({ code: 'tried', is, status })}${account})`);
    if (isOpen && status === 401) closed.add(base);
    isOpen ||= status === 401;
  }
  return { tried, isOpen };
}

function isName(field: string): boolean {
  return KEY_NAMES.slice(0, 2).some((name) => name.test(field));
}
