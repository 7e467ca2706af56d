import { expect, test } from 'vitest';
import { startFleet } from '../main/devsh.ts';

const ADD = 'user add first_name=B lastname=B lang=de --on sim1 --yes';

test('the plan warns of a name that looks like another one on the device', async () => {
  const { devsh, device } = await startFleet();
  const name = 'viewer';
  const cased = name.toUpperCase();
  const { stderr, exitCode } = await devsh(`${ADD} username=${cased}`);
  expect(exitCode).toBe(0);
  expect(stderr).toContain(`caution: add "${cased}" looks like "${name}" on sim1`);
  const removed = await devsh(`user delete ${cased} --on sim1 --yes`);
  expect(removed.stderr).toContain(`caution: delete "${cased}" looks like "${name}"`);
  expect(device(1).users.map(({ username }) => username)).toContain(name);
});

test('letters of other scripts and other normal forms are detected and shown', async () => {
  const { devsh } = await startFleet();
  await devsh([...ADD.split(' '), 'username=viewér']);
  const composed = await devsh([...ADD.split(' '), 'username=viewe\u0301r', '--dry-run']);
  expect(composed.stdout).toContain('looks like "viewér"');
  const forged = await devsh([...ADD.split(' '), 'username=viеwer', '--dry-run']);
  expect(forged.stdout).toContain('caution: add "vi<U+0435>wer" looks like "viewer"');
});

test('a name that looks like no other gives no warning', async () => {
  const { devsh } = await startFleet();
  const { stderr } = await devsh(`${ADD} username=zoe`);
  expect(stderr).not.toContain('looks like');
});

test('the warning is also in the data', async () => {
  const { devsh } = await startFleet();
  const { stdout } = await devsh(`${ADD} username=ADMIN --dry-run --json`);
  expect(JSON.parse(stdout)).toMatchObject({
    plan: [{ device: 'sim1', lookAlikes: [{ action: 'add', key: 'ADMIN', others: ['admin'] }] }],
  });
});
