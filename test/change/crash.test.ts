import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Change } from '../../src/change/change.ts';
import { parseJournal } from '../../src/change/read-journal.ts';
import { serializePlan, parsePlanFile } from '../../src/change/plan-file.ts';
import { outcomesOf } from '../../src/change/run-results.ts';
import { undoOf } from '../../src/change/undo.ts';
import { documentedProfile } from '../../src/device/built-in-profiles.ts';
import { type DeviceRecord, valueText } from '../../src/device/record.ts';
import { RefusedError, SettingsError } from '../../src/errors.ts';
import { STORED, FAULTS, Fuse, runRemaining, ModelDevice, ModelJournal, planFor } from './model.ts';
import { rounds } from '../rounds.ts';

const RUNS = rounds(150, { variable: 'DEVSH_PROPERTY_RUNS' });
const NAMES = ['ann', 'bob', 'cid', 'dan', 'eve'];

const changeSets: fc.Arbitrary<Change[]> = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom('add', 'set', 'delete')), {
    minLength: 1,
    selector: ([name]) => name,
  })
  .map((list) =>
    list.map(([name, action]): Change => {
      const target = { kind: 'key', key: name } as const;
      if (action === 'add') {
        return {
          action,
          resource: 'user',
          fields: { username: name, first_name: 'New', lang: 'de' },
        };
      }
      return action === 'set'
        ? { action, resource: 'user', target, fields: { lang: 'fr' } }
        : { action: 'delete', resource: 'user', target };
    }),
  );

const fleet = (faults: fc.Arbitrary<(typeof FAULTS)[number]>) =>
  fc.array(
    fc.record({
      users: fc.uniqueArray(fc.constantFrom(...NAMES)),
      faults: fc.array(faults, { maxLength: 5 }),
    }),
    { minLength: 1, maxLength: 4 },
  );

const crashes = fc.array(fc.nat(25), { maxLength: 6 });
const width = fc.integer({ min: 1, max: 4 });

function devicesOf(spec: readonly { users: string[]; faults: (typeof FAULTS)[number][] }[]) {
  return spec.map(({ users, faults }, index) => new ModelDevice(`fw${index + 1}`, users, faults));
}

/** Crashes repeatedly, then once runs to the end. */
async function runWithCrashes(
  devices: readonly ModelDevice[],
  journal: ModelJournal,
  fuses: readonly number[],
  atOnce: number,
): Promise<void> {
  for (const ticks of fuses) {
    const before = verdictsOf(journal);
    const { hasCrashed } = await runRemaining(devices, journal, new Fuse(ticks), atOnce);
    journal.dropHalfLine();
    // A verdict on disk is never lost or changed.
    for (const [step, verdict] of before) {
      if (verdict !== 'unknown')
        expect([step, verdictsOf(journal).get(step)]).toEqual([step, verdict]);
    }
    if (!hasCrashed) return;
  }
  await runRemaining(devices, journal, new Fuse(Infinity), atOnce);
}

function verdictsOf(journal: ModelJournal): Map<string, string> {
  return new Map(
    outcomesOf(journal.run).flatMap(({ result, state }) =>
      state?.kind === 'ended' ? [[`${result.device.name} ${result.key}`, result.verdict]] : [],
    ),
  );
}

/** The users after the changes, without ids. */
function usersAfter(users: readonly DeviceRecord[], changes: readonly Change[]): DeviceRecord[] {
  return changes.reduce<DeviceRecord[]>((records, change) => {
    if (change.action === 'add') {
      const name = change.fields['username'];
      if (records.some(({ username }) => username === name)) return records;
      return [...records, { first_name: '', lastname: '', ...change.fields }];
    }
    const key = change.target.kind === 'key' ? change.target.key : '';
    return change.action === 'delete'
      ? records.filter(({ username }) => username !== key)
      : records.map((one) => (one['username'] === key ? { ...one, ...change.fields } : one));
  }, users.map(withoutId));
}

