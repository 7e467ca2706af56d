import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type AccountReading, disablingFields, findAccount } from '../../src/change/lockout.ts';
import { drfProfile } from '../../src/device/built-in-profiles.ts';
import { withResource } from '../../src/device/profile.ts';
import type { DeviceRecord } from '../../src/device/record.ts';

const MAILS = ['', 'a@example.net', 'A@Example.NET', 'b@example.net'];
const NAMES = ['', 'Bob', 'Eve'];

const record = fc.record({
  username: fc.constantFrom('bob', 'Bob', 'b0b', 'eve', 'bob '),
  email: fc.constantFrom(...MAILS),
  first_name: fc.constantFrom(...NAMES),
  lastname: fc.constantFrom('', 'Builder'),
});

const fleet = fc
  .array(fc.array(record, { maxLength: 5 }), { minLength: 1, maxLength: 8 })
  .map((devices) =>
    devices.map((records, index): AccountReading => ({
      device: { name: `fw${index}`, address: `10.0.0.${index}:443` },
      keyField: 'username',
      records,
    })),
  );

function mailOf({ email }: DeviceRecord): string {
  return typeof email === 'string' ? email.toLowerCase() : '';
}

test('no account that is a stranger to the key is taken without a mark', () => {
  fc.assert(
    fc.property(fleet, (readings) => {
      const search = findAccount('bob', readings);
      const named = readings.flatMap(({ records }) =>
        records.filter(({ username }) => username === 'bob'),
      );
      const known = named.map(mailOf).filter((mail) => mail !== '');
      for (const { key, record: own } of search.same) {
        expect(key).toBe('bob');
        const mail = mailOf(own);
        const agree = known.filter((other) => other === mail).length;
        expect(mail === '' || agree > known.length / 2).toBe(true);
      }
      // Each record of the name is either taken or shown.
      expect(search.same.length + search.contradicting.length).toBe(named.length);
    }),
  );
});

function reading(name: string, ...records: DeviceRecord[]): AccountReading {
  return { device: { name, address: `${name}:443` }, keyField: 'username', records };
}

test('a full name counts in one field or in two, and an empty one contradicts nothing', () => {
  const { same, contradicting, related } = findAccount('bob', [
    reading('fw1', { username: 'bob', full_name: 'Bob  Builder' }),
    reading('fw2', { username: 'bob', first_name: 'bob', last_name: 'BUILDER' }),
    reading(
      'fw3',
      { username: 'bob', first_name: '' },
      { username: 'bb', displayName: 'Bob Builder' },
    ),
    reading('fw4', { username: 'bob', first_name: 'Bobby', last_name: 'Tables' }),
  ]);
  expect(same.map(({ device }) => device.name)).toEqual(['fw1', 'fw2', 'fw3']);
  expect(contradicting).toMatchObject([
    { key: 'bob', traits: [{ name: 'full name', text: 'Bobby Tables' }] },
  ]);
  expect(related).toMatchObject([
    { key: 'bb', traits: [{ name: 'full name', text: 'Bob Builder' }] },
  ]);
});

test.each<[DeviceRecord, DeviceRecord | undefined]>([
  [{ is_active: true }, { is_active: false }],
  [{ locked: 'no' }, { locked: 'yes' }],
  [{ deleted: false, enabled: 1 }, { enabled: 0 }],
  [{ deleted: false }, undefined],
  [{ mfa_enabled: true }, undefined],
  [{ status: 'active' }, undefined],
])('%j is disabled by %j', (fields, expected) => {
  expect(disablingFields(drfProfile, 'user', fields)).toEqual(expected);
});

test('a read-only switch disables nothing, and a profile may name other fields', () => {
  const details = { is_active: { type: 'boolean', required: false, readOnly: true } } as const;
  const known = withResource(drfProfile, 'user', { fields: details });
  expect(disablingFields(known, 'user', { is_active: true })).toBeUndefined();
  const configured = withResource(drfProfile, 'user', { disabledAs: { status: 'suspended' } });
  expect(disablingFields(configured, 'user', { is_active: true })).toEqual({ status: 'suspended' });
});
