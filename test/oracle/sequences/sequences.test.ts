import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rounds } from '../../rounds.ts';
import { settleAtOnce } from '../../settle.ts';
import { anySequence, quietSequence } from './events.ts';
import { FOUND, UNMENDED } from './found.ts';
import { played } from './world.ts';

/** Sequences of one seed; `npm run oracle -- --sequences N --seed S` sets both. */
const SEQUENCES = Number(process.env['ORACLE_SEQUENCES'] ?? 5);
const SEED = process.env['ORACLE_SEED'];
const SEEDS =
  SEED === undefined
    ? Array.from({ length: rounds(10, { least: 4 }) }, (_, at) => at + 1)
    : [Number(SEED)];

// A late box counts readings, not time.
settleAtOnce();

async function faultsOf(...given: Parameters<typeof played>): Promise<string> {
  return (await played(...given)).faults.join('\n');
}

test.each(FOUND)('%s', async (_, given) => {
  expect(await faultsOf(given)).toBe('');
});

test.fails.each(UNMENDED)('not yet: %s', async (_, given) => {
  expect(await faultsOf(given)).toBe('');
});

test.each(SEEDS)(
  'no sequence of lines hits a wrong person, loses what is pending, or says what is not so: seed %i',
  async (seed) => {
    const property = fc.asyncProperty(anySequence, async (given) => {
      expect(await faultsOf(given)).toBe('');
    });
    // To find the smallest failing sequence takes longer than many sequences.
    await fc.assert(property, { numRuns: SEQUENCES, seed, endOnFailure: SEQUENCES > 20 });
  },
  SEQUENCES * 20_000,
);

test('older intents ask only where there was trouble', { timeout: 600_000 }, async () => {
  let [older, questions] = [0, 0];
  for (const given of fc.sample(quietSequence, { numRuns: rounds(200), seed: Number(SEED ?? 1) })) {
    const one = await played(given);
    expect(one.faults).toEqual([]);
    older += one.olderIntents;
    questions += one.questions;
  }
  expect(older).toBeGreaterThan(10);
  expect(questions).toBeLessThanOrEqual(older / 100);
});
