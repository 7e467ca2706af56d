import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { drfProfile } from '../../src/device/built-in-profiles.ts';
import type { Profile } from '../../src/device/profile.ts';
import type { DeviceRecord } from '../../src/device/record.ts';
import type { ListEnd } from '../../src/fleet/device-session.ts';
import { Keeper } from '../../src/history/kept.ts';
import { nextLines } from '../../src/history/next-lines.ts';
import { replay } from '../../src/history/replay.ts';
import { goneFrom } from '../../src/history/history.ts';

const keeper = new Keeper(createHash('sha256').update('test').digest());
const PROFILE: Profile = { ...drfProfile, idFields: ['id'] };
const bob = { username: 'bob', id: 7 };
const amy = { username: 'amy', id: 1 };

interface Read {
  readonly at: number;
  readonly records: readonly DeviceRecord[];
  readonly pin?: string;
  readonly now?: number;
  readonly list?: ListEnd;
}

/** When id 7, which was shown at 100, was first missing. */
function goneSince100(reads: readonly Read[], profile = PROFILE): number | undefined {
  const text = [{ at: 99, records: [amy, bob] }, ...reads].reduce(
    (lines, { at, records, list, pin = 'p', now = at }: Read) => {
      const identity = { name: 'fw1', address: 'fw1:443', pin, digestKey: 'k' };
      const common = { identity, resource: 'user', keyField: 'username', moving: [], idFields: [] };
      const reading = { ...common, records, list, from: at - 5, to: at };
      return lines + (nextLines(lines, reading, keeper, now)?.text ?? '');
    },
    '',
  );
  return goneFrom(replay(text).periods, profile)('user', '7', 100);
}

test('an id that a later reading did not show is gone, also if it is there again', () => {
  expect(goneSince100([{ at: 200, records: [amy, bob] }])).toBeUndefined();
  const again = { at: 300, records: [amy, bob] };
  expect(goneSince100([{ at: 200, records: [amy] }, again])).toBe(200);
  expect(goneSince100([{ at: 200, records: [] }, again])).toBe(200);
});

test('a list that leaves records out says nothing of one that it does not show', () => {
  const again = { at: 300, records: [amy, bob] };
  expect(goneSince100([{ at: 200, records: [amy], list: 'hides' }, again])).toBeUndefined();
});

test('a reading that began before says nothing of the time since', () => {
  expect(goneSince100([{ at: 103, records: [amy] }])).toBeUndefined();
});

test('the readings of another device of that name say nothing', () => {
  const other = { at: 200, records: [amy], pin: 'q' };
  expect(goneSince100([other, { at: 300, records: [amy, bob] }])).toBeUndefined();
});

test('a clock that was set back hides no reading', () => {
  const back = { at: 50_000, records: [amy], now: 50_000 };
  const since = { at: 60_000, records: [amy, bob], now: 60_000 };
  expect(goneSince100([{ at: 90_000, records: [amy, bob] }, back, since])).toBe(50_000);
});

test('where readings show no ids, none is gone', () => {
  const reads = [{ at: 200, records: [amy] }];
  expect(goneSince100(reads, { ...PROFILE, idFields: ['uuid'] })).toBeUndefined();
  expect(goneSince100(reads, { ...PROFILE, ids: 'positional' })).toBeUndefined();
});
