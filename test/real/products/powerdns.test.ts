import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Product, RunningProduct } from '../product.ts';
import { describeVerbs, type Subject } from '../verbs.ts';

const SERVER = '/api/v1/servers/localhost';
const SCHEMA = '/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql';
const MAKE_DATABASE =
  'import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(open(sys.argv[2]).read())';

const powerdns: Product = {
  name: 'PowerDNS',
  profile: './products/powerdns.yaml',
  program: '/usr/sbin/pdns_server',
  isPlain: true,
  login: { token: 'test-token' },
  headers: { 'x-api-key': 'test-token' },
  async setUp({ folder, ports: [, http, dns] }) {
    const database = join(folder, 'pdns.sqlite3');
    const conf = {
      launch: 'gsqlite3',
      'gsqlite3-database': database,
      'gsqlite3-dnssec': 'yes',
      'local-address': '127.0.0.1',
      'local-port': dns,
      'socket-dir': folder,
      setuid: '',
      setgid: '',
      api: 'yes',
      'api-key': 'test-token',
      webserver: 'yes',
      'webserver-address': '127.0.0.1',
      'webserver-port': http,
      // It would ask for news of itself.
      'security-poll-suffix': '',
    };
    const lines = Object.entries(conf).map(([name, value]) => `${name}=${value}`);
    await writeFile(join(folder, 'pdns.conf'), lines.join('\n'));
    const start =
      '/usr/bin/python3 -c "$1" "$2" "$3" && exec /usr/sbin/pdns_server --config-dir="$4"';
    return { argv: ['sh', '-c', start, 'sh', MAKE_DATABASE, database, SCHEMA, folder] };
  },
};

const listed =
  (resource: string) =>
  async ({ ask }: RunningProduct) =>
    (await ask('GET', `${SERVER}/${resource}`)) as readonly Readonly<Record<string, unknown>>[];

const held = (resource: string) => async (product: RunningProduct) => {
  const ids = (await listed(resource)(product)).map(({ id }) => String(id));
  const read = (id: string) => product.ask('GET', `${SERVER}/${resource}/${id}`);
  return (await Promise.all(ids.map(read))) as readonly Readonly<Record<string, unknown>>[];
};

const zones = ['a', 'b', 'c', 'd'].map((name) => ({
  name: `${name}.example.`,
  kind: 'Native',
  nameservers: ['ns1.example.org.'],
  rrsets: [
    {
      name: `www.${name}.example.`,
      type: 'A',
      ttl: 300,
      records: [{ content: '192.0.2.20', disabled: false }],
    },
  ],
}));

const zone: Subject = {
  resource: 'zone',
  keyField: 'name',
  newKey: (name) => `${name}.example.`,
  unlisted: [
    ...['api_rectify', 'nsec3narrow', 'nsec3param', 'rrsets', 'soa_edit', 'soa_edit_api'],
    ...['master_tsig_key_ids', 'slave_tsig_key_ids'],
  ],
  held: held('zones'),
  listed: listed('zones'),
  added: (key) => ({
    words: `name=${key} kind=Native account=ops nameservers:=["ns1.example.org."]`,
    fields: { kind: 'Native', account: 'ops' },
  }),
  set: {
    key: 'a.example.',
    words: 'account=ops kind=Master soa_edit=EPOCH',
    fields: { account: 'ops', kind: 'Master', soa_edit: 'EPOCH' },
    back: ({ ask }) =>
      ask('PUT', `${SERVER}/zones/a.example.`, { account: '', kind: 'Native', soa_edit: '' }),
  },
  deleted: ['b.example.', 'c.example.', 'd.example.'],
  again: 'differs',
  lost: ['serial', 'edited_serial'],
  alike: ({ rrsets, ...others }) => ({
    ...others,
    rrsets: JSON.stringify(rrsets).replace(/(hostmaster\.[a-z.]+ )\d+/, '$1SERIAL'),
  }),
};

/** The list has a secret, and no record says whose the API key is. */
const UNLISTED = { reason: /--allow unlisted-login/, option: '--allow unlisted-login' };

const tsigkey: Subject = {
  resource: 'tsigkey',
  keyField: 'name',
  verbs: ['list', 'show', 'add', 'undo of add', 'delete', 'undo of delete'],
  held: held('tsigkeys'),
  listed: listed('tsigkeys'),
  needs: { 'undo of add': UNLISTED, delete: UNLISTED },
  secret: ['key'],
  added: (key) => ({
    words: `name=${key} algorithm=hmac-sha256`,
    fields: { algorithm: 'hmac-sha256' },
  }),
  set: { key: 'transfer', words: '', fields: {}, back: () => Promise.resolve() },
  deleted: ['one', 'two', 'three'],
  again: 'differs',
  lost: ['key'],
};

describeVerbs(powerdns, [zone, tsigkey], {
  async prepare({ ask }) {
    for (const one of zones) await ask('POST', `${SERVER}/zones`, one);
    for (const name of ['transfer', 'one', 'two', 'three']) {
      await ask('POST', `${SERVER}/tsigkeys`, { name, algorithm: 'hmac-sha256' });
    }
  },
  more(running) {
    const key = async (): Promise<unknown> =>
      (await held('tsigkeys')(running())).find(({ name }) => name === 'transfer')?.['key'];

    test('a new TSIG secret is the one that PowerDNS holds, and is shown nowhere', async () => {
      const secret = Buffer.from('a secret of thirty-two characters').toString('base64');
      const run = await running().devsh(
        `tsigkey set transfer key=${secret} --on box --yes --allow unlisted-login`,
      );
      expect(run.stdout).toContain('✓ tsigkey transfer');
      expect(await key()).toBe(secret);
      expect(run.stdout + run.stderr).not.toContain(secret);
      const undone = await running().devsh('undo --on box --yes --allow unlisted-login');
      expect(undone.stdout).toContain('cannot be restored: key');
      expect(undone.exitCode).toBe(1);
      expect(await key()).toBe(secret);
    });

    test('a restore does not claim that what no list shows was absent', async () => {
      const { devsh } = running();
      await devsh('zone add name=e.example. kind=Native --on box --yes');
      await devsh('zone list --on box');
      const then = new Date().toISOString();
      await devsh('zone delete e.example. --on box --yes');
      const run = await devsh(`zone restore e.example. --at ${then} --on box --yes`);
      expect(run.stdout).toContain('zone e.example.  add differs');
      expect(run.stdout).not.toContain('was absent');
      expect(run.stderr).toMatch(/does not restore [^\n]*rrsets/);
    });

    test('PowerDNS adds a second key for another algorithm, and devsh says so', async () => {
      const run = await running().devsh(
        'tsigkey set three algorithm=hmac-sha512 --on box --yes --allow unlisted-login',
      );
      expect(run.stdout).toContain('the device added a second record');
      const keys = (await listed('tsigkeys')(running())).filter(({ name }) => name === 'three');
      expect(keys.map(({ algorithm }) => algorithm)).toEqual(['hmac-sha256', 'hmac-sha512']);
    });
  },
});
