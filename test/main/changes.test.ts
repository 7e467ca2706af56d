import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { withPin } from '../history/with-pin.ts';
import { know, startFleet } from './devsh.ts';

interface ChangeRow {
  readonly device: string;
  readonly after: string | null;
  readonly before: string;
  readonly kind: string;
  readonly key: string;
  readonly author: string | null;
  readonly run: string | null;
}

/** Three devices that were read once. */
async function startRead() {
  const fleet = await startFleet({ devices: 3 });
  await fleet.devsh('user list --on @lab');
  const json = async (line: string): Promise<readonly ChangeRow[]> => {
    const { stdout } = await fleet.devsh(`${line} --json`);
    return (JSON.parse(stdout) as { changes: readonly ChangeRow[] }).changes;
  };
  // The same with a state folder of its own: another machine.
  const elsewhere = (line: string) =>
    fleet.devsh(`${line} --yes`, {
      env: { XDG_STATE_HOME: join(fleet.devsh.folder, 'elsewhere') },
    });
  return { ...fleet, json, elsewhere };
}

test('names the run behind a change, and what no run did, folded over devices', async () => {
  const { devsh, json, elsewhere } = await startRead();
  await devsh('user add username=jdoe lang=de first_name=J lastname=D --on @lab --yes');
  const read = await devsh('changes jdoe --on @lab');
  expect(read.stdout).toMatch(
    /between .*\tsim1 \+2\s+user jdoe added\s+run \S+: user add username=jdoe/,
  );
  await elsewhere('user delete jdoe --on @lab');
  await devsh('user list --on @lab');

  const { stdout, exitCode } = await devsh('changes kind=unlisted --on @lab');
  expect(stdout).toMatch(/sim1 \+2\s+user jdoe no longer in the list\s+not by a run of this devsh/);
  expect(exitCode).toBe(0);
  const rows = await json('changes --on @lab');
  expect(rows.map(({ kind, author, device }) => [kind, author, device]).sort()).toEqual(
    ['sim1', 'sim2', 'sim3']
      .flatMap((device) => [
        ['added', 'run', device],
        ['unlisted', 'other', device],
      ])
      .sort(),
  );
  for (const { after, before } of rows)
    expect(Date.parse(before)).toBeGreaterThan(Date.parse(after ?? ''));
  expect((await devsh('changes --exit-code --on @lab')).exitCode).toBe(8);
});

test('what others change after a run is theirs alone', async () => {
  const { devsh, json, elsewhere } = await startRead();
  await devsh('user set viewer lang=fr --on sim1 --yes');
  await elsewhere('user set viewer lang=it --on sim1');
  await devsh('user list --on sim1');
  expect(await json('changes --on sim1')).toMatchObject([
    { what: 'user viewer: lang fr → it', author: 'other' },
    { what: 'user viewer: lang en → fr', author: 'run' },
  ]);
});

test('says where a run may have done it, and where journals cannot be read', async () => {
  const { devsh, device, json } = await startRead();
  const key = device(1).users[1]?.username ?? '';
  await devsh(`user set ${key} lang=fr --on sim1 --yes`);
  const runs = join(devsh.folder, 'state/devsh/runs');
  const [journal = ''] = await readdir(runs);
  const text = await readFile(join(runs, journal), 'utf8');
  const withoutVerdict = text
    .split('\n')
    .filter((line) => !line.includes('"verdict"') && !line.includes('"kind":"end"'))
    .join('\n');
  await writeFile(join(runs, journal), withoutVerdict);
  expect(await json('changes --on sim1')).toMatchObject([{ kind: 'changed', author: 'perhaps' }]);

  await writeFile(join(runs, journal), `{\n${text}`);
  expect(await json('changes --on sim1')).toMatchObject([{ author: 'unknown', run: null }]);
  const { stdout, stderr } = await devsh('changes --on sim1');
  expect(stdout).toContain('unclear: cannot read');
  expect(stdout).not.toContain('not by a run');
  expect(stderr).toContain('cannot read the journals of');
});

test('a run on another device of the same name proves nothing', async () => {
  const { devsh, json, device } = await startRead();
  await devsh('user add username=jdoe lang=de first_name=J lastname=D --on sim1 --yes');
  await devsh('user list --on @lab');
  const runs = join(devsh.folder, 'state/devsh/runs');
  const [name = ''] = (await readdir(runs)).filter((one) => one.endsWith('.jsonl'));
  const text = await readFile(join(runs, name), 'utf8');
  await writeFile(join(runs, name), text.replaceAll(device(1).address, '192.0.2.7:8443'));
  const [row] = await json('changes jdoe --on sim1');
  expect(row?.author).toBe('perhaps');
});

