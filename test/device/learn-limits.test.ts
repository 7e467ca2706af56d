import { expect, test } from 'vitest';
import { DeviceFacts } from '../../src/device/facts.ts';
import { learn } from '../../src/device/learn.ts';
import { deviceAt, serve } from './server.ts';

test('a negative limit is ignored, because it would reject every value', async () => {
  const field = { type: 'string', required: true };
  const POST = { username: { ...field, max_length: -1 }, lang: { ...field, max_length: 2 } };
  const server = await serve((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', allow: 'GET, POST' });
    response.end(request.method === 'OPTIONS' ? JSON.stringify({ actions: { POST } }) : '[]');
  });
  const facts = new DeviceFacts();
  await learn({ device: deviceAt(server), facts, resource: 'user' }, []);
  const details = JSON.stringify(facts.profile.resources);
  expect(details).toContain('"maxLength":2');
  expect(details).not.toContain('"maxLength":-1');
});
