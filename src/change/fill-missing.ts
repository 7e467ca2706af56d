import { type Note, textOf } from '../output/sentences.ts';
import { rememberedFor } from '../text/remember.ts';
import { emptyFields, hasAllFields } from '../device/encode.ts';
import {
  fieldFacts,
  fieldsWith,
  isChoiceField,
  managedFields,
  type Profile,
} from '../device/profile.ts';
import { isInternalField, isPrivilegeField, isSecretName } from '../device/sensitive-fields.ts';
import {
  type DeviceRecord,
  frequencies,
  isNested,
  type Value,
  valueAt,
  valueText,
} from '../device/record.ts';
import type { Known } from './typed-fields.ts';

export interface Missing {
  readonly values: DeviceRecord;
  /** All fields that are sent without being given -> the source of their value. */
  readonly filled: Readonly<Record<string, string>>;
  /** Required fields that are never filled in, most as they may give rights. Without them nothing is sent. */
  readonly needed: readonly string[];
  /** Fields that all records have and that are never filled in, so that the form lacks them. */
  readonly leftOut: readonly string[];
}

/**
 * Computes the fields to send beyond the given ones. A form of all fields needs each boolean and choice
 * that every record has: a missing boolean is stored as false, an empty choice is refused. JSON needs only
 * what the device requires. Fields that may give rights are never filled in.
 */
export function fillMissing({ profile, resource, records }: Known, fields: DeviceRecord): Missing {
  const isOpen = (field: string): boolean => !Object.hasOwn(fields, field);
  const isUnfilled = (field: string): boolean =>
    isPrivilegeField(field) || fieldFacts(profile, resource, field).rights === true;
  const common = commonIn(records, profile, resource).filter(([field]) => isOpen(field));
  const values = Object.fromEntries(common.filter(([field]) => !isUnfilled(field)));
  const empty = emptyFields(profile, resource, { ...values, ...fields });
  const needed = [...empty, ...requiredIn(profile, resource).filter(isOpen)].filter(isUnfilled);
  return {
    values,
    filled: {
      ...withOrigin(Object.keys(values), { code: 'plan-remark', is: 'most-common' }),
      ...withOrigin(empty, { code: 'plan-remark', is: 'whole-form' }),
    },
    needed: [...new Set(needed)],
    leftOut: common.map(([field]) => field).filter(isUnfilled),
  };
}

function withOrigin(fields: readonly string[], origin: Note): Record<string, string> {
  return Object.fromEntries(fields.map((field) => [field, textOf(origin)]));
}

function requiredIn(profile: Profile, resource: string): string[] {
  return fieldsWith(profile, resource, 'required').filter(
    (field) => fieldFacts(profile, resource, field).readOnly !== true,
  );
}

type Common = readonly (readonly [field: string, value: Value])[];

/** Many new records are planned from one reading. */
const commonIn = rememberedFor(commonValues);

function commonValues(
  records: readonly DeviceRecord[],
  profile: Profile,
  resource: string,
): Common {
  const own = [...profile.idFields, ...managedFields(profile, resource)];
  const sent = hasAllFields(profile)
    ? Object.keys(records[0] ?? {})
    : requiredIn(profile, resource);
  return sent.flatMap((field): Common => {
    const facts = fieldFacts(profile, resource, field);
    if (own.includes(field) || isInternalField(field) || isSecretName(field)) return [];
    if (facts.readOnly === true) return [];
    const held = records.map((record) => valueAt(record, field) ?? null);
    if (held.some((value) => value === null || isNested(value))) return [];
    const isBoolean = facts.type === 'boolean' || held.every((value) => typeof value === 'boolean');
    if (!isBoolean && !isChoiceField(facts)) return [];
    const [[common] = [undefined]] = frequencies(held);
    const choices = facts.choices?.map(({ value }) => value) ?? [];
    const isTaken = choices.length === 0 || choices.includes(valueText(common));
    return common === undefined || !isTaken ? [] : [[field, common]];
  });
}
