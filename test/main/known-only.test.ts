import { expect, test } from 'vitest';
import { startFleet } from './devsh.ts';
import { startOwnDevice, type OwnUser } from './own-device.ts';
import { settleAtOnce } from '../settle.ts';

settleAtOnce();

const ADD = 'user add username=eve first_name=Eve lang=de --on oslo --yes --allow unlisted-login';
const without = (name: string) => (users: readonly OwnUser[]) =>
  users.filter(({ username }) => username !== name);

function leaving(field: string, user: OwnUser): OwnUser {
  return Object.fromEntries(Object.entries(user).filter(([name]) => name !== field));
}

test('a new record that the list omits is read at its own path', async () => {
  const { devsh } = await startOwnDevice({ list: without('eve') });
  const { stdout, exitCode } = await devsh(ADD);
  expect(stdout).toContain('eve  added - its own path shows it, but the list does not');
  expect(exitCode).toBe(0);
  const undone = await devsh('undo --yes --allow unlisted-login');
  expect(undone.stderr).not.toContain('nothing to undo');
  expect(undone.stdout).not.toContain('no such user here');
});

test('a new record that only the response shows is unknown, not denied', async () => {
  const { devsh } = await startOwnDevice({ list: without('eve'), isListOnly: true });
  const { stdout, exitCode } = await devsh(ADD);
  expect(stdout).toContain(
    'eve  add unknown - the device responded with the record (id 4), but its list does not show it',
  );
  expect(exitCode).not.toBe(0);
});

test('a record that appears only after the verdict is undone, too', async () => {
  const before = [
    { id: 1, username: 'ann', first_name: 'A', lang: 'de' },
    { id: 2, username: 'bob', first_name: 'B', lang: 'de' },
  ];
  const { devsh, users } = await startOwnDevice({
    users: before,
    isListOnly: true,
    list: (held, reads) => (reads <= 4 ? before : held),
  });
  const { stdout } = await devsh('user delete ann --on oslo --yes --allow unlisted-login');
  expect(stdout).toContain('no effect - the device accepted it; read-back shows no change');
  expect(users().map(({ username }) => username)).toEqual(['bob']);
  await devsh('user list --on oslo');
  expect((await devsh('undo --yes --allow unlisted-login --allow loss')).stdout).toContain(
    'ann  added',
  );
  expect(users().map(({ username }) => username)).toEqual(['bob', 'ann']);
});

test('undo skips a run without a visible effect', async () => {
  const { devsh, users } = await startOwnDevice({
    store: (user) => (user['username'] === 'bob' ? { ...user, lang: 'de' } : user),
  });
  await devsh(ADD);
  const set = await devsh('user set bob lang=fr --on oslo --yes --allow unlisted-login');
  expect(set.stdout).toContain('no effect - the device accepted it; nothing changed');
  const { stderr, stdout } = await devsh('undo --yes --allow unlisted-login');
  expect(stderr).toContain('of which it sees no effect');
  expect(stdout).toContain('eve  deleted');
  expect(users()).toHaveLength(3);
});

test('a record that the list omits is judged by its own path', async () => {
  const { devsh } = await startOwnDevice({ list: without('ann') });
  const { stdout } = await devsh('user set ann lang=fr --on oslo --yes --allow unlisted-login');
  expect(stdout).toContain('✓ ann  ');
  expect(stdout).not.toContain('gone');
});

test('without another source, the verdict says only that the list omits the record', async () => {
  const { devsh } = await startOwnDevice({ list: without('ann'), isListOnly: true });
  const { stdout } = await devsh('user set ann lang=fr --on oslo --yes --allow unlisted-login');
  expect(stdout).toContain('differs - the list no longer shows it');
  expect(stdout).not.toContain('gone');
});

test('an empty list after a write is reported', async () => {
  const { devsh } = await startOwnDevice({ list: () => [], isListOnly: true });
  const { stdout } = await devsh('user set ann lang=fr --on oslo --yes --allow unlisted-login');
  expect(stdout).toContain('the list no longer shows it');
  expect(stdout).toContain('no longer in the list, without a request');
  expect(stdout).not.toContain('gone');
});

test('hidden fields are not called sent, stored or changed', async () => {
  const { devsh } = await startOwnDevice({
    list: (users) => users.map(({ id = 0, username = '' }) => ({ id, username })),
  });
  const { stdout, exitCode } = await devsh(
    'user set ann first_name=N --on oslo --yes --allow unlisted-login',
  );
  expect(stdout).toContain('ann  set differs - no longer shown: first_name, lang  oslo\n');
  expect(exitCode).toBe(1);
});

test('the fields of a deleted record come back with it', async () => {
  const { devsh, users } = await startOwnDevice({ remove: (held) => held.slice(0, 1) });
  const { stdout } = await devsh('user delete bob --on oslo --yes --allow unlisted-login');
  expect(stdout).toContain('differs - no longer in the list, without a request: cyd');
  const undone = await devsh('undo --yes --allow unlisted-login --allow loss');
  expect(undone.stdout).toContain('cyd  added');
  expect(users().map(({ username }) => username)).toEqual(['ann', 'bob', 'cyd']);
});

