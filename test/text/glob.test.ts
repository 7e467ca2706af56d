import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchesGlob } from '../../src/text/glob.ts';

test('* stands for any characters, ? for one', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', 'b', '.', '😀') }),
      fc.string({ unit: fc.constantFrom('a', 'b', '.', '😀', '*', '?') }),
      (name, glob) => {
        const source = glob.replaceAll('.', '\\.').replace(/\*+/g, '.*').replaceAll('?', '.');
        expect(matchesGlob(name, glob)).toBe(new RegExp(`^${source}$`, 'u').test(name));
      },
    ),
  );
});

test('a pattern of many stars takes no long time', () => {
  expect(matchesGlob('a'.repeat(5_000), `${'*a'.repeat(500)}b`)).toBe(false);
});
