import fc from 'fast-check';
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

const name = fc.stringMatching(/^[a-z]{3,9}$/);

test('the only list of objects is found at any depth, and one record with a list stays a record', () => {
  fc.assert(
    fc.property(fc.uniqueArray(name, { minLength: 1, maxLength: 5 }), fc.nat(9), (path, count) => {
      const users = [{ login: 'bob' }, { login: 'ann' }];
      const wrapped = path.reduceRight<unknown>(
        (inner, one) => ({ ok: true, count, [`x-${one}`]: inner }),
        users,
      );
      for (const resource of ['user', 'gadget'])
        expect(decodeList(JSON.stringify(wrapped), resource).records).toEqual(users);
      const record = { [`x-${path[0]}`]: { title: 'a text of its own', parts: users } };
      expect(decodeList(JSON.stringify(record), 'gadget').records).not.toEqual(users);
    }),
  );
});

test('several objects with the same fields are records by their ids, also if they have only lists', () => {
  const body = JSON.stringify({ eth0: { addresses: [{ ip: 'a' }] }, eth1: { addresses: [] } });
  for (const resource of ['interface', 'user'])
    expect(decodeList(body, resource).envelope).toBe('keyed by id');
});

test('a list with the name of the records is meant, also if it is empty and another one is not', () => {
  const body = JSON.stringify({ status: 'ok', nodes: { users: [], roles: [{ name: 'x' }] } });
  expect(decodeList(body, 'user')).toMatchObject({ records: [], envelope: 'nodes.users' });
});

test('a list beside other parts of an object is a part of it', () => {
  fc.assert(
    fc.property(fc.uniqueArray(name, { minLength: 2, maxLength: 4 }), (names) => {
      const [first = '', ...others] = names.map((one) => `x-${one}`);
      const parts = others.map((one) => [one, { level: 'a text' }] as const);
      const system = { [first]: { list: [{ name: 'eth0' }] }, ...Object.fromEntries(parts) };
      const { records } = decodeList(JSON.stringify(system), 'system');
      expect(records).not.toEqual([{ name: 'eth0' }]);
    }),
  );
});

test('of two lists inside, the one with the name of the records is meant, or none', () => {
  const [users, groups] = [[{ login: 'bob' }], [{ login: 'x' }]];
  const body = (name: string): string => JSON.stringify({ payload: { groups, [name]: users } });
  expect(decodeList(body('users'), 'user').records).toEqual(users);
  expect(() => decodeList(body('people'), 'user')).toThrow(
    'several lists: payload.groups, payload.people; ',
  );
});
