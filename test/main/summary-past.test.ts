import { expect, test } from 'vitest';
import { startFleet } from './devsh.ts';

/** A device whose list shows only id and name, which devsh knows; its users were read. */
async function startSummary() {
  const fleet = await startFleet({ devices: 1, profile: 'drf', quirk: ['summary-list'] });
  const { devsh } = fleet;
  await devsh('learn sim1');
  await devsh('user list --on sim1');
  const at = new Date().toISOString();
  // Nobody sees that in the list.
  fleet.device(1).putUser({ username: 'viewer', lang: 'fr' });
  await devsh('user list --on sim1');
  return { devsh, at };
}

const KNOWN = /user: known are only \w+, \w+: the list leaves out at least .*lang.*: sim1/;

test.each([
  'changes --on sim1',
  'user changes viewer --on sim1',
  'user list --at AT --on sim1',
  'user list --drift --at AT --on sim1',
])('where a list is only a summary, %s says what is not known', async (line) => {
  const { devsh, at } = await startSummary();
  const { stderr, stdout } = await devsh(line.replace('AT', at));
  expect(stderr).toMatch(KNOWN);
  expect(stderr + stdout).not.toContain('✓ no changes');
});

test('where a list is only a summary, restore and the record of an incident say what is not known', async () => {
  const { devsh, at } = await startSummary();
  const restored = await devsh(`user restore --at ${at} --on sim1 --yes`);
  expect(restored.stderr).toMatch(/sim1: not compared.*known are only .*leaves out .*lang/);
  const { stdout } = await devsh(`report --since ${at}`);
  expect(stdout).toMatch(KNOWN);
});

test('where lists are only summaries, --drift says what it did not compare, or reads it for a column', async () => {
  const { devsh, device } = await startFleet({
    devices: 2,
    profile: 'drf',
    quirk: ['summary-list'],
  });
  for (const name of ['sim1', 'sim2']) await devsh(`learn ${name}`);
  device(1).putUser({ username: 'viewer', lang: 'fr' });
  device(2).putUser({ username: 'viewer', lang: 'en' });
  const lists = await devsh('user list viewer --drift --on @lab');
  expect(lists.stderr).toMatch(/user: known are only .*leaves out at least .*lang.*: sim1, sim2/);
  expect(lists.stdout + lists.stderr).not.toContain('✓');
  expect(lists.exitCode).toBe(0);
  const records = await devsh('user list viewer --drift --columns lang --on @lab');
  expect(records.stderr).not.toContain('known are only');
  expect(records.stdout).toMatch(/viewer.*fr/);
  expect(records.exitCode).toBe(8);
});

test('a list that shows all says nothing of it', async () => {
  const { devsh } = await startFleet({ devices: 1, profile: 'drf' });
  await devsh('learn sim1');
  await devsh('user list --on sim1');
  const { stderr } = await devsh('changes --on sim1');
  expect(stderr).not.toContain('known are only');
});
