import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BUILT_IN_PROFILES } from '../../src/device/built-in-profiles.ts';
import { isHarmlessField } from '../../src/change/account-harm.ts';
import { parseProfile } from '../../src/device/profile-file.ts';
import { ADMIN, startFleet, usernames, type TestFleet } from '../main/devsh.ts';

/** Lines by which `admin`, the account in use, would lose its login or its right to write. */
const HARMS = [
  'is_active=false',
  'enabled=no',
  'disabled=true',
  'locked=1',
  'blocked=yes',
  'suspended=true',
  'account_status=inactive',
  'expires=2020-01-01',
  'is_admin=false',
  'is_staff=0',
  'role=viewer',
  'groups=[]',
  'permissions={"user":{"write":false}}',
  'access_level=1',
  'password=other-secret',
  'token=other',
  'username=root',
  'username=Admin',
] as const;

const SPELLINGS = [
  'ADMIN ',
  ' admin',
  'Admin',
  'ａｄｍｉｎ',
  'аdmin',
  'adm\u200bin',
  'àdmin',
  'CORP\\admin',
];

async function fleetWith(text: string, file = 'changes'): Promise<TestFleet & { file: string }> {
  const fleet = await startFleet({ profile: 'drf', devices: 1 });
  await fleet.devsh('profile set sim1 profile=drf');
  const path = join(fleet.devsh.folder, file);
  await writeFile(path, text);
  return { ...fleet, file: path };
}

