import { expect, test } from 'vitest';
import { textOf } from '../../src/output/sentences.ts';
import { sincePlan } from '../../src/change/gate.ts';
import { resolveSent } from '../../src/change/plan-step.ts';
import { runStep, type DeviceWork } from '../../src/change/run-step.ts';
import { planDevice } from '../../src/change/plan-device.ts';
import { documentedProfile as profile } from '../../src/device/built-in-profiles.ts';
import { ProtocolError, RejectedError, UntrustedError } from '../../src/device/errors.ts';
import type { DeviceRecord } from '../../src/device/record.ts';
import { CredentialError } from '../../src/errors.ts';
import { deviceAt, serve } from '../device/server.ts';
import { scripted } from './scripted.ts';
import type { Step } from '../../src/change/step.ts';

const ref = { name: 'fw1', address: '10.0.0.5:443' };
const ann: DeviceRecord = { uuid: 'u1', username: 'ann', lang: 'de' };
const bob: DeviceRecord = { uuid: 'u2', username: 'bob', lang: 'de' };

function throttled(retryAfterMs: number | undefined): RejectedError {
  return new RejectedError(ref, 'too many requests', { status: 429, retryAfterMs });
}

function planned(fields: DeviceRecord, records: readonly DeviceRecord[] = [ann]): Step {
  const change = { action: 'add', resource: 'user', fields } as const;
  const [step] = planDevice({ device: ref, profile }, change, records).steps;
  if (step === undefined) throw new Error('nothing was planned');
  return step;
}

/** A device whose n-th write (from 1) does what `onWrite` says; events go to `log`. */
function deviceThat(onWrite: (count: number, store: (record: DeviceRecord) => void) => void) {
  const log: string[] = [];
  let records: readonly DeviceRecord[] = [ann];
  let writes = 0;
  const target = scripted(ref, {
    list: () => {
      log.push('list');
      return Promise.resolve(records);
    },
    write: async () => {
      await Promise.resolve();
      log.push('write');
      writes += 1;
      onWrite(writes, (record) => {
        records = [...records, record];
      });
    },
  });
  return { work: workOn(target, log), log };
}

function workOn(target: Pick<DeviceWork, 'session' | 'access'>, log: string[]): DeviceWork {
  return {
    ...target,
    devicePlan: { device: ref, steps: [], settled: [] },
    journal: {
      sending: () => {
        log.push('journal');
        return Promise.resolve();
      },
      ended: () => Promise.resolve(),
      stopped: () => Promise.resolve(),
    },
    settleDelaysMs: [],
    signal: new AbortController().signal,
  };
}

const at = (step: Step) => ({ step, ref: { device: ref.name, index: 0 } });

const addBob = planned({ username: 'bob', lang: 'de' });

test('a throttled request is sent again if read-back shows no change', async () => {
  const { work, log } = deviceThat((count, store) => {
    if (count < 3) throw throttled(0);
    store(bob);
  });
  const { end } = await runStep(work, at(addBob), [ann]);
  expect(end).toMatchObject({ verdict: 'done', record: bob });
  const once = ['journal', 'write', 'list'];
  expect(log).toEqual([...once, ...once, ...once]);
});

test('a throttled request that was stored anyway is sent once', async () => {
  const { work, log } = deviceThat((_count, store) => {
    store(bob);
    throw throttled(0);
  });
  const { end } = await runStep(work, at(addBob), [ann]);
  expect(end).toMatchObject({ verdict: 'failed', record: bob });
  expect(log).toEqual(['journal', 'write', 'list']);
});

test('a device that stores and responds with 429 gets one POST over TLS, too', async () => {
  const records = [ann];
  const server = await serve((request, response) => {
    if (request.method === 'GET') {
      response.end(JSON.stringify(records));
    } else {
      records.push({ ...bob, uuid: `u${records.length + 1}` });
      response.writeHead(429, { 'retry-after': '0' }).end('{"detail":"slow down"}');
    }
  });
  const device = deviceAt(server);
  const target = scripted(ref, {
    list: async (resource) => (await device.list(resource)).records,
    write: (request) => device.write(request),
  });
  const { end } = await runStep(workOn(target, []), at(addBob), [ann]);
  expect(end).toMatchObject({ verdict: 'failed', record: { username: 'bob' } });
  expect(server.requests.map(({ method }) => method)).toEqual(['POST', 'GET']);
  expect(records).toHaveLength(2);
});

test.each([
  ['under another name', { ...bob, username: 'b_o_b' }],
  ['in another spelling', { ...bob, username: 'BOB' }],
])('a throttled request that was stored %s anyway is sent once', async (_title, stored) => {
  const { work, log } = deviceThat((_count, store) => {
    store(stored);
    throw throttled(0);
  });
  await runStep(work, at(addBob), [ann]);
  expect(log.filter((one) => one === 'write')).toHaveLength(1);
});

