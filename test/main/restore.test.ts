import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type HistoryLine, lineText } from '../../src/history/replay.ts';
import { withPin } from '../history/with-pin.ts';
import type { SimulatedDevice } from '../simulator/simulator.ts';
import { startFleet, type TestFleet, trust, usernames, writesOf } from './devsh.ts';

/** A time after everything so far, and before everything that follows. */
async function moment(): Promise<string> {
  await wait(5);
  const now = new Date().toISOString();
  await wait(5);
  return now;
}

async function startRead(
  options: Parameters<typeof startFleet>[0] = { devices: 1 },
): Promise<TestFleet & { then: string; bob: string }> {
  const fleet = await startFleet(options);
  if (options.profile === 'drf') await fleet.devsh('profile set @lab profile=drf');
  await fleet.devsh('user list --on @lab');
  return { ...fleet, bob: usernames(fleet.device(1))[3] ?? '', then: await moment() };
}

/** What the device has, without what it gives to a record of its own. */
function stateOf({ users }: SimulatedDevice) {
  return Object.fromEntries(
    users.map(({ username, first_name, lastname, lang }) => [
      username,
      { first_name, lastname, lang },
    ]),
  );
}

test('brings deleted users back as they were, names what is lost, and is undone', async () => {
  const { devsh, device, bob, then } = await startRead();
  const before = stateOf(device(1));
  await devsh(`user delete ${bob} --on sim1 --yes`);

  const dry = await devsh(`user restore --at ${then} --on sim1 --dry-run`);
  expect(dry.stdout).toContain(`add user ${bob}`);
  expect(dry.stdout).toMatch(/this plan does not restore .*uuid/);
  expect(dry.stderr).toMatch(/sim1: back to what was read at .* the next reading was at/);
  const refused = await devsh(`user restore --at ${then} --on sim1 --yes`);
  expect(refused).toMatchObject({ exitCode: 6 });
  expect(refused.stderr).toContain('--allow loss');
  expect(usernames(device(1))).not.toContain(bob);

  const run = await devsh(`user restore --at ${then} --on sim1 --yes --allow loss`);
  expect(run.stdout).toContain(`${bob}  added`);
  expect(run.stdout).toContain('new from the device: uuid');
  expect(stateOf(device(1))).toEqual(before);
  await devsh('undo --on sim1 --yes');
  expect(usernames(device(1))).not.toContain(bob);
});

test('sets back what changed, and deletes what is new only with --prune', async () => {
  const { devsh, device, bob, then } = await startRead();
  const before = stateOf(device(1));
  await devsh(`user set ${bob} lang=fr --on sim1 --yes`);
  await devsh('user add username=mallory lang=de first_name=M lastname=M --on sim1 --yes');

  const one = await devsh(`user restore ${bob} --at ${then} --on sim1 --yes`);
  expect(one).toMatchObject({ exitCode: 0 });
  expect(one.stdout).toContain(`✓ ${bob}  `);
  const rest = await devsh(`user restore --at ${then} --on sim1 --yes`);
  expect(rest.stderr).toContain('added since, and stays without --prune: mallory');
  expect(usernames(device(1))).toContain('mallory');
  const pruned = await devsh(`user restore --at ${then} --on sim1 --yes --prune`);
  expect(pruned.stdout).toContain('mallory  deleted');
  expect(stateOf(device(1))).toEqual(before);
  const again = await devsh(`user restore --at ${then} --on sim1 --yes --prune`);
  expect(again.stdout).toContain('nothing to do');
  await devsh('undo --on sim1 --yes --allow loss');
  expect(usernames(device(1))).toContain('mallory');
});

