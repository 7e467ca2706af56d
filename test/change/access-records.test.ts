import fc from 'fast-check';
import { expect, test } from 'vitest';
import { accessRecords } from '../../src/change/lockout.ts';
import { genericRestProfile } from '../../src/device/built-in-profiles.ts';
import { type DeviceRecord, type Value, valueText } from '../../src/device/record.ts';

const text = fc.stringMatching(/^[a-z][a-z0-9]{2,8}$/);
const accounts = fc.uniqueArray(fc.record({ id: fc.integer({ min: 1 }), username: text }), {
  ...{ minLength: 2, maxLength: 5, selector: ({ username }) => username },
  comparator: (one, other) => one === other,
});

type Spelling = (account: DeviceRecord) => Value;

/** How devices say whose session it is. */
const SPELLINGS: readonly Spelling[] = [
  ({ username = '' }) => username,
  ({ id = '' }) => id,
  ({ id = '' }) => valueText(id),
  (account) => account,
  ({ id = '' }) => ({ id, self: 'https://device.invalid/x' }),
  ({ username = '' }) => [{ username, role: 'owner' }],
];

test('sessions are found by the name or id of their account, also inside an object', () => {
  const property = fc.property(accounts, fc.constantFrom(...SPELLINGS), text, (all, say, other) => {
    const ids = new Set(all.map(({ id }) => id));
    fc.pre(ids.size === all.length);
    const [own] = all;
    fc.pre(own !== undefined);
    const sessions = all.map((account, place) => ({
      name: `s${place}`,
      by: { who: say(account) },
    }));
    const names = { own: [own], all, keyField: 'username' };
    const among = (records: readonly DeviceRecord[]) =>
      accessRecords(genericRestProfile, 'by.who', records, names);
    expect(among(sessions)).toEqual({ found: sessions.slice(0, 1), isKnown: true });
    expect(among(sessions.slice(1))).toEqual({ found: [], isKnown: true });
    expect(among([])).toEqual({ found: [], isKnown: true });
    // Nothing shows that this field holds whose session it is.
    fc.pre(all.every(({ username }) => username !== other));
    const odd = [{ name: 's', by: { who: { login: other } } }, { name: 't' }];
    expect(among(odd)).toEqual({ found: [], isKnown: false });
  });
  fc.assert(property, { numRuns: 200 });
});
