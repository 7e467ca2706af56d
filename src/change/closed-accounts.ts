import { hasAllFields } from '../device/encode.ts';
import { fieldsWith, keyFieldOf, type Profile } from '../device/profile.ts';
import { type DeviceRecord, grouped, valueAt, valueText } from '../device/record.ts';
import { isSecretField } from '../device/sensitive-fields.ts';
import type { Add, Change } from './change.ts';
import { lacksPassword } from './account-harm.ts';
import { disablingFields } from './lockout.ts';
import { typedFields } from './typed-fields.ts';
import { someOf } from '../text/one-line.ts';

export interface ClosedAccounts {
  readonly changes: readonly Change[];
  /** One sentence for each account that is added disabled. */
  readonly closed: readonly string[];
  /** One sentence for each add that lacks a field, or of an account that the device cannot disable. */
  readonly open: ReadonlyMap<Add, string>;
}

/**
 * Records that are added again, from a journal or a file, lack what no device shows: a field that the profile says
 * they must have, or the password of an account, which would be an empty or default one. Such an account is disabled
 * if the fields for it are known.
 *
 * @param records current records, as examples of the fields
 */
export function closeAccounts(
  changes: readonly Change[],
  profile: Profile,
  records: readonly DeviceRecord[] = [],
): ClosedAccounts {
  const closed: string[] = [];
  const open = new Map<Add, string>();
  const safe = changes.map((change): Change => {
    if (change.action !== 'add') return change;
    const { resource } = change;
    const keyField = keyFieldOf(profile, resource, [change.fields]);
    const name = `${resource} ${valueText(change.fields[keyField])}`;
    const missing = missingFields(profile, resource, change.fields);
    if (missing.length > 0) {
      open.set(change, `${name} needs ${missing.join(', ')}, which nobody knows`);
      return change;
    }
    if (!lacksPassword(profile, resource, change.fields)) return change;
    const off = disablingFields(profile, resource, { ...records[0], ...change.fields });
    if (off === undefined) {
      open.set(
        change,
        `${name} would get an empty or default password, because its own is unknown`,
      );
      return change;
    }
    const { fields } = typedFields({ profile, resource, records }, off);
    const texts = Object.entries(fields).map(([field, value]) => `${field}=${valueText(value)}`);
    closed.push(`${name} is added disabled (${texts.join(' ')}), because its password is unknown`);
    return { ...change, fields: { ...change.fields, ...fields } };
  });
  return { changes: safe, closed, open };
}

/** What a new record must have, as the profile states it, and these fields lack. A form has the others empty. */
export function missingFields(profile: Profile, resource: string, fields: DeviceRecord): string[] {
  return fieldsWith(profile, resource, 'needed').filter(
    (field) =>
      profile.origins[`resources.${resource}.fields.${field}`] === 'configured' &&
      valueText(valueAt(fields, field)) === '' &&
      !profile.idFields.includes(field) &&
      (isSecretField(field) || !hasAllFields(profile)),
  );
}

/** What the user must know of one device before a plan is confirmed. */
export interface Remark {
  readonly device: string;
  readonly text: string;
}

const MOST_NAMED = 3;

/** What the accounts of a device lack that are added again. */
export function accountRemarks(
  device: string,
  { closed, open }: Pick<ClosedAccounts, 'closed' | 'open'>,
): Remark[] {
  const few = (texts: readonly string[], many: string): readonly string[] =>
    texts.length > MOST_NAMED ? [`${texts.length} accounts ${many}`] : texts;
  return [
    ...few(closed, 'are added disabled, because their passwords are unknown'),
    ...few([...open.values()], 'would get empty or default passwords, because theirs are unknown'),
  ].map((text) => ({ device, text }));
}

/** The same remark on several devices is one line. */
export function foldedRemarks(remarks: readonly Remark[]): string[] {
  return [...grouped(remarks, ({ text }) => text)].map(([text, same]) => {
    const devices = [...new Set(same.map(({ device }) => device))];
    return `${someOf(devices)}: ${text}`;
  });
}
