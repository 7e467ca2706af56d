import type { Profile } from './profile.ts';
import type { DeviceRecord } from './record.ts';

/**
 * Fields that a device has and shows of none of these records, as far as anybody has told: the profile,
 * OPTIONS, an earlier reading or an own write.
 */
export function hiddenFields(
  { idFields, resources }: Profile,
  resource: string,
  records: readonly DeviceRecord[],
): string[] {
  const { hidden = [], shown = [], fields = [], details = {} } = resources[resource] ?? {};
  const told = Object.keys(details).filter((field) => details[field]?.readOnly === false);
  return [...new Set([...hidden, ...shown, ...fields, ...told])].filter(
    (field) => !idFields.includes(field) && !records.some((record) => Object.hasOwn(record, field)),
  );
}
