import { expect, test } from 'vitest';
import { startFleet, type TestFleet, usernames, writesOf } from './devsh.ts';

const DOWN = 'refuse';

function idOf({ device }: TestFleet, number: number, name: string): string {
  return String(device(number).users.find(({ username }) => username === name)?.uuid);
}

/** On sim1 somebody is called what is the id of `viewer` on sim2. */
async function start(): Promise<TestFleet & { readonly word: string }> {
  const fleet = await startFleet({ devices: 2 });
  const word = idOf(fleet, 2, 'viewer');
  fleet.device(1).putUser({ username: word, first_name: 'N', lastname: 'N', lang: 'en' });
  return { ...fleet, word };
}

test.each(['user delete KEY', 'user set KEY lang=fr'])(
  '%s is refused if KEY is a name on one device and an id on another',
  async (line) => {
    const { devsh, device, word } = await start();
    const { stderr, exitCode } = await devsh(`${line.replace('KEY', word)} --on @lab --yes`);
    expect(stderr).toContain('is a username on sim1 and the uuid of viewer on sim2; say which:');
    expect(stderr).toMatch(new RegExp(`username=${word}" or "user \\w+ viewer"`));
    expect(exitCode).toBe(6);
    expect([1, 2].flatMap((number) => writesOf(device(number)))).toEqual([]);
  },
);

test('id=… and username=… say which', async () => {
  const { devsh, device, word } = await start();
  await devsh(`user delete username=${word} --on @lab --yes`);
  expect(usernames(device(1))).not.toContain(word);
  expect(usernames(device(2))).toContain('viewer');
  const set = await devsh(`user set uuid=${word} lang=fr --on sim2 --yes`);
  expect(set.stdout).toContain('✓ viewer  ');
});

test('what is pending keeps the meaning of the line', async () => {
  const { devsh, device, word } = await start();
  device(2).setFault(DOWN, true);
  await devsh(`user delete ${word} --on @lab --yes`);
  device(2).setFault(DOWN, false);
  const { stdout } = await devsh('resume --yes');
  expect(stdout).toContain('unchanged');
  expect(usernames(device(2))).toContain('viewer');
});

test('an id of the line finds its record on a device that was away, by what was read there before', async () => {
  const fleet = await startFleet({ devices: 2 });
  const { devsh, device } = fleet;
  const id = idOf(fleet, 2, 'viewer');
  await devsh('user list --on @lab');
  device(2).setFault(DOWN, true);
  await devsh(`user set uuid=${id} lang=fr --on sim2 --yes`);
  device(2).setFault(DOWN, false);
  expect(await devsh('resume --yes')).toMatchObject({ exitCode: 0 });
  expect(device(2).users.find(({ username }) => username === 'viewer')?.lang).toBe('fr');
});

test('FIELD=VALUE is a KEY of the verbs that read and of lockout, too', async () => {
  const fleet = await startFleet({ devices: 1 });
  const { devsh, device } = fleet;
  device(1).putUser({ username: 'bob', lang: 'de' });
  for (const key of ['username=bob', `uuid=${idOf(fleet, 1, 'bob')}`]) {
    expect((await devsh(`user show ${key} --on sim1`)).stdout).toContain('bob');
    expect((await devsh(`user show ${key} --on sim1 --at 0s`)).stdout).toContain('bob');
    const restored = await devsh(`user restore ${key} --at 0s --on sim1 --dry-run`);
    expect(restored.exitCode, restored.stderr).toBe(0);
  }
  expect((await devsh('user changes username=bob --on sim1')).exitCode).toBe(0);
  const { stderr } = await devsh('lockout username=bob --dry-run');
  expect(stderr).toContain('account bob: on 1 of 1 device read');
});
