import { expect, test } from 'vitest';
import type { RequestOutcome } from '../../src/change/send.ts';
import { planDevice } from '../../src/change/plan-device.ts';
import { documentedProfile as profile } from '../../src/device/built-in-profiles.ts';
import { RejectedError, UnreachableError } from '../../src/device/errors.ts';
import type { DeviceRecord } from '../../src/device/record.ts';
import { countComputing } from '../contention.ts';
import type { Step } from '../../src/change/step.ts';
import { judgedStep } from './steps.ts';

const device = { name: 'fw1', address: '10.0.0.5:443' };
const bob: DeviceRecord = { uuid: 'u1', username: 'bob', lang: 'de' };
const zoe: DeviceRecord = { uuid: 'u2', username: 'zoe', lang: 'de' };
const kim: DeviceRecord = { uuid: 'u3', username: 'kim', lang: 'de' };
const accepted: RequestOutcome = { kind: 'accepted' };
const refused: RequestOutcome = {
  kind: 'refused',
  error: new RejectedError(device, 'no', { status: 400 }),
};
const lost: RequestOutcome = {
  kind: 'lost',
  error: new UnreachableError(device, 'no answer', { fix: { code: 'retry', is: 'check' } }),
};

function add(fields: DeviceRecord, records: readonly DeviceRecord[] = []): Step {
  return only(
    planDevice({ device, profile }, { action: 'add', resource: 'user', fields }, records),
  );
}

function set(key: string, fields: DeviceRecord, records: readonly DeviceRecord[]): Step {
  const target = { kind: 'key', key } as const;
  const change = { action: 'set', resource: 'user', target, fields } as const;
  return only(planDevice({ device, profile }, change, records));
}

function remove(key: string, records: readonly DeviceRecord[]): Step {
  const target = { kind: 'key', key } as const;
  return only(
    planDevice({ device, profile }, { action: 'delete', resource: 'user', target }, records),
  );
}

function only({ steps: [step] }: { steps: readonly Step[] }): Step {
  if (step === undefined) throw new Error('nothing was planned');
  return step;
}

test('an add that empties the table is not done', () => {
  const before = [zoe, kim];
  const step = add({ username: 'bob', lang: 'de' }, before);
  expect(judgedStep(profile, step, accepted, { before, after: [bob] })).toMatchObject({
    verdict: 'differs',
    record: bob,
    note: 'no longer in the list, without a request: zoe, kim',
  });
});

test('an add that replaces another user under its id is not done', () => {
  const step = add({ username: 'bob', lang: 'de' }, [zoe]);
  const after = [{ ...bob, uuid: 'u2' }];
  expect(judgedStep(profile, step, accepted, { before: [zoe], after })).toMatchObject({
    verdict: 'differs',
    note: 'no longer in the list, without a request: zoe',
  });
});

test.each([
  ['changes another one', { ...zoe, lang: 'fr' }, 'also changed without a request: zoe (lang)'],
  ['loses another one', undefined, 'no longer in the list, without a request: zoe'],
])('a set that also %s differs', (_title, other, note) => {
  const before = [bob, zoe];
  const after = [{ ...bob, lang: 'fr' }, ...(other ? [other] : [])];
  const step = set('bob', { lang: 'fr' }, before);
  expect(judgedStep(profile, step, accepted, { before, after })).toMatchObject({
    verdict: 'differs',
    note,
  });
});

test('a set that changes another user instead differs and names it', () => {
  const before = [bob, zoe];
  const after = [bob, { ...zoe, lang: 'fr' }];
  const step = set('bob', { lang: 'fr' }, before);
  expect(judgedStep(profile, step, accepted, { before, after })).toMatchObject({
    verdict: 'differs',
    note: 'the device accepted it; read-back shows no change so far; also changed without a request: zoe (lang)',
  });
});

test('a refusal stays failed if another user was changed meanwhile', () => {
  const before = [bob, zoe];
  const after = [bob, { ...zoe, lang: 'fr' }];
  expect(
    judgedStep(profile, set('bob', { lang: 'fr' }, before), refused, { before, after }),
  ).toMatchObject({
    verdict: 'failed',
    error: { code: 'rejected' },
    note: expect.stringContaining('also changed') as string,
  });
});

test('a delete that also changes another user differs', () => {
  const before = [bob, zoe];
  const after = [{ ...zoe, lang: 'fr' }];
  expect(judgedStep(profile, remove('bob', before), accepted, { before, after })).toMatchObject({
    verdict: 'differs',
    note: 'also changed without a request: zoe (lang)',
  });
});

