import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Change } from '../../src/change/change.ts';
import type { RequestOutcome } from '../../src/change/send.ts';
import { planDevice } from '../../src/change/plan-device.ts';
import { documentedProfile as profile } from '../../src/device/built-in-profiles.ts';
import type { Profile } from '../../src/device/profile.ts';
import { ExpiredSessionError, ProtocolError, RejectedError } from '../../src/device/errors.ts';
import type { DeviceRecord } from '../../src/device/record.ts';
import { CancelledError } from '../../src/errors.ts';
import type { Step } from '../../src/change/step.ts';
import { judgedStep } from './steps.ts';

const device = { name: 'fw1', address: '10.0.0.5:443' };
const bob: DeviceRecord = { uuid: 'u1', username: 'bob', lang: 'de' };
const accepted: RequestOutcome = { kind: 'accepted' };

function stepOf(records: readonly DeviceRecord[], fields: DeviceRecord): Step {
  const isNew = records.length === 0;
  const target = { kind: 'key', key: 'bob' } as const;
  const { steps } = planDevice(
    { device, profile },
    isNew
      ? { action: 'add', resource: 'user', fields }
      : { action: 'set', resource: 'user', target, fields },
    records,
  );
  const [step] = steps;
  if (step === undefined) throw new Error('nothing was planned');
  return step;
}

test('a hidden password is done, with a note that it cannot be read back', () => {
  const step = stepOf([], { username: 'bob', lang: 'de', password: 'x1' });
  expect(judgedStep(profile, step, accepted, { before: [], after: [bob] })).toMatchObject({
    verdict: 'done',
    note: 'password cannot be read back',
  });
});

test.each([undefined, '********'])('for a password shown as %s the response decides', (shown) => {
  const before = { ...bob, ...(shown !== undefined && { password: 'pbkdf2$260000$old' }) };
  const after = { ...bob, ...(shown !== undefined && { password: shown }) };
  const step = stepOf([before], { password: 'x1' });
  const readings = { before: [before], after: [after] };
  expect(judgedStep(profile, step, accepted, readings).verdict).toBe('done');
  const lost: RequestOutcome = { kind: 'lost', error: new CancelledError() };
  expect(judgedStep(profile, step, lost, readings).verdict).toBe('unknown');
  const refused: RequestOutcome = { kind: 'refused', error: new CancelledError() };
  expect(judgedStep(profile, step, refused, readings).verdict).toBe('failed');
});

test.each([
  ['beside a field that was so before', { ...bob, lang: 'en' }, 'failed', 'unknown', 'unknown'],
  ['beside a change that shows', bob, 'failed', 'differs', 'done'],
])('a password %s is done only if the device does not object', (_, before, ...verdicts) => {
  const step = stepOf([before], { lang: 'en', password: 'x1' });
  const readings = { before: [before], after: [{ ...bob, lang: 'en' }] };
  const error = new CancelledError('too short');
  const outcomes: RequestOutcome[] = [
    { kind: 'refused', error },
    { ...accepted, objection: 'too short' },
    { kind: 'lost', error },
  ];
  const ends = outcomes.map((outcome) => judgedStep(profile, step, outcome, readings));
  expect(ends.map(({ verdict }) => verdict)).toEqual(verdicts);
  expect(judgedStep(profile, step, accepted, readings).verdict).toBe('done');
});

const NOW = {
  asked: 'refused, and it is as asked now; devsh cannot tell by whom',
  other: 'refused, and the record is not as before; devsh cannot tell by whom',
};

test.each<[string, DeviceRecord, DeviceRecord, string]>([
  ['as asked', bob, {}, NOW.asked],
  ['with other values', { ...bob, lang: 'fr' }, {}, NOW.other],
  ['under a password that no record shows', bob, { password: 'x1' }, NOW.other],
])('a record %s that the device refused to add is not of this run', (_, held, more, note) => {
  const step = stepOf([], { username: 'bob', lang: 'de', ...more });
  const refused: RequestOutcome = { kind: 'refused', error: new CancelledError('exists') };
  const readings = { before: [], after: [held] };
  const end = judgedStep(profile, step, refused, readings);
  expect(end).toMatchObject({ verdict: 'failed', record: held, error: refused.error, note });
  const repeated = judgedStep(profile, step, { ...refused, isRepeated: true }, readings);
  expect(repeated).toMatchObject({ isByReading: true });
});

test('whatever is as asked after a refusal, devsh claims none of it', () => {
  const value = fc.constantFrom('de', 'en', 'fr', '');
  const states = fc.record({ before: value, asked: value, after: fc.option(value) });
  const about = { username: 'bob', uuid: 'u1' };
  fc.assert(
    fc.property(states, fc.boolean(), ({ before, asked, after }, isDelete) => {
      const held = [{ ...about, lang: before }];
      const target = { kind: 'key', key: 'bob' } as const;
      const action = isDelete ? 'delete' : 'set';
      const change = { action, resource: 'user', target, fields: { lang: asked }, isExact: true };
      const { steps } = planDevice({ device, profile }, change as Change, held);
      const now = after === null ? [] : [{ ...about, lang: after }];
      const error = new RejectedError(device, 'no', { status: 409 });
      const ends = steps.map((step) =>
        judgedStep(profile, step, { kind: 'refused', error }, { before: held, after: now }),
      );
      const [end] = ends;
      fc.pre(end !== undefined);
      const isAsAsked = isDelete ? after === null : after === asked;
      expect(end.verdict).toBe('failed');
      if (isAsAsked) expect(end.note).toContain(NOW.asked);
    }),
  );
});

