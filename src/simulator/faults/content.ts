import { send, sendBlocks } from '../transmit.ts';
import { answerFault, listFault, type ListFault } from './fault.ts';

const ORIGIN = 'https://elsewhere.invalid';
const MILLION = 1_000_000;
const ONE_ID = '0badc0de-0000-4000-8000-000000000001';

/** Records, changed one by one. */
function each(change: (record: object, index: number) => unknown): ListFault['rewrite'] {
  return (records) => JSON.stringify(records.map(change));
}

function wrapped(facts: (target: string, length: number) => object): ListFault['rewrite'] {
  return (records, _text, { target }) =>
    JSON.stringify({ ...facts(target, records.length), results: records });
}

function* million(rowOf: (number: number) => string): Iterable<string> {
  yield '[';
  for (let from = 0; from < MILLION; from += 1000) {
    const rows = Array.from({ length: 1000 }, (_, index) => rowOf(from + index));
    yield (from === 0 ? '' : ',') + rows.join(',');
  }
  yield ']';
}

/** Lists whose records do not fit together. */
export const RECORD_FAULTS = [
  listFault(
    'no-ids',
    'The records have no id.',
    each((record) => ({ ...record, uuid: undefined })),
  ),
  listFault(
    'null-ids',
    'The id of every record is null.',
    each((record) => ({ ...record, uuid: null })),
  ),
  listFault(
    'same-ids',
    'All records have one id.',
    each((record) => ({ ...record, uuid: ONE_ID })),
  ),
  listFault(
    'traversing-ids',
    'The id of every record leads to another path.',
    each((record, index) => ({ ...record, uuid: `../../reboot?${index}#` })),
  ),
  listFault(
    'object-ids',
    'The id of every record is an object.',
    each((record) => ({ ...record, uuid: { is: 'no id' } })),
  ),
  listFault(
    'changing-ids',
    'The records have other ids each time.',
    each((record) => ({ ...record, uuid: crypto.randomUUID() })),
  ),
  listFault(
    'no-usernames',
    'The records have no username.',
    each((record) => ({ ...record, username: undefined })),
  ),
  listFault('same-usernames', 'Every record comes with a second one of its name.', (records) =>
    JSON.stringify(
      records.flatMap((record) => [record, { ...record, uuid: crypto.randomUUID(), lang: 'it' }]),
    ),
  ),
  listFault(
    'object-usernames',
    'Usernames are objects.',
    each((record) => ({ ...record, username: { name: 'ann' } })),
  ),
  listFault('shuffled', 'The list comes in another order each time.', (records) =>
    JSON.stringify([...records].sort(() => Math.random() - 0.5)),
  ),
  listFault(
    'changing-clock',
    'Each record shows the time of day.',
    each((record) => ({ ...record, seen: new Date().toISOString() })),
  ),
  listFault(
    'own-facts',
    'Each record shows a token, a masked password and its last login, on each device its own.',
    each((record) => {
      const own = 'uuid' in record && typeof record.uuid === 'string' ? record.uuid : '';
      const number = Number.parseInt(own.slice(0, 4), 16) || 0;
      return {
        ...record,
        api_token: own.replaceAll('-', ''),
        password: '*'.repeat(6 + (number % 9)),
        last_login: number % 2 === 0 ? null : 1_700_000_000 + number,
      };
    }),
  ),
  listFault(
    'page-loop',
    'The next page is the same page.',
    wrapped((next) => ({ next })),
  ),
  listFault(
    'page-elsewhere',
    'The next page is on another host.',
    wrapped(() => ({ next: `${ORIGIN}/steal` })),
  ),
  listFault(
    'page-endless',
    'There is always one more page.',
    wrapped((target) => {
      const page = Number(new URLSearchParams(target.split('?')[1] ?? '').get('page') ?? 1);
      return { next: `/api/user/?page=${page + 1}` };
    }),
  ),
  listFault(
    'page-missing',
    'The list says that it has ten more records than it gives.',
    wrapped((_target, length) => ({ count: length + 10, next: null })),
  ),
  listFault(
    'page-count-text',
    'The count of records is a text.',
    wrapped(() => ({ count: 'many' })),
  ),
  {
    ...answerFault('million-users', 'The list has a million users, 75 MB.', (wire, answer) => {
      const rowOf = (number: number): string =>
        `{"uuid":"${number}","first_name":"A","lastname":"B","username":"u${number}","lang":"en"}`;
      sendBlocks(wire, answer, million(rowOf));
    }),
    methods: ['GET'],
  },
  {
    ...answerFault('million-names', 'The list has a million usernames, 24 MB.', (wire, answer) => {
      sendBlocks(
        wire,
        answer,
        million((number) => `{"username":"u${number}"}`),
      );
    }),
    methods: ['GET'],
  },
];

