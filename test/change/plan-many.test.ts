import { expect, test } from 'vitest';
import { countComputing } from '../contention.ts';
import type { Change } from '../../src/change/change.ts';
import { guardPlan } from '../../src/change/guard.ts';
import { planDevice } from '../../src/change/plan-device.ts';
import { mergeDevicePlans } from '../../src/change/plan.ts';
import { documentedProfile } from '../../src/device/built-in-profiles.ts';
import { Credential } from '../../src/device/credential.ts';
import type { DeviceRecord } from '../../src/device/record.ts';

const DEVICE = { name: 'fw1', address: '10.0.0.1:443' };

function users(count: number): DeviceRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    uuid: `id-${index}`,
    username: `user${index}`,
    first_name: 'Ada',
    lastname: `Nr. ${index}`,
    lang: 'de',
    is_active: index % 2 === 0,
  }));
}

/** A third each: added, changed, deleted. */
function changesOn(records: readonly DeviceRecord[]): Change[] {
  const resource = 'user';
  return records.map((_record, index): Change => {
    const target = { kind: 'key', key: `user${index}` } as const;
    const fields = { username: `new${index}`, first_name: 'Eve', lastname: 'New', lang: 'en' };
    if (index % 3 === 0) return { action: 'add', resource, fields, isExact: true };
    if (index % 3 === 1) return { action: 'delete', resource, target };
    return { action: 'set', resource, target, fields: { lang: 'en' }, isExact: true };
  });
}

/** In milliseconds. */
function timeFor(count: number): number {
  const records = users(count);
  const changes = changesOn(records);
  const computedMs = countComputing();
  const parts = changes.map((change) =>
    planDevice({ device: DEVICE, profile: documentedProfile }, change, records),
  );
  const plan = mergeDevicePlans(DEVICE, parts);
  const credential = Credential.token('abc', 'admin');
  const entry = { ...DEVICE, groups: [] };
  const profile = documentedProfile;
  const tokenOwner = undefined;
  const login = { credential, tokenOwner, unlistedLogin: credential };
  const session = { ref: DEVICE, entry, ...login, profile, cached: () => records };
  guardPlan({ run: 'run', devices: [plan] }, [session], new Set(['own-account']));
  const elapsed = computedMs();
  expect(plan.steps).toHaveLength(count);
  return elapsed;
}

test('many changes on one device are planned in linear time', () => {
  const few = timeFor(1_000);
  // Ten times as many; comparing every record for every change would take a hundred times as long.
  expect(timeFor(10_000)).toBeLessThan(Math.max(50 * few, 2_000));
});
