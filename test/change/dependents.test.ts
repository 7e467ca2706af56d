import { expect, test } from 'vitest';
import { planDevice } from '../../src/change/plan-device.ts';
import { lossTexts } from '../../src/change/data-loss.ts';
import { watchAlong, withDependents } from '../../src/change/dependents.ts';
import { UnreachableError } from '../../src/device/errors.ts';
import { parseProfile } from '../../src/device/profile-file.ts';
import type { DeviceRecord } from '../../src/device/record.ts';
import { scripted } from './scripted.ts';
import type { Step } from '../../src/change/step.ts';

const ref = { name: 'fw1', address: '10.0.0.5:443' };
const profile = parseProfile(
  'extends: generic-rest\nresources:\n  user: {removes: {token: owner.id}}\n  token: {key_field: name}\n',
  'p.yaml',
  'mine',
);
const joe = { id: 7, username: 'joe' };
const token = (name: string, id: number): DeviceRecord => ({ name, owner: { id } });

/** A device whose tokens are these, one reading after the other; `undefined`: they cannot be read. */
function readerOf(...readings: readonly (readonly DeviceRecord[] | undefined)[]) {
  const left = [...readings];
  const { session, access } = scripted(ref, {
    list: () => {
      const records = left.shift();
      return records === undefined
        ? Promise.reject(new UnreachableError(ref, 'away', { mayHaveArrived: false }))
        : Promise.resolve(records);
    },
    write: () => Promise.resolve(),
  });
  session.facts.load(profile, {});
  return { session, access, signal: new AbortController().signal };
}

async function planned(reading: readonly DeviceRecord[] | undefined): Promise<Step> {
  const target = { kind: 'key', key: 'joe' } as const;
  const change = { action: 'delete', resource: 'user', target } as const;
  const { steps } = planDevice({ device: ref, profile }, change, [joe]);
  const [step] = await withDependents(readerOf(reading), steps);
  if (step === undefined) throw new Error('nothing was planned');
  return step;
}

const textsOf = (step: Step) =>
  lossTexts({ device: ref, steps: [step], settled: [] }).filter((text) =>
    text.includes('also deletes'),
  );

test('the records that a profile states are counted by the field that names the deleted one', async () => {
  const many = Array.from({ length: 12 }, (_, place) => token(`t${place}`, 7));
  const step = await planned([...many, token('other', 8)]);
  expect(textsOf(step)).toEqual([
    'also deletes 12 of token (t0, t1, t2, t3, t4, t5, t6, t7, t8, t9 and 2 more), which undo does not bring back',
  ]);
  expect((await planned([token('other', 8)])).takes).toBeUndefined();
  expect(textsOf(await planned(undefined))).toEqual([
    'also deletes an unknown number of token (not readable), which undo does not bring back',
  ]);
});

test('a record that came since the plan is drift', async () => {
  const step = await planned([token('a', 7)]);
  const watch = (tokens: readonly DeviceRecord[]) => watchAlong(readerOf(tokens), step);
  expect((await watch([token('a', 7), token('b', 7)]))?.drift).toBe(
    'deleting user joe also deletes 2 of token, and the plan names 1',
  );
  expect((await watch([token('b', 7), token('c', 8)]))?.drift).toBeUndefined();
  expect((await watchAlong(readerOf([]), { ...step, action: 'set' }))?.drift).toBeUndefined();
});

test('records of others that are gone after the delete are named', async () => {
  const step = await planned([token('a', 7)]);
  const before = [token('a', 7), token('b', 8), token('c', 9)];
  const check = async (after: readonly DeviceRecord[] | undefined) =>
    (await watchAlong(readerOf(before, after), step))?.check({ verdict: 'done', note: 'fine' });
  expect(await check([token('b', 8), token('c', 9)])).toEqual({ verdict: 'done', note: 'fine' });
  expect(await check([token('c', 9)])).toEqual({
    verdict: 'differs',
    note: 'fine; also gone, and not named in the plan: token b',
  });
  expect(await check(undefined)).toEqual({
    verdict: 'done',
    note: 'fine; devsh cannot read whether any other token is gone',
  });
});

test('what a delete also deletes is not known if a list cannot be read or shows no owner', async () => {
  const step = await planned([{ name: 'a' }, { name: 'b' }]);
  expect(textsOf(step)).toEqual([
    'also deletes an unknown number of token (not readable), which undo does not bring back',
  ]);
  const known = await planned([token('a', 7)]);
  const watch = await watchAlong(readerOf(undefined, [token('b', 8)]), known);
  expect((await watch?.check({ verdict: 'done' }))?.note).toBe(
    'devsh cannot read whether any other token is gone',
  );
});
