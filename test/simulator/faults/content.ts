import { send } from './transmit.ts';
import { sendBlocks } from './damage.ts';
import { atResponse, atList } from './fault.ts';

const ORIGIN = 'https://elsewhere.invalid';
const MILLION = 1_000_000;
const ONE_ID = '0badc0de-0000-4000-8000-000000000001';

/** Changes the records of a list. */
function altered<const Name extends string>(
  name: Name,
  summary: string,
  fieldsOf: (record: object, index: number) => object,
) {
  return atList(name, summary, (records) =>
    JSON.stringify(records.map((record, index) => ({ ...record, ...fieldsOf(record, index) }))),
  );
}

/** The list as one page in an envelope. */
function paged<const Name extends string>(
  name: Name,
  summary: string,
  facts: (target: string, length: number) => object,
) {
  return atList(name, summary, (records, _text, { target }) =>
    JSON.stringify({ ...facts(target, records.length), results: records }),
  );
}

function million<const Name extends string>(
  name: Name,
  summary: string,
  rowOf: (number: number) => string,
) {
  const row = atResponse(name, summary, (wire, response) => {
    sendBlocks(wire, response, rows(rowOf));
  });
  return { ...row, methods: ['GET'] };
}

function* rows(rowOf: (number: number) => string): Iterable<string> {
  yield '[';
  for (let from = 0; from < MILLION; from += 1000) {
    const some = Array.from({ length: 1000 }, (_, index) => rowOf(from + index));
    yield (from === 0 ? '' : ',') + some.join(',');
  }
  yield ']';
}

/** Lists with wrong or inconsistent records. */
export const RECORD_FAULTS = [
  altered('no-ids', 'The records have no id.', () => ({ uuid: undefined })),
  altered('same-ids', 'All records have one id.', () => ({ uuid: ONE_ID })),
  altered('traversing-ids', 'The id of every record leads to another path.', (_record, index) => ({
    uuid: `../../reboot?${index}#`,
  })),
  altered('object-ids', 'The id of every record is an object.', () => ({ uuid: { is: 'no id' } })),
  altered('changing-ids', 'The records have different ids in each response.', () => ({
    uuid: crypto.randomUUID(),
  })),
  altered('no-usernames', 'The records have no username.', () => ({ username: undefined })),
  atList('same-usernames', 'Every username appears twice.', (records) =>
    JSON.stringify(
      records.flatMap((record) => [record, { ...record, uuid: crypto.randomUUID(), lang: 'it' }]),
    ),
  ),
  altered('object-usernames', 'Usernames are objects.', () => ({ username: { name: 'ann' } })),
  atList('shuffled', 'The order of the list changes with each response.', (records) =>
    JSON.stringify([...records].sort(() => Math.random() - 0.5)),
  ),
  altered('changing-clock', 'Each record shows the time of day.', () => ({
    seen: new Date().toISOString(),
  })),
  altered(
    'own-facts',
    'Each record shows a token, a masked password and its last login, different on each device.',
    (record) => {
      const own = 'uuid' in record && typeof record.uuid === 'string' ? record.uuid : '';
      const number = Number.parseInt(own.slice(0, 4), 16) || 0;
      return {
        api_token: own.replaceAll('-', ''),
        password: '*'.repeat(6 + (number % 9)),
        last_login: number % 2 === 0 ? null : 1_700_000_000 + number,
      };
    },
  ),
  paged('page-loop', 'The next page is the same page.', (next) => ({ next })),
  paged('page-elsewhere', 'The next page is on another host.', () => ({ next: `${ORIGIN}/steal` })),
  paged('page-endless', 'There is always one more page.', (target) => {
    const page = Number(new URLSearchParams(target.split('?')[1] ?? '').get('page') ?? 1);
    return { next: `/api/user/?page=${page + 1}` };
  }),
  paged(
    'page-missing',
    'The stated count is ten more than the records in the list.',
    (_target, length) => ({ count: length + 10, next: null }),
  ),
  paged('page-count-text', 'The count of records is a text.', () => ({ count: 'many' })),
  million(
    'million-users',
    'The list has a million users, 75 MB.',
    (number) =>
      `{"uuid":"${number}","first_name":"A","lastname":"B","username":"u${number}","lang":"en"}`,
  ),
  million(
    'million-names',
    'The list has a million usernames, 24 MB.',
    (number) => `{"username":"u${number}"}`,
  ),
];

/** Adds literal JSON to each record that JSON.stringify would not write. */
function withMember<const Name extends string>(name: Name, summary: string, member: string) {
  return atList(name, summary, (records) => {
    const longer = records.map((record) => `${JSON.stringify(record).slice(0, -1)},${member}}`);
    return `[${longer.join(',')}]`;
  });
}

