import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startSimulator, type SimulatedDevice } from '../simulator/simulator.ts';
import type { QuirkName } from '../simulator/dialects/dialect.ts';
import { createRequest, deleteRequest, updateRequest } from '../../src/device/encode.ts';
import { parseProfile } from '../../src/device/profile-file.ts';
import { listPath } from '../../src/device/profile.ts';
import type { DeviceRecord } from '../../src/device/record.ts';
import { ADMIN, know, makeDevsh, type Run, trust } from '../main/devsh.ts';
import { blocksOf } from './markdown.ts';
import { readPages } from './pages.ts';

/** The profile in the section of docs/profiles.md with this heading. */
function exampleUnder(heading: string): string {
  const page = readPages().find(({ path }) => path === 'docs/profiles.md')?.text ?? '';
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const [block] = blocksOf(section.split('\n## ')[0] ?? '');
  if (block?.language !== 'yaml') throw new Error(`no profile under "${heading}"`);
  return block.text;
}

/** A device with these quirks, and devsh with the profile of that section. */
async function start(heading: string, quirk: readonly QuirkName[], edit = (text: string) => text) {
  const simulator = await startSimulator({ users: 6, profile: 'generic-rest', quirk });
  onTestFinished(() => simulator.close());
  const [device] = simulator.devices;
  if (device === undefined) throw new Error('no device');
  const devsh = await makeDevsh(ADMIN);
  await mkdir(join(devsh.folder, 'config/devsh/profiles'), { recursive: true });
  await writeFile(
    join(devsh.folder, 'config/devsh/profiles/example.yaml'),
    edit(exampleUnder(heading)),
  );
  await know(devsh, [device], { profile: 'example' });
  await trust(devsh, [device]);
  const write = (line: string): Promise<Run> => devsh(`${line} --on sim1 --yes`);
  return { device, devsh, write };
}

/** The writes since the last call, each in one line. */
function writesOf({ log }: SimulatedDevice, from = 0): string[] {
  return log
    .slice(from)
    .filter(({ method }) => method !== 'GET' && method !== 'OPTIONS')
    .map(({ method, path, body }) => `${method} ${path} ${body}`.trim());
}

test('Each request at its own path', () => {
  const profile = parseProfile(exampleUnder('Each request at its own path'), 'p.yaml', 'p');
  const bob = { id: 3, login: 'bob', name: 'Bob' };
  expect([
    listPath(profile, 'user'),
    createRequest(profile, 'user', { login: 'bob' }),
    updateRequest(profile, 'user', bob, { name: 'Robert' }),
    deleteRequest(profile, 'user', bob),
  ]).toEqual([
    '/api/users',
    { method: 'POST', path: '/api/admin/users', json: { active: true, login: 'bob' } },
    { method: 'PUT', path: '/api/users/3', json: { login: 'bob', name: 'Robert' } },
    { method: 'DELETE', path: '/api/admin/users/3' },
  ]);
  const methods = (from: string, method: string): string =>
    parseProfile(`extends: ${from}\nupdate: {method: ${method}}\n`, 'p.yaml', 'p').update.record;
  expect(methods('generic-rest', 'PUT')).toBe('changes');
  expect(methods('drf', 'PUT')).toBe('changes');
  expect(methods('documented', 'PUT')).toBe('whole');
  expect(methods('documented', 'PATCH')).toBe('changes');
});

test('What a field takes', async () => {
  const quirks: readonly QuirkName[] = ['hidden-fields', 'put-replaces', 'read-only-content'];
  const { device, write } = await start('What a field takes', quirks);
  const user = device.users.at(-1);
  const name = user?.username ?? '';
  for (const [field, reason] of [
    ['owner=mallory', 'owner: read-only'],
    ['username=other', 'username: can be set for a new record only'],
    ['lang=xx', 'lang: not one of de, en, fr'],
  ]) {
    const refused = await write(`user set ${name} ${field ?? ''}`);
    expect(refused.stdout + refused.stderr).toContain(reason);
  }
  expect(writesOf(device)).toEqual([]);

  const erased = await write(`user set ${name} lang=de`);
  expect(erased.stderr).toContain('would erase email, pin');
  expect(erased.exitCode).toBe(6);

  const set = await write(`user set ${name} lang=de email=a@b.c pin=Quaggamire`);
  expect(set.stdout).toContain(`✓ ${name} `);
  expect(set.stdout).toContain('pin, email cannot be read back');
  expect(set.stdout + set.stderr).not.toContain('Quaggamire');
  const [sent = ''] = writesOf(device);
  expect(sent).toContain('"pin":"Quaggamire"');
  expect(sent).not.toMatch(/"owner"|"groups"/);
});

test('Records at the path of their name, and revisions', async () => {
  const { device, devsh, write } = await start('Records at the path of their name, and revisions', [
    'documents',
  ]);
  const added = await write('interface add name=ge-0/0/1?x mtu=1400');
  expect(added.stdout).toContain('✓ interface ge-0/0/1?x ');
  expect(writesOf(device)).toEqual([
    'PUT /api/interface/ge-0%2F0%2F1%3Fx {"name":"ge-0/0/1?x","mtu":1400}',
  ]);
  const set = await write('interface set ge-0/0/1?x mtu=1300');
  expect(set.stdout).toContain('✓ interface ge-0/0/1?x ');
  expect(writesOf(device).at(-1)).toMatch(
    /^PUT \/api\/interface\/ge-0%2F0%2F1%3Fx\?rev=\d+-\w+ .*"mtu":1300/,
  );
  expect(writesOf(device).at(-1)).not.toContain('_rev');
  expect((await devsh('undo --yes')).stdout).toContain('done');
  expect((await write('interface delete ge-0/0/1?x')).stdout).toContain('done');
  expect(writesOf(device).at(-1)).toMatch(
    /^DELETE \/api\/interface\/ge-0%2F0%2F1%3Fx\?rev=\d+-\w+$/,
  );
  expect((await devsh('undo --yes')).stdout).toMatch(/✓ interface ge-0\/0\/1\?x /);
  expect(device.records('interface').at(-1)).toMatchObject({ name: 'ge-0/0/1?x', mtu: 1400 });
});

