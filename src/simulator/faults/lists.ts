import { sendBlocks } from '../transmit.ts';
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
