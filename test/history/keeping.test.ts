import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { History } from '../../src/history/history.ts';
import { HistoryFiles } from '../../src/history/history-files.ts';
import { startFleet } from '../main/devsh.ts';

const later = { since: 0 };

test('keeps what a list shows, and what changed since', async () => {
  const { devsh, device } = await startFleet({ devices: 1 });
  const folder = join(devsh.folder, 'state/devsh/readings');
  const history = new History(new HistoryFiles(folder));

  await devsh('user list --on sim1');
  const first = await history.stateAt('sim1', 'user', Date.now());
  expect(first.records.map(({ username }) => username)).toEqual(
    device(1).users.map(({ username }) => username),
  );
  await devsh('user list --on sim1');
  expect(await history.events(['sim1'], later)).toEqual([]);
  const [, user] = device(1).users;
  const key = user?.username ?? '';
  await devsh(`user set ${key} lang=fr --on sim1 --yes`);
  expect(await history.events(['sim1'], later)).toMatchObject([
    { kind: 'changed', key, fields: [{ field: 'lang', after: 'fr' }] },
  ]);
  expect((await stat(join(folder, 'sim1.jsonl'))).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(['digest-key', 'sim1.jsonl']);
  expect(await readFile(join(folder, 'sim1.jsonl'), 'utf8')).not.toContain('admin-secret');
});
