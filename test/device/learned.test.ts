import { describe, expect, test } from 'vitest';
import { documentedProfile, drfProfile } from '../../src/device/built-in-profiles.ts';
import { createRequest, updateRequest } from '../../src/device/encode.ts';
import { DeviceFacts } from '../../src/device/facts.ts';
import type { FieldFacts } from '../../src/device/profile-schema.ts';
import { parseProfile } from '../../src/device/profile-file.ts';
import type { Profile } from '../../src/device/profile.ts';

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

interface ResourceFacts {
  readonly fields?: Readonly<Record<string, FieldFacts>>;
  readonly list?: string[];
  readonly record?: string[];
  readonly takes?: string[];
}

function learned(byResource: Record<string, ResourceFacts>, base = documentedProfile): Profile {
  const facts = new DeviceFacts(base);
  for (const [resource, { fields = {}, ...said }] of Object.entries(byResource)) {
    for (const [field, known] of Object.entries(fields)) facts.setFields(resource, [field], known);
    facts.set(`resources.${resource}.options`, { of: 'records', ...said });
  }
  return facts.profile;
}

describe('a new record is sent', () => {
  const nested = { type: 'nested object', required: true, readOnly: false };
  test.each<[encoding: 'form' | 'json', base: Profile, seen: ResourceFacts]>([
    ['json', documentedProfile, { takes: [JSON_TYPE] }],
    ['form', documentedProfile, { takes: [JSON_TYPE, FORM_TYPE] }],
    ['json', documentedProfile, { takes: [JSON_TYPE, FORM_TYPE], fields: { profile: nested } }],
    ['form', documentedProfile, {}],
    ['form', drfProfile, { takes: [FORM_TYPE] }],
    ['json', drfProfile, {}],
  ])('as %s where the device takes that', (encoding, base, seen) => {
    const profile = learned({ user: seen }, base);
    expect(createRequest(profile, 'user', { username: 'bob' })).toHaveProperty(encoding);
  });

  test('as configured, whatever the device reports', () => {
    const base = parseProfile('create: {encoding: form}', 'p.yaml', 'p');
    const profile = learned({ user: { takes: [JSON_TYPE] } }, base);
    expect(createRequest(profile, 'user', { username: 'bob' })).toHaveProperty('form');
  });
});

test('each resource is changed as its own records allow', () => {
  const profile = learned({
    user: { record: ['GET', 'PATCH'] },
    zone: { record: ['GET', 'PUT'] },
  });
  const methodFor = (resource: string): string =>
    updateRequest(profile, resource, { id: 7, name: 'x', mtu: 1 }, { mtu: 2 }).method;
  expect(methodFor('user')).toBe('PATCH');
  expect(methodFor('zone')).toBe('PUT');
  expect(methodFor('interface')).toBe('PATCH');
});

describe('if a POST to the list also changes records', () => {
  const seen = { takes: [JSON_TYPE, FORM_TYPE], list: ['GET', 'POST'] };
  const nested = { type: 'nested object', required: false, readOnly: false };
  const before = { uuid: 'u1', name: 'wan', policy: { nat: { enabled: true } } };
  const after = { policy: { nat: { enabled: false } } };

  test('a nested field is changed in the encoding in which it is added', () => {
    const profile = learned({ zone: { ...seen, fields: { policy: nested } } });
    expect(updateRequest(profile, 'zone', before, after)).toMatchObject({
      method: 'POST',
      path: '/api/zone/',
      json: { uuid: 'u1', ...after },
    });
  });

  test('a configured encoding wins', () => {
    const base = parseProfile('update: {encoding: form}', 'p.yaml', 'p');
    const profile = learned({ zone: { ...seen, fields: { policy: nested } } }, base);
    expect(updateRequest(profile, 'zone', before, after)).toHaveProperty('form');
  });

  test('a boolean is left to a device that accepts JSON, which a form cannot do', () => {
    const fields = { enabled: { type: 'boolean', required: false, readOnly: false } };
    const profile = learned({ user: { ...seen, fields } });
    expect(createRequest(profile, 'user', { username: 'bob' })).toHaveProperty('json');
  });
});

test.each<[text: string, seen: ResourceFacts, update: Partial<Profile['update']>]>([
  ['{method: PATCH}', {}, { method: 'PATCH', path: '{item}', encoding: 'json', record: 'changes' }],
  ['{method: PUT}', {}, { method: 'PUT', path: '{item}', encoding: 'json', record: 'whole' }],
  [
    '{method: PUT}',
    { record: ['PATCH', 'PUT'], takes: [FORM_TYPE] },
    { method: 'PUT', path: '{item}', encoding: 'form', record: 'whole' },
  ],
  [
    '{method: PATCH, record: whole}',
    { record: ['PATCH', 'PUT'] },
    { method: 'PATCH', path: '{item}', encoding: 'json', record: 'whole' },
  ],
  ['{method: POST}', { record: ['PATCH'] }, { method: 'POST', path: '{collection}' }],
  ['{encoding: json}', { record: ['PATCH'] }, { method: 'POST', encoding: 'json' }],
])('update: %s of a profile is combined with observed facts: %j', (text, seen, update) => {
  const base = parseProfile(`update: ${text}`, 'p.yaml', 'p');
  expect(learned({ user: seen }, base).update).toMatchObject(update);
});
