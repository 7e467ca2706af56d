import { detailsOf, keyFieldOf, type Profile } from '../device/profile.ts';
import { type DeviceRecord, type Value, valueAt, valueText } from '../device/record.ts';
import { isMask, disablingValue, isSecretField } from '../device/sensitive-fields.ts';
import type { Change } from './change.ts';
import { opensAccess } from './account-harm.ts';

export interface ClosedAccounts {
  readonly changes: readonly Change[];
  /** One sentence for each account that is added disabled. */
  readonly closed: readonly string[];
  /** One sentence for each add of an account that the device cannot disable. */
  readonly open: ReadonlyMap<Change, string>;
}

/**
 * Accounts that are added again, from a journal or a file, lack their passwords: the device would give them
 * an empty or default one. They are disabled if a field for it is known.
 *
 * @param records current records, as examples of the fields
 */
export function closeAccounts(
  changes: readonly Change[],
  profile: Profile,
  records: readonly DeviceRecord[] = [],
): ClosedAccounts {
  const closed: string[] = [];
  const open = new Map<Change, string>();
  const safe = changes.map((change): Change => {
    const { action, resource } = change;
    if (action !== 'add' || !lacksPassword(resource, change.fields)) return change;
    const keyField = keyFieldOf(profile, resource, [change.fields]);
    const name = `${resource} ${valueText(change.fields[keyField])}`;
    const known = { ...writableFields(profile, resource), ...records[0], ...change.fields };
    for (const [field, held] of Object.entries(known)) {
      const value = disablingValue(field, held);
      if (value === undefined || detailsOf(profile, resource, field)?.readOnly) continue;
      closed.push(
        `${name} is added disabled (${field}=${valueText(value)}), because its password is unknown`,
      );
      return { ...change, fields: { ...change.fields, [field]: value } };
    }
    open.set(change, `${name} would get an empty or default password, because its own is unknown`);
    return change;
  });
  return { changes: safe, closed, open };
}

/** Whether these fields make an account without a password that is known. */
export function lacksPassword(resource: string, fields: DeviceRecord): boolean {
  return opensAccess(resource) && !hasSecret(fields);
}

function hasSecret(fields: DeviceRecord): boolean {
  return Object.keys(fields).some((field) => {
    const value = valueAt(fields, field);
    return isSecretField(field) && value !== null && value !== '' && !isMask(value);
  });
}

/** The writable fields that the device reports, with the value true. */
function writableFields({ resources }: Profile, resource: string): Readonly<Record<string, Value>> {
  const details = Object.entries(resources[resource]?.details ?? {});
  return Object.fromEntries(
    details.filter(([, { readOnly }]) => !readOnly).map(([field]) => [field, true]),
  );
}
