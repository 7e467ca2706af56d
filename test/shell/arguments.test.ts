import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonText } from '../../src/device/record.ts';
import { parseJson } from '../../src/device/json.ts';
import { assignmentWord, changeFields } from '../../src/shell/arguments.ts';
import { hasUnsafe } from '../../src/text/visible.ts';
import { parseLine } from '../../src/text/words.ts';
import { rounds } from '../rounds.ts';

const anyText = fc.string({ unit: 'binary' });
const anyValue = fc.oneof(
  anyText,
  fc.constantFrom('two\nlines', '\u202e', 'a\u200db', "o'neil", '🇩🇪', '👩\u200d💻', '\ud800'),
  fc.constant(null),
  fc.array(fc.oneof(anyText, fc.integer(), fc.boolean())),
  fc.dictionary(anyText, anyText),
);

test('a value that is written as a word is read again as the same value, in harmless characters', () => {
  const property = fc.property(fc.string({ minLength: 1 }), anyValue, (field, given) => {
    const value = parseJson(jsonText(given));
    const word = assignmentWord(field, value);
    if (word === undefined) return;
    expect(hasUnsafe(word)).toBe(false);
    const { fields } = changeFields(parseLine(`user add -- ${word}`).words.slice(3));
    expect(Object.entries(fields)).toEqual([[field, value]]);
  });
  fc.assert(property, { numRuns: rounds(2_000) });
});
