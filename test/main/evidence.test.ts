import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileNames } from '../../src/shell/records/export-records.ts';
import { serve } from '../device/server.ts';
import { ADMIN, know, makeDevsh, startFleet, trust } from './devsh.ts';
import { startProgram, waitUntil } from './process.ts';

interface Manifest {
  readonly schema: string;
  readonly by: string;
  readonly devices: readonly {
    readonly device: string;
    readonly address: string;
    readonly pin: string;
    readonly resources: readonly {
      readonly resource: string;
      readonly path?: string;
      readonly records?: number;
      readonly sha256?: string;
      readonly from: string;
      readonly to: string;
      readonly error?: { readonly code: string };
    }[];
  }[];
}

async function manifestIn(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as Manifest;
}

async function startEvidence(options: Parameters<typeof startFleet>[0] = {}) {
  const fleet = await startFleet({ devices: 2, ...options });
  return { ...fleet, folder: join(fleet.devsh.folder, 'evidence') };
}

test('every list is a file, with a manifest and sums that can be checked', async () => {
  const { devsh, devices, folder, device } = await startEvidence();
  const { exitCode, stdout, stderr } = await devsh(`export @all --evidence ${folder}`);
  expect([exitCode, stderr]).toEqual([0, '']);
  expect(stdout).toContain('sim1');

  const { schema, devices: found } = await manifestIn(folder);
  expect(schema).toBe('devsh-evidence/1');
  expect(found).toMatchObject(
    devices.map(({ name, address, fingerprint }) => ({
      ...{ device: name, address },
      pin: expect.stringContaining(fingerprint.slice(0, 8)) as string,
      resources: [{ resource: 'user', path: `${name}/user.json` }],
    })),
  );
  const sums = (await readFile(join(folder, 'SHA256SUMS'), 'utf8')).trimEnd().split('\n');
  expect(sums).toHaveLength(found.flatMap(({ resources }) => resources).length + 1);
  for (const line of sums) {
    const [sum = '', path = ''] = line.split('  ');
    const bytes = await readFile(join(folder, path));
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(sum);
  }
  const check = spawnSync('sha256sum', ['-c', 'SHA256SUMS'], { cwd: folder });
  if (check.error === undefined) expect(check.status).toBe(0);

  const text = await readFile(join(folder, 'sim1/user.json'), 'utf8');
  const { records, from, to } = JSON.parse(text) as Record<string, string> & { records: object[] };
  expect(records).toHaveLength(device(1).users.length);
  expect(Date.parse(to ?? '')).toBeGreaterThanOrEqual(Date.parse(from ?? ''));
  expect((await stat(join(folder, 'sim1/user.json'))).mode & 0o077).toBe(0);
  expect(device(1).log.filter(({ method }) => !['GET', 'OPTIONS'].includes(method))).toEqual([]);
});

test('a device that is away is named with the reason, and the exit code is 3', async () => {
  const { devsh, device, folder } = await startEvidence();
  device(2).setFault('refuse', true);
  const { exitCode, stderr } = await devsh(`export --on @lab --evidence ${folder}`);
  expect(exitCode).toBe(3);
  expect(stderr).toContain('sim2');
  const { devices } = await manifestIn(folder);
  expect(devices.map(({ resources }) => resources[0]?.error?.code)).toEqual([
    undefined,
    'unreachable',
  ]);
  expect(await readdir(folder)).toEqual(['SHA256SUMS', 'manifest.json', 'sim1']);
});

test('nothing of it is written over, and it fits no other kind of export', async () => {
  const { devsh, folder } = await startEvidence();
  await mkdir(folder);
  expect((await devsh(`export @all --evidence ${folder}`)).exitCode).toBe(0);
  const before = await readFile(join(folder, 'manifest.json'), 'utf8');
  const again = await devsh(`export @all --evidence ${folder}`);
  expect(again.exitCode).toBe(6);
  expect(again.stderr).toContain('is not empty');
  expect(await readFile(join(folder, 'manifest.json'), 'utf8')).toBe(before);

  const file = join(devsh.folder, 'file');
  await writeFile(file, '');
  expect((await devsh(`export @all --evidence ${file}`)).stderr).toContain(file);
  const both = await devsh(`export @all --evidence ${folder}2 -o x.csv`);
  expect(both.exitCode).toBe(2);
  expect((await devsh(`export user --evidence ${folder}3`)).exitCode).toBe(2);
});

test('a killed export has no manifest', async () => {
  const { devsh, device, folder } = await startEvidence();
  device(2).setFault('silence', true);
  const argv = ['export', '@all', '--evidence', folder];
  const program = startProgram(argv, devsh.folder, '', ADMIN);
  const hasFirst = (): boolean => device(2).log.length > 0;
  await waitUntil(hasFirst, program);
  program.child.kill('SIGKILL');
  await program.ended;
  expect(await readdir(folder)).not.toContain('manifest.json');
});

