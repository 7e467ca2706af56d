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
  'one try shows the records of any device that speaks %s, from its address alone',
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
    const names = Object.keys(counts);
    expect(names.length).toBeGreaterThan(15);
    expect(counts).toEqual(Object.fromEntries(names.map((name) => [name, 1])));
  },
);
