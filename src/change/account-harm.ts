import {
  isMask,
  isPrivilegeField,
  isSecretField,
  isSecretName,
  lettersOf,
} from '../device/sensitive-fields.ts';
import { accountsOf, fieldFacts, knownFields, type Profile } from '../device/profile.ts';
import {
  type DeviceRecord,
  frequencies,
  isNested,
  isValueList,
  isValueObject,
  nestedValue,
  type Value,
  valueAt,
  valueText,
} from '../device/record.ts';
import { isPlainAscii, lookOf, normalized } from '../text/visible.ts';
import { type ChangedPart, changedParts } from './compare.ts';
import { isEqual } from '../device/equality.ts';
import type { Step } from './step.ts';
import type { Known } from './typed-fields.ts';
import { matchesGlob } from '../text/glob.ts';
import type { Note } from '../output/sentences.ts';

/** Fields that give no access: names, phones, language and comments of a person. */
const HARMLESS =
  /^(?:(?:first|given|last|family|sur|full|display|real)name|(?:tele|mobile|work|office)?phone(?:number)?|mobile|lang(?:uage)?|locale|timezone|tz|comments?|notes?|description)$/;
const EMAIL = /^e?mail(?:address)?$/;

/** Whether a list may contain logins: the accounts of the profile, and any list whose records have a secret field. */
export function givesAccess(
  profile: Profile,
  resource: string,
  records: readonly DeviceRecord[],
): boolean {
  return (
    resource === accountsOf(profile) ||
    [...knownFields(profile, resource, records)].some(isSecretName)
  );
}

export interface AccountList extends Known {
  readonly keyField: string;
}

export interface AccountFinder {
  readonly list: AccountList;
  /** The text by which a record is the account; undefined if it is another one. */
  readonly nameIn: (record: DeviceRecord) => string | undefined;
  /** The records of the list that are the account. */
  readonly found: () => readonly DeviceRecord[];
  /** Whether the list shows the account, or says of each record whose it is. */
  readonly isListed: () => boolean;
}

/**
 * Finds the records of a list that are an account: those with its name as natural key. If none has, those with its name
 * in a field whose values all differ; `role: admin` and `created_by: admin` mean nothing. The name of a field never decides.
 *
 * @param isNamed whether a text is the name of the account, in any spelling
 */
export function accountFinder(
  list: AccountList,
  isNamed: (text: string) => boolean,
): AccountFinder {
  const { profile, resource, keyField, records } = list;
  const owner = profile.resources[resource]?.accountField;
  const named = (text: string): string | undefined => (isNamed(text) ? text : undefined);
  const hasKey = records.some((record) => isNamed(valueText(record[keyField])));
  const isDistinct = remembered((path: string) => {
    const texts = records.map((record) => valueText(nestedValue(record, path)));
    return frequencies(texts).every(([text, count]) => text === '' || count === 1);
  });
  const nameIn = (record: DeviceRecord): string | undefined => {
    if (owner !== undefined) return named(valueText(nestedValue(record, owner)));
    const byKey = named(valueText(record[keyField]));
    if (byKey !== undefined || hasKey) return byKey;
    return textsOf(record).find(([path, text]) => isNamed(text) && isDistinct(path))?.[1];
  };
  let all: readonly DeviceRecord[] | undefined;
  const found = () => (all ??= records.filter((record) => nameIn(record) !== undefined));
  return { list, nameIn, found, isListed: () => owner !== undefined || found().length > 0 };
}

/** The finder of one account for each list of a device. */
export function accountFinders(
  profile: Profile,
  recordsOf: (resource: string) => readonly DeviceRecord[],
  isNamed: (text: string) => boolean,
): (about: Pick<Step, 'resource' | 'keyField'>) => AccountFinder {
  return remembered(
    ({ resource, keyField }: Pick<Step, 'resource' | 'keyField'>) =>
      accountFinder({ profile, resource, keyField, records: recordsOf(resource) }, isNamed),
    ({ resource }) => resource,
  );
}

/** A function that computes what it returns once for each key. */
export function remembered<Given, Result>(
  compute: (given: Given) => Result,
  keyOf: (given: Given) => unknown = (given) => given,
): (given: Given) => Result {
  const known = new Map<unknown, Result>();
  return (given) => {
    const key = keyOf(given);
    if (!known.has(key)) known.set(key, compute(given));
    return known.get(key) as Result;
  };
}

/** The single values of a record, with their paths. */
export function textsOf(record: DeviceRecord, above = ''): [path: string, text: string][] {
  return Object.entries(record).flatMap(([field, value]): [string, string][] => {
    if (isValueList(value)) return [];
    return isValueObject(value)
      ? textsOf(value, `${above}${field}.`)
      : [[`${above}${field}`, valueText(value)]];
  });
}

/**
 * How a step may take access away from its account; undefined if it cannot. Each field counts that is not known to be
 * harmless, including one that the request erases or may erase.
 *
 * @param isNamed whether a text is a name that the account logs in with
 */
export function harmOf(
  step: Step,
  isNamed: (text: string) => boolean,
  profile: Profile,
): string | undefined {
  if (step.action === 'delete') return 'deleting';
  if (step.action === 'add') return 'adding';
  const parts = partsOf(step);
  const { resource, keyField, before, effects } = step;
  if (parts.some(({ field }) => field === keyField)) return 'renaming';
  // A field with a name that the account logs in with is never harmless.
  const isFree = (field: string): boolean =>
    isHarmlessField({ profile, resource, keyField }, field) &&
    !isNamed(valueText(nestedValue(before ?? {}, field)));
  const changed = parts.map(({ field }) => field);
  const field = [...changed, ...(effects.erases ?? []), ...(effects.mayErase ?? [])].find(
    (one) => !isFree(one),
  );
  return field && `changing ${field} of`;
}