async function expectRefused(
  { devsh, writes }: TestFleet,
  argv: readonly string[],
  options: Parameters<TestFleet['devsh']>[1] = {},
): Promise<void> {
  const sentBefore = writes().length;
  const { stderr, stdout, exitCode } = await devsh([...argv, '--yes'], options);
  expect([argv, stdout + stderr]).toEqual([argv, expect.stringMatching(/lock you out|lose admin/)]);
  expect([argv, stdout + stderr]).toEqual([argv, expect.stringMatching(/--allow '?own-account=/)]);
  expect([argv, exitCode]).toEqual([argv, 6]);
  expect([argv, writes().length]).toEqual([argv, sentBefore]);
}

test('devsh does not let you lock yourself out by any way of writing.', async () => {
  const fleet = await fleetWith('username,is_active\nadmin,false\n', 'users.csv');
  const on = ['--on', 'sim1'];
  for (const harm of HARMS) {
    await expectRefused(fleet, ['user', 'set', 'admin', harm, ...on, '--allow', 'invalid']);
  }
  await expectRefused(fleet, [
    'user',
    'set',
    '--where',
    'username=admin',
    'is_active=false',
    ...on,
  ]);
  await expectRefused(fleet, ['user', 'delete', 'admin', ...on]);
  await expectRefused(fleet, ['user', 'delete', '--where', 'username~.', ...on]);
  await expectRefused(fleet, ['import', fleet.file, ...on]);
  await expectRefused(fleet, ['import', '-', '--prune', '--allow=prune', ...on], {
    stdin: 'username,lang\nviewer,en\n',
  });
  const set = '- set: user\n  key: admin\n  fields: {is_active: false}\n';
  await expectRefused(fleet, ['apply', '-', ...on], { stdin: set });
  const frozen = join(fleet.devsh.folder, 'frozen.plan');
  await fleet.devsh(['plan', '-', '-o', frozen, ...on], { stdin: set });
  await expectRefused(fleet, ['apply', frozen]);
  await expectRefused(fleet, ['run', '-', ...on], { stdin: 'user set admin is_active=false\n' });
  const uuid = fleet.device(1).users.find(({ username }) => username === 'admin')?.uuid ?? '';
  await expectRefused(fleet, ['delete', `/api/user/${uuid}/`, ...on]);
  await expectRefused(fleet, ['post', '/api/user/', `uuid=${uuid}`, 'is_active=false', ...on]);
  await expectRefused(fleet, ['post', '/api/user/', 'username=admin', 'action=delete', ...on]);
});

test.each(SPELLINGS)('takes "%s" for the account in use, admin', async (name) => {
  const fleet = await fleetWith('');
  await expectRefused(fleet, ['user', 'add', `username=${name}`, 'lang=de', '--on', 'sim1']);
  fleet.device(1).putUser({ username: name });
  await expectRefused(fleet, ['user', 'delete', name, '--on', 'sim1']);
  await expectRefused(fleet, ['user', 'set', name, 'is_active=false', '--on', 'sim1']);
});

test('undo, retry and resume do not remove the account that is in use now', async () => {
  const fleet = await startFleet({ profile: 'drf', devices: 2 });
  const { devsh, device } = fleet;
  const { admin } = device(1).accounts;
  const own = { env: { ...ADMIN, DEVSH_TOKEN: admin.token, DEVSH_USER: 'zoe' } };
  await devsh('profile set @lab profile=drf');
  await devsh('user add username=zoe lang=de --on @lab --yes');
  await expectRefused(fleet, ['undo', '--on', 'sim1'], own);
  device(1).setFault('500-once', 1, { method: 'DELETE' });
  const { exitCode } = await devsh('user delete zoe --on @lab --yes --max-failures 0');
  expect(exitCode).toBe(1);
  await expectRefused(fleet, ['resume', '--on', 'sim1'], own);
  await expectRefused(fleet, ['resume', '--on', 'sim1,sim2'], own);
});

test('a change that cannot lock you out runs without a warning', async () => {
  const { devsh, device } = await fleetWith('');
  for (const line of [
    'user set admin lang=de',
    'user set admin is_active=true lang=fr',
    'user set viewer is_active=false',
    'user delete viewer',
  ]) {
    const { stderr, exitCode } = await devsh(`${line} --on sim1 --yes`);
    expect([line, exitCode, stderr]).toEqual([line, 0, expect.not.stringContaining('lock')]);
  }
  expect(usernames(device(1))).not.toContain('viewer');
});

test('what is allowed is done', async () => {
  const { devsh, device } = await fleetWith('');
  await devsh('user set admin is_active=false --on sim1 --yes --allow own-account=admin');
  expect(device(1).users.find(({ username }) => username === 'admin')?.is_active).toBe(false);
});

test('a login that no record shows needs its own word for accounts, and that stands for no other', async () => {
  const fleet = await startFleet({ devices: 1, env: {} });
  const { admin } = fleet.device(1).accounts;
  const env = { DEVSH_TOKEN: admin.token };
  // Also if the user who is named as its owner is unknown there.
  for (const own of [env, { ...env, DEVSH_USER: 'nobody' }]) {
    const line = 'user delete viewer --on sim1 --yes';
    for (const words of ['', ' --allow own-account=viewer,unread,protected,loss']) {
      const { stderr, exitCode } = await fleet.devsh(line + words, { env: own });
      expect(stderr).toContain('use --allow unlisted-login to override');
      expect(exitCode).toBe(6);
    }
  }
  expect(fleet.writes()).toEqual([]);
  const output = { env: { ...env, DEVSH_USER: 'admin' } };
  const all = ['--allow', 'unlisted-login,unread'];
  await expectRefused(fleet, ['user', 'delete', 'admin', '--on', 'sim1', ...all], output);
  expect((await fleet.devsh('user set viewer lang=de --on sim1 --yes', { env })).exitCode).toBe(0);
  expect((await fleet.devsh('user delete viewer --on sim1 --yes', output)).exitCode).toBe(0);
});

test('is checked again right before a step is sent', async () => {
  const fleet = await startFleet({ devices: 1, env: {} });
  const { admin } = fleet.device(1).accounts;
  const frozen = join(fleet.devsh.folder, 'frozen.plan');
  const remove = '- delete: user\n  key: viewer\n';
  await fleet.devsh(['plan', '-', '-o', frozen, '--on', 'sim1'], { stdin: remove, env: ADMIN });
  // Only the records at the time of sending show that the token does not belong to "nobody".
  const env = { DEVSH_TOKEN: admin.token, DEVSH_USER: 'nobody' };
  const { stderr, exitCode } = await fleet.devsh(['apply', frozen, '--yes'], { env });
  expect(stderr).toContain('--allow unlisted-login');
  expect(exitCode).toBe(6);
  expect(fleet.writes()).toEqual([]);
});

test('the table of free fields is what the guard says, with each bundled profile', async () => {
  const text = await readFile(new URL('../../docs/change-sets.md', import.meta.url), 'utf8');
  const [, table = ''] = text.split('### Which fields are free');
  const rows = Array.from(table.matchAll(/^\| (`[\w.`, ]+`) +\| (free|refused)/gm));
  expect(rows.length).toBeGreaterThan(7);
  const folder = new URL('../../profiles/', import.meta.url);
  const files = (await readdir(folder)).filter((name) => name.endsWith('.yaml'));
  const written = await Promise.all(
    files.map(async (name) =>
      parseProfile(await readFile(new URL(name, folder), 'utf8'), name, name),
    ),
  );
  for (const profile of [...BUILT_IN_PROFILES, ...written]) {
    for (const [, fields = '', answer] of rows) {
      for (const field of fields.replaceAll('`', '').split(', ')) {
        const isFree = isHarmlessField({ profile, resource: 'user', keyField: 'name' }, field);
        expect([profile.name, field, isFree]).toEqual([profile.name, field, answer === 'free']);
      }
    }
  }
});

test('at a terminal, the name of the account is the answer; anything else sends nothing', async () => {
  const { devsh, writes } = await fleetWith('');
  const line = 'user set admin roles=[] --on sim1 --allow invalid';
  const declined = await devsh(line, { tty: ['y'] });
  expect(declined.stderr).toContain('Type admin to do it');
  expect(declined.exitCode).toBe(6);
  expect(writes()).toEqual([]);
  const agreed = await devsh(line, { tty: ['admin', 'y'] });
  expect(agreed.stderr).toContain('Type y to do it');
  expect(writes()).toHaveLength(1);
});

test('the owner of a token is asked for once in a session', async () => {
  const fleet = await startFleet({ devices: 1, env: {} });
  const env = { DEVSH_TOKEN: fleet.device(1).accounts.admin.token };
  for (const username of ['ann', 'ben']) fleet.device(1).putUser({ username, lang: 'de' });
  const tty = ['user delete ann', 'admin', 'y', 'user delete ben', 'y', 'exit'];
  const { stderr } = await fleet.devsh('connect sim1 --plain', { env, tty });
  expect(stderr.match(/Whose token/g)).toHaveLength(1);
  expect(usernames(fleet.device(1))).not.toContain('ben');
});
