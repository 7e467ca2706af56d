import { hasAllFields } from '../device/encode.ts';
import { fieldsWith, keyFieldOf, type Profile } from '../device/profile.ts';
import { type DeviceRecord, grouped, valueAt, valueText } from '../device/record.ts';
import { isSecretField } from '../device/sensitive-fields.ts';
import type { Add, Change } from './change.ts';
import { lacksPassword } from './account-harm.ts';
import { disablingFields } from './lockout.ts';
import { typedFields } from './typed-fields.ts';
import { type Note, textOf } from '../output/sentences.ts';
import { someOf } from '../text/one-line.ts';

type Account = Extract<Note, { code: 'loss'; is: 'lacks' | 'open' | 'closed' }>;

export interface ClosedAccounts {
  readonly changes: readonly Change[];
  /** The accounts that are added disabled. */
  readonly closed: readonly Account[];
  /** The adds that lack a field, or of accounts that the device cannot disable. */
  readonly open: ReadonlyMap<Add, Account>;
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
  const closed: Account[] = [];
  const open = new Map<Add, Account>();
  const safe = changes.map((change): Change => {
    if (change.action !== 'add') return change;
    const { resource } = change;
    const keyField = keyFieldOf(profile, resource, [change.fields]);
    const name = `${resource} ${valueText(change.fields[keyField])}`;
    const missing = missingFields(profile, resource, change.fields);
    if (missing.length > 0) {
      open.set(change, { code: 'loss', is: 'lacks', name, fields: missing.join(', ') });
      return change;
    }
    if (!lacksPassword(profile, resource, change.fields)) return change;
    const off = disablingFields(profile, resource, { ...records[0], ...change.fields });
    if (off === undefined) {
      open.set(change, { code: 'loss', is: 'open', name });
      return change;
    }
    const { fields } = typedFields({ profile, resource, records }, off);
    const texts = Object.entries(fields).map(([field, value]) => `${field}=${valueText(value)}`);
    closed.push({ code: 'loss', is: 'closed', name, fields: texts.join(' ') });
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
  readonly what: Note | string;
}

const MOST_NAMED = 3;

/** What the accounts of a device lack that are added again. */
export function accountRemarks(device: string, { closed, open }: ClosedAccounts): Remark[] {
  const kinds = grouped([...closed, ...open.values()], (note) => textOf({ ...note, name: '' }));
  return [...kinds.values()].map((same) => {
    const names = same.map(({ name }) => String(name));
    return { device, what: { ...same[0], name: someOf(names, MOST_NAMED) } };
  });
}

/** The same remark on several devices is one line. */
export function foldedRemarks(remarks: readonly Remark[]): string[] {
  return [...grouped(remarks, ({ what }) => textOf(what))].map(([text, same]) => {
    const devices = [...new Set(same.map(({ device }) => device))];
    return `${someOf(devices)}: ${text}`;
  });
}
