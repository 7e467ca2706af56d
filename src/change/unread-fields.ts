import {
  fieldFacts,
  hiddenFields,
  ignoredFields,
  isDescribed,
  type Profile,
} from '../device/profile.ts';
import { type DeviceRecord, type Value, valueAt, valueText } from '../device/record.ts';
import { isComparable, isMask, isSecretField } from '../device/sensitive-fields.ts';
import type { Note } from '../output/sentences.ts';
import { suggest } from '../text/suggest.ts';
import { isStored } from '../device/equality.ts';
import { type Compared, isAsBefore } from './compare.ts';
import type { Step } from './step.ts';

/** Requested fields that cannot be compared with the stored record. */
export interface Unread {
  /** Write-only fields: secrets, and fields that no record shows. */
  readonly hidden: readonly string[];
  /** Secrets whose shown hash has changed. */
  readonly rehashed: readonly string[];
  /** The fields with these hashes: their change was requested. */
  readonly hashes: readonly string[];
  /** Undocumented fields that no record shows: nobody knows whether the device has stored them. */
  readonly unreported: readonly string[];
}

/** `records`: all that were read, before and after; `held`: the record as read back. */
export function unreadFields(
  profile: Profile,
  step: Step,
  records: readonly DeviceRecord[],
  held: DeviceRecord,
): Unread {
  const asked = Object.keys(step.asked).filter(
    (field) => !isStored(valueAt(step.asked, field), valueAt(held, field)),
  );
  const isRehashed = (field: string): boolean =>
    isShown(valueAt(held, field)) &&
    isShown(valueAt(step.before, field)) &&
    !isAsBefore(valueAt(step.before, field), valueAt(held, field));
  const isTakenOnly = (field: string): boolean =>
    fieldFacts(profile, step.resource, field).writeOnly === true;
  const named = asked.filter(isSecretField);
  const secrets = [
    ...named,
    ...asked.filter((field) => !named.includes(field) && isTakenOnly(field)),
  ];
  const changed = Object.keys(held).filter(isRehashed);
  const hashesOf = (secret: string): string[] =>
    changed.filter((field) => isHashOf(field, secret, isTakenOnly(secret)));
  const hashes = secrets.flatMap(hashesOf);
  const rehashed = secrets.filter((secret) => hashesOf(secret).length > 0);
  const unshown = secrets.filter(
    (field) => !rehashed.includes(field) && !isShownAsBefore(step, held, field),
  );
  const known = hiddenFields(records, profile, step.resource);
  const writeOnly = asked.filter((field) => !secrets.includes(field) && known.includes(field));
  const unreadable = [...unshown, ...writeOnly];
  const unknown = unknownFields(profile, step, held, records);
  const unreported = unknown.filter((field) => !unreadable.includes(field));
  return { hidden: unreadable, rehashed, hashes, unreported };
}

export function unreadNotes({ hidden, rehashed }: Unread): Note[] {
  return [
    { code: 'seen', is: 'hidden', names: hidden.join(', ') },
    { code: 'seen', is: 'rehashed', names: rehashed.join(', ') },
  ];
}

/** A secret that is shown unchanged has visibly not changed. */
function isShownAsBefore(step: Step, held: DeviceRecord, field: string): boolean {
  const [before, now] = [valueAt(step.before, field), valueAt(held, field)];
  return isShown(now) && before !== undefined && isAsBefore(before, now);
}

/** Whether a secret is shown itself, not only as dots or as a mask that cannot be compared. */
export function isShown(value: Value | undefined): boolean {
  if (typeof value !== 'string' || value === '') return false;
  return isMask(value) ? isComparable(value) : !/^[*\u2022\u25cfx.]+$/i.test(value);
}

/**
 * The secret itself if the device shows its hash, `password_hash` beside `password`, or `password` beside a field
 * that is only taken (`cleartext_password`).
 */
function isHashOf(field: string, secret: string, isTakenOnly: boolean): boolean {
  const [name, other] = [field.toLowerCase(), secret.toLowerCase()];
  if (name === other || (isSecretField(field) && other.includes(name))) return true;
  return (isTakenOnly || name.includes(other)) && /hash|salt|digest|crypt|enc|pass|pwd/.test(name);
}

/** Returns fields that no record shows and the device does not document. A name close to a known field is a typo. */
function unknownFields(
  profile: Profile,
  { asked, resource }: Step,
  held: DeviceRecord,
  records: readonly DeviceRecord[],
): string[] {
  if (isDescribed(profile, resource)) return [];
  return Object.keys(asked).filter(
    (field) =>
      // A part of a shown field can be read back: it is not stored.
      !records.some((record) =>
        [field, field.split('.')[0] ?? field].some((name) => Object.hasOwn(record, name)),
      ) && suggest(field, Object.keys(held)).length === 0,
  );
}

/** Fields that the other records had before, and that no record shows any more. */
export function vanishedFields(
  profile: Profile,
  { keyField, resource, asked }: Step,
  before: readonly DeviceRecord[],
  after: readonly DeviceRecord[],
): readonly string[] {
  const shown = new Set(after.flatMap((record) => Object.keys(record)));
  const ignored = [keyField, ...profile.idFields, ...ignoredFields(profile, resource)];
  const gone = new Set(
    before.flatMap((record) =>
      Object.keys(record).filter((field) => !shown.has(field) && valueText(record[field]) !== ''),
    ),
  );
  // Many devices omit empty fields: then the field is as requested.
  const isEmptied = (field: string): boolean =>
    Object.hasOwn(asked, field) && valueText(asked[field]) === '';
  return after.length === 0
    ? []
    : [...gone].filter((field) => !ignored.includes(field) && !isEmptied(field));
}

export function withoutUnread(
  { hidden, rehashed }: Unread,
  differences: readonly Compared[],
): Compared[] {
  return differences.filter(({ field }) => !hidden.includes(field) && !rehashed.includes(field));
}
