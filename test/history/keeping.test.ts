import { appendFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { expect, onTestFinished, test, vi } from 'vitest';
import { parseJournal } from '../../src/change/read-journal.ts';
import { Deeds, deedsOf } from '../../src/history/attribution.ts';
import { eventsOf } from '../../src/history/events.ts';
import { HistoryFiles } from '../../src/history/history-files.ts';
import { DevshError } from '../../src/errors.ts';
import { History, NotReadError, type PastState } from '../../src/history/history.ts';
import { DeviceSession } from '../../src/fleet/device-session.ts';
import { type HistoryLine, lineText, provenSum, replay } from '../../src/history/replay.ts';
import { HistoryWriter, Observer } from '../../src/history/observer.ts';
import { startFleet, trust } from '../main/devsh.ts';

function stateIn(history: History, ...asked: Parameters<History['stateAt']>): PastState {
  const past = history.stateAt(...asked);
  if (past instanceof DevshError) throw past;
  return past;
}

async function startOne(users = 25) {
  const fleet = await startFleet({ devices: 1, users });
  const folder = join(fleet.devsh.folder, 'state/devsh/readings');
  const history = new History(new HistoryFiles(folder));
  const key = fleet.device(1).users[1]?.username ?? '';
  const readings = () =>
    history.of('sim1', -Infinity).periods.flatMap((period) => period.resources.get('user') ?? []);
  return { ...fleet, folder, history, readings, key, file: join(folder, 'sim1.jsonl') };
}

test('keeps what lists, plans and read-backs show, and finds the run that did a change', async () => {
  const { devsh, device, folder, history, key, file } = await startOne();
  const names = device(1).users.map(({ username }) => username);
  await devsh('user list --on sim1');
  const before = Date.now();
  expect(stateIn(history, 'sim1', 'user', before).records.map((one) => one['username'])).toEqual(
    names,
  );
  expect(history.stateAt('sim1', 'user', 0)).toBeInstanceOf(NotReadError);
  await devsh('user list --on sim1');
  await devsh('user list lang=de --on sim1');
  expect(eventsOf('sim1', history.of('sim1', -Infinity).periods)).toEqual([]);

  await devsh(`user set ${key} lang=fr --on sim1 --yes`);
  const runs = join(devsh.folder, 'state/devsh/runs');
  const [journal = ''] = await readdir(runs);
  const run = parseJournal(await readFile(join(runs, journal), 'utf8'), journal);
  const periods = history.of('sim1', -Infinity).periods;
  const deeds = new Deeds(deedsOf(run), () => periods[0]?.identities ?? [], []);
  const events = deeds.attributed(eventsOf('sim1', periods));

  expect(events).toMatchObject([
    {
      kind: 'changed',
      key,
      fields: [{ field: 'lang', after: 'fr' }],
      author: { kind: 'run', run: run.run },
    },
  ]);
  expect(stateIn(history, 'sim1', 'user', Date.now()).records).toHaveLength(names.length);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await readdir(folder)).sort()).toEqual(['compacted', 'digest-key', 'sim1.jsonl']);
});

test('says once that it keeps readings, where, and how to turn it off', async () => {
  const { devsh, devices } = await startFleet({ devices: 1 });
  await rm(join(devsh.folder, 'state/devsh/readings'), { recursive: true });
  const [first, second] = [await devsh('user list --on sim1'), await devsh('user list --on sim1')];
  expect(first.stderr).toMatch(
    /readings are kept.*config set historyDays 0 .*state\/devsh\/readings/,
  );
  expect(second.stderr).not.toContain('kept');
  expect(devices).toHaveLength(1);
});

test.each(['historyDays 0', 'rememberKeys false'])('keeps nothing with %s', async (setting) => {
  const { devsh, file } = await startOne();
  await devsh(`config set ${setting}`);
  await devsh('user list --on sim1');
  await expect(stat(file)).rejects.toThrow('ENOENT');
});

