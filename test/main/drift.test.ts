import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { serve } from '../device/server.ts';
import { ADMIN, makeDevsh, startFleet } from './devsh.ts';

/** Three devices with equal users, except that bob is missing on sim3 and differs on sim2. */
async function startDrifted() {
  const fleet = await startFleet({ devices: 3, users: 2 });
  for (const device of fleet.devices) device.putUser({ username: 'bob', lang: 'de' });
  fleet.device(2).putUser({ username: 'bob', lang: 'fr' });
  fleet.device(3).removeUser('bob');
  return fleet;
}

test('equal devices end with 0 and a message', async () => {
  const { devsh } = await startFleet({ devices: 2, users: 2 });
  const { stdout, stderr, exitCode } = await devsh('user list --drift --on @lab', {
    tty: [],
    env: { NO_COLOR: '1' },
  });
  expect(stdout).toBe('');
  expect(stderr).toContain('✓ no differences: 2 users on 2 devices');
  expect(exitCode).toBe(0);
});

test('differences end with 8, each named with its devices', async () => {
  const { devsh } = await startDrifted();
  const { stdout, stderr, exitCode } = await devsh('user list --drift --on @lab', {
    tty: [],
    env: { NO_COLOR: '1' },
  });
  expect(exitCode).toBe(8);
  expect(stdout).toMatchInlineSnapshot(`
    "USERNAME  ON      DIFFERENCE
    bob       2 of 3  missing on sim3
                      lang differs: de on sim1, fr on sim2
    "
  `);
  expect(stderr).toContain('3 users on 3 devices: 2 the same on all, 1 differs, 1 not on all');
  const piped = await devsh('user list --drift --on @lab');
  expect(piped.stdout).toMatchInlineSnapshot(`
    "USERNAME	ON	DIFFERENCE
    bob	2 of 3	missing on sim3; lang differs: de on sim1, fr on sim2
    "
  `);
});

test('--json has the shape of the README, csv the whole matrix', async () => {
  const { devsh } = await startDrifted();
  const { stdout, exitCode } = await devsh('user list --drift --on @lab --json');
  expect(exitCode).toBe(8);
  expect(JSON.parse(stdout)).toEqual({
    schema: 'devsh/1',
    drift: {
      resource: 'user',
      key: 'username',
      devices: ['sim1', 'sim2', 'sim3'],
      same: 2,
      different: [
        {
          resource: 'user',
          key: 'bob',
          devices: [
            { device: 'sim1', state: 'differs', fields: ['lang'] },
            { device: 'sim2', state: 'differs', fields: ['lang'] },
            { device: 'sim3', state: 'missing' },
          ],
          fields: [
            {
              field: 'lang',
              values: [
                { value: 'de', devices: ['sim1'] },
                { value: 'fr', devices: ['sim2'] },
              ],
            },
          ],
        },
      ],
    },
  });
  const lines = await devsh('user list --drift --on @lab --format jsonl');
  expect(JSON.parse(lines.stdout)).toMatchObject({ key: 'bob', resource: 'user' });
  const csv = await devsh('user list --drift --on @lab --format csv');
  expect(csv.stdout).toMatchInlineSnapshot(`
    "username,sim1,sim2,sim3
    bob,differs: lang,differs: lang,missing
    admin,same,same,same
    viewer,same,same,same
    "
  `);
});

test('a filter chooses records, which are compared on all devices', async () => {
  const { devsh } = await startDrifted();
  const { stdout, exitCode } = await devsh('user list lang=fr --drift --on @lab');
  expect(stdout).toContain('bob\t2 of 3\tmissing on sim3; lang differs: de on sim1, fr on sim2');
  expect(exitCode).toBe(8);
  expect((await devsh('user list admin --drift --on @lab')).exitCode).toBe(0);
});

test('with --columns only those fields are compared', async () => {
  const { devsh } = await startDrifted();
  const line = 'user list --drift --on sim1,sim2 --columns';
  expect((await devsh(`${line} lastname`)).exitCode).toBe(0);
  expect((await devsh(`${line} lang`)).exitCode).toBe(8);
});

