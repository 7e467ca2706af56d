import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeList } from '../../src/device/decode.ts';
import { ProtocolError, RejectedError } from '../../src/device/errors.ts';
import { readPages } from '../../src/device/pages.ts';
import type { ListFacts } from '../../src/device/profile.ts';
import { type DeviceRecord, valueText } from '../../src/device/record.ts';

const PATH = '/api/user/';
const device = { name: 'fw1', address: '10.0.0.1' };

const users = (count: number): DeviceRecord[] =>
  Array.from({ length: count }, (_, index) => ({ uuid: `u${index}`, username: `user${index}` }));

interface Query {
  readonly number: (name: string) => number | undefined;
  readonly path: string;
}

/** Reads a list from a function that answers as a device would, and notes what it was asked. */
async function read(
  answer: (query: Query) => unknown,
  facts?: Partial<ListFacts>,
): Promise<{ names: string[]; paging: unknown; asked: string[] }> {
  const asked: string[] = [];
  const { records, paging } = await readPages(
    PATH,
    device,
    (path) => {
      asked.push(path);
      const { searchParams } = new URL(path, 'https://fw1');
      const number = (name: string): number | undefined =>
        searchParams.has(name) ? Number(searchParams.get(name)) : undefined;
      return Promise.resolve(decodeList(JSON.stringify(answer({ number, path })), 'user'));
    },
    {
      facts: { path: PATH, paging: 'auto', ...facts },
      idOf: ({ uuid }) => (uuid === undefined ? undefined : valueText(uuid)),
    },
  );
  return { names: records.map(({ username }) => valueText(username)), paging, asked };
}

const notFound = (): never => {
  throw new RejectedError(device, 'there is no such page', { status: 404 });
};

describe('without a link to the next page, pages are asked for', () => {
  test('by `current` and `rowCount`', async () => {
    const all = users(25);
    const { names, asked } = await read(({ number }) => {
      const current = number('current') ?? 1;
      const rows = all.slice((current - 1) * 10, current * 10);
      return { rows, rowCount: rows.length, total: 25, current };
    });
    expect(names).toEqual(all.map(({ username }) => username));
    expect(asked).toEqual([PATH, `${PATH}?current=2&rowCount=10`, `${PATH}?current=3&rowCount=10`]);
  });

  test('by `page`, with the size that the answer names', async () => {
    const all = users(5);
    const { names, asked } = await read(({ number }) => {
      const page = number('page') ?? 1;
      const data = all.slice((page - 1) * 2, page * 2);
      return { data, meta: { page, per_page: 2, total: 5 } };
    });
    expect(names).toHaveLength(5);
    expect(asked).toEqual([PATH, `${PATH}?page=2&per_page=2`, `${PATH}?page=3&per_page=2`]);
  });

  test('by offset, even if the response has only a total', async () => {
    const all = users(5);
    const { names, asked, paging } = await read(({ number }) => {
      const offset = number('offset') ?? 0;
      return { total: 5, records: all.slice(offset, offset + (number('limit') ?? 2)) };
    });
    expect(names).toHaveLength(5);
    expect(asked).toEqual([PATH, `${PATH}?offset=2&limit=2`, `${PATH}?offset=4&limit=2`]);
    expect(paging).toEqual({ kind: 'offset', parameter: 'offset', size: 'limit' });
  });

  test('by the next way when one brings nothing new', async () => {
    const all = users(4);
    const { names, asked } = await read(({ number }) => {
      const page = number('page') ?? 1;
      return { total: 4, data: all.slice((page - 1) * 2, page * 2) };
    });
    expect(names).toHaveLength(4);
    expect(asked.at(-1)).toBe(`${PATH}?page=2`);
  });

  test('as the profile says, up to a page that is empty, full again, or not there', async () => {
    const all = users(5);
    for (const end of ['empty', 'again', 'missing']) {
      const { names, asked } = await read(
        ({ number }) => {
          const page = number('p') ?? 0;
          const records = all.slice((page - 1) * 2, page * 2);
          if (page === 0 || (records.length === 0 && end === 'again')) return all.slice(0, 2);
          return records.length === 0 && end === 'missing' ? notFound() : records;
        },
        { paging: 'page p' },
      );
      expect(names).toHaveLength(5);
      expect([...new Set(asked)]).toEqual([PATH, `${PATH}?p=2`, `${PATH}?p=3`, `${PATH}?p=4`]);
    }
  });
});

