import { expect, test } from 'vitest';
import { OwnAccess } from '../../src/change/guard.ts';
import { Credential } from '../../src/device/credential.ts';
import { documentedProfile } from '../../src/device/built-in-profiles.ts';
import type { DeviceRecord } from '../../src/device/record.ts';
import { step } from './steps.ts';
import type { Step } from '../../src/change/step.ts';

const ADMIN = Credential.basic('admin', 'secret');

function accessOf(credential: Credential | undefined, records: readonly DeviceRecord[]): OwnAccess {
  const profile = documentedProfile;
  return new OwnAccess({ credential, tokenOwner: undefined, profile }, () => records);
}

function objection(
  one: Step,
  credential: Credential | undefined = ADMIN,
  records: readonly DeviceRecord[] = [],
): string | undefined {
  return accessOf(credential, records).objectionTo(one)?.reason;
}

test.each<[DeviceRecord, DeviceRecord]>([
  [{ email: 'a@b.example' }, { email: 'c@d.example' }],
  [{ lang: 'de' }, { lang: 'en' }],
  [{ phone: '1' }, { phone: '2', comment: 'on call' }],
  [{ first_name: 'Ada' }, { first_name: 'Eve' }],
])('%j may become %j', (before, asked) => {
  expect(objection(step({ username: 'admin', ...before }, asked))).toBeUndefined();
});

test.each<[DeviceRecord, DeviceRecord]>([
  [{ groups: ['ops', 'admins'] }, { groups: ['ops'] }],
  [{ role: 'admin' }, { role: 'viewer' }],
  [{ mfa_enabled: false }, { mfa_enabled: true }],
  [{ allowed_ips: '' }, { allowed_ips: '10.0.0.1' }],
  [{ policy: { user: { write: true } } }, { policy: { user: { locked: true } } }],
  [{ auth: { password: '***' } }, { auth: { password: 'new' } }],
  [{ level: 15 }, { level: 16 }],
  [{ is_active: false }, { is_active: true }],
  [{ groups: ['ops'] }, { groups: ['ops', 'admins'] }],
  [{ trusthost1: '' }, { trusthost1: '10.0.0.1/32' }],
  [{ two_factor: 'disable' }, { two_factor: 'email' }],
  [{ tags: ['administrator'] }, { tags: [] }],
  [{ recovery_email: '' }, { recovery_email: 'c@d.example' }],
  [{ profile: { first_name: 'Ada' } }, { profile: { first_name: 'Eve' } }],
])('%j does not become %j', (before, asked) => {
  expect(objection(step({ username: 'admin', ...before }, asked))).toContain('lock you out');
});

test('a login with an email address matches the record with that address', () => {
  const bob = { username: 'bob', email: 'Bob@Corp.example' };
  expect(objection(step(bob), Credential.basic('bob@corp.example', 'x'))).toContain('lock you out');
  expect(
    objection(step(bob, { email: 'x@y.example' }), Credential.basic('bob@corp.example', 'x')),
  ).toBe('renaming bob may lock you out: it may be the account in use, bob@corp.example');
  expect(objection(step({ ...bob, email: 'admin@corp.example' }))).toBeUndefined();
});

test('the record that shows the token is its owner, whatever is configured', () => {
  const token = Credential.token('abc', 'carol');
  const records = [
    { username: 'bob', token: 'Token abc' },
    { username: 'eve', token: 'def' },
    { username: 'carol', token: '***' },
  ];
  const [bob, eve] = records;
  expect(objection(step(bob), token, records)).toContain('it is the account in use');
  expect(objection(step(eve), token, records)).toBeUndefined();
});

test.each<[DeviceRecord, boolean]>([
  [{}, true],
  [{ is_admin: true }, true],
  [{ is_admin: false }, false],
  [{ is_active: false }, true],
  [{ role: 'viewer', is_staff: 0 }, false],
  [{ role: 'operator' }, true],
  [{ groups: [] }, false],
  [{ groups: ['users', 'admins'] }, true],
  [{ level: 0 }, true],
])('an account with %j may be that of an unnamed token: %s', (fields, mayBe) => {
  const record = { username: 'bob', ...fields };
  const reason = objection(step(record), Credential.token('abc'), [record]);
  expect(reason?.includes('the owner of the token in use is unknown') ?? false).toBe(mayBe);
});

test('a group must not lose the account in use; other records with its name are no accounts', () => {
  const group = { name: 'admins', members: ['admin', 'bob'] };
  const on = (asked?: DeviceRecord): string | undefined =>
    objection(step(group, asked, 'group', 'name'));
  expect(on({ members: ['bob'] })).toBe('members of admins would lose admin, the account in use');
  expect(on()).toContain('would lose admin');
  expect(on({ members: ['admin'] })).toBeUndefined();
  expect(objection(step({ name: 'admin' }, undefined, 'vlan', 'name'))).toBeUndefined();
});

test('without a login nobody can be locked out', () => {
  expect(accessOf(undefined, []).objectionTo(step({ username: 'admin' }))).toBe(undefined);
});
