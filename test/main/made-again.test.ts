import { expect, test } from 'vitest';
import { startFleet } from './devsh.ts';
import { startOwnDevice } from './own-device.ts';

test('an undo of a delete is done if only the id is new', async () => {
  const { devsh } = await startFleet({ profile: 'drf' });
  await devsh('interface delete eth8 --on sim1 --yes --allow unlisted-login');
  const undone = await devsh('undo --yes --allow unlisted-login');
  expect(undone.stdout).toContain('interface eth8  added - new from the device: uuid');
  expect(undone.exitCode).toBe(0);
});

const created = '2026-01-02T03:04:05Z';

test('dates are new by nature, and content that does not come back is a difference', async () => {
  const users = [
    { id: 1, username: 'ann', created_at: created, logins: 4, memo: 'x' },
    { id: 2, username: 'bob', created_at: created, logins: 7, memo: 'y' },
  ];
  const counter = { type: 'integer', required: false, read_only: true };
  const options = { actions: { POST: { logins: counter, created_at: counter } } };
  let memo = 'y';
  const { devsh } = await startOwnDevice({
    users,
    options,
    store: (user) => ({ ...user, created_at: '2026-05-06T07:08:09Z', logins: 0, memo }),
  });
  await devsh('learn oslo');
  await devsh('user delete bob --on oslo --yes --allow unlisted-login');
  const undone = await devsh('undo --yes --allow unlisted-login --allow loss');
  expect(undone.stdout).toMatch(/bob  added - new from the device: created_at, logins/);
  expect(undone.exitCode).toBe(0);

  await devsh('user delete bob --on oslo --yes --allow unlisted-login');
  memo = '';
  const lossy = await devsh('undo --yes --allow unlisted-login --allow loss');
  expect(lossy.stdout).toMatch(/bob  add differs - memo: sent y/);
  expect(lossy.exitCode).toBe(1);
});

test('a date that is gone afterwards may be one that a person had set: a difference', async () => {
  const users = ['ann', 'bob'].map((username, id) => ({ id, username, expires_at: created }));
  const { devsh } = await startOwnDevice({
    users,
    store: (user) => ({ ...user, expires_at: null }),
  });
  await devsh('user delete bob --on oslo --yes --allow unlisted-login');
  const undone = await devsh('undo --yes --allow unlisted-login --allow loss');
  expect(undone.stdout).toContain('not restored: expires_at');
  expect(undone.exitCode).toBe(1);
});

test('undo takes back the first record of an empty list, and no other last one', async () => {
  const { devsh, users } = await startOwnDevice({ users: [] });
  await devsh('user add username=zoe --on oslo --yes --allow unlisted-login');
  expect(users()).toHaveLength(1);
  const undone = await devsh('undo --yes --allow unlisted-login');
  expect(undone.stdout).toContain('zoe  deleted');
  expect(users()).toEqual([]);

  await devsh('user add username=ann --on oslo --yes --allow unlisted-login');
  await devsh('user add username=bob --on oslo --yes --allow unlisted-login');
  const { stdout } = await devsh('runs --json');
  const [newest] = (JSON.parse(stdout) as { runs: readonly { run: string }[] }).runs;
  await devsh('user delete ann --on oslo --yes --allow unlisted-login');
  const refused = await devsh(`undo ${newest?.run ?? ''} --yes --allow unlisted-login`);
  expect(refused.stderr).toContain('deleting bob would leave no user');
  expect(refused.exitCode).toBe(6);
});

test('fields that only the device sets are learned from its refusals, left out and named', async () => {
  const own = { active: true, uptime: 7, origin: 'console' };
  const users = ['ann', 'bob', 'cyd'].map((username, id) => ({ id, username, lang: 'de', ...own }));
  const {
    devsh,
    writes,
    users: held,
  } = await startOwnDevice({
    users,
    store: (user) => ({ ...user, ...own, uptime: 0, origin: 'api' }),
    refuse: (sent) => {
      const field = ['active', 'uptime', 'origin'].find((name) => name in sent);
      return field && `Attribute is marked for internal use only and may not be set: ${field}`;
    },
  });
  await devsh('user delete bob --on oslo --yes --allow unlisted-login');
  const undone = await devsh('undo --yes --allow unlisted-login --allow loss');
  expect(undone.stdout).toContain(
    'not restored: origin; new from the device: id, uptime; its password is not known to be the old one; left to the device: active, uptime, origin',
  );
  expect(held()).toHaveLength(3);
  expect(writes()).toHaveLength(5);

  await devsh('user delete bob --on oslo --yes --allow unlisted-login');
  const { stderr } = await devsh('undo --yes --allow unlisted-login --allow loss');
  expect(stderr).toMatch(/does not restore .*active, uptime, origin/);
  expect(writes()).toHaveLength(7);
  expect((await devsh('profile show oslo')).stdout).toMatch(
    /user.fields.active.*read_only.*observed/,
  );
});

test('an account that cannot be added disabled is not added before somebody agrees', async () => {
  const users = ['ann', 'bob'].map((username, id) => ({ id, username, active: true }));
  const { devsh, users: held } = await startOwnDevice({
    users,
    store: (user) => ({ ...user, active: true }),
    refuse: (sent) => ('active' in sent ? 'active is read-only' : undefined),
  });
  await devsh('user delete bob --on oslo --yes --allow unlisted-login');
  const first = await devsh('undo --yes --allow unlisted-login');
  expect(first.stdout).toContain('nothing keeps this account closed');
  expect(held()).toHaveLength(1);
  const second = await devsh('undo --yes --allow unlisted-login');
  expect(second.stderr).toContain('user bob would get an empty or default password');
  expect(second.exitCode).toBe(6);
  expect(held()).toHaveLength(1);
  expect((await devsh('undo --yes --allow unlisted-login --allow loss')).stdout).toContain(
    'bob  added',
  );
});
