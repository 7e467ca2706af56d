import { expect, test } from 'vitest';
import { applyToDevice } from '../../src/change/apply-device.ts';
import { mergeDevicePlans } from '../../src/change/plan.ts';
import { planDevice } from '../../src/change/plan-device.ts';
import type { StepResult } from '../../src/change/verdict.ts';
import { documentedProfile as profile } from '../../src/device/built-in-profiles.ts';
import { ProtocolError } from '../../src/device/errors.ts';
import type { DeviceRecord } from '../../src/device/record.ts';
import { scripted } from './scripted.ts';

const ref = { name: 'fw1', address: '10.0.0.5:443' };
const users: readonly DeviceRecord[] = ['ann', 'bob', 'zoe'].map((username, index) => ({
  uuid: `u${index}`,
  username,
  lang: 'de',
}));

/** Deletes ann and bob on a device whose readings with these numbers (from 1) fail. */
async function deleteTwo(unreadable: readonly number[], heldNow = users) {
  const change = (key: string) =>
    planDevice(
      { device: ref, profile },
      { action: 'delete', resource: 'user', target: { kind: 'key', key } },
      users,
    );
  const devicePlan = mergeDevicePlans(ref, [change('ann'), change('bob')]);
  let [records, readings, writes] = [heldNow, 0, 0];
  const results: StepResult[] = [];
  await applyToDevice({
    devicePlan,
    pending: devicePlan.steps.map((step, index) => ({
      step,
      ref: { device: ref.name, index },
      isUnconfirmed: false,
    })),
    ...scripted(ref, {
      list: () => {
        readings += 1;
        return unreadable.includes(readings)
          ? Promise.reject(new ProtocolError(ref, 'no list'))
          : Promise.resolve(records);
      },
      write: ({ path }) => {
        writes += 1;
        records = records.filter(({ uuid }) => uuid !== path.split('/').at(-2));
        return Promise.resolve();
      },
    }),
    journal: {
      sending: () => Promise.resolve(),
      ended: () => Promise.resolve(),
      stopped: () => Promise.resolve(),
    },
    stopReason: () => undefined,
    report: (result) => results.push(result),
    allowed: new Set(),
    settleDelaysMs: [],
    signal: new AbortController().signal,
  });
  return { verdicts: results.map(({ verdict }) => verdict), writes };
}

test('an unobserved effect of a step is not attributed to the next step', async () => {
  expect(await deleteTwo([2])).toEqual({ verdicts: ['unknown', 'done'], writes: 2 });
});

test('nothing more is sent to a device that keeps failing to list its records', async () => {
  expect(await deleteTwo([2, 3])).toEqual({ verdicts: ['unknown', 'failed'], writes: 1 });
});

test('the last record is not deleted, also if others deleted the rest since the plan', async () => {
  expect(await deleteTwo([], users.slice(0, 2))).toEqual({
    verdicts: ['done', 'failed'],
    writes: 1,
  });
});
