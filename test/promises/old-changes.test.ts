import { expect, test } from 'vitest';
import { startFleet, type TestFleet, writesOf } from '../main/devsh.ts';

/** Another admin gives the name of an account to somebody else. */
function replaceViewer({ device }: TestFleet, number: number): void {
  device(number).removeUser('viewer');
  device(number).putUser({ username: 'viewer', first_name: 'Mallory', lastname: 'Other' });
}

test('An old change goes to the account that it meant, or nowhere.', async () => {
  const fleet = await startFleet({ devices: 3 });
  const { devsh, device } = fleet;
  const then = new Date(Date.now() + 1).toISOString();
  await devsh('user list --on @lab');
  device(3).setFault('refuse', true);
  await devsh('user set viewer lang=fr --on @lab --yes');
  device(3).setFault('refuse', false);
  for (const number of [1, 2, 3]) replaceViewer(fleet, number);
  const before = [1, 2, 3].map((number) => writesOf(device(number)).length);
  for (const line of ['resume --yes --allow drift', 'undo --yes --allow drift']) {
    const { stdout, exitCode } = await devsh(line);
    expect(stdout, line).toMatch(/drift|skipped/);
    expect([6, 7], line).toContain(exitCode);
  }
  const restored = await devsh(`user restore viewer --at ${then} --on @lab --yes --allow drift`);
  expect(restored.stdout + restored.stderr).not.toContain('done');
  expect([1, 2, 3].map((number) => writesOf(device(number)).length)).toEqual(before);
});