function withoutId(record: DeviceRecord): DeviceRecord {
  return Object.fromEntries(Object.entries(record).filter(([field]) => field !== 'uuid'));
}

function byName(records: readonly DeviceRecord[]): DeviceRecord[] {
  return records
    .map(withoutId)
    .sort((a, b) => valueText(a['username']).localeCompare(valueText(b['username'])));
}

test('after any crashes, resume reaches the planned state and repeats no write', async () => {
  await fc.assert(
    fc.asyncProperty(
      fleet(fc.constantFrom(...STORED)),
      changeSets,
      crashes,
      width,
      async (spec, changes, fuses, atOnce) => {
        const devices = devicesOf(spec);
        const expected = devices.map(({ records }) => byName(usersAfter(records, changes)));
        const journal = new ModelJournal(planFor(devices, changes));
        await runWithCrashes(devices, journal, fuses, atOnce);
        expect(devices.map(({ records }) => byName(records))).toEqual(expected);
        for (const { stored } of devices) {
          expect(new Set(stored).size).toBe(stored.length);
        }
        for (const { state, result } of outcomesOf(journal.run)) {
          if (state !== undefined) expect(result).toMatchObject({ verdict: 'done' });
        }
      },
    ),
    { numRuns: RUNS },
  );
});

test('whatever a device does, each step ends with the verdict that its records prove', async () => {
  await fc.assert(
    fc.asyncProperty(
      fleet(fc.constantFrom(...FAULTS)),
      changeSets,
      crashes,
      width,
      async (spec, changes, fuses, atOnce) => {
        const devices = devicesOf(spec);
        const journal = new ModelJournal(planFor(devices, changes));
        await runWithCrashes(devices, journal, fuses, atOnce);
        for (const { step, state, result } of outcomesOf(journal.run)) {
          if (step === undefined) continue;
          expect(state?.kind).toBe('ended');
          const device = devices.find(({ ref }) => ref.name === result.device.name);
          const held = device?.records.find(({ username }) => username === step.key);
          const isSo =
            step.action === 'delete' ? held === undefined : held?.['lang'] === step.asked['lang'];
          expect([result.verdict, isSo]).toEqual([
            isSo ? 'done' : expect.not.stringMatching('done'),
            isSo,
          ]);
        }
        for (const { stored } of devices) {
          expect(new Set(stored).size).toBe(stored.length);
        }
      },
    ),
    { numRuns: RUNS },
  );
});

test('undo of a run, with crashes and faults in it, restores all but the ids', async () => {
  await fc.assert(
    fc.asyncProperty(
      fleet(fc.constantFrom(...FAULTS)),
      changeSets,
      crashes,
      crashes,
      async (spec, changes, fuses, undoFuses) => {
        const devices = devicesOf(spec);
        const before = devices.map(({ records }) => byName(records));
        const journal = new ModelJournal(planFor(devices, changes));
        // The run itself may stay interrupted.
        for (const ticks of fuses) await runRemaining(devices, journal, new Fuse(ticks));
        journal.dropHalfLine();
        const undone = undoOf(journal.run, () => ({
          profile: documentedProfile,
          // Nobody else writes here: what no answer has confirmed is our own.
          meantBy: (_device, _step, left) => ({ ...left, age: 'older', also: [{ key: left.key }] }),
        }));
        for (const device of devices) device.clearFaults();
        for (const device of devices) {
          const { session, access } = device.through(new Fuse(Infinity));
          await session.list(access, 'user');
        }
        const plan = {
          run: '20261121-093042-k3qd7m',
          devices: devices.flatMap(
            (device) =>
              planFor(
                [device],
                undone.find(({ device: { name } }) => name === device.ref.name)?.changes ?? [],
              ).devices,
          ),
        };
        await runWithCrashes(devices, new ModelJournal(plan), undoFuses, 1);
        expect(devices.map(({ records }) => byName(records))).toEqual(before);
      },
    ),
    { numRuns: RUNS },
  );
});

