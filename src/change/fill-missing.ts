import type { Profile } from '../device/profile.ts';
import type { DeviceRecord, Value } from '../device/record.ts';
import { valueAt } from '../value-at.ts';

/** What is known of a resource on one device. */
interface Known {
  readonly profile: Profile;
  readonly records: readonly DeviceRecord[];
  readonly resource: string;
}

/**
 * Values for fields that must be sent although nobody named them. A boolean left out of a form is
 * stored as false, and a choice left empty is refused: both get the value that most records have.
 */
export function fillMissing(
  about: Known,
  fields: DeviceRecord,
): { values: DeviceRecord; filled: Record<string, string> } {
  const missing = commonIn(about).filter(([field]) => !Object.hasOwn(fields, field));
  return {
    values: Object.fromEntries(missing),
    filled: Object.fromEntries(missing.map(([field]) => [field, 'most common here'])),
  };
}

type Common = readonly (readonly [field: string, value: Value])[];

/** By reading, then by profile and resource: many new records are planned from one reading. */
const commonOf = new WeakMap<readonly DeviceRecord[], WeakMap<Profile, Map<string, Common>>>();

function commonIn({ profile, records, resource }: Known): Common {
  const byProfile = commonOf.get(records) ?? new WeakMap<Profile, Map<string, Common>>();
  commonOf.set(records, byProfile);
  const byResource = byProfile.get(profile) ?? new Map<string, Common>();
  byProfile.set(profile, byResource);
  const common = byResource.get(resource) ?? commonValues({ profile, records, resource });
  byResource.set(resource, common);
  return common;
}

function commonValues({ profile, records, resource }: Known): Common {
  const choices = profile.resources[resource]?.choiceFields ?? [];
  const names = new Set(records.flatMap((record) => Object.keys(record)));
  return [...names].flatMap((field): Common => {
    const isBoolean = records.every((record) => {
      const value = valueAt(record, field);
      return value === undefined || typeof value === 'boolean';
    });
    if (!isBoolean && !choices.includes(field)) return [];
    const held = records.map((record) => valueAt(record, field));
    const common = mostCommon(held.filter((value) => value !== undefined));
    return common === undefined ? [] : [[field, common]];
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