test('a record that changed since the plan is drift, although its other fields are the same', async () => {
  const { device, devsh, write } = await start('Records at the path of their name, and revisions', [
    'documents',
  ]);
  const user = device.users.at(-1);
  const name = user?.username ?? '';
  const plan = `${devsh.folder}/plan.jsonl`;
  await devsh(`plan - --on sim1 -o ${plan}`, {
    stdin: `- set: user\n  key: ${name}\n  fields: {lang: ja}\n`,
  });
  if (user !== undefined) device.putUser(user);
  const drifted = await devsh(`apply ${plan} --yes`);
  expect(drifted.stdout + drifted.stderr).toContain('changed since the plan (_rev)');
  expect(drifted.exitCode).toBe(7);
  expect(writesOf(device)).toEqual([]);
  expect((await write(`user set ${name} lang=ja`)).stdout).toContain('done');
});

test('a write that the device refuses because of the revision is drift', async () => {
  const { device, write } = await start(
    'Records at the path of their name, and revisions',
    ['documents'],
    (text) => text.replace('_rev', 'lang'),
  );
  const user = device.users.at(-1);
  const refused = await write(`user set ${user?.username ?? ''} first_name=Neu`);
  expect(refused.stdout + refused.stderr).toContain('nothing was overwritten');
  expect(refused.exitCode).toBe(7);
  expect(device.users.at(-1)).toEqual(user);
});

test('Records below other records', async () => {
  const { device, devsh, write } = await start('Records below other records', ['domains']);
  const listed = await devsh('entry list --on sim1 --json');
  const { devices } = JSON.parse(listed.stdout) as { devices: [{ records: DeviceRecord[] }] };
  expect(devices[0].records).toHaveLength(6);
  expect(devices[0].records[0]).toEqual({
    'domain/name': 'example.org/www',
    name: 'www',
    content: '10.0.0.1',
  });
  expect((await devsh('entry show example.net/mail --on sim1')).stdout).toContain('10.1.0.2');

  const added = await write('entry add domain=example.org name=ftp/eu content=10.0.0.9');
  expect(added.stdout).toContain('✓ entry example.org/ftp/eu ');
  const set = await write('entry set example.org/ftp/eu content=10.0.0.8');
  expect(set.stdout).toContain('✓ entry example.org/ftp/eu ');
  expect((await write('entry delete example.org/ftp/eu')).stdout).toContain('done');
  expect((await devsh('undo --yes')).stdout).toContain('✓ entry example.org/ftp/eu ');
  expect(writesOf(device)).toEqual([
    'POST /api/domain/example.org/entry {"name":"ftp/eu","content":"10.0.0.9"}',
    'PUT /api/domain/example.org/entry/ftp%2Feu {"content":"10.0.0.8"}',
    'DELETE /api/domain/example.org/entry/ftp%2Feu',
    'POST /api/domain/example.org/entry {"name":"ftp/eu","content":"10.0.0.8"}',
  ]);

  const twice = await write('entry add domain=example.org name=www content=1');
  expect(twice.stdout).toContain('exists already with other fields');
  const nowhere = await write('entry add name=www content=1');
  expect(nowhere.stderr).toContain('entry add needs domain=… and name=…');
  const moved = await write('entry set example.org/www domain/name=example.net/new');
  expect(moved.stdout + moved.stderr).toContain('cannot be changed');
  const whole = await devsh('delete /api/domain/example.org/entry --on sim1 --yes');
  expect(whole.stdout).toContain('may delete more than one record: nothing was sent');
  expect(writesOf(device)).toHaveLength(4);
});

test('a delete names the records that it also deletes, and its undo says that they stay away', async () => {
  const { device, devsh, write } = await start('Records below other records', ['domains']);
  const plan = `${devsh.folder}/plan.jsonl`;
  const stdin = '- delete: domain\n  key: example.org\n';
  const planned = await devsh(`plan - --on sim1 -o ${plan} --json`, { stdin });
  expect(planned.stdout).toContain('"takes"');
  await write('entry add domain=example.org name=ftp content=10.0.0.9');
  const more = await devsh(`apply ${plan} --yes`);
  expect(more.stdout + more.stderr).toContain('also deletes 4 of entry, and the plan names 3');
  expect(more.exitCode).toBe(7);
  expect(device.records('domain')).toHaveLength(2);

  const deleted = await write('domain delete example.org');
  expect(deleted.stderr + deleted.stdout).toContain(
    'also deletes 4 of entry (example.org/www, example.org/mail, example.org/ns1, example.org/ftp), ' +
      'which undo does not bring back',
  );
  expect(deleted.stdout).toContain('✓ domain example.org ');
  expect(device.records('entry')).toHaveLength(3);

  const undone = await devsh('undo --yes');
  expect(undone.stdout + undone.stderr).toContain('this plan does not bring back 4 of entry');
  expect(undone.stdout).toMatch(/domain example.org .*not restored: 4 of entry/);
});