test('a device that does not answer makes the comparison a part of one', async () => {
  const { devsh, device } = await startDrifted();
  device(1).setFault('refuse');
  const { stdout, stderr, exitCode } = await devsh('user list --drift --on @lab');
  expect(exitCode).toBe(3);
  expect(stdout).toContain('bob\t1 of 2 read\tmissing on sim3');
  expect(stderr).toContain('sim1');
  device(2).setFault('refuse');
  const alone = await devsh('user list --drift --on @lab');
  expect(alone.stderr).toContain('only sim3 responded: there is nothing to compare it with');
  expect(alone.exitCode).toBe(5);
});

test('one device cannot be compared', async () => {
  const { devsh } = await startDrifted();
  const { stderr, exitCode } = await devsh('user list --drift --on sim1');
  expect(stderr).toContain('--drift compares devices with each other: name two or more');
  expect(exitCode).toBe(2);
});

test('tokens, masked passwords, ids and times of each device are no drift, and no obstacle to folding', async () => {
  const { devsh, devices } = await startFleet({ devices: 4, users: 3 });
  for (const device of devices) device.setFault('own-facts');
  const compared = await devsh('user list --drift --on @lab', { tty: [], env: { NO_COLOR: '1' } });
  expect([compared.stdout, compared.exitCode]).toEqual(['', 0]);
  expect(compared.stderr).toContain('✓ no differences: 3 users on 4 devices');
  const folded = await devsh('user list --fold --columns username --on @lab');
  const rows = folded.stdout.trimEnd().split('\n').slice(1);
  expect(rows).toHaveLength(3);
  for (const row of rows) expect(row).toMatch(/^sim1,sim2,sim3,sim4\t/);
  // Nor is it said that they are the same.
  const asked = await devsh('user list --drift --columns api_token,lang --on @lab');
  expect(asked.stderr).toContain('not compared, because each device has its own: api_token');
});

test('a word of --drift is no guess on the command line and in scripts: other records do not make it 8', async () => {
  const { devsh, devices } = await startDrifted();
  for (const [index, device] of devices.entries()) {
    // The letters b, o, b in this order.
    device.putUser({ username: 'broadbent', lang: ['de', 'fr', 'en'][index] ?? '' });
    device.removeUser('bob');
  }
  const words = 'user list bob --drift --on @lab';
  expect(await devsh(words)).toMatchObject({ exitCode: 0 });
  const script = await devsh('run - --on @lab', { stdin: 'user list bob --drift\n' });
  expect(script.exitCode).toBe(0);
  expect(script.stdout).not.toContain('broadbent');
  expect((await devsh('user list bob --on @lab')).stdout).not.toContain('broadbent');
  const prompt = await devsh('--plain', {
    env: ADMIN,
    tty: ['connect sim1', 'user list bob', 'quit'],
  });
  expect(prompt.stdout).toContain('broadbent');
});

/** A device whose groups have ids of its own, and its users the ids of their groups. */
function startWithGroups(ids: ReadonlyMap<string, number>, groups: Record<string, string[]>) {
  const idOf = (name: string): number => ids.get(name) ?? 0;
  const users = Object.entries(groups).map(([username, names], index) => ({
    ...{ id: idOf(username) + index, username, groups: names.map(idOf) },
    main: idOf(names[0] ?? ''),
  }));
  const lists: Record<string, unknown> = {
    '/api/user': users,
    '/api/group': [...ids].map(([name, id]) => ({ id, name })),
  };
  return serve(({ url = '' }, response) => {
    const list = lists[url.split('?')[0] ?? ''];
    response.writeHead(list === undefined ? 404 : 200).end(JSON.stringify(list ?? {}));
  });
}

