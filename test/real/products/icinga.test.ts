import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { basic, type RunningProduct } from '../product.ts';
import { describeVerbs } from '../verbs.ts';

interface IcingaObject {
  readonly attrs: Readonly<Record<string, unknown>>;
}

const users = async (product: RunningProduct) => {
  const { results } = (await product.ask('GET', '/v1/objects/apiusers')) as {
    readonly results: readonly IcingaObject[];
  };
  return results.map(({ attrs, ...envelope }) => ({ ...envelope, ...attrs }));
};

/** A user has nothing but a name. */
const WHOSE = (name: string) => ({
  reason: new RegExp(`nothing known shows whose user ${name} is; --also box=${name} takes it`),
  option: `--also box=${name}`,
});

describeVerbs(
  {
    name: 'Icinga 2',
    profile: '../../profiles/icinga.yaml',
    program: '/usr/sbin/icinga2',
    login: { user: 'root', password: 'root-secret' },
    headers: basic('root', 'root-secret'),
    async setUp({ folder, ports: [https] }) {
      const certificates = join(folder, 'data/certs');
      await mkdir(certificates, { recursive: true });
      for (const [from, to] of [
        ['key.pem', 'localhost.key'],
        ['cert.pem', 'localhost.crt'],
        ['cert.pem', 'ca.crt'],
      ] as const) {
        await copyFile(join(folder, from), join(certificates, to));
      }
      const conf = [
        'const NodeName = "localhost"',
        'const ZoneName = "localhost"',
        'object Endpoint "localhost" {}',
        'object Zone "localhost" { endpoints = ["localhost"] }',
        `object ApiListener "api" { bind_host = "127.0.0.1"; bind_port = ${https} }`,
        'object ApiUser "root" { password = "root-secret"; permissions = ["*"] }',
      ];
      await writeFile(join(folder, 'icinga2.conf'), conf.join('\n'));
      const place = (name: string, inside: string): string => `-D${name}=${join(folder, inside)}`;
      const own = [
        place('DataDir', 'data'),
        place('CacheDir', 'cache'),
        place('LogDir', 'log'),
        place('SpoolDir', 'spool'),
        place('InitRunDir', 'run'),
      ];
      for (const inside of ['cache', 'log', 'spool', 'run', 'data/api']) {
        await mkdir(join(folder, inside), { recursive: true });
      }
      const user = process.getuid?.() === 0 ? 'root' : (process.env['USER'] ?? '');
      const as = [`-DRunAsUser=${user}`, `-DRunAsGroup=${user}`];
      const path = join(folder, 'icinga2.conf');
      return { argv: ['/usr/sbin/icinga2', 'daemon', '-c', path, ...own, ...as] };
    },
  },
  [
    {
      resource: 'user',
      keyField: 'name',
      held: users,
      added: (key) => ({
        words: `name=${key} password=zoe-secret permissions=objects/query/*`,
        fields: { permissions: ['objects/query/*'] },
      }),
      set: {
        key: 'ann',
        words: 'client_cn=ann.example',
        fields: { client_cn: 'ann.example' },
        back: ({ ask }) => ask('POST', '/v1/objects/apiusers/ann', { attrs: { client_cn: '' } }),
      },
      deleted: ['bob', 'cyd', 'dan'],
      again: 'differs',
      // Every change writes them.
      moving: ['version', 'original_attributes'],
      needs: {
        'undo of add': WHOSE('new-2'),
        'undo of set': WHOSE('ann'),
        restore: { option: '--also box=ann' },
        // The refusal shows that Icinga sets "active": what devsh then adds is not disabled.
        'undo of delete': { reason: /only the device sets active/, option: '--allow loss' },
        'restore of a deleted record': {
          reason: /empty or default password/,
          option: '--allow loss',
        },
      },
    },
  ],
  {
    prepare: async ({ ask }) => {
      for (const name of ['ann', 'bob', 'cyd', 'dan', 'eve']) {
        const attrs = { password: 'secret-1', permissions: ['objects/query/*'] };
        await ask('PUT', `/v1/objects/apiusers/${name}`, { attrs });
      }
    },
    more(running) {
      test('lockout knows that Icinga alone sets "active", and sends nothing', async () => {
        const before = await users(running());
        const { stdout, stderr, exitCode } = await running().devsh('lockout eve --yes');
        expect(stdout + stderr).toContain('devsh knows no field that disables the account');
        expect(exitCode).not.toBe(0);
        expect(await users(running())).toEqual(before);
      });
    },
  },
);
