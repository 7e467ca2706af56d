import type { NotRead } from '../../src/history/history.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { documentedProfile } from '../../src/device/built-in-profiles.ts';
import {
  type DeviceRecord,
  type Value,
  valueText,
  withoutFields,
} from '../../src/device/record.ts';
import { Keeper } from '../../src/history/kept.ts';
import { wayBack, type WayBack } from '../../src/history/way-back.ts';
import { rounds } from '../rounds.ts';

const keeper = new Keeper(Buffer.alloc(32, 1));

function stateOf(records: readonly DeviceRecord[]) {
  return keeper.state({ resource: 'user', records, keyField: 'username' }, new Set(['last_login']));
}

function backFrom(
  then: readonly DeviceRecord[],
  now: readonly DeviceRecord[],
  more: {
    prune?: boolean;
    given?: DeviceRecord;
    keys?: readonly string[];
    full?: readonly DeviceRecord[];
    notRead?: NotRead;
  } = {},
): WayBack {
  return wayBack({
    ...{ profile: documentedProfile, resource: 'user', records: now, now: stateOf(now) },
    full: more.full ?? now,
    past: {
      ...{ state: stateOf(then), keyField: 'username', leftOut: ['last_login'] },
      notRead: more.notRead,
    },
    isComparable: true,
    isSelected: (key) => more.keys?.includes(key) ?? true,
    prune: more.prune ?? true,
    given: { fields: more.given ?? {} },
    meantBy: (identity) => ({ ...identity, age: 'older' }),
  });
}

/** A device that does what it is asked. It gives a new record an id and a password of its own. */
function applied(now: readonly DeviceRecord[], { changes }: WayBack): DeviceRecord[] {
  let records = [...now];
  for (const [index, change] of changes.entries()) {
    if (change.action === 'add') {
      records.push({ password: 'initial', uuid: uuid(900 + index), ...change.fields });
      continue;
    }
    const key = change.target.kind === 'key' ? change.target.key : '';
    const isMeant = (one: DeviceRecord): boolean => one['username'] === key;
    expect(records.filter(isMeant)).toHaveLength(1);
    if (change.action === 'delete') records = records.filter((one) => !isMeant(one));
    else {
      const { fields, removes = [] } = change;
      const set = (one: DeviceRecord) => ({ ...withoutFields(one, removes), ...fields });
      records = records.map((one) => (isMeant(one) ? set(one) : one));
    }
  }
  return records;
}

function uuid(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
}

const value: fc.Arbitrary<Value> = fc.constantFrom('', 'de', 'fr', null, 5, true, ['a'], {
  b: 'c',
});

const users = fc.uniqueArray(fc.nat(9), { maxLength: 7 }).chain((numbers) =>
  fc.tuple(
    ...numbers.map((number) =>
      fc.record(
        {
          username: fc.constant(`u${number}`),
          uuid: fc.constantFrom(uuid(number), uuid(number + 100)),
          password: fc.constantFrom('secret-1', 'secret-2'),
          lang: value,
          note: value,
          last_login: fc.nat(),
        },
        { requiredKeys: ['username', 'uuid', 'password'] },
      ),
    ),
  ),
);

test('a restore ends in the state of then, but for the losses that it names', () => {
  fc.assert(
    fc.property(users, users, (before: readonly DeviceRecord[], now: readonly DeviceRecord[]) => {
      const way = backFrom(before, now);
      const after = applied(now, way);
      const named = new Map(
        way.changes.flatMap((change) =>
          change.action === 'delete'
            ? []
            : [
                [
                  change.action === 'add' ? valueText(change.fields['username']) : keyOf(change),
                  Object.keys(change.lost ?? {}),
                ],
              ],
        ),
      );
      expect(after.map((one) => one['username']).sort()).toEqual(
        before.map((one) => one['username']).sort(),
      );
      for (const old of before) {
        const name = valueText(old['username']);
        const back = after.find((one) => one['username'] === name) ?? {};
        const lost = [
          ...(named.get(name) ?? []),
          ...[...way.lost].flatMap(([field, keys]) => (keys.includes(name) ? [field] : [])),
          ...way.gained,
          'last_login',
        ];
        for (const field of new Set([...Object.keys(old), ...Object.keys(back)])) {
          if (lost.includes(field)) continue;
          expect([field, back[field]]).toEqual([field, old[field]]);
        }
      }
      expect(JSON.stringify([way.changes, [...way.lost]])).not.toContain('secret-');
    }),
    { numRuns: rounds(500) },
  );
});

function keyOf(change: WayBack['changes'][number]): string {
  return change.action !== 'add' && change.target.kind === 'key' ? change.target.key : '';
}

const bob = { username: 'bob', uuid: uuid(1), lang: 'de', password: 'old-password' };

test('a changed password is a loss, an unchanged one is not', () => {
  expect(backFrom([bob], [bob])).toMatchObject({ changes: [], unchanged: 1 });
  const way = backFrom([bob], [{ ...bob, password: 'new-password' }]);
  expect(way).toMatchObject({ changes: [], unchanged: 0 });
  expect([...way.lost]).toEqual([['password', ['bob']]]);
});

test('a renamed record gets its name back, if the gate agrees', () => {
  const renamed = backFrom([bob], [{ ...bob, username: 'bobby' }]);
  expect(renamed.changes).toMatchObject([
    {
      action: 'set',
      target: { key: 'bobby' },
      fields: { username: 'bob' },
      meant: { age: 'older', id: uuid(1).replaceAll('-', ''), key: 'bob' },
    },
  ]);
});

test('tells records that share a name by their ids, and leaves them out without ids', () => {
  const twin = { ...bob, uuid: uuid(2), lang: 'fr' };
  expect(backFrom([bob, twin], [bob])).toMatchObject({
    changes: [{ action: 'add', fields: { lang: 'fr' }, meant: { isKeyShared: true } }],
    unclear: [],
  });
  const nameless = [bob, twin].map((one) => withoutFields(one, ['uuid']));
  expect(backFrom(nameless, nameless.slice(1))).toMatchObject({ changes: [], unclear: ['bob'] });
  expect(backFrom([bob], [bob, twin])).toMatchObject({ changes: [], unclear: ['bob'] });
});

test('deletes nothing that only another spelling of an added name may be', () => {
  const way = backFrom([bob], [{ ...bob, uuid: uuid(3), username: 'Bob' }]);
  expect(way.lookAlikes).toEqual([['bob', 'Bob']]);
});

test('what is not selected is left alone, also by --prune', () => {
  const now = [
    { ...bob, lang: 'fr' },
    { ...bob, uuid: uuid(4), username: 'eve' },
  ];
  expect(backFrom([bob], now, { keys: [] }).changes).toEqual([]);
  expect(backFrom([bob], now, { prune: false })).toMatchObject({ newcomers: ['eve'] });
});

test('what a summary of then does not show is lost, not absent', () => {
  const bob = { username: 'bob', lang: 'de' };
  const full = [{ username: 'ann', lang: 'de', quota: 5 }];
  const notRead = { shown: ['username', 'lang'], omits: ['notes'] };
  const [change] = backFrom([bob], [], { full, notRead }).changes;
  expect(change).toMatchObject({
    action: 'add',
    fields: bob,
    lost: { notes: '***', quota: '***' },
  });
});
