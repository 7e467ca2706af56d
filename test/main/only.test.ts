import { expect, test } from 'vitest';
import type { SimulatedDevice } from '../simulator/simulator.ts';
import { startFleet, usernames } from './devsh.ts';

/** Users on both devices, except for admin and viewer. */
function usersOnBoth(one: SimulatedDevice, other: SimulatedDevice): string[] {
  return usernames(one)
    .slice(2)
    .filter((name) => usernames(other).includes(name));
}

test('--only restricts a record to some devices, in one plan and one run', async () => {
  const { devsh, device, writes } = await startFleet({ devices: 2 });
  const [everywhere = '', onFirst = '', onSecond = ''] = usersOnBoth(device(1), device(2));
  const line = `user delete ${everywhere} ${onFirst} ${onSecond} --on sim1,sim2`;
  const kept = [`--only`, `sim1=${onFirst}`, '--only', `sim2=${onSecond}`];

  const { stdout, exitCode } = await devsh([...line.split(' '), ...kept, '--yes', '--json']);

  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    results: [
      { device: 'sim1', verdict: 'done' },
      { device: 'sim1', verdict: 'done' },
      { device: 'sim2', verdict: 'done' },
      { device: 'sim2', verdict: 'done' },
    ],
  });
  expect(writes()).toHaveLength(4);
  expect(usernames(device(1))).not.toContain(onFirst);
  expect(usernames(device(1))).toContain(onSecond);
  expect(usernames(device(2))).toContain(onFirst);
  const runs = JSON.parse((await devsh('runs --json')).stdout) as { runs: unknown[] };
  expect(runs.runs).toHaveLength(1);
});

test('one question is asked for all of them', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  const [first = '', second = ''] = usersOnBoth(device(1), device(2));
  const { stderr, exitCode } = await devsh(
    `user delete ${first} ${second} --on @lab --only sim1=${first} --only sim2=${second}`,
    { tty: ['2'] },
  );
  expect(stderr).toContain('2 steps on 2 devices. Type 2 to DELETE:');
  expect(exitCode).toBe(0);
  expect(usernames(device(2))).toContain(first);
});

test.each([
  ['user delete bob --on sim1 --only sim1=alice', '--only is about a KEY of the line, not "alice"'],
  ['user delete bob --on sim1 --only sim2=bob', '"sim2" is none of the selected devices (sim1)'],
  ['user delete bob --on sim1 --only bob', '"bob" is not DEVICES=KEY, as in fw1,fw2=bob'],
  ['user delete --where lang=de --on sim1 --only sim1=bob', '--only is about a KEY of the line'],
  ['user set --where lang=de lang=en --on sim1 --only sim1=bob', '--only is about a KEY'],
])('%s is refused before anything is read', async (line, message) => {
  const { devsh, device } = await startFleet({ devices: 1 });
  const before = device(1).log.length;
  const { stderr, exitCode } = await devsh([...line.split(' '), '--yes']);
  expect(stderr).toContain(message);
  expect(exitCode).toBe(2);
  expect(device(1).log).toHaveLength(before);
});
