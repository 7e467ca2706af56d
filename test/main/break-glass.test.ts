import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Devsh, startFleet } from './devsh.ts';

type Home = Devsh & { readonly folder: string };

async function protect({ folder }: Home, text = 'break_glass: [view*]\n'): Promise<void> {
  const path = join(folder, 'config/devsh/devices.yaml');
  await writeFile(path, `${text}${await readFile(path, 'utf8')}`);
}

const REFUSED = /break-glass account; name it in full to override: --allow break-glass=viewer/;

test.each([
  'user delete viewer --on @lab',
  'user set viewer username=bob --on @lab',
  'user set viewer password=new --on @lab',
  'user delete --where username=viewer --on @lab',
  'user delete --where lang!=zz --on @lab --allow own-account=admin,protected',
])('"%s" is refused, and nothing is sent', async (line) => {
  const { devsh, writes } = await startFleet({ devices: 2 });
  await protect(devsh);
  const { stderr, exitCode } = await devsh(`${line} --yes`);
  expect(stderr).toMatch(REFUSED);
  expect(exitCode).toBe(6);
  expect(writes()).toEqual([]);
});

test('only the whole name permits it: no word alone, no pattern, no other name', async () => {
  const { devsh, writes } = await startFleet();
  await protect(devsh);
  const bare = await devsh('user delete viewer --on sim1 --yes --allow break-glass');
  expect(bare.stderr).toContain('break-glass needs the account in full: --allow break-glass=NAME');
  expect(bare.exitCode).toBe(2);
  for (const name of ['view*', 'admin', 'Viewer']) {
    const { exitCode } = await devsh(
      `user delete viewer --on sim1 --yes --allow break-glass=${name}`,
    );
    expect(exitCode, name).toBe(6);
  }
  expect(writes()).toEqual([]);
  const { stdout, exitCode } = await devsh(
    'user delete viewer --on sim1 --yes --allow break-glass=viewer',
  );
  expect(stdout).toContain('viewer  deleted');
  expect(exitCode).toBe(0);
});

test('a frozen plan, an undo and a raw request obey a list that was written after them', async () => {
  const { devsh, device } = await startFleet();
  const file = join(devsh.folder, 'plan.json');
  const changes = join(devsh.folder, 'change.yaml');
  await writeFile(changes, '- {delete: user, key: viewer}\n');
  const planned = await devsh(['plan', changes, '--on', 'sim1', '-o', file]);
  expect(planned.stderr + planned.stdout).toContain('1 to delete');
  const added = await devsh('user add username=viewer2 lang=de --on sim1 --yes');
  expect(added.exitCode).toBe(0);
  await protect(devsh);
  const before = device(1).log.filter(({ method }) => method !== 'GET').length;

  const applied = await devsh(['apply', file, '--yes']);
  expect(applied.stderr).toMatch(REFUSED);
  const undone = await devsh('undo --yes');
  expect(undone.stderr).toMatch(REFUSED);
  const { uuid = '' } = device(1).users.find(({ username }) => username === 'viewer') ?? {};
  const raw = await devsh(`delete /api/user/${uuid}/ --on sim1 --yes`);
  expect(raw.stderr).toMatch(REFUSED);
  expect([applied, undone, raw].map(({ exitCode }) => exitCode)).toEqual([6, 6, 6]);
  expect(
    device(1)
      .log.filter(({ method }) => method !== 'GET')
      .slice(before)
      .filter(({ method }) => method !== 'OPTIONS'),
  ).toEqual([]);
});

test('lists of device, group and file add up, and are shown', async () => {
  const { devsh } = await startFleet();
  await protect(devsh, 'break_glass: rescue\ngroups: {lab: {break_glass: [noc]}}\n');
  const listed = await devsh('device list');
  expect(listed.stdout).toContain('break-glass noc rescue');
  const doctor = await devsh('doctor sim1');
  expect(doctor.stdout).toMatch(/break-glass accounts\s+ok\s+noc, rescue/);
  const asCsv = await devsh('device list --format csv');
  await writeFile(join(devsh.folder, 'more.csv'), asCsv.stdout.replace(/sim1/g, 'sim1'));
  const again = await devsh(['device', 'import', join(devsh.folder, 'more.csv'), '--dry-run']);
  expect(again.stdout + again.stderr).not.toContain('break_glass');
});

