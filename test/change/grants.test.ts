import { expect, test } from 'vitest';
import { grantsOf } from '../../src/change/doubts.ts';
import type { DeviceRecord, Value } from '../../src/device/record.ts';
import { startFleet } from '../main/devsh.ts';

function grants(before: DeviceRecord | undefined, asked: DeviceRecord): [string, Value, boolean][] {
  const after = { username: 'bob', ...before, ...asked };
  const request = { method: 'POST', path: '/' } as const;
  const about = { resource: 'user', key: 'bob', keyField: 'username', request, asked, effects: {} };
  const image = before && { username: 'bob', ...before };
  const step = { ...about, action: 'set' as const, ...(image && { before: image }), after };
  return grantsOf(step).map(({ field, value, isAdmin }) => [field, value, isAdmin]);
}

test.each<[DeviceRecord | undefined, DeviceRecord, [string, Value, boolean][]]>([
  [undefined, { is_admin: true }, [['is_admin', true, true]]],
  [{ is_admin: false }, { is_admin: 'yes' }, [['is_admin', 'yes', true]]],
  [{ role: 'viewer' }, { role: 'admin' }, [['role', 'admin', true]]],
  [{ role: 'viewer' }, { role: 'operator' }, [['role', 'operator', false]]],
  [{ groups: ['a'] }, { groups: ['a', 'admins'] }, [['groups', ['a', 'admins'], true]]],
  [{ level: 1 }, { level: 15 }, [['level', 15, false]]],
  [{ level: 15 }, { level: 2 }, []],
  [{ groups: ['a', 'b'] }, { groups: ['a'] }, []],
  [{ role: 'admin' }, { role: 'viewer' }, [['role', 'viewer', false]]],
  [{ role: 'admin' }, { role: '' }, []],
  [{ is_admin: true }, { is_admin: true, lang: 'de' }, []],
  [{ is_active: false }, { is_active: true, is_verified: true }, []],
  // One list of words says what a right is: no field of it is filled in, and each one that grows is told.
  [{ wheel: false }, { wheel: true }, [['wheel', true, true]]],
  [{ issuperuser: 'no' }, { issuperuser: 'yes' }, [['issuperuser', 'yes', true]]],
  [{ api_access: 'none' }, { api_access: 'all' }, [['api_access', 'all', false]]],
])('from %j to %j grants %j', (before, asked, given) => {
  expect(grants(before, asked)).toEqual(given);
});

test('privileges that a plan grants are listed and counted apart, in the question and in JSON', async () => {
  const { devsh } = await startFleet({ profile: 'drf', devices: 2 });
  await devsh('profile set @lab profile=drf');
  const set = 'user set viewer is_admin=true lang=de --allow invalid --on @lab';
  const { stdout } = await devsh(`${set} --dry-run`);
  expect(stdout).toContain('caution: user viewer gets is_admin=true on sim1, sim2\n');
  expect(stdout).toContain('2 to change · 2 of these become administrators');
  const asked = await devsh(set, { tty: ['n'] });
  expect(asked.stdout + asked.stderr).toMatch(
    /2 of these become administrators[^]*Type 2 to do them/,
  );
  const json = JSON.parse((await devsh(`${set} --dry-run --json`)).stdout) as unknown;
  const step = { key: 'viewer', grants: [{ field: 'is_admin', isAdmin: true }] };
  expect(json).toMatchObject({ plan: [{ steps: [step] }, { steps: [step] }] });
});