test('a journal cut anywhere gives a run with all complete lines, or a clear error', async () => {
  const devices = devicesOf([
    { users: ['ann'], faults: ['none', 'drop'] },
    { users: ['bob', 'cid'], faults: ['forget'] },
  ]);
  const changes: Change[] = [
    { action: 'add', resource: 'user', fields: { username: 'zoé', lang: 'de' } },
    { action: 'delete', resource: 'user', target: { kind: 'key', key: 'bob' } },
  ];
  const journal = new ModelJournal(planFor(devices, changes));
  await runRemaining(devices, journal, new Fuse(Infinity));
  const bytes = Buffer.from(journal.text);
  let known = 0;
  for (let length = 0; length <= bytes.length; length += 1) {
    const text = bytes.subarray(0, length).toString('utf8');
    try {
      const run = parseJournal(text, 'journal');
      const ended = outcomesOf(run).filter(({ state }) => state?.kind === 'ended').length;
      expect(ended).toBeGreaterThanOrEqual(known);
      expect(ended).toBe(
        text.slice(0, text.lastIndexOf('\n')).split('"kind":"verdict"').length - 1,
      );
      known = ended;
    } catch (error) {
      expect(error).toBeInstanceOf(SettingsError);
      expect(known).toBe(0);
    }
  }
  expect(known).toBe(3);
});

test('a journal with any byte changed gives a run or a clear error, never a crash', () => {
  const devices = devicesOf([{ users: ['ann'], faults: [] }]);
  const plan = planFor(devices, [
    {
      action: 'set',
      resource: 'user',
      target: { kind: 'key', key: 'ann' },
      fields: { lang: 'de' },
    },
  ]);
  const bytes = Buffer.from(new ModelJournal(plan).text);
  for (let place = 0; place < bytes.length; place += 1) {
    for (const bit of [1, 4, 32]) {
      const altered = Buffer.from(bytes);
      altered[place] = (altered[place] ?? 0) ^ bit;
      try {
        parseJournal(altered.toString('utf8'), 'journal');
      } catch (error) {
        expect(error).toBeInstanceOf(SettingsError);
      }
    }
  }
});

test('a plan file that is damaged in any bit, or cut anywhere, is refused', () => {
  const devices = devicesOf([{ users: ['ann'], faults: [] }]);
  const changes: Change[] = [
    {
      action: 'set',
      resource: 'user',
      target: { kind: 'key', key: 'ann' },
      fields: { lang: 'dé' },
    },
  ];
  const at = '2026-11-21T09:30:41.000Z';
  const expiresAt = '2026-11-22T09:30:41.000Z';
  const plan = planFor(devices, changes);
  const who = { run: plan.run, at, command: 'plan', by: 'ann@desk', version: '1.0.0' };
  const head = { ...who, expiresAt, changes };
  const text = serializePlan(head, plan.devices);
  const now = new Date(at);
  const { devices: planned, digest, ...read } = parsePlanFile(text, 'plan', now, new Set());
  expect(read).toMatchObject(head);
  expect(planned).toEqual(
    plan.devices.map(({ device, steps, settled }) => ({
      ...{ device, settled, wanted: [], changes: undefined },
      steps: steps.map(({ action, resource, key, keyField, before, asked }) => {
        return { action, resource, key, keyField, before, asked, effects: {} };
      }),
    })),
  );
  const lines = text.slice(0, text.lastIndexOf('{'));
  expect(digest).toBe(createHash('sha256').update(lines).digest('hex'));
  const bytes = Buffer.from(text);
  for (let place = 0; place < bytes.length; place += 1) {
    const cut = bytes.subarray(0, place).toString('utf8');
    expect(() => parsePlanFile(cut, 'plan', now, new Set(['drift']))).toThrow(RefusedError);
    for (let bit = 0; bit < 8; bit += 1) {
      const altered = Buffer.from(bytes);
      altered[place] = (altered[place] ?? 0) ^ (1 << bit);
      expect(() =>
        parsePlanFile(altered.toString('utf8'), 'plan', now, new Set(['drift'])),
      ).toThrow(RefusedError);
    }
  }
});