test('an import adds to the list and takes nothing off it', async () => {
  const { devsh } = await startFleet();
  await protect(devsh, 'groups: {lab: {break_glass: [noc]}}\n');
  const file = join(devsh.folder, 'other.yaml');
  const text = await readFile(join(devsh.folder, 'config/devsh/devices.yaml'), 'utf8');
  await writeFile(file, `break_glass: [rescue]\n${text.replace(/^groups.*$/m, '')}`);
  const { exitCode, stderr } = await devsh(['device', 'import', file, '--yes']);
  expect(stderr).not.toContain('error');
  expect(exitCode).toBe(0);
  const listed = await devsh('device list');
  expect(listed.stdout).toContain('break-glass rescue noc');
});

test('an address outside the inventory has the list of all devices', async () => {
  const { devsh, device, writes } = await startFleet({ isListed: false });
  await mkdir(join(devsh.folder, 'config/devsh'), { recursive: true });
  await writeFile(join(devsh.folder, 'config/devsh/devices.yaml'), 'break_glass: [viewer]\n');
  const { stderr } = await devsh(['user', 'delete', 'viewer', '--on', device(1).address, '--yes']);
  expect(stderr).toMatch(REFUSED);
  expect(writes()).toEqual([]);
});

test('a raw request that names a break-glass account in path, query or body is refused, also for groups and roles', async () => {
  const { devsh, writes } = await startFleet();
  await protect(devsh);
  for (const line of [
    'delete /api/groups/core/members/viewer/',
    'delete /api/groups/core/members/CORP%5CViewer/',
    'delete /api/role-bindings/17/?subject=viewer',
    'post /api/groups/core/ action=remove member=viewer',
    'post /api/groups/core/ members=alice,viewer',
    'post /api/roles/ {"operators":["viewer"]}=x body=["alice","viewer"]',
  ]) {
    const { stderr, exitCode } = await devsh(`${line} --on sim1 --yes`);
    expect(stderr, line).toContain('the request names ');
    expect(stderr, line).toMatch(/a break-glass account; name it in full to override: --allow /);
    expect(exitCode, line).toBe(6);
  }
  expect(writes()).toEqual([]);
  const other = await devsh('post /api/groups/core/ members=alice,reviewers --on sim1 --yes');
  expect(other.stderr).not.toContain('break-glass');
  const named =
    'delete /api/groups/core/members/viewer/ --on sim1 --yes --allow unread --allow break-glass=';
  expect((await devsh(`${named}alice`)).exitCode).toBe(6);
  const before = writes().length;
  expect((await devsh(`${named}viewer`)).stderr).not.toContain('break-glass');
  expect(writes()).toHaveLength(before + 1);
});

test('a raw DELETE that takes the account in use out of a group is refused without --allow own-account', async () => {
  const { devsh, writes } = await startFleet();
  const line = 'delete /api/groups/core/members/Admin/ --on sim1 --yes';
  const { stderr, exitCode } = await devsh(line);
  expect(stderr).toContain(
    'the request names admin, the account in use; name it in full to override: --allow own-account=admin',
  );
  expect(exitCode).toBe(6);
  expect(writes()).toEqual([]);
  await devsh(`${line} --allow own-account=admin,unread`);
  expect(writes()).toEqual(['DELETE /api/groups/core/members/Admin/']);
});

test('a raw request is refused however its path spells the account, also if no list shows it', async () => {
  const { devsh, device, writes } = await startFleet();
  await protect(devsh);
  const { uuid = '' } = device(1).users.find(({ username }) => username === 'viewer') ?? {};
  for (const path of [
    `/api/user/${uuid}/`,
    `/admin/api/user/${uuid}/`,
    '/api//user/VIEWER',
    '/api/user/0?username=viewer',
  ]) {
    const { stderr, exitCode } = await devsh(`delete ${path} --on sim1 --yes`);
    expect(stderr, path).toContain('break-glass');
    expect(exitCode).toBe(6);
  }
  const blind = await devsh(`delete /api/v2/accounts/${uuid}/ --on sim1 --yes`);
  expect(blind.stderr).toContain('below no list that devsh knows; nothing was sent');
  expect(blind.stderr).toContain('--allow unread');
  expect(blind.exitCode).toBe(6);
  expect(writes()).toEqual([]);
});
