import { listFault, type ListFault } from './fault.ts';
import { withMember } from './json.ts';

const NEW_USER = {
  uuid: '0badc0de-0000-4000-8000-000000000001',
  first_name: 'Mallory',
  lastname: 'Hostile',
  username: 'mallory',
  lang: 'en',
};

/** One more record, whose texts are hostile. */
function withUser(fields: Partial<typeof NEW_USER>): ListFault['rewrite'] {
  return (records) => JSON.stringify([...records, { ...NEW_USER, ...fields }]);
}

/** Lists whose texts attack the terminal, the spreadsheet or the reader. */
export const TEXT_FAULTS = [
  listFault(
    'text-escapes',
    'A name has escape sequences in it.',
    withUser({ first_name: '\u001b[2J\u001b[H\u001b[31mred', lastname: '\u009b5m' }),
  ),
  listFault(
    'text-title',
    'A name sets the title of the terminal and a link.',
    withUser({ lastname: '\u001b]0;owned\u0007\u001b]8;;https://elsewhere.invalid\u0007click' }),
  ),
  listFault(
    'text-clipboard',
    'A name writes into the clipboard of the terminal.',
    withUser({ first_name: '\u001b]52;c;cm0gLXJmIC8=\u0007' }),
  ),
  listFault(
    'text-bidi',
    'A username is written backwards.',
    withUser({ username: 'user\u202enimda\u2066' }),
  ),
  listFault(
    'text-newlines',
    'A name has line ends, tabs and NUL in it.',
    withUser({ first_name: 'Mal\r\nlory\tx\u0000', lastname: 'a\u2028b\u2029c\u0085d' }),
  ),
  listFault(
    'text-invisible',
    'A username is "admin" with invisible characters.',
    withUser({ username: 'ad\u200bmin\u00ad\ufeff' }),
  ),
  listFault(
    'text-look-alike',
    'A username looks like "admin" and has a Cyrillic letter.',
    withUser({ username: '\u0430dmin' }),
  ),
  listFault('text-upper-case', 'There is "ADMIN" beside "admin".', withUser({ username: 'ADMIN' })),
  listFault(
    'text-half-character',
    'A name has half a character in it.',
    withUser({ first_name: 'a\ud800b', lastname: '\udfff' }),
  ),
  listFault(
    'text-combining',
    'A letter has a thousand marks on it.',
    withUser({ first_name: `a${'\u0301'.repeat(1000)}` }),
  ),
  listFault(
    'text-formula',
    'A name is a formula for a spreadsheet.',
    withUser({ first_name: '=cmd|"/c calc"!A1', lastname: '@SUM(1+1)' }),
  ),
  listFault('text-huge', 'A name is 10 MB long.', withUser({ lastname: 'x'.repeat(10_000_000) })),
  listFault('text-empty', 'A username is empty.', withUser({ username: '' })),
  listFault('text-null', 'A username is the word null.', withUser({ username: 'null' })),
  listFault(
    'text-field-names',
    'The names of fields are hostile.',
    withMember('"\\u001b[31mred":"1","":"2","a\\nb":"3","\\u202eabc":"4"'),
  ),
];
