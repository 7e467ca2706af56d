import { expect, test } from 'vitest';
import { issuesOf, issuesText } from '../../src/device/complaint.ts';
import { startOwnDevice } from './own-device.ts';

test('the reason of a device stands beside what differs', async () => {
  const { devsh } = await startOwnDevice({
    refuse: () => 'The locale en is not installed.',
    list: (users) =>
      users.map((user) => (user['username'] === 'bob' ? { ...user, first_name: 'Rob' } : user)),
  });
  const half = await devsh(
    'user set bob lang=en first_name=Rob --on oslo --yes --allow unlisted-login',
  );
  expect(half.stdout).toContain('lang: sent en, device has de');
  expect(half.stdout).toContain('The locale en is not installed');
  const other = await devsh('user set bob lang=en --on oslo --yes --allow unlisted-login');
  expect(other.stdout).toContain('The locale en is not installed');
});

test.each([
  ['{"error": 400, "status": "Invalid filter specified."}', 'Invalid filter specified.'],
  ['{"code": 422, "status": "RRset has no content"}', 'RRset has no content'],
  ['{"error": 404}', '404'],
  ['{"status": "error", "message": "no such user"}', 'no such user'],
])('the reason in %s is more than its code', (body, text) => {
  expect(issuesText(issuesOf(body))).toBe(text);
});

const WRITABLE = { type: 'string', required: true, read_only: false };

test('an id that OPTIONS calls writable is chosen by the user, and comes back with undo', async () => {
  const options = { actions: { POST: { id: WRITABLE, username: WRITABLE } } };
  const { devsh, users } = await startOwnDevice({ options });
  await devsh('learn oslo');
  const added = await devsh('user add id=zz username=zoe --on oslo --yes --allow unlisted-login');
  expect(added.stdout).toContain('zoe  added');
  expect(users().at(-1)).toMatchObject({ id: 'zz', username: 'zoe' });
  await devsh('user delete zoe --on oslo --yes --allow unlisted-login');
  await devsh('undo --yes --allow unlisted-login --allow loss');
  expect(users().at(-1)).toMatchObject({ id: 'zz', username: 'zoe' });
});

test('who chooses ids on a device that says nothing of it is told the fact', async () => {
  const { devsh } = await startOwnDevice({
    refuse: (sent) => ('id' in sent ? undefined : { id: ['This field is required.'] }),
  });
  const given = await devsh('user add id=zz username=zoe --on oslo --yes --allow unlisted-login');
  const line = 'id_fields=[] resources.user.key_field=id"';
  expect(given.stdout + given.stderr).toContain(line);
  const refused = await devsh('user add username=zoe --on oslo --yes --allow unlisted-login');
  expect(refused.stdout).toContain('id: This field is required');
  expect(refused.stdout).toContain(line);
  await devsh('profile set oslo extends=drf id_fields=[] resources.user.key_field=id');
  const added = await devsh('user add id=zz username=zoe --on oslo --yes --allow unlisted-login');
  expect(added.stdout).toContain('zz  added');
});

test('a list that is nowhere names the paths that were tried and the line to state', async () => {
  const { devsh } = await startOwnDevice({});
  const { stderr, exitCode } = await devsh('group list --on oslo');
  expect(stderr).toContain('GET /api/group/ was refused (404, not found)');
  expect(stderr).toMatch(/also tried: .*\/api\/groups\/ \(404\)/);
  expect(stderr).toContain('profile set oslo resources.group.path=/');
  expect(exitCode).toBe(1);
});

test('a password that is only taken is done if the hash that is shown has changed', async () => {
  const users = ['ann', 'bob'].map((username, id) => ({
    id,
    username,
    password: `$6$${username}`,
  }));
  const { devsh } = await startOwnDevice({
    users,
    profile: ['update.method=PATCH', 'resources.user.field_facts.cleartext.write_only=true'],
    store: ({ cleartext, ...user }) =>
      typeof cleartext === 'string' ? { ...user, password: `$6$of-${cleartext}` } : user,
  });
  const set = await devsh(
    'user set bob cleartext=secret-One --on oslo --yes --allow unlisted-login',
  );
  expect(set.stdout).toContain('✓ bob  ');
  expect(set.exitCode).toBe(0);
});

test('a field that is only taken is a secret, whatever its name: no difference shows it', async () => {
  const users = ['ann', 'bob'].map((username, id) => ({ id, username }));
  const { devsh } = await startOwnDevice({
    users,
    profile: ['update.method=PATCH', 'resources.user.field_facts.cleartext.write_only=true'],
    store: (user) => ({ ...user, cleartext: 'no' }),
  });
  const set = await devsh(
    'user set bob cleartext=word-of-bob username=rob --on oslo --yes --allow unlisted-login',
  );
  const shown = await devsh('runs show');
  expect(set.stdout + set.stderr + shown.stdout).toContain('cleartext');
  expect(set.stdout + set.stderr + shown.stdout).not.toContain('word-of-bob');
});

test('rights that get narrower are not called more', async () => {
  const users = ['ann', 'bob'].map((username, id) => ({ id, username, permissions: '*' }));
  const { devsh } = await startOwnDevice({ users, profile: ['update.method=PATCH'] });
  const narrow = await devsh('user set bob permissions=objects/query --on oslo --dry-run');
  expect(narrow.stdout + narrow.stderr).not.toContain('more privileges');
  const other = await devsh('user set bob permissions=admin --on oslo --dry-run');
  expect(other.stdout + other.stderr).not.toContain('more privileges');
});

test('an account without a user name is named by its key', async () => {
  const users = ['ann', 'bob'].map((login, id) => ({ id, login }));
  const { devsh } = await startOwnDevice({ users, profile: ['resources.user.key_field=login'] });
  await devsh('user delete bob --on oslo --yes --allow unlisted-login');
  const undone = await devsh('undo --yes --allow unlisted-login');
  expect(undone.stderr).toContain('user bob would get an empty or default password');
});

test('a date is never proposed as the key, and an interface gets its article', async () => {
  const { devsh } = await startOwnDevice({
    users: [1, 2].map((id) => ({ id, created_on: `2026-01-0${id}`, label: `l${id}` })),
  });
  const tried = await devsh('profile try oslo');
  expect(tried.stdout).toMatch(/resources.user.key_field\s+label/);
  const none = await devsh('profile try oslo interface');
  expect(none.stderr).toContain('Not known of an interface');
});

test('ids that equal the names are proposed as chosen by their users', async () => {
  const users = ['ann', 'bob'].map((username) => ({ id: username, username }));
  const { devsh } = await startOwnDevice({ users });
  const tried = await devsh('profile try oslo');
  expect(tried.stdout).toMatch(/id_fields\s+\[\]\s+no record has an id other than its key/);
});

test('a 500 with a reason shows the reason, and no guess about an internal error', async () => {
  const users = [{ id: 1, username: 'ann' }];
  const { devsh } = await startOwnDevice({
    users,
    refuse: () => ({ error: 'folder has empty ID' }),
    refusedWith: 500,
  });
  const { stdout } = await devsh('user add username=bob --on oslo --yes --allow unlisted-login');
  expect(stdout).toContain('folder has empty ID');
  expect(stdout).not.toContain('internal error');
});
