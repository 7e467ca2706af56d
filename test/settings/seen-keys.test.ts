import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SeenKeys, seenRecords } from '../../src/settings/seen-keys.ts';
import { makeTempFolder } from './temp-folder.ts';

const USERS = [
  { username: 'alice', lang: 'de', password: 'hunter2', token: 't0k3n' },
  { username: 'bob', lang: 'en', password: 'hunter3', token: 't0k4n' },
];

test('keys and the names of fields are there again in the next session, for the user only', async () => {
  const folder = join(await makeTempFolder(), 'seen');
  await new SeenKeys(folder, true).keep('10.0.0.5:443', 'user', seenRecords(USERS, 'username'));
  expect(await new SeenKeys(folder, true).of('10.0.0.5:443')).toEqual({
    user: { keys: ['alice', 'bob'], fields: ['username', 'lang'] },
  });
  const [name = ''] = await readdir(folder);
  expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
  const text = await readFile(join(folder, name), 'utf8');
  expect(text).not.toMatch(/hunter|t0k|password|token/);
});

test('it is bounded: not more than some thousand keys, and no long ones', () => {
  const many = Array.from({ length: 9_000 }, (_, index) => ({ username: `u${index}` }));
  expect(seenRecords(many, 'username').keys).toHaveLength(5_000);
  expect(seenRecords([{ username: 'x'.repeat(1_000) }], 'username').keys).toEqual([]);
  expect(seenRecords([{ token: 'secret' }], 'token').keys).toEqual([]);
});

test('switched off, nothing is written and nothing is read', async () => {
  const folder = join(await makeTempFolder(), 'seen');
  await new SeenKeys(folder, true).keep('a:443', 'user', seenRecords(USERS, 'username'));
  const off = new SeenKeys(folder, false);
  await off.keep('b:443', 'user', seenRecords(USERS, 'username'));
  expect(await readdir(folder)).toHaveLength(1);
  expect(await off.of('a:443')).toEqual({});
});

test('a damaged file is as if there were none, and is replaced', async () => {
  const folder = join(await makeTempFolder(), 'seen');
  await new SeenKeys(folder, true).keep('a:443', 'user', seenRecords(USERS, 'username'));
  const [name = ''] = await readdir(folder);
  await writeFile(join(folder, name), '{"resources": 5');
  const seen = new SeenKeys(folder, true);
  expect(await seen.of('a:443')).toEqual({});
  await seen.keep('a:443', 'user', seenRecords(USERS, 'username'));
  expect(Object.keys(await new SeenKeys(folder, true).of('a:443'))).toEqual(['user']);
});