/** Every record with more in it: JSON as it stands, which JSON.stringify would not write. */
function withMember(member: string): ListFault['rewrite'] {
  return (records) =>
    `[${records.map((record) => `${JSON.stringify(record).slice(0, -1)},${member}}`).join(',')}]`;
}

/** Lists that are JSON of an odd kind, or none. */
export const JSON_FAULTS = [
  answerFault('invalid-json', 'The body is JSON that was cut in the middle.', (wire, answer) => {
    // An empty list or object would stay valid when cut to nothing.
    const half = answer.body.slice(0, Math.ceil(answer.body.length / 2)) || '{';
    send(wire, answer.status === 204 ? answer : { ...answer, body: half });
  }),
  listFault('null-list', 'The list is null.', () => 'null'),
  listFault('number-list', 'The list is a number.', () => '42'),
  listFault('scalars', 'The list holds numbers, not records.', () => '[1,2,3]'),
  listFault('nested-lists', 'The list holds lists.', (_records, text) => `[${text}]`),
  listFault('null-record', 'One of the records is null.', (records) =>
    JSON.stringify([...records, null]),
  ),
  listFault('lone-object', 'One object comes instead of the list.', (records) =>
    JSON.stringify(records[0] ?? {}),
  ),
  listFault('two-documents', 'The list comes twice in one body.', (_records, text) => text + text),
  listFault('trailing-comma', 'There is a comma behind the last record.', (_records, text) =>
    text.replace(/\]$/, ',]'),
  ),
  listFault('single-quotes', 'Texts are in single quotes.', (_records, text) =>
    text.replaceAll('"', "'"),
  ),
  listFault('not-a-number', 'A field is NaN, which JSON does not know.', withMember('"load":NaN')),
  listFault(
    'raw-control',
    'A text has control characters in it that JSON does not allow.',
    withMember('"note":"a\u0000b\u001b[31m"'),
  ),
  listFault(
    'duplicate-keys',
    'A field comes twice in each record.',
    withMember('"lang":"it","lang":"ja"'),
  ),
  listFault(
    'prototype-keys',
    'Fields are called __proto__ and constructor.',
    withMember('"__proto__":{"username":"owned"},"constructor":"owned","toString":"owned"'),
  ),
  listFault(
    'deep-json',
    'A field is nested 100,000 levels deep.',
    withMember(`"tree":${'['.repeat(100_000)}${']'.repeat(100_000)}`),
  ),
  listFault('deep-open', 'The body opens a million brackets and no more.', () =>
    '['.repeat(MILLION),
  ),
  listFault('big-integers', 'A number is beyond 2^53.', withMember('"serial":9007199254740993')),
  listFault('huge-float', 'A number is beyond all numbers.', withMember('"limit":1e999')),
  listFault('negative-zero', 'A number is minus zero.', withMember('"offset":-0')),
  listFault(
    'long-number',
    'A number has 100,000 digits.',
    withMember(`"n":${'7'.repeat(100_000)}`),
  ),
];

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
