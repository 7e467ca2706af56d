import { expect, test } from 'vitest';
import { serve } from '../device/server.ts';
import { ADMIN, makeDevsh } from './devsh.ts';

/** A device whose only user has a memo with one byte that is no UTF-8; it stores whole records. */
async function startDamaged() {
  const writes: string[] = [];
  const server = await serve((request, response) => {
    if (request.method === 'GET') {
      response.setHeader('Content-Type', 'application/json');
      const [start, end] = [
        '[{"id":1,"username":"bob","city":"Zürich","memo":"K',
        'ln","lang":"de"}]',
      ];
      response.end(Buffer.concat([Buffer.from(start), Buffer.from([0xf6]), Buffer.from(end)]));
      return;
    }
    if (request.method !== 'OPTIONS') writes.push(request.method ?? '');
    response.statusCode = 200;
    response.end('{}');
  });
  const devsh = await makeDevsh(ADMIN);
  const run = (line: string) => devsh(`${line} --insecure --on 127.0.0.1:${server.port}`);
  return { run, writes };
}

test('a body that is not UTF-8 is said to be none', async () => {
  const { run } = await startDamaged();
  for (const line of ['user list', 'user show bob', 'get /api/user/']) {
    const { stdout, stderr } = await run(line);
    expect([line, stderr]).toEqual([
      line,
      expect.stringContaining('GET /api/user/: the body is not UTF-8') as string,
    ]);
    expect(stdout).toContain('K\ufffdln');
  }
});

test('a whole record does not overwrite bytes that could not be read', async () => {
  const { run, writes } = await startDamaged();
  const set = await run('user set bob lang=en --yes --allow unlisted-login');
  expect(set.exitCode).toBe(6);
  expect(set.stdout + set.stderr).toContain('the bytes of memo, which are not UTF-8');
  expect(writes).toEqual([]);
  await run('user set bob lang=en memo=Koeln --yes --allow unlisted-login');
  expect(writes).toEqual(['POST']);
});
