import type { DeviceRecord } from '../device/record.ts';
import { valueText } from '../device/value-text.ts';
import { lookOf } from '../look-alike.ts';
import type { LookAlike, Step } from './plan.ts';

/** The steps whose records look like others that the device holds. */
export function lookAlikesOf(
  steps: readonly Step[],
  recordsOf: (resource: string) => readonly DeviceRecord[],
): LookAlike[] {
  const byLook = new Map<string, ReadonlyMap<string, readonly string[]>>();
  return steps.flatMap(({ action, resource, key, keyField }) => {
    if (key === '') return [];
    const looks = byLook.get(resource) ?? looksIn(recordsOf(resource), keyField);
    byLook.set(resource, looks);
    const others = (looks.get(lookOf(key)) ?? []).filter((other) => other !== key);
    return others.length > 0 ? [{ action, key, others }] : [];
  });
}

function looksIn(
  records: readonly DeviceRecord[],
  keyField: string,
): ReadonlyMap<string, readonly string[]> {
  const looks = new Map<string, string[]>();
  for (const record of records) {
    const key = valueText(record[keyField]);
    const look = lookOf(key);
    const same = looks.get(look);
    if (same === undefined) looks.set(look, [key]);
    else if (!same.includes(key)) same.push(key);
  }
  return looks;
}
