import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Value } from '../../src/device/record.ts';
import { toYaml } from '../../src/output/yaml-writer.ts';

test('what is written reads back as the same value, with nothing invisible in it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
      const text = toYaml(value);
      // JSON has no -0.
      expect(parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Default_Ignorable_Code_Point}]/u);
    }),
  );
});

test('values nested deeper than the library can go become JSON text', () => {
  let value: Value = [];
  for (let depth = 1; depth < 20_000; depth += 1) value = [value];
  expect(toYaml({ records: [value] })).toContain('[[[[');
});