interface FieldPlace {
  readonly profile: Profile;
  readonly resource: string;
  readonly keyField: string;
}

/** Whether a field of an account gives nobody access and takes it from nobody, by its name or by its profile. */
export function isHarmlessField(
  { profile, resource, keyField }: FieldPlace,
  field: string,
): boolean {
  if (field === keyField || field.split('.').some(isSecretField)) return false;
  const stated = fieldFacts(profile, resource, field);
  const disables = Object.hasOwn(profile.resources[resource]?.disabledAs ?? {}, field);
  if (disables || stated.rights === true) return false;
  if (stated.harmless === true) return true;
  const letters = lettersOf(field);
  if (field.includes('.') || isPrivilegeField(field)) return false;
  return HARMLESS.test(letters) || EMAIL.test(letters);
}

/** The fields that a step changes; the parts of nested ones. */
function partsOf({ before = {}, after = {} }: Step): ChangedPart[] {
  // A step names all fields that stay: what `after` lacks is removed.
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((field) => !isEqual(valueAt(after, field), valueAt(before, field)))
    .flatMap((field) => changedParts(field, valueAt(before, field), valueAt(after, field)));
}

/**
 * The field from whose list of members a step would remove an account. The lists of an account itself, such as its roles,
 * are not members: those of the profile's accounts do not count.
 */
export function fieldThatLoses(
  step: Step,
  isNamed: (text: string) => boolean,
  profile: Profile,
): string | undefined {
  if (step.resource === accountsOf(profile)) return undefined;
  const holds = (value: Value | undefined): boolean => membersIn(value).some(isNamed);
  const parts = partsOf(step.action === 'delete' ? { ...step, after: {} } : step);
  return parts.find((part) => holds(part.before) && !holds(part.after))?.field;
}

/** The texts in the lists of a value, at any depth: a member may be an object with its name. */
function membersIn(value: Value = null, isListed = false): string[] {
  if (!isNested(value)) return isListed ? [valueText(value)] : [];
  return Object.values(value).flatMap((part) => membersIn(part, isListed || isValueList(value)));
}

/** Whether two names may be one account. Either may include its domain: `CORP\\admin`, `admin@corp`. */
export function isSameName(name: string, user: string): boolean {
  return isSame(name, user) || isSame(bareName(name), bareName(user));
}

/** Whether a device may take one name for the other: trimmed, folded, or look-alike. */
function isSame(one: string, other: string): boolean {
  const look = foldedLook(one);
  return look !== '' && look === foldedLook(other);
}

export function foldedLook(name: string): string {
  // Most names are ASCII, which has no composed letters.
  if (isPlainAscii(name)) return lookOf(name);
  return lookOf(
    normalized(name, 'NFKD')
      .replace(/[\p{M}\p{Cc}]/gu, '')
      .replaceAll('ı', 'i'),
  );
}

export function bareName(name: string): string {
  return name.replace(/^.*\\/s, '').replace(/@.*$/s, '');
}

/** A name in a message; quoted if it contains characters that are easy to overlook. */
export function named(name: string): string {
  return /^[\x21-\x7e]+$/.test(name) ? name : `"${name}"`;
}

/** Whether a name is one of the break-glass accounts: names or patterns, in any spelling that a device may fold. */
export function isBreakGlass(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) =>
    [name, bareName(name)].some(
      (one) =>
        matchesGlob(one.toLowerCase(), pattern.toLowerCase()) ||
        matchesGlob(foldedLook(one), foldedLook(pattern)),
    ),
  );
}

/** The break-glass account that a step takes access from, and how; undefined if none. */
export function breakGlassAtRisk(
  step: Step,
  isListed: (name: string) => boolean,
  finder: AccountFinder,
): { readonly account: string; readonly reason: Note } | undefined {
  const { profile } = finder.list;
  const { action, key, keyField, before } = step;
  for (const member of membersIn(before).filter(isListed)) {
    const field = fieldThatLoses(step, (text) => text === member, profile);
    if (field === undefined) continue;
    const names = { account: named(key), user: named(member) };
    return { account: member, reason: { code: 'at-risk', is: 'glass-field', field, ...names } };
  }
  // A device that folds names may store an added account over the existing one.
  const isSameLook = (record: DeviceRecord): boolean =>
    foldedLook(valueText(record[keyField])) === foldedLook(key);
  const touched = action === 'add' ? finder.found().filter(isSameLook) : before ? [before] : [];
  const account = touched.map((one) => finder.nameIn(one)).find((name) => name !== undefined);
  const harm = account && harmOf(step, isListed, profile);
  if (account === undefined || harm === undefined) return undefined;
  const names = { account: named(key), user: named(account) };
  return { account, reason: { code: 'at-risk', is: 'glass', harm, ...names } };
}

/** Whether these fields make an account whose password nobody knows. */
export function lacksPassword(profile: Profile, resource: string, fields: DeviceRecord): boolean {
  const isKnown = ([field, value]: [string, Value]): boolean =>
    isSecretField(field) && value !== null && value !== '' && !isMask(value);
  return givesAccess(profile, resource, [fields]) && !Object.entries(fields).some(isKnown);
}
