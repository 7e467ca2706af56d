import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Product, skipReason, startProduct } from './product.ts';

const rabbitmq: Product = {
  profile: 'rabbitmq',
  // Not the one in /usr/sbin, which changes the user.
  program: '/usr/lib/rabbitmq/bin/rabbitmq-server',
  user: 'guest',
  password: 'guest',
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
};

const icinga: Product = {
  profile: 'icinga',
  program: '/usr/sbin/icinga2',
  user: 'root',
  password: 'root-secret',
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
    return { argv: ['daemon', '-c', join(folder, 'icinga2.conf'), ...own, ...as] };
  },
};

describe.each([
  {
    title: 'RabbitMQ',
    product: rabbitmq,
    add: 'tags=monitoring',
    set: 'tags=management',
    sends: ['PUT /api/users/example', 'PUT /api/users/guest', 'DELETE /api/users/guest'],
  },
  {
    title: 'Icinga',
    product: icinga,
    add: 'permissions=objects/query/*',
    set: 'client_cn=zoe.example',
    sends: [
      'PUT /v1/objects/apiusers/example',
      'POST /v1/objects/apiusers/root',
      'DELETE /v1/objects/apiusers/root',
    ],
  },
])('$title', ({ product, add, set, sends }) => {
  const reason = skipReason(product);

  test.skipIf(reason !== '')(
    `its profile reads, adds, changes and deletes a user${reason}`,
    { timeout: 180_000 },
    async () => {
      const devsh = await startProduct(product);
      const tried = await devsh('profile try box --json');
      const { requests, ...others } = JSON.parse(tried.stdout) as {
        requests: readonly { sends: string; note: string | null }[];
      };
      expect(requests.map((one) => one.sends.split(' ').slice(0, 2).join(' '))).toEqual(sends);
      expect(others).not.toHaveProperty('suggestions');

      const run = async (line: string): Promise<string> => (await devsh(`${line} --yes`)).stdout;
      expect(await run(`user add name=zoe password=zoe-secret ${add} --on box`)).toContain(
        'add user zoe: done',
      );
      expect(await run(`user set zoe ${set} --on box`)).toContain('set user zoe: done');
      expect(await run('user set zoe password=other-secret --on box')).toContain(
        'set user zoe: done',
      );
      expect(await run('user delete zoe --on box')).toContain('delete user zoe: done');
    },
  );
});