test('a record that is deleted between two pages hides no other one', async () => {
  const cases = fc.record({
    count: fc.integer({ min: 3, max: 9 }),
    gone: fc.nat({ max: 8 }),
    at: fc.integer({ min: 1, max: 12 }),
    isEach: fc.boolean(),
    hasLinks: fc.boolean(),
  });
  const property = fc.asyncProperty(cases, async ({ count, gone, at, isEach, hasLinks }) => {
    const all = users(isEach ? count * 5 : count);
    let answers = 0;
    const reading = read(
      ({ number }) => {
        answers += 1;
        const page = number('p') ?? 1;
        const data = all.slice((page - 1) * 2, page * 2);
        const next = page * 2 < all.length ? `${PATH}?p=${page + 1}` : null;
        if (isEach ? answers % at === 0 : answers === at) all.splice(gone, 1);
        return hasLinks ? { next, data } : data;
      },
      hasLinks ? {} : { paging: 'page p' },
    );
    const end = await reading.catch((error: unknown) => error as Error);
    if (end instanceof Error) {
      expect([isEach, end.message]).toEqual([true, expect.stringContaining('changed while')]);
      return;
    }
    const { names } = end;
    const left = all.map(({ username }) => valueText(username));
    expect(left.filter((name) => !names.includes(name))).toEqual([]);
  });
  await fc.assert(property);
});

test('a list with fewer records than its count is an error', async () => {
  const reading = read(() => ({ total: 9, data: users(2) }));
  await expect(reading).rejects.toThrow(
    '/api/user/ reports 9 records, but returns only 2 and no next page',
  );
});

test('with paging `none` the first response is the list', async () => {
  const { names, asked } = await read(() => ({ total: 9, data: users(2) }), { paging: 'none' });
  expect(names).toHaveLength(2);
  expect(asked).toEqual([PATH]);
});

test('a list that becomes shorter meanwhile is read again, and nothing is left out', async () => {
  for (const isLinked of [true, false]) {
    let all = users(6);
    let isFirst = true;
    const { names } = await read(({ number }) => {
      const page = number('page') ?? 1;
      if (page === 2 && isFirst) {
        isFirst = false;
        all = all.slice(1);
      }
      const results = all.slice((page - 1) * 2, page * 2);
      if (results.length === 0) return notFound();
      const next = page * 2 < all.length ? `${PATH}?page=${page + 1}` : null;
      return { count: all.length, page, results, ...(isLinked && { next }) };
    });
    expect(names).toEqual(['user1', 'user2', 'user3', 'user4', 'user5']);
  }
});

test('a list that grows at its end is read to the end, and one that grows in front is read again', async () => {
  for (const isInFront of [true, false]) {
    let all = users(4);
    let isFirst = true;
    const { names } = await read(({ number }) => {
      const page = number('page') ?? 1;
      if (page === 2 && isFirst) {
        isFirst = false;
        const one = { uuid: 'new', username: 'new' };
        all = isInFront ? [one, ...all] : [...all, one];
      }
      const next = page * 2 < all.length ? `${PATH}?page=${page + 1}` : null;
      return { count: all.length, results: all.slice((page - 1) * 2, page * 2), next };
    });
    expect(names.toSorted()).toEqual(['new', 'user0', 'user1', 'user2', 'user3']);
  }
});

test('a list whose order changes between two pages is read again, and no record is left out', async () => {
  const all = users(4);
  let asked = 0;
  const page = ({ number }: Query, isTurned: boolean): unknown => {
    const start = number('offset') ?? 0;
    const results = (isTurned ? all.toReversed() : all).slice(start, start + 2);
    const next = start + 2 < all.length ? `${PATH}?offset=${start + 2}` : null;
    return { count: all.length, results, next };
  };
  const { names } = await read((query) => page(query, (asked += 1) === 1));
  expect(names).toEqual(['user0', 'user1', 'user2', 'user3']);
  const turning = read((query) => page(query, query.number('offset') === undefined));
  await expect(turning).rejects.toThrow('changed while its pages were read');
});

test('a list that never stops changing is an error', async () => {
  let total = 100;
  const reading = read(({ number }) => {
    total -= 1;
    const page = number('page') ?? 1;
    return { count: total, results: users(2), next: `${PATH}?page=${page + 1}` };
  });
  await expect(reading).rejects.toThrow(ProtocolError);
});

test('links in objects beside the records are followed', async () => {
  const all = users(3);
  const { names } = await read(({ number }) => {
    const start = number('start') ?? 0;
    const next = start === 0 ? { next: { href: `${PATH}?start=2` } } : {};
    return { records: all.slice(start, start + 2), num_records: 2, _links: next };
  });
  expect(names).toHaveLength(3);
});