test('--where is about the records of then, and a RUN stands for the time before it', async () => {
  const { devsh, device } = await startRead();
  const german = device(1).users.filter(({ lang }) => lang === 'de').length;
  const others = device(1).users.filter(({ lang }) => lang === 'en').length;
  await devsh('user set --where lang=de lang=it --on sim1 --yes');
  const [run = ''] = (await readdir(join(devsh.folder, 'state/devsh/runs'))).map((name) =>
    name.replace('.jsonl', ''),
  );
  await devsh('user set --where lang=en lang=it --on sim1 --yes');
  await devsh(`user restore --where lang=de --at ${run} --on sim1 --yes`);
  expect(device(1).users.filter(({ lang }) => lang === 'de')).toHaveLength(german);
  expect(device(1).users.filter(({ lang }) => lang === 'it')).toHaveLength(others);
});

test('an account without its password comes back disabled, or with the given one', async () => {
  const { devsh, device, then } = await startRead({ profile: 'drf', devices: 1 });
  const viewer = (): unknown => device(1).users.find(({ username }) => username === 'viewer');
  await devsh('user delete viewer --on sim1 --yes');
  const run = await devsh(`user restore viewer --at ${then} --on sim1 --yes`);
  expect(run.stderr).toContain('user viewer: added disabled (is_active=false)');
  expect(viewer()).toMatchObject({ is_active: false });

  await devsh('user delete viewer --on sim1 --yes');
  const given = await devsh(`user restore viewer password=N3w-secret --at ${then} --on sim1 --yes`);
  expect(viewer()).toMatchObject({ is_active: true });
  expect(device(1).log.findLast(({ method }) => method === 'POST')?.body).toContain('N3w-secret');
  expect(given.stdout + given.stderr).not.toContain('N3w-secret');
  const journals = await readdir(join(devsh.folder, 'state/devsh/runs'));
  for (const journal of journals) {
    const text = await readFile(join(devsh.folder, 'state/devsh/runs', journal), 'utf8');
    expect(text).not.toContain('N3w-secret');
  }
  const unused = await devsh(`user restore viewer lang=xx --at ${then} --on sim1 --yes`);
  expect(unused.stderr).toContain('lang=… is for a user that is gone, and this one is there');
  expect(unused.exitCode).toBe(2);
  await devsh('user set viewer is_active=false --on sim1 --yes');
  const enabled = await devsh(`user restore viewer --at ${then} --on sim1 --yes`);
  expect(enabled.stderr).toContain('viewer may log in again');
  expect(viewer()).toMatchObject({ is_active: true });
});

test('of twelve devices it names those that are away, were not read then, or were replaced', async () => {
  const { devsh, devices, device } = await startRead({ devices: 12 });
  const newcomer = device(12);
  const { folder } = devsh;
  const readings = join(folder, 'state/devsh/readings');
  await writeFile(join(readings, 'sim12.jsonl'), '');
  // The third device had another certificate then.
  const path = join(readings, 'sim3.jsonl');
  await writeFile(path, withPin(await readFile(path, 'utf8'), '00'));
  const then = await moment();
  device(5).setFault('refuse');
  await devsh('user set viewer lang=fr --on sim1,sim2,sim3,sim4,sim12 --yes');

  const line = `user restore --at ${then} --on @lab`;
  const dry = await devsh(`${line} --dry-run`);
  expect(dry.stdout + dry.stderr).toMatch(
    /sim12 - user was not read by .* the first reading is of/,
  );
  expect(dry.stdout + dry.stderr).toMatch(/sim3 has another certificate than then/);
  expect(dry.stdout + dry.stderr).toMatch(/sim5/);
  const run = await devsh(`${line} --yes`);
  expect(run.exitCode).toBe(3);
  const langs = devices.map(
    ({ users }) => users.find(({ username }) => username === 'viewer')?.lang === 'fr',
  );
  expect(langs.slice(0, 2)).toEqual([false, false]);
  expect([langs[2], langs[11]]).toEqual([true, true]);
  expect(writesOf(newcomer)).toHaveLength(1);
});

