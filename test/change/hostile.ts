import fc from 'fast-check';
import { isSecretName } from '../../src/device/sensitive-fields.ts';
import type { Texts } from './example-report.ts';

/** What breaks out of one notation or another. */
const PIECES = [
  ...[
    '|',
    '\\',
    '\\|',
    '\n',
    '\r\n',
    '\r',
    '`',
    '```',
    '<b>',
    '</td>',
    '<!--',
    '-->',
    '&amp;',
    ']]>',
  ],
  ...[
    "'",
    '"',
    "'\\''",
    "$'",
    '$(touch x)',
    '`id`',
    '${HOME}',
    ';',
    '&',
    '#',
    '!',
    '*',
    '~',
    ' ',
    '\t',
  ],
  ...[
    '\0',
    '\u001b[2J',
    '\u009b',
    '\u202e',
    '\u200b',
    '\u2028',
    '\ufeff',
    '\ufffe',
    '\ud800',
    '\u{e0041}',
  ],
  ...[
    '===',
    '---',
    '- ',
    '1. ',
    '![x](http://y)',
    'www.evil.example',
    '@all',
    '=',
    '+',
    '%',
    '%00',
    'ä',
    'ϲ',
    '😀',
    '0',
    'a',
  ],
];

export const hostileText: fc.Arbitrary<string> = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: 'binary' })), { maxLength: 6 })
  .map((parts) => parts.join(''));

/** Names of fields that make an object do something else, or whose values are secret, have tests of their own. */
const field = hostileText.filter(
  (text) => !['__proto__', 'uuid', 'username'].includes(text) && !isSecretName(text),
);

export const hostileTexts: fc.Arbitrary<Texts> = fc.record({
  device: hostileText,
  key: hostileText,
  field,
  value: hostileText,
  note: hostileText,
  command: hostileText,
});
