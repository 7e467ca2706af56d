import { emptyFields, hasAllFields } from '../device/encode.ts';
import { ownFields, type Profile } from '../device/profile.ts';
import { isInternalField, isPrivilegeField, isSecretField } from '../device/sensitive-fields.ts';
import { type DeviceRecord, type Value, valueAt, valueText } from '../device/record.ts';
import type { Known } from './typed-fields.ts';

/** What a new record needs beside the fields that somebody named. */
export interface Missing {
  /** Sent with the value that most records have. */
  readonly values: DeviceRecord;
  /** All fields that are sent although nobody named them -> where their value comes from. */
  readonly filled: Readonly<Record<string, string>>;
  /** May give rights and has to be named: not filled in, and without it nothing is sent. */
  readonly needed: readonly string[];
  /** May give rights and is in all records: not filled in, so that the form lacks it. */
  readonly leftOut: readonly string[];
}

/**
 * What has to be sent although nobody named it: for a form of all fields, where a boolean that is left out
 * is stored as false and an empty choice is refused, each boolean and choice that every record has; for
 * JSON only what the device calls required. What may give rights is never filled in.
 */
export function fillMissing(about: Known, fields: DeviceRecord): Missing {
  const { profile, resource } = about;
  const isOpen = (field: string): boolean => !Object.hasOwn(fields, field);
  const common = commonIn(about).filter(([field]) => isOpen(field));
  const values = Object.fromEntries(common.filter(([field]) => !isPrivilegeField(field)));
  const empty = emptyFields(profile, resource, { ...values, ...fields });
  const needed = [...empty, ...requiredIn(about).filter(isOpen)].filter(isPrivilegeField);
  return {
    values,
    filled: {
      ...withOrigin(Object.keys(values), 'most common here'),
      ...withOrigin(empty, 'as a form has all fields'),
    },
    needed: [...new Set(needed)],
    leftOut: common.map(([field]) => field).filter(isPrivilegeField),
  };
}

function withOrigin(fields: readonly string[], origin: string): Record<string, string> {
  return Object.fromEntries(fields.map((field) => [field, origin]));
}

function requiredIn({ profile, resource }: Known): string[] {
  return Object.entries(profile.resources[resource]?.details ?? {}).flatMap(([field, facts]) =>
    facts.required && !facts.readOnly ? [field] : [],
  );
}

type Common = readonly (readonly [field: string, value: Value])[];

/** Many new records are planned from one reading. */
const commonOf = new WeakMap<readonly DeviceRecord[], { profile: Profile; common: Common }>();

function commonIn(known: Known): Common {
  const { profile, records } = known;
  const kept = commonOf.get(records);
  if (kept?.profile === profile) return kept.common;
  const common = commonValues(known);
  commonOf.set(records, { profile, common });
  return common;
}

function commonValues(about: Known): Common {
  const { profile, records, resource } = about;
  const known = profile.resources[resource];
  const own = [...profile.idFields, ...ownFields(profile, resource)];
  const sent = hasAllFields(profile) ? Object.keys(records[0] ?? {}) : requiredIn(about);
  return sent.flatMap((field): Common => {
    const facts = valueAt(known?.details, field);
    if (own.includes(field) || isInternalField(field) || isSecretField(field)) return [];
    if (facts?.readOnly === true) return [];
    const held = records.map((record) => valueAt(record, field) ?? null);
    if (held.some((value) => value === null || typeof value === 'object')) return [];
    const isChoice = facts?.choices !== undefined || known?.choiceFields.includes(field) === true;
    const isBoolean =
      facts?.type === 'boolean' || held.every((value) => typeof value === 'boolean');
    if (!isChoice && !isBoolean) return [];
    const common = mostCommon(held);
    const choices = facts?.choices?.map(({ value }) => value) ?? [];
    const isTaken = choices.length === 0 || choices.includes(valueText(common));
    return common === undefined || !isTaken ? [] : [[field, common]];
  });
}

function mostCommon(values: readonly Value[]): Value | undefined {
  const counts = new Map<Value, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  let best: Value | undefined;
  let most = 0;
  for (const [value, count] of counts) {
    if (count > most) [best, most] = [value, count];
  }
  return best;
}
