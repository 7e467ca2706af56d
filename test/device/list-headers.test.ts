import type { OutgoingHttpHeaders } from 'node:http';
import { expect, test } from 'vitest';
import { genericRestProfile } from '../../src/device/built-in-profiles.ts';
import { deviceAt, serve, type TestServer } from './server.ts';

const users = Array.from({ length: 25 }, (_, index) => ({ id: index, username: `user${index}` }));

/** A device that gives ten users at a time, and says in headers that there are more. */
function serveByTens(headers: (start: number) => OutgoingHttpHeaders): Promise<TestServer> {
  return serve((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'https://fw1');
    const number = (name: string): number => Number(searchParams.get(name) ?? 0);
    const start = searchParams.has('page') ? (number('page') - 1) * 10 : number('offset');
    response.writeHead(200, { 'content-type': 'application/json', ...headers(start) });
    response.end(JSON.stringify(users.slice(start, start + 10)));
  });
}

test.each<[what: string, headers: (start: number) => OutgoingHttpHeaders]>([
  [
    'the Link header, whatever host it names',
    (start) => ({
      link:
        '<http://inside.example/api/user?page=1>; rel="first"' +
        (start < 20
          ? `, <http://inside.example/api/user?page=${start / 10 + 2}>; title="a, b"; rel="next"`
          : ''),
    }),
  ],
  [
    'several Link headers with relative addresses and bare words',
    (start) => ({
      link: ['<?page=3>; rel=last', ...(start < 20 ? [`<?page=${start / 10 + 2}>; rel=next`] : [])],
    }),
  ],
  [
    'Content-Range',
    (start) => ({ 'content-range': `${start}-${Math.min(start + 9, 24)}/${users.length}` }),
  ],
  ['X-Total-Count', () => ({ 'x-total-count': '25' })],
])('all pages are read if further ones are announced by %s', async (_, headers) => {
  const server = await serveByTens(headers);
  const { records } = await deviceAt(server, { profile: genericRestProfile }).list('user');
  expect(records).toEqual(users);
});

test('a range without a total is no count', async () => {
  const server = await serveByTens(() => ({ 'content-range': '0-9/*' }));
  const { records } = await deviceAt(server, { profile: genericRestProfile }).list('user');
  expect(records).toHaveLength(10);
});

test.each<[headers: OutgoingHttpHeaders, words: string]>([
  [{ 'content-range': '0-9/*' }, 'returned only a part (206)'],
  [{ 'content-range': 'bytes 0-28/900' }, 'returned only a part (206)'],
  [{ 'content-range': '0-9/25' }, 'reports 25 records'],
])('a part of a list (206, %j) is never taken for the whole list', async (headers, words) => {
  const server = await serve((_request, response) => {
    response.writeHead(206, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(users.slice(0, 10)));
  });
  await expect(deviceAt(server).list('user')).rejects.toThrow(words);
});
