import fc from 'fast-check';
import { expect, test } from 'vitest';
import { redact, redactorOf } from '../../src/device/sensitive-fields.ts';

const SECRET = `s3cr<e>t&"quo'te" ü/+`;
const base64 = (text: string): string => Buffer.from(text).toString('base64');

test.each([
  ['plain', SECRET],
  ['in a form', new URLSearchParams({ '': SECRET }).toString().slice(1)],
  ['in a URL', encodeURIComponent(SECRET).toLowerCase()],
  ['in JSON', JSON.stringify(SECRET)],
  ['in HTML', 's3cr&lt;e&gt;t&amp;&quot;quo&#x27;te&quot; ü/+'.replace(/&quot;/g, '&#34;')],
  ['in hexadecimal', Buffer.from(SECRET).toString('hex').toUpperCase()],
])('a secret that is repeated %s is not shown', (_how, spelling) => {
  const clean = redact(`before ${spelling} after`, [SECRET]);
  expect(clean).toMatch(/^before "?\*\*\*"? after$/);
});

test('a secret is found whatever JSON escapes in it', () => {
  const escaped = (text: string): fc.Arbitrary<string> =>
    fc
      .tuple(...text.split('').map((unit) => fc.constantFrom(unit, escapeOf(unit))))
      .map((units) => units.join(''));
  const escapeOf = (unit: string): string =>
    `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  fc.assert(
    fc.property(escaped('hunter2/Ä'), (spelling) => {
      expect(redact(`{"echo":"${spelling}"}`, ['hunter2/Ä'])).toBe('{"echo":"***"}');
    }),
  );
  expect(redact(String.raw`"hunter2\/x"`, ['hunter2/x'])).toBe('"***"');
});

test('a secret is found in base64 at any alignment', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 5 }), fc.string({ maxLength: 5 }), (before, after) => {
      const clean = redact(base64(before + 'correct horse battery' + after), [
        'correct horse battery',
      ]);
      expect(clean).toContain('***');
      expect(Buffer.from(clean.replace(/\W.*/, ''), 'base64').toString()).not.toContain('correct');
    }),
  );
});

test('text without a secret, half a character and an empty secret stay unchanged', () => {
  expect(redact('nothing here', ['hunter2', '', 'ab', '\ud800x'])).toBe('nothing here');
  expect(redact('a+b (c)', ['.*', '(x)'])).toBe('a+b (c)');
});

test('one search for secrets serves many texts', () => {
  const clean = redactorOf(['hunter2', 'secret']);
  const texts = ['hunter2 and SECRET', '', 'nothing', 'aHVudGVyMg==', 'a hunter2'];
  expect(texts.map(clean)).toEqual(texts.map((text) => redact(text, ['hunter2', 'secret'])));
  expect(clean('hunter2 and SECRET')).toBe('*** and ***');
});

test('a secret is found in any case, beside and inside other letters', () => {
  const letter = fc.constantFrom('a', 'A', 'ß', 'ſ', 'σ', 'Σ', 'ς', 'İ', 'ı', 'é', '𝒳', '/', '"');
  const word = fc.string({ unit: letter, minLength: 4, maxLength: 8 });
  fc.assert(
    fc.property(word, word, fc.boolean(), (secret, around, isLower) => {
      const spelling = isLower ? secret : secret.replace(/[aσé]/g, (one) => one.toUpperCase());
      expect(redact(`${around}${spelling}${around}`, [secret])).toContain('***');
    }),
  );
});
