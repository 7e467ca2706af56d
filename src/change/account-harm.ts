import { isMask, isPrivilegeField, isSecretField, lettersOf } from '../device/sensitive-fields.ts';
import { detailsOf, type Profile } from '../device/profile.ts';
import {
  type DeviceRecord,
  isValueList,
  type Value,
  valueAt,
  valueText,
} from '../device/record.ts';
import { lookOf, normalized } from '../text/visible.ts';
import { type ChangedPart, changedParts } from './compare.ts';
import { isEqual } from '../device/equality.ts';
import type { Step } from './step.ts';
import { matchesGlob } from '../text/glob.ts';

/** Resources whose records give access: `user`, `local-admins`, `api_token`. */
const ACCOUNTS = /user|account|admin|login|operator|principal|credential|token|apikey/;
/** Fields that name an account or the owner of a record. */
const NAMES = /^(?:user(?:name|id)?|login(?:name)?|account(?:name)?|owner|uid)$/;
const ADDRESSES = /^(?:e?mail(?:address)?|upn|principal(?:name)?)$/;
/** What says whose account it is, in which language the device speaks to them, and comments: nothing that opens a door. */
const HARMLESS =
  /^(?:(?:first|given|last|family|sur|full|display|real)name|(?:tele|mobile|work|office)?phone(?:number)?|mobile|lang(?:uage)?|locale|timezone|tz|comments?|notes?|description)$/;
const EMAIL = /^e?mail(?:address)?$/;

/** Whether the records of a resource give access, judged by its name. */
export function opensAccess(resource: string): boolean {
  return ACCOUNTS.test(lettersOf(resource));
}

export function isAccount({ resource, before, after }: Step): boolean {
  return (
    opensAccess(resource) ||
    Object.keys({ ...before, ...after }).some(
      (field) => isSecretField(field) || /^(?:user|login)name$/.test(lettersOf(field)),
    )
  );
}

/**
 * How a step may take access away from its account: any field counts that is not known to be harmless, also one that
 * the request erases, or may erase.
 *
 * @param user the name that the account logs in with
 */
export function harmOf(step: Step, user: string, profile?: Profile): string | undefined {
  if (step.action === 'delete') return 'deleting';
  // A device that trims and folds names may take the new name for the existing one.
  if (step.action === 'add') return step.key === user ? undefined : 'adding';
  const parts = partsOf(step);
  const { resource, keyField, erases = [], mayErase = [] } = step;
  const renamed = parts.find(({ field, before }) => {
    const isName = field === keyField || NAMES.test(lettersOf(field));
    return isName || (ADDRESSES.test(lettersOf(field)) && isSameName(valueText(before), user));
  });
  if (renamed !== undefined) return 'renaming';
  const isFree = (field: string): boolean =>
    isHarmlessField({ profile, resource, keyField }, field);
  const changed = parts.map(({ field }) => field);
  const field = [...changed, ...erases, ...mayErase].find((one) => !isFree(one));
  return field && `changing ${field} of`;
}

interface FieldPlace {
  readonly profile?: Profile | undefined;
  readonly resource: string;
  readonly keyField: string;
}

/** Whether a field of an account gives nobody access and takes it from nobody, by its name or by its profile. */
export function isHarmlessField(
  { profile, resource, keyField }: FieldPlace,
  field: string,
): boolean {
  if (field === keyField || field.split('.').some(isSecretField)) return false;
  const stated = profile && detailsOf(profile, resource, field);
  const disables = Object.hasOwn(profile?.resources[resource]?.disabledAs ?? {}, field);
  if (disables || stated?.rights === true) return false;
  if (stated?.harmless === true) return true;
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

const MEMBERS = /(?:member|user|account|admin|operator|login|principal)s$/;

/**
 * The field by which a group (or another list of members) would lose this user. `usergroup` looks like an account:
 * there only lists count whose name says that they hold members, because accounts list groups.
 */
export function fieldThatLoses(step: Step, user: string): string | undefined {
  const isGroup = !isAccount(step);
  const holds = (field: string, value: Value | undefined): boolean =>
    (isGroup || MEMBERS.test(lettersOf(field))) &&
    isValueList(value) &&
    value.some((item) => isSameName(valueText(item), user));
  if (step.action === 'delete') {
    const { before = {} } = step;
    return Object.keys(before).find((field) => holds(field, valueAt(before, field)));
  }
  return partsOf(step).find(
    ({ field, before, after }) => holds(field, before) && !holds(field, after),
  )?.field;
}

/** Whether a field of a record names this account. */
export function names(
  record: DeviceRecord,
  field: string,
  keyField: string,
  user: string,
): boolean {
  const text = valueText(valueAt(record, field));
  const letters = lettersOf(field);
  if (ADDRESSES.test(letters)) return isSame(text, user);
  return (field === keyField || NAMES.test(letters)) && isSameName(text, user);
}

/** The names and addresses of the account that a record is about. */
export function accountNames(record: DeviceRecord, keyField: string): string[] {
  return Object.keys(record).flatMap((field) => {
    const letters = lettersOf(field);
    const isName = field === keyField || NAMES.test(letters) || ADDRESSES.test(letters);
    const text = isName ? valueText(valueAt(record, field)) : '';
    return text === '' ? [] : [text];
  });
}

/** Also if one of them includes its domain: `CORP\\admin`, `admin@corp`. */
export function isSameName(name: string, user: string): boolean {
  return isSame(name, user) || isSame(bareName(name), bareName(user));
}

/** Whether a device may take one name for the other: trimmed, folded, or look-alike. */
function isSame(one: string, other: string): boolean {
  const look = foldedLook(one);
  return look !== '' && look === foldedLook(other);
}

export function foldedLook(name: string): string {
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
  patterns: readonly string[],
  records: readonly DeviceRecord[],
  profile?: Profile,
): { readonly account: string; readonly reason: string } | undefined {
  if (patterns.length === 0) return undefined;
  const isListed = (name: string): boolean => isBreakGlass(name, patterns);
  const { action, key, keyField, before } = step;
  const items = Object.values(before ?? {})
    .filter(isValueList)
    .flat()
    .map(valueText);
  for (const account of items.filter(isListed)) {
    const field = fieldThatLoses(step, account);
    if (field === undefined) continue;
    return { account, reason: `${field} of ${named(key)} would lose ${named(account)}` };
  }
  if (!isAccount(step)) return undefined;
  // A device that folds names may store an added account over the existing one.
  const isSameLook = (name: string): boolean => foldedLook(name) === foldedLook(key);
  const touched = action === 'add' ? records.filter((one) => namesOf(one).some(isSameLook)) : [];
  const own = action === 'add' ? touched : [before ?? { [keyField]: key }];
  function namesOf(record: DeviceRecord): readonly string[] {
    return accountNames(record, keyField);
  }
  const account = own.flatMap(namesOf).find(isListed);
  const harm = account && harmOf(step, action === 'add' ? '' : account, profile);
  if (account === undefined || harm === undefined) return undefined;
  return { account, reason: `${harm} ${named(key)} may take away access from ${named(account)}` };
}

/** Whether these fields make an account without a password that is known. */
export function lacksPassword(resource: string, fields: DeviceRecord): boolean {
  const isKnown = ([field, value]: [string, Value]): boolean =>
    isSecretField(field) && value !== null && value !== '' && !isMask(value);
  return opensAccess(resource) && !Object.entries(fields).some(isKnown);
}
