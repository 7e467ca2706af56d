import { send } from '../transmit.ts';
import { answerFault, listFault, type ListFault } from './fault.ts';

const MILLION = 1_000_000;

/** Every record with more in it: JSON as it stands, which JSON.stringify would not write. */
export function withMember(member: string): ListFault['rewrite'] {
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
