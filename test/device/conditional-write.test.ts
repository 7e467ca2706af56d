import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { genericRestProfile } from '../../src/device/built-in-profiles.ts';
import { RejectedError } from '../../src/device/errors.ts';
import { deviceAt, serve } from './server.ts';

const path = '/api/user/7';
const write = { method: 'PATCH', path, json: { lang: 'de' } } as const;

function answer(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

test.each([
  ['the ETag header', { etag: '"v1"' }, { id: 7 }],
  ['the record itself', {}, { id: 7, '@odata.etag': '"v1"' }],
])(
  'a device that wants to know which state is meant is told it, from %s',
  async (_, headers, record) => {
    const server = await serve((request, response) => {
      if (request.method === 'GET') answer(response, 200, record, headers);
      else if (request.headers['if-match'] === '"v1"') answer(response, 200, record);
      else answer(response, 428, { message: 'If-Match is required' });
    });
    const written = await deviceAt(server, { profile: genericRestProfile }).write(write);
    expect(written.status).toBe(200);
    expect(server.requests.map(({ method, headers: sent }) => [method, sent['if-match']])).toEqual([
      ['PATCH', undefined],
      ['GET', undefined],
      ['PATCH', '"v1"'],
    ]);
  },
);

test('a record that has changed meanwhile is not overwritten', async () => {
  const server = await serve((request, response) => {
    if (request.method === 'GET') answer(response, 200, { id: 7 }, { etag: '"v1"' });
    else if (request.headers['if-match'] === undefined) answer(response, 428, {});
    else answer(response, 412, { message: 'it has changed' });
  });
  const device = deviceAt(server, { profile: genericRestProfile });
  await expect(device.write(write)).rejects.toThrow(/412.*changed/);
  expect(server.requests).toHaveLength(3);
});

test('without an entity tag nothing is sent again', async () => {
  const server = await serve((_, response) => {
    answer(response, 428, {});
  });
  const device = deviceAt(server, { profile: genericRestProfile });
  await expect(device.write(write)).rejects.toThrow(RejectedError);
  expect(server.requests.map(({ method }) => method)).toEqual(['PATCH', 'GET']);
});