/** Lists that are unusual or invalid JSON. */
export const JSON_FAULTS = [
  atResponse('invalid-json', 'The body is JSON, cut in the middle.', (wire, response) => {
    // Half of an empty list would be valid.
    const half = response.body.slice(0, Math.ceil(response.body.length / 2)) || '{';
    send(wire, response.status === 204 ? response : { ...response, body: half });
  }),
  atList('null-list', 'The list is null.', () => 'null'),
  atList('scalars', 'The list holds numbers, not records.', () => '[1,2,3]'),
  atList('null-record', 'One of the records is null.', (records) =>
    JSON.stringify([...records, null]),
  ),
  atList('lone-object', 'The body is one object instead of a list.', (records) =>
    JSON.stringify(records[0] ?? {}),
  ),
  withMember('not-a-number', 'A field is NaN, which is not JSON.', '"load":NaN'),
  withMember(
    'raw-control',
    'A text contains control characters that JSON does not allow.',
    '"note":"a\u0000b\u001b[31m"',
  ),
  withMember('duplicate-keys', 'Each record contains a field twice.', '"lang":"it","lang":"ja"'),
  withMember(
    'prototype-keys',
    'Fields are named __proto__ and constructor.',
    '"__proto__":{"username":"owned"},"constructor":"owned","toString":"owned"',
  ),
  withMember(
    'deep-json',
    'A field is nested 100,000 levels deep.',
    `"tree":${'['.repeat(100_000)}${']'.repeat(100_000)}`,
  ),
  atList('deep-open', 'The body opens a million brackets and no more.', () => '['.repeat(MILLION)),
  withMember('big-integers', 'A number is beyond 2^53.', '"serial":9007199254740993'),
  withMember('huge-float', 'A number is beyond the range of numbers.', '"limit":1e999'),
  withMember('long-number', 'A number has 100,000 digits.', `"n":${'7'.repeat(100_000)}`),
];

const NEW_USER = {
  uuid: '0badc0de-0000-4000-8000-000000000001',
  first_name: 'Mallory',
  lastname: 'Hostile',
  username: 'mallory',
  lang: 'en',
};

/** Adds a record with hostile texts. */
function withUser<const Name extends string>(
  name: Name,
  summary: string,
  fields: Partial<typeof NEW_USER>,
) {
  return atList(name, summary, (records) =>
    JSON.stringify([...records, { ...NEW_USER, ...fields }]),
  );
}

/** Lists whose texts attack the terminal, the spreadsheet or the reader. */
export const TEXT_FAULTS = [
  withUser('text-escapes', 'A name contains escape sequences.', {
    first_name: '\u001b[2J\u001b[H\u001b[31mred',
    lastname: '\u009b5m',
  }),
  withUser('text-title', 'A name sets the title of the terminal and a link.', {
    lastname: '\u001b]0;owned\u0007\u001b]8;;https://elsewhere.invalid\u0007click',
  }),
  withUser('text-clipboard', 'A name writes into the clipboard of the terminal.', {
    first_name: '\u001b]52;c;cm0gLXJmIC8=\u0007',
  }),
  withUser('text-bidi', 'A username is written backwards.', { username: 'user\u202enimda\u2066' }),
  withUser('text-newlines', 'A name contains line ends, tabs and NUL.', {
    first_name: 'Mal\r\nlory\tx\u0000',
    lastname: 'a\u2028b\u2029c\u0085d',
  }),
  withUser('text-invisible', 'A username is "admin" with invisible characters.', {
    username: 'ad\u200bmin\u00ad\ufeff',
  }),
  withUser('text-look-alike', 'A username looks like "admin" and has a Cyrillic letter.', {
    username: '\u0430dmin',
  }),
  withUser('text-upper-case', 'There is "ADMIN" beside "admin".', { username: 'ADMIN' }),
  withUser('text-half-character', 'A name contains half a character.', {
    first_name: 'a\ud800b',
    lastname: '\udfff',
  }),
  withUser('text-combining', 'A letter has a thousand combining marks.', {
    first_name: `a${'\u0301'.repeat(1000)}`,
  }),
  withUser('text-formula', 'A name is a formula for a spreadsheet.', {
    first_name: '=cmd|"/c calc"!A1',
    lastname: '@SUM(1+1)',
  }),
  withUser('text-huge', 'A name is 10 MB long.', { lastname: 'x'.repeat(10_000_000) }),
  withUser('text-empty', 'A username is empty.', { username: '' }),
  withUser('text-null', 'A username is the word null.', { username: 'null' }),
  withMember(
    'text-field-names',
    'The names of fields are hostile.',
    '"\\u001b[31mred":"1","":"2","a\\nb":"3","\\u202eabc":"4"',
  ),
];
