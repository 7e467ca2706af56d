import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { triesUntilRecords } from '../main/tries.ts';
import type { Product, RunningProduct } from './product.ts';
import { describeVerbs, type Subject } from './verbs.ts';

const program = join(import.meta.dirname, '../../node_modules/json-server/lib/cli/bin.js');

const people = ['admin', 'ann', 'bob', 'cyd', 'dan', 'eve'].map((username, index) => ({
  id: index + 1,
  username,
  name: `${username} ’é "quoted"`,
  email: `${username}@example.net`,
  phone: index === 1 ? null : '1-770-736-8031 x56442',
  address: { city: 'Ulm', geo: { lat: -37.3159, lng: null } },
  roles: index === 2 ? [] : ['reader', null],
  lang: index === 3 ? '' : 'de',
  ...(index === 4 && { nickname: 'D' }),
}));

const jsonServer: Product = {
  name: 'json-server',
  program,
  profile: './json-server.yaml',
  isPlain: true,
  // It asks for none.
  login: { user: 'admin', password: 'admin-secret' },
  headers: {},
  async setUp({ folder, ports: [, port] }) {
    const file = join(folder, 'db.json');
    await writeFile(file, JSON.stringify({ user: people }));
    const options = ['--quiet', '--host', '127.0.0.1', '--port', String(port)];
    return { argv: [process.execPath, program, file, ...options] };
  },
};

const held = async ({ ask }: RunningProduct) =>
  (await ask('GET', '/user')) as readonly Readonly<Record<string, unknown>>[];

const PASSWORD = {
  reason: /password, because the real one is unknown; .*use --allow loss/,
  option: '--allow loss',
};

const user: Subject = {
  resource: 'user',
  keyField: 'username',
  held,
  added: (key) => ({
    words: `username=${key} lang=fr phone:=null roles:=[] address:={"city":"Bonn"}`,
    fields: { lang: 'fr', phone: null, roles: [], address: { city: 'Bonn' } },
  }),
  set: {
    key: 'cyd',
    words: 'lang=fr phone:=null roles:=[] address.city=Bonn',
    fields: {
      lang: 'fr',
      phone: null,
      roles: [],
      address: { city: 'Bonn', geo: { lat: -37.3159, lng: null } },
    },
    back: ({ ask }) => ask('PUT', '/user/4', people[3]),
  },
  deleted: ['ann', 'bob', 'dan'],
  // It has no passwords, which devsh cannot know.
  needs: { 'undo of delete': PASSWORD, 'restore of a deleted record': PASSWORD },
  lost: ['id'],
};

describeVerbs(jsonServer, [user], {
  more(running) {
    test('one try shows where its users are, from its address alone', async () => {
      const { tries, records } = await triesUntilRecords(running().address);
      expect(tries).toBe(1);
      expect(records).toMatch(/ in array, on one page$/);
    });

    test('lockout cannot disable an account here, says so, and deletes it with --delete', async () => {
      const { devsh } = running();
      const before = await held(running());
      const refused = await devsh('lockout eve --yes');
      expect(refused.stdout + refused.stderr).toContain('--delete');
      expect(refused.exitCode).not.toBe(0);
      expect(await held(running())).toEqual(before);
      const { stdout } = await devsh('lockout eve --yes --delete --json');
      expect(JSON.parse(stdout)).toMatchObject({ lockout: [{ verdict: 'deleted' }] });
      expect(await held(running())).toEqual(before.filter((one) => one['username'] !== 'eve'));
    });

    test.each([
      ['user set nobody lang=fr', 'nobody'],
      ['user add username=cyd lang=fr', 'differs'],
    ])('%s changes nothing, and says why', async (line, why) => {
      const before = await held(running());
      const run = await running().devsh(`${line} --on box --yes`);
      expect(run.stdout + run.stderr).toContain(why);
      expect(run.exitCode).not.toBe(0);
      expect(await held(running())).toEqual(before);
    });
  },
});
