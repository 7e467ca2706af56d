import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyCase } from './cases.ts';
import { FOUND } from './found.ts';
import { faultsOf, seen } from './run-case.ts';
import { rounds } from '../rounds.ts';

/**
 * `ORACLE_CASES=2000 ORACLE_SEED=7 npx vitest run test/oracle` tries more and other cases; a failure reports its
 * seed and the smallest case.
 */
const CASES = rounds(40, { variable: 'ORACLE_CASES' });
const SEED = Number(process.env['ORACLE_SEED'] ?? 1);

test.each(FOUND)('nothing false is said of %s', async (_, given) => {
  expect((await faultsOf(given)).join('\n')).toBe('');
});

test(
  'devsh sends, loses and omits nothing without saying so',
  async () => {
    const property = fc.asyncProperty(anyCase, async (given) => {
      const faults = await faultsOf(given);
      expect(faults.join('\n')).toBe('');
    });
    await fc.assert(property, { numRuns: CASES, seed: SEED });
    // Refusing everything would prove nothing.
    expect(seen.sent).toBeGreaterThan(seen.lines / 4);
  },
  CASES * 5_000,
);
