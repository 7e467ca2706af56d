import type { Profile } from './profile.ts';
import type { DeviceRecord } from './record.ts';

type Found = { readonly profile: Profile; readonly resource: string; readonly fields: string[] };

/** By reading: many changes are planned from one. */
const found = new WeakMap<readonly DeviceRecord[], Found>();

/**
 * Fields that a device has and shows of none of these records, as far as anybody has told: the profile,
 * OPTIONS, an earlier reading or an own write.
 */
export function hiddenFields(
  profile: Profile,
  resource: string,
  records: readonly DeviceRecord[],
): readonly string[] {
  const known = found.get(records);
  if (known?.profile === profile && known.resource === resource) return known.fields;
  const { hidden = [], shown = [], fields = [], details = {} } = profile.resources[resource] ?? {};
  const told = Object.keys(details).filter((field) => details[field]?.readOnly === false);
  const unshown = [...new Set([...hidden, ...shown, ...fields, ...told])].filter(
    (field) =>
      !profile.idFields.includes(field) && !records.some((record) => Object.hasOwn(record, field)),
  );
  found.set(records, { profile, resource, fields: unshown });
  return unshown;
}
