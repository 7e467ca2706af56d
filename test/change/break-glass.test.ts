import { expect, test } from 'vitest';
import { accountFinder, breakGlassAtRisk, isBreakGlass } from '../../src/change/account-harm.ts';
import { documentedProfile } from '../../src/device/built-in-profiles.ts';
import { step } from './steps.ts';
import type { Profile } from '../../src/device/profile.ts';
import type { DeviceRecord } from '../../src/device/record.ts';
import type { Step } from '../../src/change/step.ts';

function riskOf(
  one: Step,
  pattern: string,
  records: readonly DeviceRecord[] = one.before ? [one.before] : [],
  profile: Profile = documentedProfile,
): ReturnType<typeof breakGlassAtRisk> {
  const { resource, keyField } = one;
  const isListed = (name: string): boolean => isBreakGlass(name, [pattern]);
  const finder = accountFinder({ profile, resource, keyField, records }, isListed);
  return breakGlassAtRisk(one, isListed, finder);
}

test.each([
  ['rescue', 'rescue'],
  ['RESCUE', 'rescue'],
  [' rescue ', 'Rescue'],
  ['rеscue', 'rescue'], // a Cyrillic е
  ['CORP\\rescue', 'rescue'],
  ['rescue@corp', 'rescue'],
  ['vendor-7', 'vendor-*'],
  ['rn', 'r*'],
  ['r1', 'r?'],
])('%j is one of %j', (name, pattern) => {
  expect(isBreakGlass(name, [pattern])).toBe(true);
});

test.each([
  ['rescuer', 'rescue'],
  ['my-vendor-7', 'vendor-*'],
  ['', 'rescue'],
])('%j is none of %j', (name, pattern) => {
  expect(isBreakGlass(name, [pattern])).toBe(false);
});

const RESCUE = { username: 'rescue', is_active: true, role: 'admin', groups: ['ops'], lang: 'de' };

test.each<[string, Step]>([
  ['a record of its name in any list', step({ name: 'rescue' }, undefined, 'interface', 'name')],
  ['a delete', step(RESCUE)],
  ['disabling', step(RESCUE, { is_active: false })],
  ['demoting', step(RESCUE, { role: 'viewer' })],
  ['losing a group', step(RESCUE, { groups: [] })],
  ['a new password', step(RESCUE, { password: 'x' })],
  ['a new name', step(RESCUE, { username: 'bob' })],
  [
    'locking in a part',
    step({ ...RESCUE, policy: { locked: false } }, { policy: { locked: true } }),
  ],
  [
    'leaving a list of a user group',
    step({ name: 'ops', members: ['rescue', 'bob'] }, { members: ['bob'] }, 'usergroup', 'name'),
  ],
  [
    'deleting its user group',
    step({ name: 'ops', users: ['rescue'] }, undefined, 'user-group', 'name'),
  ],
  ['deleting its token', step({ key: 't1', owner: 'rescue' }, undefined, 'token', 'key')],
  [
    'leaving a group',
    step({ name: 'ops', members: ['a', 'rescue'] }, { members: ['a'] }, 'group', 'name'),
  ],
  ['deleting its group', step({ name: 'ops', members: ['rescue'] }, undefined, 'group', 'name')],
])('%s puts the account at risk', (_what, one) => {
  expect(riskOf(one, 'res*')).toMatchObject({ account: 'rescue' });
});

test.each<[string, Step]>([
  ['another language', step(RESCUE, { lang: 'en' })],
  ['another account', step({ username: 'bob' })],
  ['adding it where there is none', step(undefined, { username: 'rescue', lang: 'de' })],
  [
    'a new member',
    step({ name: 'ops', members: ['rescue'] }, { members: ['rescue', 'b'] }, 'group', 'name'),
  ],
])('%s does not', (_what, one) => {
  expect(riskOf(one, 'res*')).toBeUndefined();
});

test('an added account that a device may store over it puts it at risk', () => {
  const add = step(undefined, { username: 'Rescue ', password: 'x' });
  expect(riskOf(add, 'rescue', [RESCUE])).toMatchObject({ account: 'rescue' });
});

test('a change that the profile calls disabling takes access, whatever its field is called', () => {
  const one = step(RESCUE, { lang: 'fr' });
  expect(riskOf(one, 'rescue')).toBeUndefined();
  const user = { keyField: 'username', fields: {}, disabledAs: { lang: 'fr' } };
  const profile = { ...documentedProfile, resources: { user } };
  expect(riskOf(one, 'rescue', undefined, profile)).toMatchObject({
    reason: { code: 'at-risk', is: 'glass', harm: 'changing lang of', user: 'rescue' },
  });
});

test('a group that is called like the account is no member of the account', () => {
  const one = step({ username: 'bob', groups: ['rescue'] }, { groups: [] });
  expect(riskOf(one, 'rescue')).toBeUndefined();
});