test('a password that cannot be read back is not sent again', async () => {
  const change = {
    action: 'set',
    resource: 'user',
    target: { kind: 'key', key: 'ann' },
    fields: { password: 'x1' },
  } as const;
  const [step] = planDevice({ device: ref, profile }, change, [ann]).steps;
  if (step === undefined) throw new Error('nothing was planned');
  const { work, log } = deviceThat(() => {
    throw throttled(0);
  });
  const { end } = await runStep(work, at(step), [ann]);
  expect(end.verdict).toBe('failed');
  expect(log).toEqual(['journal', 'write', 'list']);
});

test.each([
  ['four times at most', 0, 4],
  ['never when it is to wait too long', 30_001, 1],
  ['never when it does not say how long', undefined, 1],
])('a request that is always throttled is sent %s', async (_title, retryAfterMs, writes) => {
  const { work, log } = deviceThat(() => {
    throw throttled(retryAfterMs);
  });
  const { end } = await runStep(work, at(addBob), [ann]);
  expect(end).toMatchObject({ verdict: 'failed', error: { code: 'rejected' } });
  expect(log.filter((one) => one === 'write')).toHaveLength(writes);
});

test('a cancelled run does not wait, but still reads back', async () => {
  const { work, log } = deviceThat(() => {
    throw throttled(20_000);
  });
  const stop = new AbortController();
  const ending = runStep({ ...work, signal: stop.signal }, at(addBob), [ann]);
  await expect.poll(() => log).toContain('write');
  stop.abort();
  expect((await ending).end.verdict).toBe('failed');
  expect(log).toEqual(['journal', 'write', 'list']);
});

test('what a gateway gave up is no failure if the device carries it out a little later', async () => {
  let lists = 0;
  const target = scripted(ref, {
    list: () => Promise.resolve((lists += 1) < 2 ? [ann] : [ann, bob]),
    write: () => Promise.reject(new ProtocolError(ref, 'returned 504', { status: 504 })),
  });
  const work = { ...workOn(target, []), settleDelaysMs: [1] };
  const { end } = await runStep(work, at(addBob), [ann]);
  expect(end).toMatchObject({ verdict: 'done', record: bob });
});

test.each([
  ['accepts', (): void => undefined],
  [
    'fails with 500',
    () => {
      throw new ProtocolError(ref, 'returned 500', { status: 500 });
    },
  ],
])('the full wait for an effect is for the first write to a device that %s', async (_, answer) => {
  const { work, log } = deviceThat(answer);
  const readsOf = async (): Promise<number> => {
    log.length = 0;
    await runStep({ ...work, settleDelaysMs: [1, 1, 1] }, at(addBob), [ann]);
    return log.filter((one) => one === 'list').length;
  };
  expect([await readsOf(), await readsOf(), await readsOf()]).toEqual([4, 3, 3]);
});

test.each([
  [
    'the certificate is not trusted',
    new UntrustedError(ref, 'changed', {
      reason: 'changed',
      presented: { fingerprint: 'AA', subject: 'x', validFrom: '', validTo: '' },
    }),
  ],
  ['there is no credential', new CredentialError('none')],
])('when %s the request was not sent: it failed, whatever the records', async (_title, error) => {
  const { work, log } = deviceThat((_count, store) => {
    store(bob); // somebody else does
    throw error;
  });
  const { end } = await runStep(work, at(addBob), [ann]);
  expect(end).toEqual({ verdict: 'failed', error });
  expect(log).toEqual(['journal', 'write']);
});

test('after a crash, an add stored in another spelling is not sent again', () => {
  const step = planned({ username: 'Bob', lang: 'de' });
  expect(resolveSent(profile, step, [ann, bob])).toMatchObject({ verdict: 'unknown' });
  expect(resolveSent(profile, step, [ann])).toBeUndefined();
  expect(resolveSent(profile, addBob, [ann, bob])).toMatchObject({
    verdict: 'done',
    isByReading: true,
  });
});

test('after a crash, a password that cannot be read back is still said to be so', () => {
  const step = planned({ username: 'bob', lang: 'de', password: 'x1' });
  const end = resolveSent(profile, step, [ann, bob]);
  expect({ ...end, notes: end?.notes?.map(textOf) }).toMatchObject({
    verdict: 'done',
    notes: [
      'it was sent before the interruption; read-back settled it',
      'password cannot be read back',
    ],
  });
});

test('an id that another record now has, too, is drift', () => {
  const change = {
    action: 'delete',
    resource: 'user',
    target: { kind: 'key', key: 'bob' },
  } as const;
  const [step] = planDevice({ device: ref, profile }, change, [ann, bob]).steps;
  if (step === undefined) throw new Error('nothing was planned');
  expect(sincePlan(profile, step, [ann, bob]).drift).toBeUndefined();
  expect(textOf(sincePlan(profile, step, [{ ...ann, uuid: 'u2' }, bob]).drift ?? '')).toContain(
    'shares its id',
  );
});
