import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Change } from '../../src/change/change.ts';
import { fieldReadings } from '../../src/change/doubts.ts';
import { documentedProfile } from '../../src/device/built-in-profiles.ts';
import type { DeviceRecord } from '../../src/device/record.ts';
import { startFleet } from './devsh.ts';

const SAYS = 'no record has a field "nosuch"; the fields are';

test.each([
  'user set viewer nosuch=1',
  'user set --where lang=en nosuch=1',
  'user add username=bob nosuch=1',
  'user set viewer nosuch.part=1',
  'post /api/user/ username=bob first_name=B lastname=B lang=de nosuch=1',
])('"%s" names a field that no device has: nothing is sent', async (line) => {
  const { devsh, writes } = await startFleet();
  const { stderr, exitCode } = await devsh(`${line} --on @lab --yes`);
  expect(stderr).toContain(line.includes('.part') ? SAYS.replace('nosuch', 'nosuch.part') : SAYS);
  expect(stderr).toContain('"profile set sim1 resources.user.fields.nosuch=string"');
  expect(exitCode).toBe(2);
  expect(writes()).toEqual([]);
  const { stdout } = await devsh('runs --json');
  expect(JSON.parse(stdout)).toMatchObject({ runs: [] });
});

test('a mistyped field comes back with the one that may be meant, in JSON, too', async () => {
  const { devsh } = await startFleet();
  const { stderr } = await devsh('user set viewer lnag=de --on @lab --yes');
  expect(stderr).toContain('no record has a field "lnag"; did you mean lang?');
  const { stdout, exitCode } = await devsh('user set viewer Lang=de --on @lab --yes --json');
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'usage' } });
  expect(exitCode).toBe(2);
});

test('a change set and a spreadsheet are refused for such a field, before anything is sent', async () => {
  const { devsh, writes } = await startFleet();
  const set = join(devsh.folder, 'change.yaml');
  await writeFile(set, '- set: user\n  key: viewer\n  fields: {nosuch: 1}\n');
  const sheet = join(devsh.folder, 'users.csv');
  await writeFile(sheet, 'username,nosuch\nviewer,1\n');
  for (const line of [`plan ${set}`, `apply ${set} --yes`, `import ${sheet} user --yes`]) {
    const { stderr, exitCode } = await devsh(`${line} --on @lab`);
    const says = line.startsWith('import') ? 'users.csv:2: no user of sim1 has a field' : SAYS;
    expect(stderr, line).toContain(says);
    expect(exitCode, line).toBe(2);
  }
  expect(writes()).toEqual([]);
});

test('a field that the profile states, or that a fresh line insists on, is sent', async () => {
  const { devsh, writes } = await startFleet({ devices: 1 });
  const line = 'user set viewer nosuch=1 --on sim1 --dry-run';
  expect((await devsh(`${line} --allow invalid`)).exitCode).toBe(0);
  await devsh('profile set sim1 resources.user.field_facts.nosuch.type=string');
  const { stderr, exitCode } = await devsh(line);
  expect(stderr).toContain('the record does not have a field "nosuch" yet');
  expect(exitCode).toBe(0);
  expect(writes()).toEqual([]);
});

test('of a device that was not read no field is denied: the refusal says which', async () => {
  const { devsh, device, writes } = await startFleet({ devices: 2 });
  device(2).setFault('refuse');
  const line = 'user set viewer nosuch=1 --on @lab --yes';
  const { stderr, exitCode } = await devsh(line);
  expect(stderr).toContain(
    'no record that was read (not read: sim2) has a field "nosuch"; the fields are uuid',
  );
  expect(exitCode).toBe(2);
  device(1).setFault('refuse');
  const none = await devsh(line);
  expect(none.stderr).not.toContain('nosuch');
  expect(none.exitCode).not.toBe(2);
  expect(writes()).toEqual([]);
});

test('a secret, which lists do not show, needs no fact', async () => {
  const { devsh } = await startFleet({ devices: 1 });
  const line = 'user set viewer password=x --on sim1 --dry-run';
  expect((await devsh(line)).exitCode).toBe(0);
});

test('where no record shows its fields, and of what a device held before, no field is in doubt', () => {
  const bob = { username: 'bob' };
  const add: Change = { action: 'add', resource: 'user', fields: { ...bob, nosuch: '1' } };
  const unknown = (change: Change, records: readonly DeviceRecord[]): string[] =>
    fieldReadings(documentedProfile, 'user', [change], records).flatMap(({ field, others }) =>
      others === undefined ? [] : field,
    );
  expect(unknown(add, [bob])).toEqual(['nosuch']);
  expect(unknown(add, [])).toEqual([]);
  expect(unknown({ ...add, isExact: true }, [bob])).toEqual([]);
});

test('a field that one of the devices has is sent to all', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  const [bob] = device(2).users;
  Object.assign(bob ?? {}, { nosuch: '0' });
  const { stderr, exitCode } = await devsh('user set viewer nosuch=1 --on @lab --dry-run');
  expect(stderr).toContain('the record does not have a field "nosuch" yet');
  expect(exitCode).toBe(0);
});

test('what a device does not show is pending because nobody can read it back', async () => {
  const { devsh } = await startFleet({ devices: 1 });
  await devsh('user set viewer nosuch=1 --on sim1 --allow invalid --yes');
  const { stdout } = await devsh('pending --json');
  expect(JSON.parse(stdout)).toMatchObject({ pending: [{ cause: 'not read back' }] });
});

test('what is pending on a device without the field is continued, and keeps nothing else from it', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  for (const user of device(1).users) Object.assign(user, { nosuch: '0' });
  device(2).setFault('refuse', true);
  await devsh('user set viewer nosuch=1 --on @lab --yes');
  await devsh('user set viewer lang=fr --on @lab --yes');
  device(2).setFault('refuse', false);
  const { stdout, stderr } = await devsh('resume --yes');
  expect(stderr).not.toContain('no record has a field');
  expect(stdout).toContain('viewer  ');
});

test('the fields that are named are those of the records and the profile', async () => {
  const { devsh } = await startFleet({ devices: 1 });
  const { stderr } = await devsh('user set viewer nosuch=1 --on sim1 --yes');
  expect(stderr).toContain('the fields are uuid, first_name, lastname, username, lang; nothing');
});

test('where a list is a summary of too many records, a field that it does not show is no mistake', async () => {
  const { devsh, device } = await startFleet({
    ...{ devices: 1, profile: 'drf', quirk: ['summary-list'], users: 1_200 },
  });
  await devsh('learn sim1');
  const asked = device(1).log.length;
  const line = 'user set viewer nosuch=1 --on sim1 --dry-run';
  expect((await devsh(line)).stderr).toContain('the record does not have a field "nosuch" yet');
  expect((await devsh(`${line} --allow invalid`)).exitCode).toBe(0);
  expect(device(1).log.length - asked).toBeLessThan(12);
});

test('--allow invalid reads no further record', async () => {
  const { devsh, device } = await startFleet({
    ...{ devices: 1, profile: 'drf', quirk: ['summary-list'], users: 50 },
  });
  await devsh('learn sim1');
  const asked = device(1).log.length;
  await devsh('user set viewer nosuch=1 --on sim1 --dry-run --allow invalid');
  expect(device(1).log.length - asked).toBeLessThan(6);
});
