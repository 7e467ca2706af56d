import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isStored } from '../../src/device/equality.ts';
import { parseJson } from '../../src/device/json.ts';
import { type DeviceRecord, type Value, valueText } from '../../src/device/record.ts';
import {
  ENVELOPE_NAMES,
  PROFILE_NAMES,
  type ProfileName,
  type QuirkName,
} from '../simulator/dialects/dialect.ts';
import { startSimulator } from '../simulator/simulator.ts';
import { ADMIN, know, makeDevsh, trust } from '../main/devsh.ts';
import { rounds } from '../rounds.ts';

/* What devsh says of a write, and of the ways back, is what a device holds: over TLS, in each dialect. */

const CASES = rounds(40, { variable: 'DIALECT_CASES' });
const SEED = Number(process.env['DIALECT_SEED'] ?? 1);

/** Fields that a device sets by itself, and ids, which a record that is added again may not keep. */
const OWN = ['uuid', 'id', 'modified'];

/** Null is one of nine: some devices have no word for it, and every line with it is refused. */
const text = fc.constantFrom<Value>(
  ...['', ' x ', 'null', 'Ö "1"', '007', '-', '[]', 'long '.repeat(20)],
  null,
);

/** Assignments of one line: a field, or a part of one, with JSON. */
const ASSIGNED: Readonly<Record<'user' | 'interface', fc.Arbitrary<readonly [string, Value]>>> = {
  user: fc.tuple(fc.constantFrom('first_name', 'lastname'), text),
  interface: fc.oneof(
    fc.tuple(fc.constant('description'), text),
    fc.tuple(fc.constant('mtu'), fc.constantFrom<Value>(68, 9216, null)),
    fc.tuple(fc.constant('enabled'), fc.boolean()),
    fc.tuple(
      fc.constant('addresses'),
      fc.constantFrom<Value>([], ['10.0.0.1/24'], ['a', 'b'], [''], null),
    ),
    fc.tuple(fc.constant('ipv4.gateway'), fc.constantFrom('', '10.0.0.254')),
    fc.tuple(fc.constant('ipv4.metric'), fc.constantFrom<Value>(0, 9999)),
    fc.tuple(
      fc.constant('ipv4'),
      fc.constantFrom<Value>(
        { mode: 'dhcp', gateway: '', metric: 0 },
        { mode: 'static', gateway: '10.0.0.1', metric: 7 },
      ),
    ),
  ),
};

type WayBack = 'undo' | 'restore' | 'delete and undo' | 'none';

interface Step {
  readonly assigned: readonly (readonly [string, Value])[];
  readonly back: WayBack;
}

const stepsFor = (resource: 'user' | 'interface'): fc.Arbitrary<readonly Step[]> =>
  fc.array(
    fc.record({
      assigned: fc.uniqueArray(ASSIGNED[resource], {
        minLength: 1,
        maxLength: 2,
        selector: ([field]) => field.split('.')[0],
      }),
      back: fc.constantFrom<WayBack>('undo', 'restore', 'delete and undo', 'none'),
    }),
    { minLength: 1, maxLength: 3 },
  );

interface Result {
  readonly verdict: string;
}

/** A part of a record by its dotted name. */
function partOf(record: DeviceRecord, path: string): Value | undefined {
  return path
    .split('.')
    .reduce<Value | undefined>(
      (value, name) =>
        typeof value === 'object' && value !== null
          ? (value as Record<string, Value>)[name]
          : undefined,
      record,
    );
}

/** One way for each encoding and for values that are all texts. */
const DIALECTS: readonly { readonly profile: ProfileName; readonly quirk: QuirkName[] }[] =
  PROFILE_NAMES.flatMap((profile) => [
    { profile, quirk: [] },
    { profile, quirk: ['strings'] },
    { profile, quirk: ['no-options'] },
  ]);

test.each(DIALECTS)(
  'what is said of a write and of its ways back is so, with $profile $quirk',
  async ({ profile, quirk }) => {
    const resource = profile === 'documented' ? 'user' : 'interface';
    let [lines, done] = [0, 0];
    const property = fc.asyncProperty(
      fc.constantFrom(...ENVELOPE_NAMES),
      stepsFor(resource),
      async (envelope, steps) => {
        const simulator = await startSimulator({ users: 5, profile, envelope, quirk });
        try {
          const [device] = simulator.devices;
          if (device === undefined) throw new Error('no device');
          const devsh = await makeDevsh(ADMIN, () => undefined);
          await know(devsh, [device], { profile });
          await trust(devsh, [device]);
          const keyField = resource === 'user' ? 'username' : 'name';
          const key = valueText(device.records(resource).at(-1)?.[keyField]);
          const held = (): DeviceRecord => {
            const found = device.records(resource).find((record) => record[keyField] === key) ?? {};
            const shown = Object.entries(found).filter(([field]) => !OWN.includes(field));
            return Object.fromEntries(shown);
          };
          /** The verdict on the record; undefined if the line was refused before. */
          const verdictOf = async (line: readonly string[]): Promise<string | undefined> => {
            const { stdout } = await devsh([...line, '--yes', '--json']);
            const { results = [] } = parseJson(stdout) as unknown as { results?: Result[] };
            return results[0]?.verdict;
          };
          const on = ['--on', 'sim1'];
          /** `differs` and `unknown` may stand for any state; undefined: nothing was sent. */
          const claim = (
            what: string,
            verdict: string | undefined,
            was: DeviceRecord,
            isAsAsked: () => boolean,
          ): void => {
            lines += 1;
            if (verdict === 'differs' || verdict === 'unknown') return;
            const isDone = verdict === 'done' || verdict === 'unchanged';
            if (isDone) done += 1;
            const isSo = isDone ? isAsAsked() : isDeepStrictEqual(held(), was);
            expect([what, verdict, isSo]).toEqual([what, verdict, true]);
          };
          for (const { assigned, back } of steps) {
            await devsh([resource, 'list', ...on]);
            const before = held();
            const at = new Date().toISOString();
            const words = assigned.map(([field, value]) => `${field}:=${JSON.stringify(value)}`);
            const what = `${resource} set ${key} ${words.join(' ')} (${envelope})`;
            const verdict = await verdictOf([resource, 'set', key, ...words, ...on]);
            const now = held();
            claim(what, verdict, before, () => {
              const names = assigned.map(([field]) => field.split('.')[0] ?? '');
              const others = Object.keys({ ...before, ...now }).filter(
                (field) => !names.includes(field),
              );
              return (
                assigned.every(([field, value]) => isStored(value, partOf(now, field))) &&
                others.every((field) => isDeepStrictEqual(before[field], now[field]))
              );
            });
            if (back === 'delete and undo') {
              await verdictOf([resource, 'delete', key, ...on]);
              const gone = held();
              const undone = await verdictOf(['undo', '--allow', 'loss']);
              claim(`${what}; delete; undo`, undone, gone, () => isDeepStrictEqual(held(), now));
              if (Object.keys(held()).length === 0) break;
            } else if (back !== 'none' && !isDeepStrictEqual(now, before)) {
              const restore = [resource, 'restore', key, '--at', at, ...on];
              const returned = await verdictOf(back === 'undo' ? ['undo'] : restore);
              claim(`${what}; ${back}`, returned, now, () => isDeepStrictEqual(held(), before));
            }
          }
        } finally {
          await simulator.close();
        }
      },
    );
    await fc.assert(property, { numRuns: CASES, seed: SEED });
    // Refusing everything would prove nothing.
    expect(done).toBeGreaterThan(lines / 4);
  },
  CASES * 20_000,
);
