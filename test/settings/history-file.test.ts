import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HistoryFile, isSecretLine } from '../../src/settings/history-file.ts';
import { makeTempFolder } from './temp-folder.ts';

test('remembers lines in order, for the user only', async () => {
  const path = join(await makeTempFolder(), 'history');
  const history = new HistoryFile(path);
  expect(await history.load()).toEqual([]);
  await history.append('user list');
  await history.append('user show bob');
  expect(await new HistoryFile(path).load()).toEqual(['user list', 'user show bob']);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test.each([
  'user add username=bob password=hunter2',
  'user set bob PASSWORD="a b"',
  "post /api/user/ 'passwd'=x",
  'post /x pass\\word=x',
  'user list api_key~^abc',
  'user list token!=abc',
  'post /x new-password2=x',
  `post /x {"secret": "x"}`,
  'get /x Authorization: Token abc',
  'connect https://root:hunter2@fw1',
  'device add fw1 root:hunter2@fw1',
  `connect "https://root:a b@fw1"`,
  'user list --proxy http://u:p@h',
  'user list --token hunter2',
  "user list '--token' hunter2",
  'user set bob password hunter2',
  'login fw1 --token 4e396af41d2998c96fb780450a83d2f4b9dafc04',
])('never writes %s', async (line) => {
  const path = join(await makeTempFolder(), 'history');
  expect(isSecretLine(line)).toBe(true);
  const history = new HistoryFile(path);
  expect(history.keeps(line)).toBe(false);
  await history.append(line);
  await expect(stat(path)).rejects.toThrow('ENOENT');
});

test.each(['', ' user list', 'a\nb', 'a\u001b[2J'])('does not keep %j', async (line) => {
  const history = new HistoryFile(join(await makeTempFolder(), 'h'));
  expect(history.keeps(line)).toBe(false);
  await history.append(line);
  expect(await history.load()).toEqual([]);
});

test.each([
  'login --token-stdin',
  'login --token fw1',
  'rotate password bob --generate',
  'user add username=bob lang=de',
  'get /api/token/',
  'connect https://fw1:8443 --on @lab',
])('sees no secret in %s', (line) => {
  expect(isSecretLine(line)).toBe(false);
});

test('keeps the newest lines and the file short', async () => {
  const path = join(await makeTempFolder(), 'history');
  const history = new HistoryFile(path, 10);
  for (let number = 1; number <= 40; number += 1) await history.append(`user show ${number}`);
  expect(await history.load()).toEqual(
    Array.from({ length: 10 }, (_, index) => `user show ${index + 31}`),
  );
  expect((await readFile(path, 'utf8')).split('\n').length).toBeLessThanOrEqual(12);
});

test('two sessions lose no line, and damaged bytes break nothing', async () => {
  const path = join(await makeTempFolder(), 'history');
  await writeFile(path, Buffer.from([0x75, 0xff, 0x00, 0x0a, 0x78, 0x1b]));
  const sessions = [new HistoryFile(path), new HistoryFile(path)];
  await Promise.all(
    sessions.flatMap((session, index) =>
      [1, 2, 3].map((number) => session.append(`line ${index}.${number}`)),
    ),
  );
  expect((await sessions[0]?.load())?.sort()).toEqual(
    ['line 0.1', 'line 0.2', 'line 0.3', 'line 1.1', 'line 1.2', 'line 1.3'].sort(),
  );
});

test('a size of 0 keeps nothing', async () => {
  const history = new HistoryFile(join(await makeTempFolder(), 'history'), 0);
  expect(history.keeps('user list')).toBe(false);
  await history.append('user list');
  expect(await history.load()).toEqual([]);
});
