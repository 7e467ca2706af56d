import { expect, onTestFinished, test } from 'vitest';
import type { ProfileName, QuirkName } from '../simulator/dialects/dialect.ts';
import { startSimulator, type SimulatedDevice } from '../simulator/simulator.ts';
import { ADMIN, makeDevsh, type Devsh } from '../main/devsh.ts';

async function start(
  profile: ProfileName,
  quirk: readonly QuirkName[],
): Promise<{ devsh: Devsh; device: SimulatedDevice; gets: () => string[] }> {
  const simulator = await startSimulator({ users: 6, profile, quirk });
  onTestFinished(() => simulator.close());
  const [device] = simulator.devices;
  if (device === undefined) throw new Error('no device');
  const devsh = await makeDevsh(ADMIN);
  await devsh(['device', 'add', 'sim1', device.address, '--profile', profile]);
  await devsh(['trust', 'accept', device.address, '--fingerprint', device.fingerprint]);
  let at = 0;
  const gets = (): string[] => {
    const paths = device.log.slice(at).filter(({ method }) => method === 'GET');
    at = device.log.length;
    return paths.map(({ path }) => path);
  };
  return { devsh, device, gets };
}

test.each(['drf', 'generic-rest'] as const)(
  'records of a list that omits fields are read, changed and undone in full: %s',
  async (profile) => {
    const { devsh, device, gets } = await start(profile, ['summary-list']);
    expect((await devsh('learn sim1')).exitCode).toBe(0);
    const user = device.users.at(-1);
    const name = user?.username ?? '';
    gets();

    const shown = await devsh(`user show ${name} --on sim1 --json`);
    expect(JSON.parse(shown.stdout)).toMatchObject({
      devices: [{ records: [{ username: name, lang: user?.lang, is_active: true }] }],
    });
    expect(gets()).toHaveLength(2);

    const listed = await devsh('user list --on sim1');
    expect(listed.stdout).not.toContain('LANG');
    expect(gets()).toHaveLength(1);

    const set = await devsh(`user set ${name} lang=ja first_name=Neu --on sim1 --yes`);
    expect(set.stdout + set.stderr).toContain(`✓ ${name}  `);
    expect(device.users.at(-1)).toMatchObject({ lang: 'ja', first_name: 'Neu' });

    expect((await devsh('undo --yes')).stdout).toContain(`✓ ${name}  `);
    expect(device.users.at(-1)).toMatchObject({ lang: user?.lang, first_name: user?.first_name });

    const add = 'user add username=zoe first_name=Zoe lastname=Z lang=de';
    expect((await devsh(`${add} --on sim1 --yes`)).stdout).toContain('✓ zoe  added');
    expect((await devsh('user delete zoe --on sim1 --yes')).stdout).toContain('✓ zoe  deleted');
    // All fields except those that only the device sets.
    expect((await devsh('undo --yes')).stdout).toMatch(
      /zoe {2}added - new from the device: (?:uu)?id, modified/,
    );
    expect(device.users.at(-1)).toMatchObject({ first_name: 'Zoe', lastname: 'Z', lang: 'de' });
  },
);

test('a column or a filter that the list omits is read from the records, with a message', async () => {
  const { devsh, device, gets } = await start('drf', ['summary-list']);
  await devsh('learn sim1');
  gets();
  const columns = await devsh('user list --on sim1 --columns username,lang');
  expect(columns.stdout).toContain(device.users[0]?.lang);
  expect(columns.stderr).toContain('read each user alone: 6 on sim1');
  expect(gets()).toHaveLength(7);
  const lang = device.users.at(-1)?.lang ?? '';
  const filtered = await devsh(`user list lang=${lang} --on sim1`);
  expect(filtered.stdout).toContain(device.users.at(-1)?.username);
  const where = await devsh(`user set --where lang=${lang} lastname=Same --on sim1 --yes`);
  expect(where.exitCode).toBe(0);
  const same = device.users.filter((user) => user.lang === lang);
  expect(same.every(({ lastname }) => lastname === 'Same')).toBe(true);
});

test('a configured fact needs no learning', async () => {
  const { devsh, device, gets } = await start('drf', ['summary-list']);
  await devsh('profile set sim1 list.summary=true list.detail={item}');
  const name = device.users.at(-1)?.username ?? '';
  const { stdout } = await devsh(`user show ${name} --on sim1`);
  expect(stdout).toContain(device.users.at(-1)?.lang);
  expect(gets()).toHaveLength(2);
});

test('a complete list costs no further request', async () => {
  const { devsh, device, gets } = await start('drf', []);
  await devsh('learn sim1');
  gets();
  await devsh(`user show ${device.users.at(-1)?.username ?? ''} --on sim1`);
  expect(gets()).toHaveLength(1);
  const { stdout } = await devsh('profile sim1');
  expect(stdout).toMatch(/resources\.user\.list\.summary\s+false\s+observed/);
});

test.each(['drf', 'generic-rest'] as const)(
  'facts of an empty list are learned again when records come: %s',
  async (profile) => {
    const { devsh, device } = await start(profile, ['summary-list']);
    const names = device.records('interface').map(({ name }) => JSON.stringify(name).slice(1, -1));
    const last = ['--on', 'sim1', '--yes', '--allow', 'protected'];
    await devsh(['interface', 'delete', ...names, ...last]);
    expect(device.records('interface')).toEqual([]);
    // The first write asks the device, which has no record to show.
    const add = 'interface add name=wan0 mtu=1400 description=Uplink --on sim1 --yes';
    const added = await devsh(add);
    expect(added.stdout).toMatch(/^✓ interface wan0 {2}added.* sim1\n1 done\n$/);
    expect(device.records('interface')).toHaveLength(1);
    expect((await devsh(['interface', 'delete', 'wan0', ...last])).exitCode).toBe(0);
    const undo = await devsh('undo --on sim1 --yes');
    expect(undo.stdout).toMatch(/interface wan0 {2}added - new from the device: (?:uu)?id {2}/);
    expect(device.records('interface')).toMatchObject([
      { name: 'wan0', mtu: 1400, description: 'Uplink' },
    ]);
  },
);

test('a field that even the record itself omits is not called empty', async () => {
  const { devsh, gets } = await start('drf', []);
  await devsh('learn sim1 --resource interface');
  gets();
  const add = 'interface add name=wan0 mtu=1400 colour=red --on sim1 --yes --allow invalid';
  const { stdout } = await devsh(add);
  expect(stdout).toContain('differs - colour: sent red, the device does not show it');
  // The plan learns once that the list is complete.
  expect(gets().filter((path) => /interface\/./.test(path))).toHaveLength(1);
});

test('the first change on an unknown device keeps the fields that its list omits', async () => {
  const { devsh, device } = await start('drf', ['summary-list']);
  const user = device.users.at(-1);
  expect((await devsh(`user set ${user?.username} lang=ja --on sim1 --yes`)).exitCode).toBe(0);
  expect((await devsh('undo --on sim1 --yes')).exitCode).toBe(0);
  expect(device.users.at(-1)).toMatchObject({ lang: user?.lang, first_name: user?.first_name });
});
