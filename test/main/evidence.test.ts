import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { know, startFleet, trust } from './devsh.ts';
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
  const env = { DEVSH_USER: 'admin', DEVSH_PASSWORD: 'admin-secret' };
  const argv = ['export', '@all', '--evidence', folder];
  const program = startProgram(argv, devsh.folder, '', env);
  const hasFirst = (): boolean => device(2).log.length > 0;
  await waitUntil(hasFirst, program);
  program.child.kill('SIGKILL');
  await program.ended;
  expect(await readdir(folder)).not.toContain('manifest.json');
});

test('names of devices cannot leave the folder or fall together', async () => {
  const { devsh, devices, folder } = await startEvidence({ devices: 5, isListed: false });
  const names = ['../up', 'con', 'FW', 'fw', 'manifest.json'];
  const named = devices.map(({ address, fingerprint }, index) => {
    return { name: names[index] ?? '', address, fingerprint };
  });
  await know(devsh, named);
  await trust(devsh, named);
  const { exitCode, stderr } = await devsh(`export @all --evidence ${folder}`);
  expect([exitCode, stderr]).toEqual([0, '']);
  const inside = await readdir(folder);
  expect(inside.sort()).toEqual(
    ['SHA256SUMS', '__up', '_con', 'FW', 'fw-2', 'manifest.json', 'manifest.json-2'].sort(),
  );
  const { devices: found } = await manifestIn(folder);
  expect(found.map(({ device }) => device)).toEqual(names);
});