test('timestamps, new ids and users added by others are no side effects', () => {
  const seen = '2026-11-21T09:30:41Z';
  const before = [bob, { ...zoe, last_login: null }, { ...kim, last_login: seen }];
  const after = [
    { ...bob, lang: 'fr' },
    { ...zoe, uuid: 'u9', last_login: seen },
    { ...kim, last_login: null },
    { uuid: 'u8', username: 'new', lang: 'de' },
  ];
  const step = set('bob', { lang: 'fr' }, before);
  expect(judgedStep(profile, step, accepted, { before, after }).verdict).toBe('done');
});

test('records with positional ids are followed by natural key', () => {
  const at = (...records: DeviceRecord[]) =>
    records.map((record, index) => ({ ...record, uuid: String(index + 1) }));
  const before = at(bob, zoe, kim);
  const step = remove('bob', before);
  expect(judgedStep(profile, step, accepted, { before, after: at(zoe, kim) }).verdict).toBe('done');
  expect(judgedStep(profile, step, accepted, { before, after: at(kim) })).toMatchObject({
    verdict: 'differs',
    note: 'no longer in the list, without a request: zoe',
  });
  const first = add({ username: 'bob', lang: 'de' }, at(zoe, kim));
  const grown = { before: at(zoe, kim), after: at(bob, zoe, kim) };
  expect(judgedStep(profile, first, accepted, grown).verdict).toBe('done');
});

test('a renamed user is followed by its id, even if another one has its old name now', () => {
  const before = [bob, zoe];
  const step = set('bob', { username: 'rob' }, before);
  const renamed = { ...bob, username: 'rob' };
  expect(judgedStep(profile, step, accepted, { before, after: [renamed, zoe] }).verdict).toBe(
    'done',
  );
  const after = [{ ...kim, username: 'bob' }, renamed, zoe];
  expect(judgedStep(profile, step, accepted, { before, after }).verdict).toBe('done');
});

test('the loss of one of two records with the same id is noticed', () => {
  const sameId = { ...zoe, uuid: 'u1' };
  const step = remove('bob', [bob]);
  const readings = { before: [sameId, bob], after: [bob] };
  expect(judgedStep(profile, step, accepted, readings)).toMatchObject({
    verdict: 'differs',
    record: bob,
    note: 'the device accepted it; read-back shows no change so far; no longer in the list, without a request: zoe',
  });
});

test.each([
  ['Carol', 'carol'],
  [' carol ', 'carol'],
  ['Zoe\u0301', 'Zo\u00e9'],
])('%j stored as %j differs in its key', (sent, held) => {
  const step = add({ username: sent, lang: 'de' }, [bob]);
  const stored = { uuid: 'u7', username: held, lang: 'de' };
  expect(
    judgedStep(profile, step, accepted, { before: [bob], after: [bob, stored] }),
  ).toMatchObject({
    verdict: 'differs',
    record: stored,
    differences: [{ field: 'username', sent, held }],
  });
});

test('a similar user that existed before is not the new one', () => {
  const before = [{ ...bob, username: 'carol' }];
  const step = add({ username: 'Carol', lang: 'de' }, before);
  expect(judgedStep(profile, step, accepted, { before, after: before }).verdict).toBe('no effect');
});

test('an outcome proven by reading back is not reported as unknown', () => {
  const judged = judgedStep(profile, remove('bob', [bob]), lost, { before: [bob], after: [bob] });
  expect(judged).toMatchObject({ verdict: 'failed', error: { message: 'fw1: no answer' } });
  expect(judged.error?.code).toBe('unreachable');
});

test('many missing records are counted, not all named', () => {
  const before = Array.from({ length: 50 }, (_, index) => ({ ...zoe, uuid: `z${index}` }));
  const step = add({ username: 'bob', lang: 'de' }, before);
  const { note } = judgedStep(profile, step, accepted, { before, after: [bob] });
  expect(note).toMatch(/zoe and 40 more$/);
});

test('100,000 records are judged in a few seconds at most', () => {
  const before = Array.from({ length: 100_000 }, (_, index) => ({
    uuid: `z${index}`,
    username: `user${index}`,
    lang: 'de',
  }));
  const after = before.map((record, index) =>
    index === 7 ? { ...record, lang: 'fr' } : { ...record },
  );
  const step = set('user7', { lang: 'fr' }, before);
  const computedMs = countComputing();
  expect(judgedStep(profile, step, accepted, { before, after }).verdict).toBe('done');
  expect(computedMs()).toBeLessThan(5_000);
});