test('a device that left the inventory has its history again when it comes back', async () => {
  const { devsh, device, json, elsewhere } = await startRead();
  const key = device(2).users[2]?.username ?? '';
  await elsewhere(`user delete ${key} --on sim2`);
  await devsh('user list --on @lab');
  await devsh('device remove sim2');
  const without = await devsh('changes');
  expect(without.stdout).not.toContain(key);
  expect(without.stderr).toContain('on 2 devices');
  expect((await devsh('changes --on sim2')).stderr).toContain('no device or group "sim2"');
  await devsh(`device add sim2 ${device(2).address}`);
  expect(await json('changes')).toMatchObject([{ device: 'sim2', key, kind: 'unlisted' }]);
});

test('a change since a reading long before --at is not denied, and a new name is one change of the run', async () => {
  const { devsh, device, json } = await startRead();
  const key = device(1).users[1]?.username ?? '';
  const unseen = { env: { XDG_CONFIG_HOME: join(devsh.folder, 'unseen') } };
  await cp(join(devsh.folder, 'config'), unseen.env.XDG_CONFIG_HOME, { recursive: true });
  await devsh('config set historyDays 0', unseen);
  await devsh(`user set ${key} lang=fr --on sim1 --yes`, unseen);
  await wait(20);
  const then = new Date().toISOString();
  const drift = await devsh(`user list --drift --at ${then} --on sim1`);
  expect(drift.stdout).toMatch(/lang \S+ → fr\s+run/);

  await devsh(`user set ${key} username=robert --on sim1 --yes`);
  const rows = await json('changes robert --on sim1');
  expect(rows).toMatchObject([{ key: 'robert', kind: 'changed', author: 'run' }]);
  for (const name of [key, 'robert'])
    expect(await json(`user changes ${name} --on sim1`)).toEqual(expect.arrayContaining([...rows]));
});