test.each<[string, RequestOutcome]>([
  ['a lost response', { kind: 'lost', error: new CancelledError() }],
  ['a 500', { kind: 'refused', error: new ProtocolError(device, 'oops', { status: 500 }) }],
  ['an end of the session', { kind: 'refused', error: new ExpiredSessionError(device, 'ended') }],
  ['an objection', { ...accepted, objection: 'code 400' }],
])('after %s only reading shows that the record is of this run', (_, outcome) => {
  const step = stepOf([], { username: 'bob', lang: 'de' });
  const readings = { before: [], after: [bob] };
  const end = judgedStep(profile, step, outcome, readings);
  expect(end).toMatchObject({ verdict: 'done', isByReading: true });
  expect(judgedStep(profile, step, accepted, readings)).not.toHaveProperty('isByReading');
});

test('a password whose shown hash has changed is done, whatever the response', () => {
  const before = { ...bob, password: 'pbkdf2$260000$old' };
  const after = { ...bob, password: 'pbkdf2$260000$abc' };
  const readings = { before: [before], after: [after] };
  const step = stepOf([before], { password: 'x1' });
  const lost: RequestOutcome = { kind: 'lost', error: new CancelledError() };
  const note = 'hidden: password (its hash has changed)';
  expect(judgedStep(profile, step, accepted, readings)).toMatchObject({ verdict: 'done', note });
  expect(judgedStep(profile, step, lost, readings)).toMatchObject({
    verdict: 'done',
    note: `the response was lost; read-back shows it; ${note}`,
  });
});

test('a changed hash beside the password is no side effect', () => {
  const before = { ...bob, password_hash: 'a1' };
  const step = stepOf([before], { password: 'x1' });
  const hashed = { before: [before], after: [{ ...before, password_hash: 'b2' }] };
  expect(judgedStep(profile, step, accepted, hashed)).toMatchObject({
    verdict: 'done',
    note: 'hidden: password (its hash has changed)',
  });
  const erased = { before: [before], after: [{ ...before, password_hash: '' }] };
  expect(judgedStep(profile, step, accepted, erased)).toMatchObject({
    verdict: 'differs',
    differences: [{ field: 'password_hash', was: 'a1', held: '' }],
  });
});

test('a field erased by a password change is reported', () => {
  const before = { ...bob, tags: ['a'] };
  const step = stepOf([before], { password: 'x1' });
  const after = [{ ...before, tags: [] }];
  expect(judgedStep(profile, step, accepted, { before: [before], after })).toMatchObject({
    verdict: 'differs',
    record: after[0],
    differences: [{ field: 'tags', was: ['a'], held: [] }],
    note: 'changed without a request: tags',
  });
});

test('a token shown as before has not changed', () => {
  const before = { ...bob, token: 'abc' };
  const step = stepOf([before], { token: 'def' });
  expect(judgedStep(profile, step, accepted, { before: [before], after: [before] }).verdict).toBe(
    'no effect',
  );
});

/** A device without documented fields. */
const open = {
  ...profile,
  resources: { user: { keyField: 'username', fields: {} } },
} as Profile;

test.each([profile, open])('a field that nobody knows and no record shows is never done', (one) => {
  const step = stepOf([], { username: 'bob', lang: 'de', phone: '1' });
  expect(judgedStep(one, step, accepted, { before: [], after: [bob] })).toMatchObject({
    verdict: 'unknown',
    note: 'phone cannot be read back: unknown whether the device has stored it',
  });
});

test.each([
  ['that OPTIONS tells of', { email: { type: 'email', required: false, readOnly: false } }],
  ['that a profile calls hidden', { email: { hidden: true } }],
])('a write-only field %s cannot be read back', (_, fields) => {
  const documented: Profile = {
    ...open,
    resources: { user: { keyField: 'username', fields } },
  };
  const step = stepOf([], { username: 'bob', lang: 'de', email: 'b@x' });
  expect(judgedStep(documented, step, accepted, { before: [], after: [bob] })).toMatchObject({
    verdict: 'done',
    note: 'email cannot be read back',
  });
});

test('a name close to a field is a typo, not a hidden field', () => {
  const step = stepOf([bob], { lang: 'en', usernam: 'x' });
  const readings = { before: [bob], after: [{ ...bob, lang: 'en' }] };
  expect(judgedStep(open, step, accepted, readings).verdict).toBe('differs');
});

test('a single unknown field that is not shown has an unknown outcome', () => {
  const step = stepOf([bob], { nosuch: '1' });
  const readings = { before: [bob], after: [bob] };
  expect(judgedStep(open, step, accepted, readings).verdict).toBe('unknown');
});

test('an error in a 2xx response is reported if nothing changed', () => {
  const step = stepOf([bob], { lang: 'en' });
  const outcome = { ...accepted, objection: 'Attribute cannot be modified' };
  expect(judgedStep(profile, step, outcome, { before: [bob], after: [bob] })).toMatchObject({
    verdict: 'no effect',
    note: 'the device responded: Attribute cannot be modified',
  });
});

test('a field that no reading shows is unknown after a 5xx, as after a lost response', () => {
  const error = new ProtocolError(device, 'oops', { status: 502 });
  const readings = { before: [bob], after: [bob] };
  const step = stepOf([bob], { password: 'x1' });
  const end = judgedStep(profile, step, { kind: 'refused', error }, readings);
  expect(end).toMatchObject({ verdict: 'unknown', error, note: 'password cannot be read back' });
});
