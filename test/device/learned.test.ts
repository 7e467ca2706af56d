import { describe, expect, test } from 'vitest';
import { documentedProfile, drfProfile } from '../../src/device/built-in-profiles.ts';
import { createRequest, updateRequest } from '../../src/device/encode.ts';
import { withAllLearned } from '../../src/device/learned.ts';
import type { LearnedResource } from '../../src/device/learned-schema.ts';
import { parseProfile } from '../../src/device/profile-file.ts';
import type { Profile } from '../../src/device/profile.ts';

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

function learned(byResource: Record<string, LearnedResource>, base = documentedProfile): Profile {
  return withAllLearned(base, { at: '2026-01-02T03:04:05Z', byResource });
}

describe('a new record is sent', () => {
  const nested = { type: 'nested object', required: true, readOnly: false };
  test.each<[encoding: 'form' | 'json', base: Profile, seen: LearnedResource]>([
    ['json', documentedProfile, { parses: [JSON_TYPE] }],
    ['form', documentedProfile, { parses: [JSON_TYPE, FORM_TYPE] }],
    ['json', documentedProfile, { parses: [JSON_TYPE, FORM_TYPE], fields: { profile: nested } }],
    ['form', documentedProfile, {}],
    ['form', drfProfile, { parses: [FORM_TYPE] }],
    ['json', drfProfile, {}],
  ])('as %s where the device takes that', (encoding, base, seen) => {
    const profile = learned({ user: seen }, base);
    expect(createRequest(profile, 'user', { username: 'bob' })).toHaveProperty(encoding);
  });

  test('as configured, whatever the device says', () => {
    const base = parseProfile('create: {encoding: form}', 'p.yaml', 'p');
    const profile = learned({ user: { parses: [JSON_TYPE] } }, base);
    expect(createRequest(profile, 'user', { username: 'bob' })).toHaveProperty('form');
  });
});

test('each resource is changed as its own records allow', () => {
  const profile = learned({
    user: { itemAllows: ['GET', 'PATCH'] },
    zone: { itemAllows: ['GET', 'PUT'] },
  });
  const methodFor = (resource: string): string =>
    updateRequest(profile, resource, { id: 7, name: 'x', mtu: 1 }, { mtu: 2 }).method;
  expect(methodFor('user')).toBe('PATCH');
  expect(methodFor('zone')).toBe('PUT');
  expect(methodFor('interface')).toBe('PATCH');
});
