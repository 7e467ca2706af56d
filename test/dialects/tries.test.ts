import { expect, onTestFinished, test } from 'vitest';
import { PROFILE_NAMES } from '../simulator/dialects/site.ts';
import { triesUntilRecords } from '../main/tries.ts';
import {
  createDialect,
  type DialectOptions,
  ENVELOPE_NAMES,
  PAGING_NAMES,
  QUIRKS,
} from '../simulator/dialects/dialect.ts';
import { startSimulator } from '../simulator/simulator.ts';

/** Where the login goes only the vendor's page says: no try may send a password elsewhere. */
const SESSIONS: readonly string[] = ['session-token', 'session-cookie'];

/** Their users have no id: the first try says the fact, the second one shows what is sent. */
const WITHOUT_ID: readonly string[] = ['documents', 'domains'];

const WAYS = [
  ...ENVELOPE_NAMES.map((envelope) => ({ name: envelope, envelope })),
  ...PAGING_NAMES.map((paging) => ({ name: `paging ${paging}`, paging })),
  ...QUIRKS.filter(({ name }) => !SESSIONS.includes(name)).map(({ name }) => ({
    name,
    quirk: [name],
  })),
];

/** Whether there are such devices. */
function isPossible(dialect: DialectOptions): boolean {
  try {
    return createDialect(dialect).quirks.size >= 0;
  } catch {
    return false;
  }
}

test.each(PROFILE_NAMES)(
  'two tries show the records of any device that speaks %s, from its address alone',
  async (profile) => {
    const counts: Record<string, number> = {};
    for (const { name, ...way } of WAYS.filter((one) => isPossible({ profile, ...one }))) {
      const simulator = await startSimulator({ users: 8, pageSize: 5, profile, ...way });
      onTestFinished(() => simulator.close());
      const address = simulator.devices[0]?.address ?? '';
      const { tries, records } = await triesUntilRecords(address);
      expect(records, name).toMatch(/^8 records in /);
      counts[name] = tries;
    }
    const expected = (name: string): number =>
      profile === 'form-action' || WITHOUT_ID.includes(name) ? 2 : 1;
    const names = Object.keys(counts);
    expect(names.length).toBeGreaterThan(15);
    expect(counts).toEqual(Object.fromEntries(names.map((name) => [name, expected(name)])));
  },
);