test('prints local times on a terminal, and times in UTC to programs', async () => {
  const { devsh, device } = await startRead();
  device(3).setFault('refuse', true);
  await devsh('user add username=jdoe lang=de first_name=J lastname=D --on @lab --yes');
  const env = { NO_COLOR: '1' };
  const [clock, iso] = [String.raw`\d\d:\d\d(?::\d\d)?`, String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`];
  const lines = ['changes', 'runs', 'pending'];
  for (const line of lines) {
    const on = line.startsWith('changes') ? `${line} --on sim1` : line;
    const shown = await devsh(on, { tty: [], columns: 200, env });
    expect(shown.stdout, line).toMatch(new RegExp(clock));
    expect(shown.stdout, line).not.toMatch(new RegExp(iso));
    for (const format of ['table', 'csv', 'json']) {
      const { stdout } = await devsh(`${on} --format ${format}`, { env });
      expect(stdout, `${line} as ${format}`).toMatch(new RegExp(iso));
      expect(stdout.replaceAll(new RegExp(iso, 'g'), ''), line).not.toMatch(
        new RegExp(String.raw`\b${clock}\b(?!:)`),
      );
    }
  }
  const shown = await devsh('runs show', { env });
  expect(shown.stderr).toMatch(new RegExp(`began ${clock} UTC\\S* by `));
});

test('names devices that were not read, and never calls them unchanged', async () => {
  const { devsh } = await startFleet({ devices: 3 });
  expect((await devsh('changes --on @lab')).exitCode).toBe(3);
  await devsh('user list --on sim1,sim2');
  const { stderr, exitCode } = await devsh('changes --on @lab --since 1d');
  expect(stderr).toContain('never read: sim3');
  expect(stderr).toContain('no changes on 2 devices');
  expect(stderr).toMatch(/user first read .*not known: sim1, sim2/);
  expect(exitCode).toBe(3);
  const { stdout } = await devsh('report --since 1d --json');
  expect(JSON.parse(stdout)).toMatchObject({
    report: {
      coverage: [
        { device: 'sim1', readings: 1 },
        { device: 'sim2', readings: 1 },
        { device: 'sim3', readings: 0 },
      ],
    },
  });
  expect((await devsh('changes --on sim1,sim2')).exitCode).toBe(0);
  expect((await devsh('changes --until 2001-01-01 --on sim1')).stderr).toMatch(
    /not read then, first read .*: sim1/,
  );
});

test('shows records as they were, without asking a device', async () => {
  const { devsh, devices, device, elsewhere } = await startRead();
  const names = device(1).users.map(({ username }) => username);
  const key = names[2] ?? '';
  const then = new Date().toISOString();
  await elsewhere(`user delete ${key} --on sim1`);
  await devsh('user list --on @lab');
  const requests = devices.map((one) => one.log.length);

  const list = await devsh(`user list --at ${then} --on @lab --json`);
  expect(list.exitCode).toBe(0);
  const [first] = (
    JSON.parse(list.stdout) as {
      devices: { records: { username: string }[]; past: Record<'from' | 'to' | 'next', string> }[];
    }
  ).devices;
  expect(first?.records.map(({ username }) => username)).toEqual(names);
  expect(first?.past.to.localeCompare(then)).toBeLessThanOrEqual(0);
  expect(first?.past.next.localeCompare(then)).toBe(1);
  const shown = await devsh(`user show ${key} --at ${then} --on sim1`);
  expect(shown.stdout).toContain(key);
  expect(shown.stderr).toMatch(/as read between .*; the next reading was/);
  expect((await devsh(`user show nobody --at ${then} --on sim1`)).exitCode).toBe(1);
  const before = await devsh('user list --at 2001-01-01 --on sim1');
  expect(before.stderr).toContain('the first reading is of');
  expect(before.exitCode).toBe(3);
  expect(devices.map((one) => one.log.length)).toEqual(requests);

  const drift = await devsh(`user list --drift --at ${then} --on @lab`);
  expect(drift.stdout).toMatch(new RegExp(`sim1\\s+user ${key} no longer in the list`));
  expect(drift.stderr).toContain('1 change since');
  expect(drift.exitCode).toBe(8);
  expect((await devsh(`user list --drift --at ${then} --on sim2,sim3`)).exitCode).toBe(0);
});

test('shows the history of one record, and its last login only when asked', async () => {
  const { devsh, device, elsewhere } = await startRead();
  const key = device(1).users[1]?.username ?? '';
  await devsh(`user set ${key} lang=fr --on sim1 --yes`);
  await elsewhere(`user delete ${key} --on sim2`);
  await devsh('user list --on @lab');
  const { stdout, stderr, exitCode } = await devsh(`user changes ${key} --on @lab`);
  expect(stdout).toContain(`user ${key} there at the first reading`);
  expect(stdout).toMatch(/sim1\s+user \S+: lang \S+ → fr\s+run/);
  expect(stdout).toMatch(new RegExp(`sim2\\s+user ${key} no longer in the list`));
  expect(stderr).toContain('at the last reading: on sim1, sim3; not on sim2');
  expect(stdout).not.toContain('LAST VALUES');
  expect(exitCode).toBe(0);
  expect((await devsh('user changes nobody --on @lab')).stderr).toContain(
    'no user "nobody" was ever read on 3 devices',
  );
});

test('says that a password was changed, and shows no value of it', async () => {
  const { devsh, device } = await startRead();
  const user = device(1).users[1];
  await devsh(`user set ${user?.username ?? ''} password=n3w-secret! --on sim1 --yes`);
  const { stdout } = await devsh('changes --on sim1 --json');
  expect(stdout).not.toContain('n3w-secret!');
});

test.each([
  ['changes --since soon --on sim1', '"soon" is n'],
  ['changes --since 2d --until 3d --on sim1', '--since is after --until'],
  ['changes --forget fw1 bob', '--forget takes no FILTER'],
  ['user list --at 1d --watch --on sim1', 'leave out --watch'],
  ['user list --at 2999-01-01 --on sim1', 'in the future'],
])('refuses %s', async (line, text) => {
  const { devsh } = await startFleet({ devices: 1 });
  const { stderr, exitCode } = await devsh(line);
  expect(stderr).toContain(text);
  expect(exitCode).toBe(2);
});

test('a device that got another name, or another certificate by "trust replace", keeps its history', async () => {
  const { devsh, devices, device, json } = await startRead();
  await devsh('user set viewer lang=fr --on sim1 --yes');
  const { address, fingerprint } = device(1);
  const old = 'AB:'.repeat(31) + 'AB';
  const state = join(devsh.folder, 'state/devsh');
  const journals = (await readdir(join(state, 'runs'))).map((name) => join(state, 'runs', name));
  for (const path of [...journals, join(devsh.folder, 'data/devsh/known-devices')]) {
    await writeFile(path, (await readFile(path, 'utf8')).replaceAll(fingerprint, old));
  }
  const path = join(state, 'readings/sim1.jsonl');
  await writeFile(path, withPin(await readFile(path, 'utf8'), old));
  await devsh(`trust replace sim1 --fingerprint ${fingerprint}`);
  await know(devsh, [{ name: 'berlin', address }, ...devices.slice(1)]);
  const then = await json('changes --on berlin');
  expect(then).toMatchObject([{ device: 'berlin', author: 'run', key: 'viewer' }]);

  device(1).putUser({ ...device(1).users[1], username: 'viewer', lang: 'it' });
  await devsh('user list --on berlin');
  expect(await json('changes --on berlin')).toMatchObject([
    { what: 'user viewer: lang fr → it', author: 'other' },
    { what: 'user viewer: lang en → fr', author: 'run' },
  ]);
});
