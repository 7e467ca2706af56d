import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { triesUntilRecords } from '../main/tries.ts';
import { basic, type Product, type RunningProduct } from './product.ts';
import { describeVerbs, type Subject } from './verbs.ts';

const drf = {
  program: '/usr/lib/python3/dist-packages/rest_framework/__init__.py',
  isPlain: true,
  headers: basic('admin', 'admin-secret'),
  setUp({ folder, ports: [, port] }) {
    const script = join(import.meta.dirname, 'drf/serve.py');
    return Promise.resolve({ argv: ['/usr/bin/python3', script, folder, String(port)] });
  },
} satisfies Partial<Product>;

const listed = (path: string) => async (product: RunningProduct) =>
  (await product.ask('GET', path)) as readonly Readonly<Record<string, unknown>>[];

const held = listed('/rest/user/');

/** Tells the device to change the user back, at the path that its uuid is in. */
async function setBack(product: RunningProduct, username: string, fields: object): Promise<void> {
  const user = (await held(product)).find((one) => one['username'] === username);
  await product.ask('PATCH', `/rest/user/${String(user?.['uuid'])}/`, fields);
}

/** The status with this login instead of the admin's. */
async function loginStatus(
  { ask }: RunningProduct,
  headers: Readonly<Record<string, string>>,
): Promise<string> {
  return ask('GET', '/rest/user/', undefined, headers).then(
    () => 'accepted',
    (error: unknown) => String(error).slice(-80),
  );
}

const user = {
  resource: 'user',
  keyField: 'username',
  held,
  added: (key) => ({
    words: `username=${key} first_name=Zoë lastname=a&b=c lang=fr`,
    fields: { first_name: 'Zoë', lastname: 'a&b=c', lang: 'fr', is_active: true },
  }),
  set: {
    key: 'cyd',
    words: 'notes:=null quota=5 expires=2030-01-01 address.city=Bonn',
    fields: {
      notes: null,
      quota: 5,
      expires: '2030-01-01',
      address: { city: 'Bonn', zip: '89073' },
    },
    back: (product) =>
      setBack(product, 'cyd', {
        notes: 'a&b=c\n"d"',
        quota: null,
        expires: null,
        address: { city: 'Ulm', zip: '89073' },
      }),
  },
  deleted: ['dan', 'ann', 'bob'],
  // devsh adds an account without its password disabled, and says so.
  again: 'differs',
  lost: ['uuid', 'date_joined', 'is_active'],
} satisfies Subject;

const PORT = {
  resource: 'port',
  keyField: 'name',
  held: listed('/rest/port/'),
  added: (key) => ({
    words: `name=${key} mtu=9000 owner=cyd`,
    fields: { mtu: 9000, owner: 'cyd', enabled: true, labels: null },
  }),
  set: {
    key: 'eth0',
    words: 'mtu=9000 owner=cyd enabled=false labels:=["a",null]',
    fields: { mtu: 9000, owner: 'cyd', enabled: false, labels: ['a', null] },
    back: (product) =>
      product.ask('PATCH', '/rest/port/1/', {
        mtu: 1500,
        owner: null,
        enabled: true,
        labels: null,
      }),
  },
  deleted: ['eth3', 'eth1', 'eth2'],
  lost: ['id'],
  moving: ['packets'],
} satisfies Subject;

