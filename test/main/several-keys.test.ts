import { expect, test } from 'vitest';
import { startFleet, writesOf } from './devsh.ts';

test('several keys before the fields are one plan and one question', async () => {
  const { devsh, devices } = await startFleet({ devices: 2 });
  await devsh('user add username=ann first_name=A lastname=A lang=de --on sim1 --yes');
  const line = 'user set viewer ann lang=fr --on sim1';
  const asked = await devsh(line, { tty: ['2'] });
  expect(asked.stderr).toMatch(/Type 2/);
  expect(asked.exitCode).toBe(0);
  const users = devices[0]?.users ?? [];
  expect(users.filter(({ lang }) => lang === 'fr').map(({ username }) => username)).toEqual(
    expect.arrayContaining(['viewer', 'ann']),
  );
  const only = await devsh('user set viewer ann lang=it --only sim1=ann --on sim1,sim2 --dry-run');
  expect(only.stdout).toMatch(/set user ann on sim1/);
});

test('a word that is a field without its "=" is a mistake, and no key', async () => {
  const { devsh, devices } = await startFleet({ devices: 2 });
  const before = devices.map((device) => writesOf(device).length);
  for (const line of [
    'user set viewer lastname Smith lang=fr --on sim1 --yes',
    'user set viewer password hunter2 lang=fr --on sim1 --yes',
    'user set viewer ann --on sim1 --yes',
    'user set viewer lang=fr ann --on sim1 --yes',
  ]) {
    const { exitCode, stderr } = await devsh(line);
    expect([line, exitCode]).toEqual([line, 2]);
    expect(stderr).toContain('is not field=value');
  }
  expect(devices.map((device) => writesOf(device).length)).toEqual(before);
});

test('keys with a comma between them, or a condition, are mistakes with the right words', async () => {
  const { devsh, writes } = await startFleet();
  for (const [typed, meant] of [
    ['user delete bob,carol', 'put blanks between keys: bob carol'],
    ['user set bob,carol lang=de', 'put blanks between keys: bob carol'],
    ['user delete lang=de', '--where "lang=de" selects by fields'],
    ['user delete all', '--where FILTER selects several'],
    ['user delete *', '--where FILTER selects several'],
    ['user delete sim1', '--on sim1 selects the device'],
  ] as const) {
    const { exitCode, stdout } = await devsh(`${typed} --on sim1 --yes`);
    expect(stdout).toContain(meant);
    expect([typed, exitCode]).toEqual([typed, 1]);
  }
  expect(writes()).toEqual([]);
});

test('where names have commas, a name with one may be gone', async () => {
  const { devsh, device } = await startFleet();
  device(1).putUser({ username: 'cn=ann,ou=it' });
  device(1).putUser({ username: 'cn=bob,ou=it' });
  await devsh('user delete cn=bob,ou=it --on sim1 --yes');
  const { exitCode, stdout } = await devsh('user delete cn=bob,ou=it --on sim1 --yes');
  expect(stdout).toContain('already so - no such user here');
  expect(exitCode).toBe(0);
});
