import { type Plan, recordName } from '../../change/plan.ts';
import { keyFieldOf } from '../../device/profile.ts';
import type { DeviceRecord } from '../../device/record.ts';
import { valueText } from '../../device/value-text.ts';
import { foldRecords } from '../../fleet/fold.ts';
import type { Member } from '../../fleet/member.ts';
import { someOf } from '../../text/one-line.ts';
import type { Call } from '../call.ts';
import { perDeviceFields } from '../commands/record-arguments.ts';

/** More records than that are not gone through one by one. */
const MOST_RECORDS = 5;

/**
 * Where `--on` keeps a line to some of the selected devices: which others hold a record of the same
 * name, as far as was seen in this session. Each is a sentence to be said before the question.
 */
export function otherHolders(call: Call<'on'>, plan: Plan, members: readonly Member[]): string[] {
  if (call.options.on.length === 0) return [];
  const addresses = new Set(members.map(({ ref }) => ref.address));
  const others = call.session.fleet.selection.filter(({ ref }) => !addresses.has(ref.address));
  const steps = plan.devices.flatMap((device) => device.steps);
  const named = new Map(steps.map((step) => [recordName(step), step]));
  return [...named].slice(0, MOST_RECORDS).flatMap(([name, { resource, key, before }]) => {
    if (before === undefined) return [];
    const holders = others.flatMap((member) => {
      const seen = member.seen(resource) ?? [];
      const field = keyFieldOf(member.profile, resource, seen);
      const record = seen.find((one) => valueText(one[field]) === key);
      if (record === undefined) return [];
      return [{ name: member.ref.name, isOther: isOther(member, resource, field, before, record) }];
    });
    return [true, false].flatMap((isOther) => {
      const on = holders.filter((one) => one.isOther === isOther).map((one) => one.name);
      const values = isOther ? ' with other values' : '';
      const text = `${name}: also on ${someOf(on)}${values} (without --on the line means them, too)`;
      return on.length === 0 ? [] : [text];
    });
  });
}

function isOther(
  member: Member,
  resource: string,
  keyField: string,
  before: DeviceRecord,
  record: DeviceRecord,
): boolean {
  const reads = [before, record].map((one) => ({ device: { ...member.ref }, records: [one] }));
  return foldRecords(reads, keyField, perDeviceFields(member.profile, resource)).length > 1;
}
