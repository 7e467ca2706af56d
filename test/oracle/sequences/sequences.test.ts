import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anySequence } from './events.ts';
import { MENDED, NOT_MENDED } from './found.ts';
import { faultsOf } from './world.ts';

/** Set by `npm run oracle -- --sequences N`. Not all faults that random sequences find are mended. */
const SEQUENCES = Number(process.env['ORACLE_SEQUENCES'] ?? 0);
const SEED = Number(process.env['ORACLE_SEED'] ?? 1);

test.each(MENDED)('%s', async (_, given) => {
  expect((await faultsOf(given)).join('\n')).toBe('');
});

test.fails.each(NOT_MENDED)('%s', async (_, given) => {
  expect((await faultsOf(given)).join('\n')).toBe('');
});

test.runIf(SEQUENCES > 0)(
  'no sequence of lines hits a wrong person, loses what is pending, or says what is not so',
  async () => {
    const property = fc.asyncProperty(anySequence, async (given) => {
      expect((await faultsOf(given)).join('\n')).toBe('');
    });
    await fc.assert(property, { numRuns: SEQUENCES, seed: SEED });
  },
  SEQUENCES * 20_000,
);
