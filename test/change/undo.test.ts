import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Run } from '../../src/change/journal.ts';
import { undoOf } from '../../src/change/undo.ts';
import { genericRestProfile } from '../../src/device/built-in-profiles.ts';
import type { Profile } from '../../src/device/profile.ts';
import { type DeviceRecord, onlyFields } from '../../src/device/record.ts';
import { step as stepOf, undoContext } from './steps.ts';
import type { Step } from '../../src/change/step.ts';

const device = { name: 'fw1', address: '10.0.0.5:443' };
const readOnly = { type: 'integer', required: false, readOnly: true };

function runOf(step: Step, record?: DeviceRecord): Run {
  const { action, resource, key } = step;
  const result = {
    device,
    action,
    resource,
    key,
    verdict: 'done' as const,
    ...(record && { record }),
  };
  return {
    id: 'r1',
    plan: { run: 'r1', devices: [{ device, steps: [step], settled: [] }] },
    states: new Map([['fw1', [{ kind: 'ended', result }]]]),
  } as unknown as Run;
}

const about = {
  resource: 'user',
  key: 'bob',
  keyField: 'username',
  asked: {},
  effects: {},
} as const;
const request = { method: 'DELETE', path: '/api/user/bob' } as const;
const bob = { id: 7, username: 'bob', visits: 3, _links: { self: '/api/user/bob' } };

function profileWith(facts: Partial<NonNullable<Profile['resources']['user']>>): Profile {
  const user = { keyField: 'username', fields: {}, ...facts };
  return { ...genericRestProfile, idFields: [], resources: { user } };
}

test('a deleted record is restored without read-only and bookkeeping fields', () => {
  const profile = profileWith({ fields: { id: readOnly, _links: { bookkeeping: true } } });
  const step: Step = { ...about, action: 'delete', request, before: bob };
  const [undo] = undoOf(runOf(step), () => undoContext(profile));
  expect(undo?.changes).toMatchObject([{ action: 'add', fields: { username: 'bob', visits: 3 } }]);
  expect(Object.keys((undo?.changes[0] as { fields: object }).fields)).toEqual([
    'username',
    'visits',
  ]);
});

test('read-only fields of a changed record are not set back', () => {
  const profile = profileWith({ fields: { visits: readOnly } });
  const before = { ...bob, lang: 'de' };
  const asked = { lang: 'en' };
  const step: Step = {
    ...about,
    action: 'set',
    request,
    before,
    after: { ...before, ...asked },
    asked,
  };
  const [undo] = undoOf(runOf(step, { ...before, ...asked, visits: 4 }), () =>
    undoContext(profile),
  );
  expect(undo?.changes).toMatchObject([{ action: 'set', fields: { lang: 'de' } }]);
});

test('an undo means whom the step was made for, whatever others wrote beside it', () => {
  const name = fc.constantFrom('bob', 'bea', 'rob');
  const image = fc.record({ username: name, email: name, last_name: name, lang: name });
  const some = fc.tuple(image, fc.option(image, { nil: undefined }), image);
  fc.assert(
    fc.property(some, fc.subarray(['username', 'email', 'lang'] as const), (images, fields) => {
      const [before, given, held] = images;
      const asked = given && Object.fromEntries(fields.map((field) => [field, given[field]]));
      const [undo] = undoOf(runOf(stepOf(before, asked), held), () => undoContext(profileWith({})));
      const { key, person } = undo?.changes[0]?.meant ?? {};
      const left = { ...held, ...before, ...(asked && onlyFields(held, Object.keys(asked))) };
      expect(key).toBe(left.username);
      expect(person).toEqual({ email: left.email, last_name: left.last_name });
    }),
  );
});