test('a failed reading and an unchecked certificate are no evidence', async () => {
  const { devsh, device, file } = await startOne();
  await devsh('user list --on sim1 --insecure');
  device(1).setFault('500');
  await devsh('user list --on sim1 --timeout 1');
  await expect(stat(file)).rejects.toThrow('ENOENT');
});

test('a history that cannot be written costs one warning, not the command', async () => {
  const { devsh, folder, file, readings } = await startOne();
  await mkdir(file);
  const run = await devsh('user list --on sim1');
  expect(run.exitCode).toBe(0);
  expect(run.stderr.match(/history/g)).toHaveLength(1);
  await rm(file, { recursive: true });
  await rm(folder, { recursive: true });
  await writeFile(folder, 'no folder');
  expect((await devsh('user list --on sim1')).exitCode).toBe(0);
  await rm(folder);
  await devsh('user list --on sim1');
  await writeFile(file, 'damage\n{"kind":"all","resource":"user","life":1}\n\u0000');
  expect((await devsh('user list --on sim1')).stderr).toBe('');
  expect(readings()).toHaveLength(1);
});

test.each([
  ['a change is lost', (rows: string[]) => rows.filter((row) => !isChange(row))],
  ['a byte changes', (rows: string[]) => rows.map((row) => (isChange(row) ? ` ${row}` : row))],
  ['its begin is lost', (rows: string[]) => rows.slice(1)],
])('goes on with a file of which %s', async (_, damaged) => {
  const { devsh, device, history, readings, key, file } = await startOne();
  const read = () => devsh('user list --on sim1');
  await read();
  await devsh(`user set ${key} lang=fr --on sim1 --yes`);
  for (let count = 0; count < 6; count += 1) await read();
  await writeFile(file, damaged((await readFile(file, 'utf8')).split('\n')).join('\n'));
  const from = Date.now();
  const lines = /sim1\.jsonl \(\d+ lines? damaged, or after a damaged one\)/;
  expect((await devsh('changes --on sim1')).stderr).toMatch(lines);
  expect((await devsh('doctor')).stdout).toMatch(lines);

  await read();
  await read();
  await devsh('role list --on sim1');
  await read();

  expect(readings().filter(({ to }) => to >= from)).toHaveLength(3);
  const { records } = stateIn(history, 'sim1', 'user', Date.now());
  expect(records.map((one) => one['lang'])).toEqual(device(1).users.map(({ lang }) => lang));
});

test('the last line of a file proves that no byte of it has changed, also after an older version', async () => {
  const { devsh, key, file } = await startOne();
  await devsh('user list --on sim1');
  await devsh(`user set ${key} lang=fr --on sim1 --yes`);
  const bytes = await readFile(file);
  expect(provenSum(bytes)).toBe(crc32(bytes));
  for (const [at, byte] of bytes.entries()) {
    const changed = Buffer.from(bytes).fill(byte ^ 1, at, at + 1);
    expect(provenSum(changed), `byte ${at}`).toBe(undefined);
    const cut = bytes.subarray(0, at);
    // The end of an earlier line may be the end of a file, too.
    if (provenSum(cut) !== undefined) expect(replay(String(cut)).damaged).toBe(0);
  }
  const old = String(bytes).replace(/,"sum":\d+,"crc":\d+\}$/gm, '}');
  const rows = old
    .replace(/,"crc":\d+\}$/gm, '}')
    .split('\n')
    .slice(0, -1);
  await writeFile(file, rows.map((row) => lineText(JSON.parse(row) as HistoryLine)).join(''));
  expect(provenSum(await readFile(file))).toBe(undefined);

  await devsh('user list --on sim1');

  const now = await readFile(file);
  expect(provenSum(now)).toBe(crc32(now));
  expect((await devsh('changes --on sim1')).stderr).not.toContain('damaged');
});

function isChange(row: string): boolean {
  return row.startsWith('{"kind":"change"');
}

