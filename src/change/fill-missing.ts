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
  { profile, records, resource }: Known,
  fields: DeviceRecord,
): { values: DeviceRecord; filled: Record<string, string> } {
  const values: Record<string, Value> = {};
  const filled: Record<string, string> = {};
  const choices = profile.resources[resource]?.choiceFields ?? [];
  const names = new Set(records.flatMap((record) => Object.keys(record)));
  for (const field of names) {
    if (field in fields) continue;
    const held = records
      .map((record) => valueAt(record, field))
      .filter((value) => value !== undefined);
    const isBoolean = held.every((value) => typeof value === 'boolean');
    if (!isBoolean && !choices.includes(field)) continue;
    const common = mostCommon(held);
    if (common === undefined) continue;
    values[field] = common;
    filled[field] = 'most common here';
  }
  return { values, filled };
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
