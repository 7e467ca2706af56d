import fc from 'fast-check';
import { textOf } from '../../src/output/sentences.ts';
import { expect, test } from 'vitest';
import { sincePlan } from '../../src/change/gate.ts';
import { movedId, Watch, withCurrentId } from '../../src/change/observe.ts';
import { findRecord, pairRecords } from '../../src/change/pairing.ts';
import { planDevice } from '../../src/change/plan-device.ts';
import { genericRestProfile as stable } from '../../src/device/built-in-profiles.ts';
import { DeviceFacts } from '../../src/device/facts.ts';
import { fieldsWith } from '../../src/device/profile.ts';
import type { Profile } from '../../src/device/profile.ts';
import type { DeviceRecord } from '../../src/device/record.ts';
import type { Step } from '../../src/change/step.ts';
import { countComputing } from '../contention.ts';

const device = { name: 'fw1', address: '10.0.0.5:443' };
const positional: Profile = { ...stable, ids: 'positional' };
const about = { resource: 'user', keyField: 'username', asked: {} };

/** Users with positional ids. */
function users(...names: readonly string[]): DeviceRecord[] {
  return names.map((username, id) => ({ id, username, lang: 'de' }));
}

function remove(key: string, records: readonly DeviceRecord[]): Step {
  const target = { kind: 'key', key } as const;
  const change = { action: 'delete', resource: 'user', target } as const;
  const [step] = planDevice({ device, profile: positional }, change, records).steps;
  if (step === undefined) throw new Error('nothing was planned');
  return step;
}

test('an id that belonged to another record has moved; a new id has not', () => {
  const [before, after] = [users('ann', 'bob', 'zoe'), users('bob', 'zoe')];
  expect(movedId(stable, about, before, after)).toBe('user bob had the id 1 and now has 0');
  const renewed = [{ id: 7, username: 'bob', lang: 'de' }];
  expect(movedId(stable, about, before, renewed)).toBeUndefined();
  expect(movedId(stable, about, before, before)).toBeUndefined();
});

test('a step follows a record that has moved, and reports one that has changed as drift', () => {
  const step = remove('zoe', users('ann', 'bob', 'zoe'));
  const now = users('bob', 'zoe');
  expect(sincePlan(positional, step, now).drift).toBeUndefined();
  expect(withCurrentId(positional, step, now).request.path).toBe('/api/user/1');
  const changed = now.map((user) => ({ ...user, lang: 'fr' }));
  expect(textOf(sincePlan(positional, step, changed).drift ?? '')).toBe(
    'user zoe changed since the plan (lang)',
  );
});

test('of two records with one name the one with the same content is taken', () => {
  const sameName = [...users('bob', 'bob')].map((user, id) => ({
    ...user,
    lang: ['de', 'fr'][id] ?? '',
  }));
  const [step] = planDevice(
    { device, profile: positional },
    { action: 'delete', resource: 'user', target: { kind: 'where', filter: 'lang=fr' } },
    sameName,
  ).steps;
  if (step === undefined) throw new Error('nothing was planned');
  const now = [...sameName.toReversed()].map((user, id) => ({ ...user, id }));
  expect(withCurrentId(positional, step, now).request.path).toBe('/api/user/0');
});

test('without evidence that ids move, steps keep their ids', () => {
  const step = remove('zoe', users('ann', 'bob', 'zoe'));
  expect(withCurrentId(stable, step, users('bob', 'zoe'))).toBe(step);
  expect(textOf(sincePlan(stable, step, users('bob', 'zoe')).drift ?? '')).toBe(
    'user zoe is another record now (id 1)',
  );
});

test('a field that changed twice is volatile; one that changed once is not', () => {
  const reading = (hits: number, room: string): DeviceRecord[] => [
    { id: 1, username: 'ann', lang: 'de', hits, room },
  ];
  const facts = new DeviceFacts(stable);
  const watch = new Watch(facts, about, reading(1, 'R1'));
  expect(watch.next(reading(2, 'R2'))).toBe(true);
  expect(watch.next(reading(3, 'R2'))).toBe(true);
  expect(fieldsWith(facts.profile, 'user', 'volatile')).toEqual(['hits']);
});

test('records without names are followed by their content in linear time', () => {
  const nameless = { profile: positional, resource: 'user', keyField: 'id' };
  const names = Array.from({ length: 4000 }, (_, index) => `user${index}`);
  const [before, after] = [users(...names), users(...names.slice(1))];
  const computing = countComputing();
  const { matches } = pairRecords(nameless, before, after);
  expect(matches.size).toBe(after.length);
  expect(computing()).toBeLessThan(1000);
});

test('pairing finds for each record what the search for that record finds, if names and ids are its own', () => {
  const fate = fc.constantFrom('stays', 'is renamed', 'gets a new id', 'is gone');
  fc.assert(
    fc.property(fc.array(fate, { maxLength: 12 }), fc.boolean(), (fates, isReversed) => {
      const before = users(...fates.map((_, index) => `user${index}`));
      const kept = before.flatMap((record, index): DeviceRecord[] => {
        const fateOf = fates[index] ?? 'stays';
        if (fateOf === 'is gone') return [];
        if (fateOf === 'is renamed') return [{ ...record, username: `new${index}` }];
        return [fateOf === 'stays' ? record : { ...record, id: 100 + index }];
      });
      const after = isReversed ? kept.toReversed() : kept;
      const { matches, added } = pairRecords({ profile: stable, ...about }, before, after);
      for (const record of before) {
        expect(matches.get(record)).toBe(
          findRecord(stable, { ...about, action: 'set' }, after, record),
        );
      }
      expect(added).toEqual([]);
    }),
  );
});
