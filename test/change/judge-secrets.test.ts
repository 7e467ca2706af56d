import { expect, test } from 'vitest';
import { judge, type Answered } from '../../src/change/judge.ts';
import type { Step } from '../../src/change/plan.ts';
import { planDevice } from '../../src/change/plan-device.ts';
import { documentedProfile as profile } from '../../src/device/built-in-profiles.ts';
import type { DeviceRecord } from '../../src/device/record.ts';
import { CancelledError } from '../../src/errors.ts';

const device = { name: 'fw1', address: '10.0.0.5:443' };
const bob: DeviceRecord = { uuid: 'u1', username: 'bob', lang: 'de' };
const accepted: Answered = { kind: 'accepted' };

function stepOf(records: readonly DeviceRecord[], fields: DeviceRecord): Step {
  const isNew = records.length === 0;
  const target = { kind: 'key', key: 'bob' } as const;
  const { steps } = planDevice(
    device,
    profile,
    isNew
      ? { action: 'add', resource: 'user', fields }
      : { action: 'set', resource: 'user', target, fields },
    records,
  );
  const [step] = steps;
  if (step === undefined) throw new Error('nothing was planned');
  return step;
}

test('a password that the device does not show is done, and said to be unread', () => {
  const step = stepOf([], { username: 'bob', lang: 'de', password: 'x1' });
  expect(judge(profile, step, accepted, { before: [], after: [bob] })).toMatchObject({
    verdict: 'done',
    note: 'password cannot be read back',
  });
});

test.each([undefined, '********', 'pbkdf2$260000$abc'])(
  'a password shown as %s leaves it to the answer',
  (shown) => {
    const before = { ...bob, ...(shown !== undefined && { password: 'pbkdf2$260000$old' }) };
    const after = { ...bob, ...(shown !== undefined && { password: shown }) };
    const step = stepOf([before], { password: 'x1' });
    const readings = { before: [before], after: [after] };
    expect(judge(profile, step, accepted, readings).verdict).toBe('done');
    const lost: Answered = { kind: 'lost', error: new CancelledError() };
    expect(judge(profile, step, lost, readings).verdict).toBe('unknown');
    const refused: Answered = { kind: 'refused', error: new CancelledError() };
    expect(judge(profile, step, refused, readings).verdict).toBe('failed');
  },
);

test('a token that is shown as it was before has visibly not changed', () => {
  const before = { ...bob, token: 'abc' };
  const step = stepOf([before], { token: 'def' });
  expect(judge(profile, step, accepted, { before: [before], after: [before] }).verdict).toBe(
    'no effect',
  );
});

test('a field that is no secret and is not stored still differs', () => {
  const step = stepOf([], { username: 'bob', lang: 'de', phone: '1' });
  expect(judge(profile, step, accepted, { before: [], after: [bob] })).toMatchObject({
    verdict: 'differs',
    differences: [{ field: 'phone', sent: '1', held: null }],
  });
});
