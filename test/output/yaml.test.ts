import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
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