test('references are compared by the key of what they name, whatever its id is', async () => {
  const name = fc.stringMatching(/^[a-z]{2,8}$/);
  const names = fc.uniqueArray(name, { minLength: 3, maxLength: 5 });
  const number = fc.uniqueArray(fc.integer({ min: 1, max: 99_999 }), {
    minLength: 5,
    maxLength: 5,
  });
  await fc.assert(
    fc.asyncProperty(names, number, number, async (groups, one, other) => {
      const idsFrom = (numbers: readonly number[]) =>
        new Map(groups.map((group, index) => [group, numbers[index] ?? 0]));
      const [first = '', second = '', third = ''] = groups;
      const members = { ann: [first, second], bob: [third] };
      const same = await startWithGroups(idsFrom(one), members);
      const likewise = await startWithGroups(idsFrom(other), members);
      const changed = await startWithGroups(idsFrom(other), { ...members, bob: [second] });
      const devsh = await makeDevsh(ADMIN);
      const fields = 'fields: {groups: {refers: group}, main: {refers: group}}';
      const stdin = `extends: generic-rest\nresources: {user: {key_field: username, ${fields}}}\n`;
      for (const [index, { port }] of [same, likewise, changed].entries()) {
        await devsh(['device', 'add', `d${index}`, `127.0.0.1:${port}`, '--insecure']);
        await writeFile(join(devsh.folder, 'refers.yaml'), stdin);
        await devsh(`profile use d${index} ${join(devsh.folder, 'refers.yaml')}`);
      }
      expect((await devsh('user list --drift --on d0,d1')).exitCode).toBe(0);
      const { stdout, exitCode } = await devsh('user list --drift --on d0,d2');
      expect(stdout).toContain(`groups differs: ${third} on d0, ${second} on d2`);
      expect(stdout).toContain(`main differs: ${third} on d0, ${second} on d2`);
      expect(exitCode).toBe(8);
      // An id that no group has is the same as nothing, also where it is the same number.
      const lost = await startWithGroups(new Map([[second, 1]]), { bob: [third] });
      const also = await startWithGroups(new Map([[first, 2]]), { bob: [third] });
      for (const [index, { port }] of [lost, also].entries()) {
        await devsh(['device', 'add', `e${index}`, `127.0.0.1:${port}`, '--insecure']);
        await devsh(`profile use e${index} ${join(devsh.folder, 'refers.yaml')}`);
      }
      const unknown = await devsh('user list --drift --on e0,e1');
      expect(unknown.stdout).toMatch(/groups differs: "id 0 of e0" on e0, "id 0 of e1"/);
      expect(unknown.exitCode).toBe(8);
      // What cannot be read is no difference, and no proof that there is none.
      const silent = await startWithGroups(new Map(), { ann: [], bob: [] });
      await devsh(['device', 'add', 'd3', `127.0.0.1:${silent.port}`, '--insecure']);
      const stated = 'resources.user.fields.groups={refers: nothing}';
      await devsh(['profile', 'set', 'd3', 'extends=generic-rest', stated]);
      const unread = await devsh('user list --drift --on d3,d0');
      expect(unread.stderr).toMatch(/GET \/api\/nothing/);
      expect(unread.exitCode).not.toBe(0);
    }),
    { numRuns: 3 },
  );
}, 60_000);

test.each([19, 20, 21, 25])(
  'a record is missing on a device only if its list of %i shows all that there is',
  async (users) => {
    const { devsh, device } = await startFleet({ devices: 2, users });
    device(1).putUser({ username: 'zed' });
    const isCut = users === 20 || users === 25;
    const line = 'user list zed --drift --on @lab';
    const { stdout, stderr, exitCode } = await devsh(line);
    expect(stdout).toContain(isCut ? 'not listed on sim2' : 'missing on sim2');
    expect(stderr).toContain(isCut ? '1 not listed on all' : '1 not on all');
    expect(exitCode).toBe(isCut ? 3 : 8);
    const { drift } = JSON.parse((await devsh(`${line} --json`)).stdout) as {
      drift: { different: { devices: { state: string }[] }[] };
    };
    const states = drift.different.flatMap(({ devices }) => devices.map(({ state }) => state));
    expect(states).toEqual(isCut ? ['same', 'not listed'] : ['only', 'missing']);
  },
);
