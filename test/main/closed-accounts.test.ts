import { expect, test } from 'vitest';
import { accountRemarks, closeAccounts, foldedRemarks } from '../../src/change/closed-accounts.ts';
import { parseProfile } from '../../src/device/profile-file.ts';
import { startFleet, usernames } from './devsh.ts';

const WITHOUT = 'would get an empty or default password';

test('accounts that are added again without a password are named in one line, the first three of many', () => {
  const adds = ['ann', 'bob', 'cyd', 'dan'].map(
    (username) => ({ action: 'add', resource: 'user', fields: { username } }) as const,
  );
  const profile = parseProfile('extends: drf', 'p.yaml', 'p');
  const accounts = closeAccounts(adds, profile, [{ username: 'eve' }]);
  const remarks = ['fw1', 'fw2'].flatMap((device) => accountRemarks(device, accounts));
  expect(foldedRemarks(remarks)).toEqual([
    'fw1, fw2: user ann, user bob, user cyd and 1 more would get an empty or default password, because the real one is unknown',
  ]);
});

test('an undo restores an account disabled, because its password is unknown', async () => {
  const { devsh, device } = await startFleet({ profile: 'drf', devices: 1 });
  await devsh('profile set sim1 profile=drf');
  await devsh('user delete viewer --on sim1 --yes');
  const { stderr } = await devsh('undo --on sim1 --yes');
  expect(stderr).toContain('sim1: user viewer: added disabled (is_active=false)');
  expect(device(1).users.find(({ username }) => username === 'viewer')?.is_active).toBe(false);
});

test('an undo restores no account with a default password unless that is confirmed', async () => {
  const { devsh, device, writes } = await startFleet({ devices: 1 });
  await devsh('user delete viewer --on sim1 --yes');
  const refused = await devsh('undo --on sim1 --yes');
  expect(refused.stderr).toContain(`user viewer ${WITHOUT}`);
  expect(refused.stderr).toContain('--allow loss');
  expect(refused.exitCode).toBe(6);
  expect(writes()).toHaveLength(1);
  const asked = await devsh('undo --on sim1', { tty: ['n'] });
  expect(asked.stdout + asked.stderr).toMatch(/would get an empty or default password[^]*Type y/);
  expect(asked.exitCode).toBe(6);
  expect(usernames(device(1))).not.toContain('viewer');
  await devsh('undo --on sim1 --yes --allow loss');
  expect(usernames(device(1))).toContain('viewer');
});

test('a pruning import makes no account with a default password, either', async () => {
  const { devsh, device, writes } = await startFleet({ devices: 1 });
  const names = ['zoe', ...usernames(device(1))];
  const stdin = `username,lang\n${names.map((name) => `${name},en\n`).join('')}`;
  const argv = 'import - --prune --on sim1 --yes';
  const refused = await devsh(argv, { stdin });
  expect(refused.stderr).toContain(`user zoe ${WITHOUT}`);
  expect(refused.exitCode).toBe(6);
  expect(writes()).toEqual([]);
  await devsh(`${argv} --allow loss`, { stdin });
  expect(usernames(device(1))).toContain('zoe');
});

test.each([
  ['enable: {type: boolean}', { enable: false }],
  ['enable: {type: integer}', { enable: 0 }],
  ['comment: {type: string}', { enable: '0' }],
])('a stated disabled_as disables an account, though no record shows it: %s', (facts, off) => {
  const text = `extends: generic-rest\nresources: {user: {disabled_as: {enable: 0}, field_facts: {${facts}}}}`;
  const profile = parseProfile(text, 'p.yaml', 'p');
  const add = { action: 'add', resource: 'user', fields: { username: 'bob' } } as const;
  const { changes, closed } = closeAccounts([add], profile, [{ username: 'ann' }]);
  expect(changes).toEqual([{ ...add, fields: { username: 'bob', ...off } }]);
  expect(closed).toHaveLength(1);
});
