import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rounds } from '../rounds.ts';
import type { DeviceRecord } from '../../src/device/record.ts';
import { serve } from '../device/server.ts';
import { ADMIN, makeDevsh } from './devsh.ts';

type Answer = readonly [status: number, body: string];

/** A device without known lists, and devsh that trusts it. */
async function start() {
  const answers = new Map<string, Answer>();
  const server = await serve(({ url = '', method }, response) => {
    const [status, body] = answers.get(url) ?? [404, ''];
    response.statusCode = method === 'GET' ? status : 204;
    response.end(method === 'GET' ? body : '');
  });
  const devsh = await makeDevsh(ADMIN);
  const address = `127.0.0.1:${server.port}`;
  await devsh(['trust', 'accept', address, '--fingerprint', server.certificate.fingerprint]);
  const remove = async (path: string, answer: Answer, ...words: string[]) => {
    answers.set(path, answer);
    const argv = ['delete', path, '--on', address, '--timeout', '2', '--yes', ...words];
    const before = server.requests.length;
    const run = await devsh(argv);
    const sent = server.requests
      .slice(before)
      .filter((one) => one.method === 'DELETE' && one.path === path);
    return { ...run, sent: sent.length };
  };
  return { remove };
}

const segment = fc.stringMatching(/^[a-z][a-z0-9_-]{1,10}$/);
const base = fc
  .tuple(fc.array(segment, { maxLength: 4 }), fc.constantFrom('/api/v9/', '/rest/', '/', '/x/'))
  .map(([parts, start]) => start + parts.map((part) => `${part}/`).join(''));

test('a DELETE goes only to a path that shows one record of its own name', async () => {
  const { remove } = await start();
  const one = (name: string): fc.Arbitrary<DeviceRecord> =>
    fc.record({
      ...{ id: fc.constant(name), lang: segment },
      tags: fc.array(segment, { maxLength: 2 }),
    });
  const wrap = fc.constantFrom(
    (record: unknown): unknown => record,
    (record: unknown): unknown => ({ data: record }),
  );
  const good = fc
    .tuple(base, segment, fc.constantFrom('', '/'), wrap)
    .chain(([above, name, end, put]) =>
      one(name).map((record) => [above + name + end, JSON.stringify(put(record))] as const),
    );
  await fc.assert(
    fc.asyncProperty(good, async ([path, body]) => {
      expect([path, body, await remove(path, [200, body])]).toMatchObject([
        path,
        body,
        { sent: 1 },
      ]);
    }),
    { numRuns: rounds(100, { least: 10 }) },
  );
  const bad = fc
    .tuple(base, segment, fc.constantFrom('', '/', '//', '?all=1'))
    .chain(([above, name, end]) =>
      fc
        .oneof(
          fc.array(one(name), { maxLength: 3 }).map((list) => [200, JSON.stringify(list)] as const),
          fc
            .array(one('x'), { maxLength: 3 })
            .chain((list) =>
              fc.constantFrom(
                [200, JSON.stringify({ results: list, count: list.length })] as const,
                [200, JSON.stringify({ [name]: list })] as const,
                [200, JSON.stringify({ id: name, items: [...list, { id: 'y' }] })] as const,
              ),
            ),
          fc
            .tuple(one(name), segment, fc.array(one('x'), { minLength: 1, maxLength: 3 }))
            .chain(([record, field, list]) =>
              fc.constantFrom<DeviceRecord>(
                { ...record, [field]: list },
                {
                  ...record,
                  ...Object.fromEntries(list.map((each, index) => [`${field}${index}`, each])),
                },
              ),
            )
            .map((record) => [200, JSON.stringify(record)] as const),
          one(`${name}x`).map((record) => [200, JSON.stringify(record)] as const),
          ...(end.startsWith('?')
            ? [one(name).map((record) => [200, JSON.stringify(record)] as const)]
            : []),
          fc.constantFrom<Answer>(
            [404, ''],
            [405, '{}'],
            [200, '<html><body>hello</body></html>'],
            [200, ''],
            [204, ''],
            [200, 'null'],
            [200, '{}'],
            [500, JSON.stringify({ id: name })],
          ),
        )
        .map((answer) => [above + name + end, answer] as const),
    );
  await fc.assert(
    fc.asyncProperty(bad, async ([path, answer]) => {
      const refused = await remove(path, answer);
      expect([path, answer, refused]).toMatchObject([path, answer, { sent: 0 }]);
      expect(refused.exitCode).toBe(6);
      expect(refused.stderr).toContain('--allow unread');
      const { sent } = await remove(path, answer, '--allow', 'unread');
      expect([path, sent]).toEqual([path, 1]);
    }),
    { numRuns: rounds(300, { least: 30 }) },
  );
});

test('the record that a path shows is guarded by all that it says', async () => {
  const { remove } = await start();
  for (const [record, word] of [
    [{ id: 7, login: 'admin' }, 'own-account=admin'],
    [{ id: 7, name: 'wheel', members: ['x', 'CORP\\admin'] }, 'own-account=admin'],
  ] as const) {
    const body = JSON.stringify(record);
    const refused = await remove('/api/v9/things/7', [200, body], '--allow', 'unread');
    expect(refused.stderr).toContain(`--allow ${word}`);
    expect(refused.sent).toBe(0);
  }
});
