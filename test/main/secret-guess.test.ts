import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { startOwnDevice } from './own-device.ts';

const USERS = ['ann', 'bob'].map((username, index) => ({
  ...{ id: index + 1, username, lang: 'de', snmp_community: `planted-${username}` },
  location: 'Zm9vYmFyQmF6MTIzNDU2Nzg5MGFiY2RlZkdISktM',
}));

test('a change of what may be a secret says that undo cannot restore it, and no file has it', async () => {
  const { devsh, users } = await startOwnDevice({ users: USERS });
  const set = await devsh(
    'user set bob snmp_community=planted-new --on oslo --yes --allow unlisted-login',
  );
  expect(set.stderr).toContain('undo cannot restore snmp_community of user');
  expect(set.stdout).toContain('done');
  expect(users()[1]).toMatchObject({ snmp_community: 'planted-new', lang: 'de' });
  const runs = join(devsh.folder, 'state/devsh/runs');
  const texts = await Promise.all((await readdir(runs)).map((name) => readFile(join(runs, name))));
  expect(texts.join('')).toContain('snmp_community');
  expect(texts.join('')).not.toMatch(/planted-(?:bob|ann)/);
  const undone = await devsh('undo --yes --allow unlisted-login');
  expect(undone.stderr + undone.stdout).toContain('snmp_community');
  expect(users()[1]).toMatchObject({ snmp_community: 'planted-new' });
});

test('other changes of such a record keep what may be a secret', async () => {
  const { devsh, users } = await startOwnDevice({ users: USERS });
  const set = await devsh('user set bob lang=fr --on oslo --yes --allow unlisted-login');
  expect(set.stdout).toContain('done');
  expect((await devsh('undo --yes --allow unlisted-login')).stdout).toContain('done');
  expect(users()).toEqual(USERS);
});

// Opens names until the end of the process.
test('what may be a secret is masked, and one line opens it', async () => {
  const { devsh } = await startOwnDevice({ users: USERS });
  const shown = await devsh('user show bob --on oslo', { tty: [] });
  const plain = stripVTControlCharacters(shown.stdout);
  expect(plain).toMatch(/snmp_community\s+•••\?/i);
  expect(plain).toMatch(/location\s+•••\?/i);
  expect(shown.stdout).not.toContain('planted');
  await devsh('profile set oslo extends=drf fields.public=location');
  const opened = await devsh('user show bob --on oslo', { tty: [] });
  expect(opened.stdout).toContain('Zm9vYmFy');
  expect(stripVTControlCharacters(opened.stdout)).toMatch(/snmp_community\s+•••\?/i);
  await devsh(['profile', 'set', 'oslo', 'fields.public=[location, snmp_community]']);
  expect((await devsh('user show bob --on oslo', { tty: [] })).stdout).toContain('planted-bob');
});
