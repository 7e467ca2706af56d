import { expect, test } from 'vitest';
import { textOf } from '../../src/output/sentences.ts';
import { planDevice } from '../../src/change/plan-device.ts';
import { lossNotes } from '../../src/change/data-loss.ts';
import { watchAlong, withDependents } from '../../src/change/dependents.ts';
import { UnreachableError } from '../../src/device/errors.ts';
import { parseProfile } from '../../src/device/profile-file.ts';
import type { DeviceRecord } from '../../src/device/record.ts';
import { scripted } from './scripted.ts';
import { said } from './steps.ts';
import type { Step } from '../../src/change/step.ts';
import { countComputing } from '../contention.ts';

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
  lossNotes({ device: ref, steps: [step], settled: [] })
    .map(textOf)
    .filter((text) => text.includes('also deletes'));

test('the records that a profile states are counted by the field that names the deleted one', async () => {
  const many = Array.from({ length: 12 }, (_, place) => token(`t${place}`, 7));
  const step = await planned([...many, token('other', 8)]);
  expect(textsOf(step)).toEqual([
    'also deletes 12 of token (t0, t1, t2, t3, t4, t5, t6, t7, t8, t9 and 2 more), which undo does not bring back',
  ]);
  expect((await planned([token('other', 8)])).effects.takes).toBeUndefined();
  expect(textsOf(await planned(undefined))).toEqual([
    'also deletes an unknown number of token (not readable), which undo does not bring back',
  ]);
});

test('a record that came since the plan is drift', async () => {
  const step = await planned([token('a', 7)]);
  const watch = (tokens: readonly DeviceRecord[]) => watchAlong(readerOf(tokens), step);
  expect(textOf((await watch([token('a', 7), token('b', 7)])).drift ?? '')).toBe(
    'deleting user joe also deletes 2 of token, and the plan names 1',
  );
  expect((await watch([token('b', 7), token('c', 8)])).drift).toBeUndefined();
});

test('records of others that are gone after the delete are named', async () => {
  const step = await planned([token('a', 7)]);
  const before = [token('a', 7), token('b', 8), token('c', 9)];
  const check = async (after: readonly DeviceRecord[] | undefined) =>
    said(
      await (
        await watchAlong(readerOf(before, after), step)
      ).check({ verdict: 'done', notes: ['fine'] }),
    );
  expect(await check([token('b', 8), token('c', 9)])).toEqual({ verdict: 'done', note: 'fine' });
  expect(await check([token('c', 9)])).toEqual({
    verdict: 'differs',
    note: 'fine; also gone: token b',
  });
  expect(await check(undefined)).toEqual({
    verdict: 'done',
    note: 'fine; devsh cannot read what became of other token',
  });
});

test('what a delete also deletes is not known if a list cannot be read or shows no owner', async () => {
  const step = await planned([{ name: 'a' }, { name: 'b' }]);
  expect(textsOf(step)).toEqual([
    'also deletes an unknown number of token (not readable), which undo does not bring back',
  ]);
  const known = await planned([token('a', 7)]);
  const watch = await watchAlong(readerOf(undefined, [token('b', 8)]), known);
  expect(said(await watch.check({ verdict: 'done' })).note).toBe(
    'devsh cannot read what became of other token',
  );
});

const roles = parseProfile(
  'extends: generic-rest\nresources:\n  role: {key_field: name}\n  user: {key_field: username}\n',
  'p.yaml',
  'mine',
);

