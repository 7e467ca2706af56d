import fc from 'fast-check';
import { expect, test } from 'vitest';
import { majorityOf } from '../../src/fleet/drift.ts';

const de = (count: number) => ({ text: 'de', devices: Array(count).fill('d') as string[] });
const en = (count: number) => ({ text: 'en', devices: Array(count).fill('e') as string[] });

test.each([
  ['two of three', [de(2), en(1)], 0, 'de'],
  ['a tie', [de(2), en(2)], 0, undefined],
  ['one of two, which a third could outvote', [de(2), en(1)], 1, undefined],
  ['nine of twelve, two not read', [en(1), de(9)], 2, 'de'],
  ['none', [], 3, undefined],
])('%s', (_title, values, unknown, text) => {
  expect(majorityOf(values, unknown)?.text).toBe(text);
});

test('no answer of the unknown devices takes the majority away', () => {
  const sizes = fc.array(fc.nat(20), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(sizes, fc.nat(20), (counts, unknown) => {
      const values = counts.map((count) => ({ devices: Array.from({ length: count }) }));
      const most = majorityOf(values, unknown);
      for (const other of values) {
        if (most !== undefined && other !== most)
          expect(other.devices.length + unknown).toBeLessThan(most.devices.length);
      }
    }),
  );
});
