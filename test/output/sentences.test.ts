import fc from 'fast-check';
import { expect, test } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import { SENTENCES, textOf } from '../../src/output/sentences.ts';

test('a sentence has the values of its note, whatever is in them', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (name, file) => {
      const text = textOf({ code: 'no-such-device', name, file });
      expect(text).toBe(`no device "${name}" in ${file}`);
    }),
  );
});

test('there are at most 120 codes, and no two say the same', () => {
  const templates = Object.values(SENTENCES).filter((one) => typeof one === 'string');
  expect(new Set(templates).size).toBe(templates.length);
  expect(Object.keys(SENTENCES).length).toBeLessThanOrEqual(120);
});

test('an error keeps its note as data, and masks a password in its message', () => {
  const error = new UsageError({ code: 'no-match', word: 'https://admin:pw@fw1' });
  expect(error.note).toMatchObject({ code: 'no-match' });
  expect(error.message).not.toContain('pw');
});
