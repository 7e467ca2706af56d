import { expect, test } from 'vitest';
import { decodeList } from '../../src/device/decode.ts';

const bob = { id: 7, username: 'bob' };

test.each<[envelope: string, body: Readonly<Record<string, unknown>>]>([
  ['items', { items: [bob], total: 1, page: 1, size: 50, pages: 1 }],
  ['value', { '@odata.context': '$metadata#user', '@odata.count': 1, value: [bob] }],
  ['Members', { '@odata.id': '/Accounts', Name: 'Accounts', Members: [bob] }],
  ['entries', { entries: [bob], totalItems: 1, has_more: false }],
  ['content', { content: [bob], totalElements: 1, totalPages: 1, number: 0, last: true }],
])('records are found in "%s"', (envelope, body) => {
  expect(decodeList(JSON.stringify(body), 'user')).toMatchObject({ records: [bob], envelope });
});

test('an empty list with a count is found under any name', () => {
  expect(decodeList('{"entries": [], "total": 0}', 'user').records).toEqual([]);
});