test('a new certificate begins a new identity', async () => {
  const { devsh, devices, history } = await startOne();
  await devsh('user list --on sim1');
  const other = await startFleet({ devices: 1, seed: 7 });
  await writeFile(
    join(devsh.folder, 'config/devsh/devices.yaml'),
    `devices:\n  - name: sim1\n    address: ${other.device(1).address}\n`,
  );
  await trust(devsh, [...devices, ...other.devices]);
  await devsh('user list --on sim1');
  expect(eventsOf('sim1', history.of('sim1', -Infinity).periods)).toMatchObject([
    { kind: 'identity' },
  ]);
  expect(history.of('sim1', -Infinity).periods).toHaveLength(2);
});

test('several devshes at once lose nothing that was read', async () => {
  const { devsh, device, history, key } = await startOne();
  await Promise.all(['fr', 'it', 'es'].map(() => devsh('user list --on sim1')));
  await devsh(`user set ${key} lang=fr --on sim1 --yes`);
  const { records } = stateIn(history, 'sim1', 'user', Date.now());
  expect(records.find(({ username }) => username === key)?.['lang']).toBe('fr');
  expect(device(1).users).toHaveLength(records.length);
});

test('says once that a list is too large to be kept', async () => {
  const { devsh, file } = await startOne(20_001);
  const first = await devsh('user list --on sim1 --json');
  const second = await devsh('user list --on sim1 --json');
  expect(first.stderr).toContain('sim1: this reading is too large to be kept: 20001 records');
  expect([second.exitCode, second.stderr]).toEqual([0, '']);
  expect((await stat(file)).size).toBeLessThan(1000);
  const { stderr, exitCode } = await devsh('changes --on sim1');
  expect(stderr).toContain('user is too large to be kept (20001 records): sim1');
  expect(exitCode).toBe(3);
  const past = await devsh('user list --at 0s --on sim1');
  expect(past.stderr).toContain('sim1: user is too large to be kept');
});

test('keeps less of many devices if all of it is too much, but the last state of each', async () => {
  const { folder } = await startOne();
  const files = new HistoryFiles(folder);
  const writer = new HistoryWriter(files);
  const begin = Date.now() - 20 * 86_400_000;
  const failed: unknown[] = [];
  const problems = {
    onError: (error: unknown) => failed.push(error),
    onTooLarge: () => undefined,
    onSetBack: (byMs: number) => failed.push(byMs),
  };
  const names = Array.from({ length: 40 }, (_, index) => `fw${index}`);
  const recordsAt = (day: number) =>
    Array.from({ length: 20 }, (_, index) => ({
      username: `u${index}`,
      comment: index < 10 ? `Day ${day} `.repeat(30) : 'the same',
    }));
  for (let day = 0; day < 20; day += 1) {
    const at = begin + day * 86_400_000;
    const readings = names.map((name) => ({
      ...{ session: {}, name, address: `${name}:443`, pin: 'p', redact: (text: string) => text },
      ...{
        resource: 'user',
        keyField: 'username',
        moving: [],
        idFields: [],
        records: recordsAt(day),
      },
      ...{ from: at, to: at + 1 },
    }));
    await writer.write(readings, { days: 90, megabytes: 1 }, problems);
  }
  expect(failed).toEqual([]);
  const sizes = [...(await files.sizes()).values()];
  expect(sizes).toHaveLength(40);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(1_100_000);
  const history = new History(files);
  for (const name of names) {
    const { records } = stateIn(history, name, 'user', Date.now());
    expect(records).toEqual(recordsAt(19));
    expect(history.stateAt(name, 'user', begin + 10)).toBeInstanceOf(NotReadError);
  }
});

