import { expect, test } from 'vitest';
import type { FaultName } from '../simulator/faults.ts';
import { startSimulator } from '../simulator/simulator.ts';
import { serve } from '../device/server.ts';
import { ADMIN, makeDevsh, startFleet, trust, writesOf } from '../main/devsh.ts';

interface Said {
  readonly results?: readonly { readonly verdict: string }[];
}

/** Faults of responses to a write: lost, late, cut, forged, refused, redirected. */
const ANSWERS: readonly FaultName[] = [
  'store-and-drop',
  'reset',
  'silence',
  'half-close',
  'idle-close',
  '500',
  '500-after-storing',
  '400-after-storing',
  '503-once',
  'redirect-same',
  'redirect-login',
  'truncated-body',
  'no-length-cut',
  'garbage',
  'forged-answer',
  'store-late',
];

/** Faults that report a change that did not happen. */
const FALSE_REPORTS: readonly FaultName[] = [
  'accept-and-forget',
  'store-altered',
  'store-upper-case',
  'store-cut',
  'empty-200',
  '204',
  '202',
  'html-page',
  'ok-text',
  'json-null',
  'status-error',
  'success-false',
];

/** Adds a user to a device with a fault. */
async function addTo(
  name: FaultName,
): Promise<{ verdict: string; posts: number; isHeld: boolean }> {
  const ends: (() => Promise<void>)[] = [];
  try {
    const simulator = await startSimulator({ users: 5 });
    ends.push(() => simulator.close());
    const [device] = simulator.devices;
    if (device === undefined) throw new Error('no device');
    const devsh = await makeDevsh(ADMIN, (end) => ends.push(end));
    await trust(devsh, [device]);
    device.setFault(name, true, { method: 'POST' });
    const fields = 'username=zoe lang=de first_name=Zoe lastname=Zett';
    const line = `user add ${fields} --on ${device.address} --timeout 0.5 --yes --json`;
    const { stdout } = await devsh(line);
    const { results = [] } = JSON.parse(stdout) as Said;
    return {
      verdict: results[0]?.verdict ?? '',
      posts: writesOf(device).length,
      isHeld: device.users.some(
        ({ username, first_name: first, lastname, lang }) =>
          [username, first, lastname, lang].join() === 'zoe,Zoe,Zett,de',
      ),
    };
  } finally {
    for (const end of ends) await end();
  }
}

test('A write is sent once, whatever happens.', async () => {
  const sent = await Promise.all(
    ANSWERS.map(async (name): Promise<[string, number]> => [name, (await addTo(name)).posts]),
  );
  expect(sent).toEqual(ANSWERS.map((name) => [name, 1]));
});

test('Done means that the device was seen to hold it.', async () => {
  for (const outcomes of [FALSE_REPORTS, ANSWERS]) {
    const judged = await Promise.all(
      outcomes.map(async (name) => ({ name, ...(await addTo(name)) })),
    );
    for (const { name, verdict, isHeld } of judged) {
      expect([name, verdict]).not.toEqual([name, '']);
      if (verdict === 'done') expect([name, isHeld]).toEqual([name, true]);
      // Who refuses an add and stores it is taken at its word: nobody knows whose record it is.
      if (name === '400-after-storing') {
        expect([verdict, isHeld]).toEqual(['failed', true]);
      } else if (verdict === 'failed' || verdict === 'no effect') {
        expect([name, isHeld]).toEqual([name, false]);
      }
    }
    if (outcomes === FALSE_REPORTS)
      expect(judged.filter(({ verdict }) => verdict === 'done')).toEqual([]);
  }
  expect(await addTo('reset')).toMatchObject({ verdict: 'failed', isHeld: false });
});

test('A DELETE never goes to a collection.', async () => {
  const ids = ['', '.', '..', '/', '%2e%2e', '../user', '..%2f', '?', '#', null, 0, false, [], {}];
  const users = ids.map((uuid, index) => ({ uuid, username: `user${index}`, lang: 'de' }));
  const server = await serve(({ url }, response) => {
    response.end(JSON.stringify(url === '/api/user/7/' ? { uuid: '7' } : users));
  });
  const devsh = await makeDevsh(ADMIN);
  const address = `127.0.0.1:${server.port}`;
  await devsh(['trust', 'accept', address, '--fingerprint', server.certificate.fingerprint]);
  const words = 'own-account=admin,protected,unread';
  const on = ['--on', address, '--yes', `--allow=${words}`, '--timeout', '2'];
  for (const { username } of users) await devsh(['user', 'delete', username, ...on]);
  await devsh(['user', 'delete', '--where', 'lang=de', ...on]);
  await devsh(['apply', '-', ...on], { stdin: '- delete: user\n  where: lang=de\n' });
  const paths = [
    '',
    '/',
    '//',
    '?id=',
    '/?x',
    '/.',
    '/..',
    '/../user/',
    '/%2e/',
    '/x/..',
    '/x/%2e%2e/',
  ];
  for (const path of paths) await devsh(['delete', `/api/user${path}`, ...on]);
  const deletes = server.requests.filter(({ method }) => method === 'DELETE');
  for (const { path } of deletes) {
    const { pathname } = new URL(path, 'https://device');
    expect(decodeURIComponent(pathname)).toMatch(/^\/api\/user\/[^/]*[^/.][^/]*\/?$/);
  }
  await devsh(['delete', '/api/user/7/', ...on]);
  const sent = server.requests.map(({ method, path }) => `${method} ${path}`);
  expect(sent).toContain('DELETE /api/user/7/');
});

test('Nothing is changed unless you ask for it.', async () => {
  const { devsh, devices, writes } = await startFleet({ devices: 2 });
  const before = devices.map(({ users }) => users);
  const changes = ['user add username=zoe', 'user set viewer lang=fr', 'user delete viewer'];
  const raw = ['post /api/user/ uuid=null username=zoe', 'delete /api/user/1/'];
  for (const line of [...changes, ...raw]) {
    const plain = await devsh(`${line} --on @lab`);
    expect([line, plain.exitCode]).toEqual([line, 6]);
    const readOnly = await devsh(`${line} --on @lab --yes --read-only`);
    expect([line, readOnly.exitCode]).toEqual([line, 6]);
    await devsh(`${line} --on @lab --dry-run`);
    const declined = await devsh(`${line} --on @lab`, { tty: ['n', 'n'] });
    expect([line, declined.exitCode]).toEqual([line, 6]);
  }
  // Not even on request, without --allow: a change that would lock the user out.
  for (const line of ['user delete admin', 'user set admin username=root']) {
    expect([line, (await devsh(`${line} --on @lab --yes`)).exitCode]).toEqual([line, 6]);
  }
  const typed = 'user list\nresources\nlearn\nget /api/user/\ndoctor\nuser list --drift\n';
  await devsh('connect @lab', { stdin: typed });
  const apply = await devsh('apply - --on @lab', { stdin: '- delete: user\n  key: viewer\n' });
  expect(apply.exitCode).toBe(6);
  expect(writes()).toEqual([]);
  expect(devices.map(({ users }) => users)).toEqual(before);
});
