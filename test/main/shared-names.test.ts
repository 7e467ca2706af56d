import { expect, test } from 'vitest';
import { startFleet } from './devsh.ts';

interface ChangeRow {
  readonly what: string;
  readonly author: string | null;
  readonly id?: string;
}

/** A device whose users are known by first_name: two of them are Ann. */
async function startAnns() {
  const { devsh, device } = await startFleet({ devices: 1 });
  await devsh(['profile', 'set', 'sim1', 'resources.user.key_field=first_name']);
  const ann = (username: string, lang: string) => {
    return device(1).putUser({ username, lang, first_name: 'Ann', lastname: username });
  };
  const [one, two] = [ann('ann1', 'de'), ann('ann2', 'fr')];
  const read = () => devsh('user list --on sim1');
  const changes = async (line = 'changes') => {
    const { stdout, stderr } = await devsh(`${line} --on sim1 --json`);
    expect(stderr).not.toContain('error');
    const { changes: rows } = JSON.parse(stdout) as { changes: readonly ChangeRow[] };
    return rows.map(({ what, author, id }) => ({ what, author, id })).reverse();
  };
  await read();
  return { devsh, device: device(1), one, two, ann, read, changes };
}

test('changes names the right one of two users with one name, and who did it', async () => {
  const { devsh, device, one, two, ann, read, changes } = await startAnns();
  const set = await devsh(`user set ${two.uuid} lang=it --on sim1 --yes`);
  expect(set.stderr + set.stdout).toContain('done');
  device.removeUser('ann1');
  await read();
  const three = ann('ann3', 'es');
  await read();
  await devsh(`user delete ${two.uuid} --on sim1 --yes`);

  const own = { author: 'run', id: two.uuid };
  const all = [
    { ...own, what: `user Ann (uuid ${two.uuid}): lang fr → it` },
    { what: `user Ann (uuid ${one.uuid}) no longer in the list`, author: 'other', id: one.uuid },
    { what: `user Ann (uuid ${three.uuid}) added`, author: 'other', id: three.uuid },
    { ...own, what: `user Ann (uuid ${two.uuid}) gone` },
  ];
  expect(await changes()).toEqual(all);
  const first = { what: `user Ann (uuid ${two.uuid}) there at the first reading`, author: null };
  expect(await changes(`user changes ${two.uuid}`)).toEqual([
    { ...first, id: two.uuid },
    all[0],
    all[3],
  ]);
  expect(await changes('user changes Ann')).toHaveLength(6);
  expect(await changes(`changes uuid=${one.uuid}`)).toEqual([all[1]]);
});

test('an own user with the name of another one is added by a run', async () => {
  const { devsh, device, changes } = await startAnns();
  const fields = 'username=ann4 lastname=New lang=de';
  const { stderr, stdout } = await devsh(`user add first_name=Zoe ${fields} --on sim1 --yes`);
  expect(stderr + stdout).toContain('done');
  const { uuid } = device.users.find(({ username }) => username === 'ann4') ?? {};
  expect(await changes()).toEqual([
    { what: `user Zoe (uuid ${uuid}) added`, author: 'run', id: uuid },
  ]);
});

test('of two users with one name, restore brings back the one that is named by its id', async () => {
  const { devsh, device, one, two } = await startAnns();
  const at = new Date().toISOString();
  device.putUser({ ...one, lang: 'es' });
  device.putUser({ ...two, lang: 'es' });
  const { stderr } = await devsh(`user restore ${two.uuid} --at ${at} --on sim1 --yes`);
  expect(stderr).not.toContain('error');
  const langs = device.users.filter(({ first_name }) => first_name === 'Ann');
  expect(langs.map(({ username, lang }) => [username, lang])).toEqual([
    ['ann1', 'es'],
    ['ann2', 'fr'],
  ]);
});