test('dropping old readings does not change when a device was last read', async () => {
  const { folder } = await startOne();
  const files = new HistoryFiles(folder);
  const write = async (name: string, daysAgo: number, days: number): Promise<void> => {
    const at = Date.now() - daysAgo * 86_400_000;
    const records = [{ username: 'bob', comment: `${daysAgo} `.repeat(1_000) }];
    const reading = {
      ...{ session: {}, name, address: `${name}:443`, pin: 'p', redact: (text: string) => text },
      ...{
        resource: 'user',
        keyField: 'username',
        moving: [],
        idFields: [],
        records,
        from: at,
        to: at + 1,
      },
    };
    const fail = (): void => expect.unreachable();
    const problems = { onError: fail, onTooLarge: fail, onSetBack: fail };
    await new HistoryWriter(files).write([reading], { days, megabytes: 1 }, problems);
  };
  for (const daysAgo of [20, 15, 10]) await write('fw1', daysAgo, 90);
  const path = files.path('fw1');
  const lastRead = files.lastRead('fw1');
  expect(Date.now() - Number(lastRead)).toBeGreaterThanOrEqual(10 * 86_400_000 - 1);
  const { size } = await stat(path);
  await rm(join(folder, 'compacted'));
  await write('fw2', 0, 1);
  expect((await stat(path)).size).toBeLessThan(size);
  expect(files.lastRead('fw1')).toEqual(lastRead);
  expect(files.lastRead('fw3')).toBeUndefined();
  await appendFile(path, 'rubbish\n');
  expect(files.lastRead('fw1')).toBeUndefined();
});

test('readings of a long run are written while it goes on', async () => {
  const { devsh } = await startOne();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const folder = join(devsh.folder, 'state/devsh/long');
  const problems: string[] = [];
  const limits = { days: 90, megabytes: 1 };
  const observer = new Observer(
    folder,
    () => limits,
    (text) => problems.push(text),
    (byMs) => problems.push(`set back by ${byMs} ms`),
  );
  observer.isAnnounced = true;
  const session = new DeviceSession({ name: 'fw1', address: 'fw1:443', groups: [] });
  session.trust = { kind: 'system' };
  const begin = Date.now();
  const step = (at: number): void => {
    const records = Array.from({ length: at + 1 }, (_, user) => ({ username: `u${user}` }));
    const [startedAt, endedAt] = [begin + at * 10, begin + at * 10 + 1];
    const common = { resource: 'user', clock: undefined, isAgain: true };
    observer.observe(session, { ...common, records, startedAt, endedAt });
    vi.advanceTimersByTime(500);
  };
  const history = new History(new HistoryFiles(folder));
  const count = () =>
    history.of('fw1', -Infinity).periods.flatMap((period) => period.resources.get('user') ?? [])
      .length;
  for (let at = 0; at < 59; at += 1) step(at);
  expect(count()).toBe(0);
  for (let at = 59; at < 65; at += 1) step(at);
  vi.useRealTimers();
  await vi.waitFor(() => expect(count()).toBeGreaterThan(59), 10_000);
  await observer.flush();
  expect([count(), problems]).toEqual([65, []]);
});

test('forgets a device', async () => {
  const { devsh, file } = await startOne();
  await devsh('user list --on sim1');
  const unasked = await devsh('changes --forget sim1');
  expect(unasked).toMatchObject({ exitCode: 6, stdout: '' });
  expect(unasked.stderr).toContain('not confirmed: use --yes');
  expect((await devsh('changes --forget sim1', { tty: ['n'] })).stderr).toContain(
    'nothing was removed',
  );
  await stat(file);
  const removed = await devsh('changes --forget sim1', { tty: ['y'] });
  expect(removed.stderr).toContain('Remove all that was read of sim1, for good? Type y to do it:');
  expect(removed.exitCode).toBe(0);
  await expect(stat(file)).rejects.toThrow('ENOENT');
  expect((await devsh('changes --forget sim1')).stderr).toContain('nothing is kept of sim1');
  expect((await devsh('doctor')).stdout).toMatch(/readings.*0 devices/);
});
