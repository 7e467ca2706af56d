import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { basic, rotate, type RunningProduct } from '../product.ts';
import { describeVerbs } from '../verbs.ts';

const users = async ({ ask }: RunningProduct) =>
  (await ask('GET', '/api/users')) as readonly Readonly<Record<string, unknown>>[];

const vhosts = async ({ ask }: RunningProduct) =>
  (await ask('GET', '/api/vhosts')) as readonly Readonly<Record<string, unknown>>[];

const user = (tags: string) => ({ password: 'secret-1', tags });

/** A user has nothing but a name. */
const WHOSE = (name: string) => ({
  reason: new RegExp(`nothing known shows whose user ${name} is; --also box=${name} takes it`),
  option: `--also box=${name}`,
});

const PASSWORD = {
  reason: /password, because the real one is unknown; .*use --allow loss/,
  option: '--allow loss',
};

describeVerbs(
  {
    name: 'RabbitMQ',
    profile: '../../profiles/rabbitmq.yaml',
    // Not the one in /usr/sbin, which changes the user.
    program: '/usr/lib/rabbitmq/bin/rabbitmq-server',
    login: { user: 'guest', password: 'guest' },
    headers: basic('guest', 'guest'),
    async setUp({ folder, ports: [https, amqp, distribution, epmd] }) {
      const conf = [
        `listeners.tcp.1 = 127.0.0.1:${amqp}`,
        'management.ssl.ip = 127.0.0.1',
        `management.ssl.port = ${https}`,
        `management.ssl.certfile = ${folder}/cert.pem`,
        `management.ssl.keyfile = ${folder}/key.pem`,
      ];
      await writeFile(join(folder, 'rabbitmq.conf'), conf.join('\n'));
      await writeFile(join(folder, 'plugins'), '[rabbitmq_management].\n');
      return {
        argv: [],
        env: {
          RABBITMQ_NODENAME: `devsh${https}@localhost`,
          RABBITMQ_MNESIA_BASE: join(folder, 'mnesia'),
          RABBITMQ_LOG_BASE: join(folder, 'log'),
          RABBITMQ_CONFIG_FILE: join(folder, 'rabbitmq'),
          RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'plugins'),
          RABBITMQ_DIST_PORT: String(distribution),
          RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-kernel inet_dist_use_interface {127,0,0,1}',
          ERL_EPMD_ADDRESS: '127.0.0.1',
          ERL_EPMD_PORT: String(epmd),
        },
        end: ['epmd', '-kill'],
      };
    },
  },
  [
    {
      resource: 'user',
      keyField: 'name',
      held: users,
      added: (key) => ({
        words: `name=${key} password=N3w-secret tags=monitoring`,
        fields: { tags: ['monitoring'] },
      }),
      set: {
        key: 'ann',
        words: 'tags=management,policymaker',
        fields: { tags: ['management', 'policymaker'] },
        back: async (product) => {
          const ann = (await users(product)).find(({ name }) => name === 'ann');
          const hash = ann?.['password_hash'];
          const body = { password_hash: hash, tags: 'monitoring' };
          await product.ask('PUT', '/api/users/ann', body);
        },
      },
      deleted: ['bob', 'cyd', 'dan'],
      again: 'differs',
      lost: ['password_hash'],
      secret: ['password_hash'],
      needs: {
        'undo of add': WHOSE('new-2'),
        'undo of set': WHOSE('ann'),
        restore: { option: '--also box=ann' },
        'undo of delete': PASSWORD,
        'restore of a deleted record': PASSWORD,
      },
    },
    {
      resource: 'vhost',
      keyField: 'name',
      held: vhosts,
      added: (key) => ({ words: `name=${key} description=ops`, fields: { description: 'ops' } }),
      set: {
        key: 'va',
        words: 'description=lab',
        fields: { description: 'lab' },
        back: ({ ask }) => ask('PUT', '/api/vhosts/va', { description: 'first' }),
      },
      deleted: ['vb', 'vc', 'vd'],
      moving: ['cluster_state', 'metadata'],
    },
  ],
  {
    prepare: async ({ ask }) => {
      for (const name of ['va', 'vb', 'vc', 'vd']) {
        await ask('PUT', `/api/vhosts/${name}`, { description: 'first' });
        // Whoever adds a vhost may use it: a permission that an undo does not bring back.
        await ask('DELETE', `/api/permissions/${name}/guest`);
      }
      for (const name of ['ann', 'bob', 'cyd', 'dan', 'eve', 'gus']) {
        await ask('PUT', `/api/users/${name}`, user(name === 'ann' ? 'monitoring' : 'management'));
      }
      await ask('PUT', '/api/users/hal', user('administrator'));
      await ask('PUT', '/api/users/ida', user('management'));
    },
    more(running) {
      test('lockout cannot disable an account here, says so, and deletes it with --delete', async () => {
        const before = await users(running());
        const refused = await running().devsh('lockout gus --yes');
        expect(refused.stderr).toContain('devsh knows no field that disables the account');
        expect(await users(running())).toEqual(before);
        const { stdout } = await running().devsh('lockout gus --yes --delete --json');
        expect(JSON.parse(stdout)).toMatchObject({ lockout: [{ verdict: 'deleted' }] });
        expect(await users(running())).toEqual(before.filter(({ name }) => name !== 'gus'));
      });

      const isAccepted = (password: string, name = 'eve'): Promise<boolean> =>
        running()
          .ask('GET', '/api/whoami', undefined, basic(name, password))
          .then(
            () => true,
            () => false,
          );

      test.each([
        ['hal', '✓ hal  password', 0],
        // RabbitMQ answers 401 to a login without the right to read the users.
        ['ida', '? ida  set unknown', 3],
      ] as const)('rotate sets the password of %s, and says "%s"', async (name, says, exit) => {
        const { stdout, exitCode } = await rotate(running(), name, 'R0tated-secret');
        expect(stdout).toContain(says);
        expect(exitCode).toBe(exit);
        expect(await isAccepted('R0tated-secret', name)).toBe(true);
        expect(await isAccepted('secret-1', name)).toBe(false);
      });

      test('an undo says which queues of a virtual host do not come back', async () => {
        const { ask, devsh } = running();
        await ask('PUT', '/api/vhosts/full', {});
        await ask('PUT', '/api/queues/full/orders', { durable: true });
        const deleted = await devsh('vhost delete full --on box --yes');
        expect(deleted.stderr).toContain('also deletes 1 of queue (orders), which undo does not');
        const { stdout } = await devsh('undo --on box --yes');
        expect(stdout).toMatch(/vhost full {2}add differs - not restored: .*1 of queue \(orders\)/);
        expect(await ask('GET', '/api/queues')).toEqual([]);
      });

      test('a change of other fields keeps the password, and a new password is accepted', async () => {
        const { devsh } = running();
        expect(await isAccepted('secret-1')).toBe(true);
        await devsh('user set eve tags=monitoring --on box --yes');
        expect(await isAccepted('secret-1')).toBe(true);
        const run = await devsh('user set eve password=N3w-secret --on box --yes');
        expect(run.stdout).toContain('✓ eve  password');
        expect([await isAccepted('secret-1'), await isAccepted('N3w-secret')]).toEqual([
          false,
          true,
        ]);
      });
    },
  },
);