test('a delete that only disables says so, and undo enables it again', async () => {
  const people = ['ann', 'bob'].map((username, index) => ({
    id: index + 1,
    username,
    is_active: true,
  }));
  const { devsh, users } = await startOwnDevice({
    users: people,
    remove: (held, id) =>
      held.map((one) => (String(one['id']) === id ? { ...one, is_active: false } : one)),
  });
  const { stdout } = await devsh('user delete bob --on oslo --yes --allow unlisted-login');
  expect(stdout).toContain('differs - is_active: was true, device has false; the record still');
  await devsh('undo --yes --allow unlisted-login');
  expect(users()).toEqual(people);
});

test('undo of an add finds a record that the device renamed', async () => {
  for (const [typed, stored] of [
    ['EVE', 'eve'],
    ['eve', 'local-eve'],
  ] as const) {
    const { devsh, users } = await startOwnDevice({
      store: (user) => (user['username'] === typed ? { ...user, username: stored } : user),
    });
    const { stdout } = await devsh(ADD.replace('=eve', `=${typed}`));
    expect(stdout).toContain(`username: sent ${typed}, device has ${stored}`);
    expect((await devsh('undo --yes --allow unlisted-login')).stdout).toContain(
      `${stored}  deleted`,
    );
    expect(users()).toHaveLength(3);
  }
});

test('undo names fields that were sent and are not shown', async () => {
  const { devsh } = await startOwnDevice({
    list: (users) => users.map((user) => leaving('quota', user)),
  });
  await devsh(
    'user set ann lang=fr quota=3 --on oslo --yes --allow unlisted-login --allow invalid',
  );
  const { stdout, stderr, exitCode } = await devsh('undo --yes --allow unlisted-login');
  expect(stderr).toContain('this plan does not restore quota');
  expect(stdout).toContain('differs');
  expect(exitCode).toBe(1);
});

test('an undocumented field alone is not known to be stored', async () => {
  const { devsh } = await startOwnDevice({
    list: (users) => users.map((user) => leaving('verbose', user)),
  });
  const { stdout } = await devsh(
    'user set ann verbose=false --on oslo --yes --allow unlisted-login --allow invalid',
  );
  expect(stdout).toContain('unknown - verbose cannot be read back: unknown whether');
});

test('before a first delete the device is asked what undo cannot restore', async () => {
  const { devsh } = await startOwnDevice({
    options: {
      actions: {
        POST: {
          username: { type: 'string', required: true, read_only: false },
          made_by: { type: 'string', required: false, read_only: true },
          login_shell: { type: 'string', required: false, read_only: false },
        },
      },
    },
    users: [
      { id: 1, username: 'ann', made_by: 'root' },
      { id: 2, username: 'bob', made_by: 'root' },
    ],
  });
  const { stdout } = await devsh('user delete bob --on oslo --dry-run');
  expect(stdout).toMatch(/undo cannot restore .*made_by/);
  expect(stdout).toMatch(/undo cannot restore .*login_shell/);
});

test('erased values cannot be restored, and both unknowns are named', async () => {
  const users = ['ann', 'bob'].map((username, index) => ({
    id: index + 1,
    username,
    lang: 'de',
    password: `hash of ${username}`,
  }));
  const { devsh } = await startOwnDevice({
    users,
    profile: ['update.method=PUT', 'update.record=whole'],
  });
  const { stderr } = await devsh(
    'user set ann lang=fr --on oslo --yes --allow unlisted-login --allow loss',
  );
  expect(stderr).toContain('erases password of user');
  expect(stderr).toContain('the device may erase fields that it does not show');
  const undone = await devsh('undo --yes --allow unlisted-login --allow loss');
  expect(undone.stderr).toContain('this plan does not restore password');
  expect(undone.stdout).toContain('differs');
  expect(undone.exitCode).toBe(1);
});

test('where no device responded, "user show" denies no record, and "changes" counts only what was read', async () => {
  const { devsh, device } = await startFleet({ devices: 3 });
  await devsh('user list --on sim1');
  for (const number of [2, 3]) device(number).setFault('refuse');
  const shown = await devsh('user show nobody --on sim2,sim3');
  expect(shown.stderr).not.toContain('no user "nobody"');
  expect(shown.exitCode).toBe(5);
  const some = await devsh('user show nobody --on @lab');
  expect(some.stderr).toContain('no user "nobody" on the devices that responded');
  expect((await devsh('changes nobody')).stderr).toContain(
    'no user "nobody" was ever read on 1 device\n',
  );
});

test('a device with several pending changes is one of those that cannot be reached', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  device(2).setFault('refuse');
  await devsh('user set viewer lang=fr --on @lab --yes --allow unlisted-login');
  await devsh('user delete theo.lhote --on @lab --yes --allow unlisted-login');
  const { stderr } = await devsh('resume --yes --allow unlisted-login');
  expect(stderr).toMatch(/^✗ sim2: /m);
});