test.each<[title: string, refers: (id: number, name: string) => DeviceRecord]>([
  ['by name', (_id, name) => ({ role: name })],
  ['by id', (id) => ({ role_id: id })],
  ['in a list', (id) => ({ roles: [1, id] })],
  ['inside an object', (id) => ({ Role: { id, href: '/x' } })],
  ['in a list of objects', (_id, name) => ({ userName: 'x', roleList: [{ name }] })],
  ['by name in a field of any name', (_id, name) => ({ grants: ['x', name] })],
])(
  'what refers to a deleted record is named, and its changes are told: %s',
  async (_, refersTo) => {
    const people = (isActive: boolean): DeviceRecord[] => [
      { id: 1, username: 'ann', ...refersTo(5, 'ops'), active: isActive },
      { id: 5, username: 'ops', role: 'admin', active: true },
    ];
    const held = readerOf(people(true), people(true), people(false));
    held.session.facts.load(roles, {});
    const target = { kind: 'key', key: 'ops' } as const;
    const change = { action: 'delete', resource: 'role', target } as const;
    const { steps } = planDevice({ device: ref, profile: roles }, change, [{ id: 5, name: 'ops' }]);
    const [step] = await withDependents(held, steps);
    if (step === undefined) throw new Error('nothing was planned');
    expect(lossNotes({ device: ref, steps: [step], settled: [] }).map(textOf)).toContain(
      'may change what refers to it: 1 of user (ann), which undo does not take back',
    );
    const along = await watchAlong(held, step);
    expect(along.drift).toBeUndefined();
    expect(said(await along.check({ verdict: 'done' }))).toEqual({
      verdict: 'differs',
      note: 'also changed: user ann (active)',
    });
  },
);

test('a token that goes with its user is no difference, and no note shows it', async () => {
  const profile = parseProfile(
    'extends: generic-rest\nresources:\n  token: {key_field: key}\n  user: {key_field: username}\n',
    'p.yaml',
    'mine',
  );
  const [own, other] = [
    '60d3d5350f93b08d1b89137151e00c2fc355b121',
    'c2fc355b12160d3d5350f93b08d1b89137151e00',
  ];
  const tokens = [
    { key: own, user: 'dan' },
    { key: other, user: 'eve' },
  ];
  const target = { kind: 'key', key: 'dan' } as const;
  const change = { action: 'delete', resource: 'user', target } as const;
  const user = { id: 7, username: 'dan' };
  const { steps } = planDevice({ device: ref, profile }, change, [user]);
  const check = async (after: readonly DeviceRecord[]): Promise<ReturnType<typeof said>> => {
    const reader = readerOf(tokens, tokens, after);
    reader.session.facts.load(profile, {});
    const [step] = await withDependents(reader, steps);
    if (step === undefined) throw new Error('nothing was planned');
    return said(await (await watchAlong(reader, step)).check({ verdict: 'done' }));
  };
  const gone = await check(tokens.slice(1));
  expect(gone).toMatchObject({
    verdict: 'done',
    note: expect.stringMatching(/^also gone: token /) as string,
  });
  const all = await check([]);
  expect(all.verdict).toBe('differs');
  for (const secret of [own, other]) expect(JSON.stringify([gone, all])).not.toContain(secret);
});

test('a record of the same name, and a number anywhere, refer to nothing', async () => {
  const held = readerOf([
    { id: 5, username: 'ops', port: 5, slots: [1, 5] },
    { id: 6, username: 'ann', level: '5' },
  ]);
  held.session.facts.load(roles, {});
  const target = { kind: 'key', key: 'ops' } as const;
  const change = { action: 'delete', resource: 'role', target } as const;
  const { steps } = planDevice({ device: ref, profile: roles }, change, [{ id: 5, name: 'ops' }]);
  expect((await withDependents(held, steps))[0]?.effects.takes).toBeUndefined();
});

test('what thousands of deletes concern is looked up once, not once for each of them', async () => {
  const many = Array.from({ length: 4_000 }, (_, id) => ({ id, username: `user${id}` }));
  const target = { kind: 'where', filter: 'username~user' } as const;
  const change = { action: 'delete', resource: 'user', target } as const;
  const { steps } = planDevice({ device: ref, profile }, change, many);
  const tokens = many.map(({ id }) => token(`t${id}`, id));
  const computedMs = countComputing();
  const all = await withDependents(readerOf(tokens), steps);
  expect(computedMs()).toBeLessThan(2_000);
  expect(all.map(({ effects }) => effects.takes?.[0]?.keys)).toEqual(
    many.map(({ id }) => [`t${id}`]),
  );
});