/** As if the device had shown an empty list to all readings so far. */
async function hideAll(readings: string): Promise<void> {
  const path = join(readings, 'sim1.jsonl');
  const rows = (await readFile(path, 'utf8')).split('\n').filter((row) => row !== '');
  const lines = rows.map((row) => {
    const line = JSON.parse(row.replace(/,"crc":\d+\}$/, '}')) as HistoryLine;
    return line.kind === 'all' ? { ...line, records: [], digest: 'empty' } : line;
  });
  await writeFile(path, lines.map(lineText).join(''));
}

test('an empty list of then is no reason to delete all accounts', async () => {
  const { devsh, then, writes } = await startRead();
  await hideAll(join(devsh.folder, 'state/devsh/readings'));
  const { stdout, stderr } = await devsh(`user restore --at ${then} --on sim1 --prune --yes`);
  expect(stdout + stderr).toContain('none of its 8 users was there then');
  expect(stdout + stderr).toContain('--allow prune');
  expect(writes()).toEqual([]);
});

test('a replaced device gets a record of the old one only by its own word', async () => {
  const { devsh, devices, then } = await startRead();
  const other = await startFleet({ devices: 1, seed: 7, users: 2 });
  await writeFile(
    join(devsh.folder, 'config/devsh/devices.yaml'),
    `devices:\n  - name: sim1\n    address: ${other.device(1).address}\n`,
  );
  await trust(devsh, [...devices, ...other.devices]);
  const line = `user restore --at ${then} --on sim1 --prune --yes --allow loss,prune`;
  const asked = await devsh(line);
  expect(asked.exitCode).toBe(6);
  expect(asked.stderr + asked.stdout).toContain('sim1 has another address than then');
  expect(other.writes()).toEqual([]);

  const [, key] = /--also sim1=(\S+) takes it/.exec(asked.stdout + asked.stderr) ?? [];
  await devsh(`${line} --also sim1=${key}`);
  expect(other.writes()).toHaveLength(1);
});

test('an account that a lockout removed since comes back only by its name', async () => {
  const { devsh, device, bob, then } = await startRead({ devices: 2 });
  await devsh(`user delete ${bob} --on sim1 --yes`);
  const runs = join(devsh.folder, 'state/devsh/runs');
  const [journal = ''] = await readdir(runs);
  const text = await readFile(join(runs, journal), 'utf8');
  await writeFile(
    join(runs, journal),
    text.replace(/"command":"[^"]*"/, `"command":"lockout ${bob}"`),
  );

  const all = await devsh(`user restore --at ${then} --on @lab --yes --allow loss`);
  expect(all.stderr).toMatch(new RegExp(`${bob} is left out, because run .* locked it out since`));
  expect(usernames(device(1))).not.toContain(bob);
  await devsh(`user restore ${bob} --at ${then} --on sim1 --yes --allow loss`);
  expect(usernames(device(1))).toContain(bob);
});

test('without a check of its certificate a device is asked about, record by record', async () => {
  const { devsh, then, writes } = await startRead();
  await devsh('user set viewer lang=fr --on sim1 --yes');
  const run = await devsh(`user restore --at ${then} --on sim1 --insecure --yes`);
  expect(run.stderr + run.stdout).toMatch(/--insecure.*--also sim1=viewer takes it/);
  expect(run.exitCode).toBe(6);
  expect(writes()).toHaveLength(1);
});

test.each([
  ['user restore --on sim1', 2, 'needs a time'],
  ['user restore --at tomorrow --on sim1', 2, 'is neither a time'],
  ['user restore nobody --at 0s --on sim1', 1, 'no user nobody then or now'],
  ['user restore --at 9d --on sim1 --yes', 3, 'the first reading is of'],
  ['user restore a b password=x --at 0s --on sim1', 2, 'fields are for one record'],
  ['user restore a --where lang=de --at 0s --on sim1', 2, 'not both'],
])('%s ends with %i', async (line, exitCode, message) => {
  const { devsh, writes } = await startRead();
  const run = await devsh(line);
  expect(run.stdout + run.stderr).toContain(message);
  expect(run.exitCode).toBe(exitCode);
  expect(writes()).toEqual([]);
});
