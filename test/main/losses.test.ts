import { expect, test } from 'vitest';
import { startFleet } from './devsh.ts';
import { settleAtOnce } from '../settle.ts';

settleAtOnce();

test('the objection in a 200 is reported if nothing changed', async () => {
  const { devsh, device } = await startFleet();
  device(1).setFault('code-in-200');
  const { stdout, exitCode } = await devsh('user set viewer lang=fr --on sim1 --yes');
  expect(stdout).toContain('no effect - the device responded: Attribute cannot be modified');
  expect(exitCode).toBe(1);
});

test('a refused password is no success beside a field that was so already', async () => {
  const { devsh, device } = await startFleet();
  const line = 'user set viewer lang=en password=Secret-123 --on sim1 --yes';
  device(1).setFault('422-fields', true, { method: 'POST' });
  const refused = await devsh(line);
  expect(refused.stdout).toContain('viewer  set failed - POST /api/user/ was refused (422)');
  expect(refused.exitCode).toBe(1);
  device(1).setFault('422-fields', false);
  device(1).setFault('code-in-200');
  const { stdout, exitCode } = await devsh(line);
  expect(stdout).toContain(
    'viewer  set unknown - the device responded: Attribute cannot be modified; password cannot be read back',
  );
  expect(exitCode).toBe(3);
});

test('a write-only field in OPTIONS cannot be read back, and does not differ', async () => {
  const { devsh, device } = await startFleet({ profile: 'drf', quirk: ['hidden-fields'] });
  const { stdout, exitCode } = await devsh(
    'user add username=zoe lang=de email=z@example.net --on sim1 --yes',
  );
  expect(stdout).toContain('zoe  added - email cannot be read back');
  expect(exitCode).toBe(0);
  expect(device(1).users.at(-1)).toMatchObject({ email: 'z@example.net' });
});

test('an untouched record that differs is not called sent', async () => {
  const { devsh } = await startFleet();
  const add = 'user add username=viewer lang=fr first_name=x lastname=y --on sim1 --yes';
  const { stdout } = await devsh(add);
  expect(stdout).toContain('lang: wanted fr, device has');
  expect(stdout).not.toContain('sent fr');
});

const REPLACING = {
  profile: 'drf',
  quirk: ['hidden-fields', 'put-replaces', 'read-only-content'],
} as const;

test('a PUT that would erase hidden fields is refused, names the fields, and can be allowed', async () => {
  const { devsh, device, writes } = await startFleet(REPLACING);
  const line = 'user set viewer lang=fr --on sim1 --yes';
  const refused = await devsh(line);
  expect(refused.stderr).toContain('would erase email, password');
  expect(refused.stderr).toContain('--allow loss');
  expect(refused.exitCode).toBe(6);
  expect(writes()).toEqual([]);
  const stored = (): object | undefined =>
    device(1).users.find(({ username }) => username === 'viewer');
  expect(stored()).toMatchObject({ password: 'hash of viewer' });

  const named = await devsh('user set viewer lang=fr email=v@x password=n3w --on sim1 --yes');
  expect(named.stdout).toContain(' - password, email cannot be read back');
  expect(stored()).toMatchObject({ lang: 'fr', email: 'v@x', password: 'n3w' });

  const allowed = await devsh('user set viewer lang=de --on sim1 --yes --allow loss');
  expect(allowed.stderr).toContain('erases email, password of user');
  expect(stored()).toMatchObject({ lang: 'de', password: '' });
});

test('a device that keeps omitted fields is written to once that is configured', async () => {
  const { devsh } = await startFleet({ profile: 'drf', quirk: ['hidden-fields'] });
  await devsh('profile set sim1 extends=drf update.method=PUT update.record=whole');
  expect((await devsh('user set viewer lang=de --on sim1 --yes')).exitCode).toBe(6);
  await devsh('profile set sim1 update.left_out=kept');
  expect((await devsh('user set viewer lang=de --on sim1 --yes')).exitCode).toBe(0);
});

test('an own write of a password makes a later PUT without it refused', async () => {
  const { devsh } = await startFleet({
    profile: 'generic-rest',
    quirk: ['hidden-fields', 'put-replaces'],
  });
  await devsh('profile set sim1 extends=generic-rest update.method=PUT update.record=whole');
  const first = await devsh('user set viewer lang=fr --on sim1 --yes');
  const unknown = 'the device may erase fields that it does not show';
  expect(first.stderr.split(unknown)).toHaveLength(2);
  await devsh('user set viewer lang=de password=n3w --on sim1 --yes');
  const { stderr, exitCode } = await devsh('user set viewer lang=fr --on sim1 --yes');
  expect(stderr).toContain('would erase password');
  expect(stderr).not.toContain(unknown);
  expect(exitCode).toBe(6);
});

test('a delete names what undo cannot restore, and the undo is never done with lost content', async () => {
  const { devsh, device } = await startFleet({ profile: 'drf', quirk: ['read-only-content'] });
  await devsh('learn sim1');
  const key = device(1).users.at(-1)?.username ?? '';
  const output = await devsh(`user delete ${key} --on sim1 --yes`);
  expect(output.stderr).toContain('undo cannot restore uuid, modified, owner, groups');
  const { stdout, stderr, exitCode } = await devsh('undo --yes');
  expect(stderr).toContain('this plan does not restore uuid, modified, owner, groups');
  expect(stdout).toContain(`${key}  add differs - owner: was`);
  expect(stdout).toContain('groups: was "staff, ops", device has []');
  expect(stdout).not.toContain('sent');
  expect(device(1).users.at(-1)).toMatchObject({ username: key, owner: '', groups: [] });
  expect(exitCode).toBe(1);
});

test('messages about an interface name its fields, and no password', async () => {
  const { devsh } = await startFleet({ profile: 'generic-rest' });
  const { stdout, exitCode } = await devsh('interface delete eth8 --on sim1 --dry-run');
  expect(stdout).toContain('undo cannot restore id of interface on sim1');
  expect(stdout).not.toContain('password');
  expect(exitCode).toBe(0);
});

test('a password cannot be restored: the undo says so, and is not unchanged', async () => {
  const { devsh } = await startFleet({ profile: 'drf', quirk: ['hidden-fields'] });
  await devsh('user set viewer password=n3w --on sim1 --yes');
  const { stdout, exitCode } = await devsh('undo --yes');
  expect(stdout).toContain('cannot be restored: password');
  expect(exitCode).toBe(1);
});