test('names of devices and resources fall on no other file', async () => {
  const { devsh, devices, folder } = await startEvidence({ devices: 3, isListed: false });
  const names = ['con', 'manifest.json', 'SHA256SUMS'];
  const named = devices.map(({ address, fingerprint }, index) => {
    return { name: names[index] ?? '', address, fingerprint };
  });
  await know(devsh, named);
  const { exitCode, stderr } = await devsh(`export @all --evidence ${folder}`);
  expect([exitCode, stderr]).toEqual([0, '']);
  const inside = ['SHA256SUMS', 'SHA256SUMS-2', '_con', 'manifest.json', 'manifest.json-2'];
  expect(await readdir(folder)).toEqual(inside);
  const { devices: found } = await manifestIn(folder);
  expect(found.map(({ device }) => device)).toEqual(names);
});

test.each([
  [
    ['../up', '/etc/passwd', '..', '.hidden'],
    ['__up', '_etc_passwd', '_', '_hidden'],
  ],
  [
    ['FW', 'fw', 'fw-2', 'fW'],
    ['FW', 'fw-2', 'fw-2-2', 'fW-3'],
  ],
  [
    ['nul', 'COM1.x', 'a.', 'a b\n', 'ä'],
    ['_nul', '_COM1.x', 'a_', 'a_b_', '_'],
  ],
])('makes %j safe names of files', (names, safe) => {
  expect(fileNames(names)).toEqual(safe);
});

test('long names stay apart and short enough', () => {
  const names = fileNames(['x'.repeat(400), 'x'.repeat(401)]);
  expect(new Set(names).size).toBe(2);
  for (const name of names) expect(name.length).toBeLessThan(160);
});

/** A device with more resources, one of which it cannot show, and secrets at every depth. */
async function startRouter() {
  const token = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
  const bodies: Readonly<Record<string, string>> = {
    '/api/':
      '{"user": "/api/user/", "page": "/api/page/", "radio": "/api/radio/", "broken": "/api/broken/"}',
    '/api/page/': '<html>\u009b2J</html>',
    '/api/user/': `[{"id": 1, "username": "admin", "lang": "de", "api_token": "${token}"}]`,
    '/api/radio/': JSON.stringify([
      {
        id: 1,
        name: 'office',
        place: 'a\u009bb\u202ec',
        counter: 1,
        radius: [{ shared_secret: token, port: 1812 }],
      },
      { id: 2, name: 'admin-secret', note: `Authorization: Bearer ${token}`, 'admin-secret': 1 },
      { id: 3, name: 'psk', value: token, raw: `{"token": "${token}"}` },
    ]).replace('"counter":1', '"counter":12345678901234567890'),
  };
  const server = await serve((request, response) => {
    const body = request.method === 'GET' ? bodies[request.url ?? ''] : undefined;
    response.writeHead(body === undefined ? 500 : 200, { 'content-type': 'application/json' });
    response.end(body ?? '{"detail": "broken"}');
  });
  const devsh = await makeDevsh(ADMIN);
  const device = { name: 'oslo', address: `127.0.0.1:${server.port}` };
  await know(devsh, [device]);
  await trust(devsh, [{ ...device, fingerprint: server.certificate.fingerprint }]);
  return { devsh, folder: join(devsh.folder, 'evidence'), token };
}

test('has each resource with exact numbers and no secret, and names what it could not read', async () => {
  const { devsh, folder, token } = await startRouter();
  const { exitCode, stderr } = await devsh(`export oslo --evidence ${folder}`);
  expect(exitCode).toBe(3);
  expect(stderr).toContain('broken');
  const [oslo] = (await manifestIn(folder)).devices;
  expect(oslo?.resources.map(({ resource, error }) => [resource, error === undefined])).toEqual([
    ['user', true],
    // No list, but no reason to leave out the next one.
    ['page', false],
    ['radio', true],
    ['broken', false],
  ]);
  const radio = await readFile(join(folder, 'oslo/radio.json'), 'utf8');
  expect(radio).toContain('12345678901234567890');
  expect(radio).toContain('"office"');
  expect(radio).not.toMatch(/[\u0080-\u009f\u202e]/);
  expect(JSON.parse(radio)).toMatchObject({ records: [{ place: 'a\u009bb\u202ec' }, {}, {}] });
  const files = ['oslo/user.json', 'oslo/radio.json', 'manifest.json', 'SHA256SUMS'];
  for (const file of files) {
    const text = await readFile(join(folder, file), 'utf8');
    expect(text).not.toContain(token);
    // The login of devsh, also where the device has it as the name of a field. A natural key stays.
    expect(text.replace('"name": "admin-secret"', '')).not.toContain('admin-secret');
  }
  // What is kept of the reading follows the same rules.
  const kept = await readFile(join(devsh.folder, 'state/devsh/readings/oslo.jsonl'), 'utf8');
  expect(kept).toContain('office');
  expect(kept).not.toContain('"admin-secret":1');
  expect(kept).not.toContain(token);
});