describe.each([
  {
    name: 'DRF as the API document says',
    profile: 'documented',
    subjects: [user],
    access: 'not known to be ended',
  },
  {
    name: 'DRF with its own views',
    profile: './drf/django.yaml',
    subjects: [user, PORT],
    access: '1 of 1 ended',
  },
])('', ({ name, profile, subjects, access }) => {
  const login = { user: 'admin', password: 'admin-secret' };
  describeVerbs({ ...drf, name, profile, login }, subjects, {
    more(running) {
      const eve = async (): Promise<unknown> =>
        (await held(running())).find((one) => one['username'] === 'eve');
      const say = (line: string) => running().devsh(`${line} --on box --yes`);

      test('a new password is the one that the device accepts', async () => {
        const before = await eve();
        const run = await say('user set eve password=N3w-secret');
        expect(run.stdout).toContain('✓ eve  ');
        expect(await loginStatus(running(), basic('eve', 'N3w-secret'))).toBe('accepted');
        expect(await loginStatus(running(), basic('eve', 'eve-secret'))).toContain('Invalid');
        expect(await eve()).toEqual(before);
      });

      test.each([
        ['user', '6 records in array, on one page'],
        ['group', '2 records in array, on one page'],
        ['port', '4 records in array, on one page'],
      ])(
        'one try shows where its list %s is, from its address alone',
        async (resource, records) => {
          const tried = await triesUntilRecords(running().address, resource);
          expect(tried).toEqual({ tries: 1, records });
        },
      );

      test('a token is a login', async () => {
        const { ask, devsh } = running();
        const tokens = (await ask('GET', '/rest/token/')) as { key: string; user: string }[];
        const token = tokens.find((one) => one.user === 'admin')?.key;
        const env = { DEVSH_USER: '', DEVSH_PASSWORD: '', DEVSH_TOKEN: token };
        const { stdout } = await devsh('user list --on box --columns username', { env });
        expect(stdout).toContain('eve');
      });

      test.each([
        ['user set eve lang=xx', 'lang: not one of de, en, fr'],
        ['user set eve email=nowhere', 'Enter a valid email address'],
        ['user add username=eve lang=fr', 'differs'],
        ['user set nobody lang=fr', 'nobody'],
        ['user set admin is_active=false', 'own-account'],
      ])('%s changes nothing, and says why', async (line, why) => {
        const before = await held(running());
        const run = await say(line);
        expect(run.stdout + run.stderr).toContain(why);
        expect(run.exitCode).not.toBe(0);
        expect(await held(running())).toEqual(before);
      });

      test('lockout keeps the account out, and its undo lets it in', async () => {
        const { devsh } = running();
        await running().ask('PATCH', `/rest/user/${uuidOf(await eve())}/`, { password: 'eve-2' });
        expect(await loginStatus(running(), basic('eve', 'eve-2'))).toBe('accepted');
        const { stdout } = await devsh('lockout eve --yes --json');
        expect(JSON.parse(stdout)).toMatchObject({ lockout: [{ verdict: 'disabled', access }] });
        expect(await eve()).toMatchObject({ is_active: false });
        expect(await loginStatus(running(), basic('eve', 'eve-2'))).toContain('Invalid');
        const tokens = JSON.stringify(await running().ask('GET', '/rest/token/'));
        expect(tokens.includes('"eve"')).toBe(access !== '1 of 1 ended');
        await say('undo');
        expect(await eve()).toMatchObject({ is_active: true });
        expect(await loginStatus(running(), basic('eve', 'eve-2'))).toBe('accepted');
      });

      if (access === '1 of 1 ended')
        test('lockout shows no token, and keeps none', async () => {
          const { ask, devsh } = running();
          const tokens = (await ask('GET', '/rest/token/')) as { key: string; user: string }[];
          const token = tokens.find(({ user: owner }) => owner === 'cyd')?.key;
          const said = await devsh('lockout cyd --yes');
          expect(said.stdout).toContain('✓ token ***');
          const lines = ['runs show --json', 'report', 'undo --dry-run --json', 'token list'];
          const shown = [said, ...(await Promise.all(lines.map((line) => devsh(line))))];
          // Earlier tests have ended those of others.
          const others = tokens.filter(({ user: owner }) => owner === 'dan' || owner === 'bob');
          for (const { user, key: other } of others) {
            const line = `token delete --where user=${user} --on box --dry-run --json`;
            const { stdout, stderr } = await devsh(line);
            expect(stdout, stderr).toContain('DELETE');
            expect(stdout + stderr).not.toContain(other);
          }
          const state = join(devsh.folder, 'state');
          const files = await readdir(state, { recursive: true, withFileTypes: true });
          const kept = files.filter((file) => file.isFile());
          const texts = kept.map((file) => readFile(join(file.parentPath, file.name), 'utf8'));
          expect(texts).not.toEqual([]);
          expect(JSON.stringify([shown, await Promise.all(texts)])).not.toContain(token);
        });
    },
  });
});

function uuidOf(user: unknown): string {
  return String((user as { uuid?: unknown }).uuid);
}
