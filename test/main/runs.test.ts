import { execFile, spawnSync } from 'node:child_process';
import { mkdir, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import { RunFile, RunFiles } from '../../src/settings/run-files.ts';
import { startFleet, usernames, type Devsh } from './devsh.ts';
import { programEnv } from './process.ts';
import { settleAtOnce } from '../settle.ts';

settleAtOnce();

const ADD = '- add: user\n  fields: {username: zoe, lang: de}\n';

type Home = Devsh & { readonly folder: string };

function runsFolder({ folder }: Home): string {
  return join(folder, 'state/devsh/runs');
}

async function journals(devsh: Home): Promise<string[]> {
  const names = await readdir(runsFolder(devsh)).catch(() => []);
  return names.filter((name) => name.endsWith('.jsonl')).sort();
}

interface Said {
  readonly results: readonly { readonly device: string; readonly verdict: string }[];
}

function verdicts(stdout: string): string[] {
  return (JSON.parse(stdout) as Said).results.map(({ verdict }) => verdict);
}

test('a journal is readable only by its user and contains no secret', async () => {
  const { devsh } = await startFleet();
  const argv = ['user', 'add', 'username=zoe', 'password=hunter2', 'api_token=t0psecret'];
  await devsh([...argv, '--on', 'sim1', '--yes']);
  const [name = ''] = await journals(devsh);
  const path = join(runsFolder(devsh), name);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const text = await readFile(path, 'utf8');
  expect(text).toContain('"username":"zoe"');
  expect(text).not.toMatch(/hunter2|t0psecret|admin-secret/);
});

test('when the state folder cannot be written to, nothing is sent', async () => {
  const { devsh, writes } = await startFleet();
  await mkdir(join(devsh.folder, 'state/devsh'), { recursive: true });
  await writeFile(runsFolder(devsh), 'a file in the way');
  const { stderr, exitCode } = await devsh('user add username=zoe --on sim1 --yes');
  expect(stderr).toMatch(/cannot (write|create)/);
  expect(exitCode).toBe(1);
  expect(writes()).toEqual([]);
});

test.skipIf(process.platform !== 'linux')(
  'a full disk is reported before anything is sent',
  async () => {
    const full = await open('/dev/full', 'a');
    const file = new RunFile('/dev/full', full, () => Promise.resolve());
    await expect(file.append('{}\n')).rejects.toThrow('no space left on the disk');
    await file.close();
  },
);

test('a run that another devsh executes is not resumed', async () => {
  const { devsh, device, writes } = await startFleet();
  device(1).setFault('500-once', 1, { method: 'POST' });
  await devsh('user add username=zoe --on sim1 --yes');
  const [name = ''] = await journals(devsh);
  const id = name.replace('.jsonl', '');
  const stored = await new RunFiles(runsFolder(devsh)).resume(id);
  const { stderr, exitCode } = await devsh(`resume ${id} --yes`);
  await stored.close();
  expect(stderr).toContain(`run ${id} is in progress`);
  expect(exitCode).toBe(1);
  expect(writes()).toHaveLength(1);
  expect((await devsh(`resume ${id} --yes`)).exitCode).toBe(0);
});

test('runs --on lists the runs of these devices', async () => {
  const { devsh } = await startFleet({ devices: 2 });
  await devsh('user set viewer lang=de --on sim1 --yes');
  await devsh('user set viewer lang=fr --on @lab --yes');
  const listed = async (line: string): Promise<number[]> => {
    const { runs } = JSON.parse((await devsh(line)).stdout) as { runs: { devices: number }[] };
    return runs.map(({ devices }) => devices);
  };
  expect(await listed('runs --json')).toEqual([2, 1]);
  expect(await listed('runs --on sim1 --json')).toEqual([2, 1]);
  expect(await listed('runs --on sim2 --json')).toEqual([2]);
});

test('a journal that cannot be read is named, and the other runs are listed', async () => {
  const { devsh } = await startFleet();
  await devsh('user add username=zoe --on sim1 --yes');
  const [name = ''] = await journals(devsh);
  await writeFile(join(runsFolder(devsh), '20200101-000000-aaaa7m.jsonl'), 'no journal\n{}\n');
  const { stdout, stderr, exitCode } = await devsh('runs');
  expect(stdout).toContain(name.replace('.jsonl', ''));
  expect(stdout).toContain('unreadable');
  expect(stderr).toContain('20200101-000000-aaaa7m.jsonl:1: damaged line in the journal');
  expect(exitCode).toBe(1);
});

test('undo reverts the latest run, also of the same second, and undo of that restores it', async () => {
  const { devsh, device } = await startFleet();
  const before = device(1).users;
  await devsh(['run', '-'], {
    stdin: 'user add username=one --on sim1 --yes\nuser add username=two --on sim1 --yes\n',
  });
  expect((await devsh('undo --yes')).exitCode).toBe(0);
  expect(usernames(device(1)).slice(before.length)).toEqual(['one']);
  expect((await devsh('undo --yes --allow loss')).stdout).toContain(
    'two  added - new from the device: uuid',
  );
  expect(usernames(device(1)).slice(before.length)).toEqual(['one', 'two']);
});

test('the second undo in a row says that it undoes the undo', async () => {
  const { devsh, device } = await startFleet();
  await devsh('user set viewer lang=fr --on sim1 --yes');
  const [set = ''] = (await journals(devsh)).map((name) => name.replace('.jsonl', ''));
  expect((await devsh('undo --yes')).stderr).toContain(`undoes run ${set}, began`);
  for (const line of ['undo --dry-run', 'undo --yes']) {
    const { stderr } = await devsh(line);
    const says = `undoes the undo of run ${set}: run \\S+, began .*: undo`;
    expect(stderr).toMatch(new RegExp(says));
  }
  expect(device(1).users.find(({ username }) => username === 'viewer')?.lang).toBe('fr');
});

test('undo skips runs that changed nothing or failed, and names the one it reverts', async () => {
  const { devsh, device } = await startFleet();
  await devsh('user add username=zoe lang=de --on sim1 --yes');
  await devsh('user add username=zoe lang=de --on sim1 --yes');
  device(1).setFault('500-once', 1, { method: 'POST' });
  expect((await devsh('user set zoe lang=fr --on sim1 --yes')).exitCode).toBe(1);
  const [added = '', unchanged = ''] = (await journals(devsh)).map((name) =>
    name.replace('.jsonl', ''),
  );
  const named = await devsh(`undo ${unchanged} --yes`);
  expect(named.stderr).toContain(`the newest one that changed its devices: "undo ${added}"`);
  expect(named.exitCode).toBe(6);
  const { stderr, exitCode } = await devsh('undo --yes');
  expect(stderr).toMatch(
    new RegExp(
      `undoes run ${added}, began \\d\\d:\\d\\d UTC\\S*: user add username=zoe lang=de --on sim1 --yes\n`,
    ),
  );
  expect(exitCode).toBe(0);
  expect(usernames(device(1))).not.toContain('zoe');
});

test('undo means the newest run that changed the selected devices, and these alone', async () => {
  const { devsh, device } = await startFleet({ devices: 3 });
  await devsh('user add username=one --on sim1,sim3 --yes');
  await devsh('user add username=two --on sim2 --yes');
  const undone = await devsh('undo --on sim1 --yes');
  expect(undone.exitCode).toBe(0);
  expect(undone.stderr).toContain('user add username=one --on sim1,sim3 --yes');
  expect(usernames(device(1))).not.toContain('one');
  expect(usernames(device(3))).toContain('one');
  expect(usernames(device(2))).toContain('two');
  const other = await devsh('undo --on sim3 --yes');
  expect(other.exitCode).toBe(0);
  expect(usernames(device(3))).not.toContain('one');
  const [run = ''] = await journals(devsh);
  const elsewhere = await devsh(`undo ${run.replace('.jsonl', '')} --on sim2 --yes`);
  expect(elsewhere.stderr).toContain('changed sim1, sim3, but none of the named devices');
  expect(elsewhere.exitCode).toBe(6);
});

test('if no run changed the selected devices, undo names one that changed others', async () => {
  const { devsh, writes } = await startFleet({ devices: 2 });
  expect((await devsh('undo --on sim1 --yes')).stderr).toContain(
    'there is nothing to undo: no run has changed sim1\n',
  );
  await devsh('user add username=two --on sim2 --yes');
  const { stderr, exitCode } = await devsh('undo --on sim1 --yes');
  expect(stderr).toMatch(
    /no run has changed sim1; the newest one that changed other devices: "undo/,
  );
  expect(exitCode).toBe(1);
  expect(writes()).toHaveLength(1);
});

test('a run of another terminal is undone by its id or after a question, never by --yes alone', async () => {
  const { devsh, device, writes } = await startFleet();
  const other = { env: { TERM_SESSION_ID: 'another' } };
  await devsh('user add username=theirs --on sim1 --yes', other);
  const [name = ''] = await journals(devsh);
  const id = name.replace('.jsonl', '');
  const refused = await devsh('undo --on sim1 --yes');
  expect(refused.stderr).toContain(`is not of this terminal: "undo ${id}" undoes it`);
  expect(refused.stderr).toContain('user add username=theirs --on sim1 --yes');
  expect(refused.exitCode).toBe(6);
  expect((await devsh('undo --on sim1')).exitCode).toBe(6);
  expect(writes()).toHaveLength(1);
  const declined = await devsh('undo --on sim1', { tty: ['n'] });
  expect(declined.stderr).toMatch(
    new RegExp(`undoes run ${id} of another terminal, began .*: user add`),
  );
  expect(declined.exitCode).toBe(6);
  // Runs of this terminal come first, even if another one has run something since.
  await devsh('user add username=ours --on sim1 --yes');
  await devsh('user set viewer lang=de --on sim1 --yes', other);
  expect((await devsh('undo --on sim1 --yes')).exitCode).toBe(0);
  expect(usernames(device(1)).slice(-1)).toEqual(['theirs']);
  expect((await devsh(`undo ${id} --yes`)).exitCode).toBe(0);
  expect(usernames(device(1))).not.toContain('theirs');
});

test('a run without a terminal in its journal needs a question, one of another user its id', async () => {
  const { devsh, device } = await startFleet();
  await devsh('user add username=zoe --on sim1 --yes');
  const [name = ''] = await journals(devsh);
  const path = join(runsFolder(devsh), name);
  const journal = await readFile(path, 'utf8');
  const older = journal.replace(/"session":"[0-9a-f]{12}",/, '');
  expect(older).not.toBe(journal);
  await writeFile(path, older);
  expect((await devsh('undo --on sim1 --yes')).exitCode).toBe(6);
  const asked = await devsh('undo --on sim1', { tty: ['n'] });
  expect(asked.stderr).toContain('of no known terminal');
  await writeFile(path, older.replace(/"by":"[^"]*"/, '"by":"ann@noc"'));
  const refused = await devsh('undo --on sim1', { tty: ['y'] });
  expect(refused.stderr).toContain('of ann@noc, began');
  expect(refused.exitCode).toBe(6);
  expect(usernames(device(1))).toContain('zoe');
  expect((await devsh(`undo ${name.replace('.jsonl', '')} --yes`)).exitCode).toBe(0);
});

test('undo names newer journals that it could not read', async () => {
  const { devsh } = await startFleet();
  await devsh('user add username=zoe --on sim1 --yes');
  await writeFile(join(runsFolder(devsh), '29990101-000000-aaaa7m.jsonl'), 'no journal\n{}\n');
  await writeFile(join(runsFolder(devsh), '20000101-000000-aaaa7m.jsonl'), 'no journal\n{}\n');
  const { stderr, exitCode } = await devsh('undo --on sim1 --yes');
  expect(stderr).toContain('unreadable journals: 29990101-000000-aaaa7m\n');
  expect(exitCode).toBe(0);
});

test('undo does not overwrite later changes of others without --allow drift', async () => {
  const { devsh, device } = await startFleet();
  await devsh('user set viewer lang=de --on sim1 --yes');
  device(1).putUser({ username: 'viewer', lang: 'ja' });
  const refused = await devsh('undo --yes --json');
  expect(verdicts(refused.stdout)).toEqual(['drift']);
  expect(refused.exitCode).toBe(7);
  expect(device(1).users.find(({ username }) => username === 'viewer')?.lang).toBe('ja');
  const [name = ''] = await journals(devsh);
  const forced = await devsh(`undo ${name.replace('.jsonl', '')} --yes --allow drift --json`);
  expect(verdicts(forced.stdout)).toEqual(['done']);
  expect(device(1).users.find(({ username }) => username === 'viewer')?.lang).toBe('en');
});

test('undo keeps changes of others in other fields of the record', async () => {
  const { devsh, device } = await startFleet();
  await devsh('user set viewer lang=de --on sim1 --yes');
  device(1).putUser({ username: 'viewer', lastname: 'Theirs' });
  const asked = await devsh('undo --yes');
  expect(asked.stdout).toContain('last name Theirs, not');
  expect(asked.exitCode).toBe(6);
  expect((await devsh('undo --yes --also sim1=viewer')).exitCode).toBe(0);
  const viewer = device(1).users.find(({ username }) => username === 'viewer');
  expect(viewer).toMatchObject({ lang: 'en', lastname: 'Theirs' });
});

test('resume sends what had no clear answer or was never reached', async () => {
  const { devsh, device, writes } = await startFleet({ devices: 4 });
  device(2).setFault('500-once', 1, { method: 'POST' });
  const line = 'user add username=zoe --on @lab --yes --max-failures 0 --json';
  const first = await devsh(line);
  expect(verdicts(first.stdout)).toEqual(['done', 'failed', 'skipped', 'skipped']);
  expect(first.stderr).toContain('stopped: 1 of 4 devices failed; --max-failures allows 0');
  expect(first.exitCode).toBe(3);
  expect(verdicts((await devsh('resume --yes --json')).stdout)).toEqual(['done', 'done', 'done']);
  expect(writes()).toHaveLength(5);
});

test('what a device refused is no longer pending, and sent again only by "resume RUN"', async () => {
  const { devsh, device, writes } = await startFleet({ devices: 2 });
  device(2).setFault('409', true, { method: 'POST' });
  const { run } = JSON.parse(
    (await devsh('user add username=zoe --on @lab --yes --json')).stdout,
  ) as { run: string };
  device(2).clearFaults();
  expect((await devsh('resume --yes')).stderr).toContain('nothing is pending');
  expect(writes()).toHaveLength(2);
  expect(verdicts((await devsh(`resume ${run} --yes --json`)).stdout)).toEqual(['done']);
  expect(usernames(device(2))).toContain('zoe');
});

test('resume continues on the named devices alone', async () => {
  const { devsh, device } = await startFleet({ devices: 3 });
  for (const number of [1, 2, 3]) device(number).setFault('500-once', 1, { method: 'POST' });
  await devsh('user add username=one --on sim1,sim3 --yes');
  await devsh('user add username=two --on sim2 --yes');
  const resumed = await devsh('resume --on sim1 --yes');
  expect(resumed.stdout).toMatch(/✓ one {2}added .* sim1$/m);
  expect(resumed.stdout).not.toMatch(/sim[23]/);
  expect(resumed.exitCode).toBe(0);
  expect(usernames(device(3))).not.toContain('one');
  expect((await devsh('resume --on sim3 --yes')).exitCode).toBe(0);
  expect(usernames(device(3))).toContain('one');
  expect(usernames(device(2))).not.toContain('two');
  const nothing = await devsh('resume --on sim1 --yes');
  expect(nothing.stderr).toContain('nothing is pending on the named devices');
});

// Only root may start processes whose session leader they cannot see.
const namespace = ['--pid', '--fork', '--mount-proc'];
test.runIf(spawnSync('unshare', [...namespace, 'true']).status === 0)(
  'in a container that hides the session leader, a nested shell is still this terminal',
  async () => {
    const { devsh, device } = await startFleet();
    const program = `'${process.execPath}' '${inject('cli')}'`;
    const script = `${program} user add username=zoe --on sim1 --yes; sh -c "${program} undo --yes; true"`;
    const env = programEnv(devsh.folder);
    await promisify(execFile)('unshare', [...namespace, 'sh', '-c', script], { env });
    expect(device(1).log.map(({ method }) => method)).toContain('POST');
    expect(usernames(device(1))).not.toContain('zoe');
  },
);

test('a declined canary question leaves the rest for resume', async () => {
  const { devsh, device, writes } = await startFleet({ devices: 3 });
  const line = 'user add username=zoe --on @lab --canary 1';
  const declined = await devsh(line, { tty: ['3', 'n'] });
  expect(declined.stderr).toContain('Type 2 to continue with the other 2 devices');
  expect(declined.stdout).toContain('stopped after the canary');
  expect(declined.exitCode).toBe(3);
  expect(writes()).toHaveLength(1);
  expect((await devsh('resume --yes')).exitCode).toBe(0);
  expect(usernames(device(3))).toContain('zoe');
});

test('after the canary a login that no longer works stops the roll-out', async () => {
  const { devsh, device, writes } = await startFleet({ devices: 3 });
  // As if the change had broken it: after the first write every login is refused.
  const watch = setInterval(() => {
    const isRead = device(1).log.at(-1)?.method === 'GET';
    if (writes().length > 0 && isRead) device(1).setFault('401');
  }, 1);
  const { stdout, exitCode } = await devsh('user add username=zoe --on @lab --canary 1 --yes');
  clearInterval(watch);
  expect(stdout).toMatch(/add skipped .*sim2/);
  expect(exitCode).not.toBe(0);
  expect(writes()).toHaveLength(1);
});

test('a frozen plan reports a changed device as drift, and --replan plans again', async () => {
  const { devsh, device, writes } = await startFleet({ devices: 2 });
  const file = join(devsh.folder, 'monday.plan');
  await devsh(['plan', '-', '--on', '@lab', '-o', file], { stdin: ADD });
  expect((await readFile(file, 'utf8')).trimEnd().split('\n')).toHaveLength(5);
  device(1).putUser({ username: 'zoe', lang: 'fr' });
  const applied = await devsh(['apply', file, '--yes', '--json']);
  expect(verdicts(applied.stdout)).toEqual(['drift', 'done']);
  expect(applied.exitCode).toBe(3);
  expect(writes()).toHaveLength(1);
  const replanned = await devsh(['apply', file, '--yes', '--json', '--replan']);
  expect(verdicts(replanned.stdout)).toEqual(['differs', 'unchanged']);
});

test('a frozen plan makes nobody again whom devsh has deleted since, or still has to', async () => {
  const { devsh, device, writes } = await startFleet({ devices: 3 });
  const file = join(devsh.folder, 'monday.plan');
  await devsh(['plan', '-', '--on', '@lab', '-o', file], { stdin: ADD });
  await devsh('user add username=zoe first_name=Zoe lang=de --on sim1 --yes');
  await devsh('user delete zoe --on sim1 --yes');
  device(2).setFault('refuse');
  await devsh('user delete zoe --on sim1,sim2 --yes');
  device(2).setFault('refuse', false);
  const before = writes().length;
  const applied = await devsh(['apply', file, '--yes', '--json']);
  expect(verdicts(applied.stdout).toSorted()).toEqual(['done', 'drift', 'drift']);
  expect(applied.stdout).toMatch(/zoe was deleted since the plan by run [-\w]+; nothing was sent/);
  expect(applied.exitCode).toBe(3);
  expect(writes()).toHaveLength(before + 1);
  const alone = await devsh(['apply', file, '--on', 'sim1', '--yes']);
  expect(alone.exitCode).toBe(7);
  const replanned = await devsh(['apply', file, '--on', 'sim1', '--yes', '--json', '--replan']);
  expect(verdicts(replanned.stdout)).toEqual(['done']);
});

test('resume makes nobody again whom devsh has deleted since, though the first try failed', async () => {
  const { devsh, device, writes } = await startFleet({ devices: 1 });
  device(1).setFault('422-fields');
  const failed = await devsh('user add username=zoe first_name=Zoe lang=de --on sim1 --yes --json');
  const { run } = JSON.parse(failed.stdout) as { run: string };
  expect(verdicts(failed.stdout)).toEqual(['failed']);
  device(1).setFault('422-fields', false);
  await devsh('user add username=zoe first_name=Zoe lang=de --on sim1 --yes');
  await devsh('user delete zoe --on sim1 --yes');
  const before = writes().length;
  const resumed = await devsh(`resume ${run} --yes`);
  expect(resumed.stderr).toMatch(/sim1: add user zoe: replaced by run [-\w]+/);
  expect(writes()).toHaveLength(before);
});

test('a frozen plan is refused by --read-only and by a device that became read-only', async () => {
  const { devsh, device, writes } = await startFleet();
  const file = join(devsh.folder, 'monday.plan');
  await devsh(['plan', '-', '--on', '@lab', '-o', file], { stdin: ADD });
  expect((await devsh(['apply', file, '--yes', '--read-only'])).exitCode).toBe(6);
  await devsh('device remove sim1');
  await devsh(`device add sim1 ${device(1).address} --group lab --read-only`);
  const { stdout, exitCode } = await devsh(['apply', file, '--yes']);
  expect(stdout).toContain('read-only in the inventory');
  expect(exitCode).toBe(6);
  expect(writes()).toEqual([]);
});

test('a plan file that holds a secret is not written, one that is damaged or old is refused', async () => {
  const { devsh, writes } = await startFleet();
  const file = join(devsh.folder, 'monday.plan');
  const secret = '- add: user\n  fields: {username: zoe, password: hunter2}\n';
  expect((await devsh(['plan', '-', '--on', '@lab', '-o', file], { stdin: secret })).exitCode).toBe(
    6,
  );
  await devsh(['plan', '-', '--on', '@lab', '-o', file, '--expires', '0.001'], { stdin: ADD });
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replaceAll('"lang":"de"', '"lang":"fr"'));
  const damaged = await devsh(['apply', file, '--yes']);
  expect(damaged.stderr).toContain('was cut or changed since it was written');
  expect(damaged.exitCode).toBe(6);
  await rm(file);
  expect(writes()).toEqual([]);
});

test('plan may look at a read-only session, and a device that is down is never "no change"', async () => {
  const { devsh, device, writes } = await startFleet({ devices: 2 });
  device(2).setFault('refuse');
  const argv = ['plan', '-', '--on', '@lab', '--read-only'];
  const { stdout, exitCode } = await devsh(argv, { stdin: ADD });
  expect(stdout).toContain('not reached: sim2 - ');
  expect(stdout).toContain('1 to add · 1 not reached');
  expect(exitCode).toBe(3);
  const json = await devsh([...argv, '--json'], { stdin: ADD });
  expect(JSON.parse(json.stdout)).toMatchObject({
    plan: [
      { device: 'sim1', steps: [{ action: 'add' }] },
      { device: 'sim2', steps: [], error: { code: 'unreachable' } },
    ],
  });
  expect(writes()).toEqual([]);
});

test.each([
  ['- set: user\n  key: bob\n  feilds: {lang: de}\n', '3:3', 'did you mean "fields"?'],
  ['- set: user\n  where: lang=\n  key: bob\n  fields: {lang: de}\n', '1:3', 'either "key: bob"'],
  ['- add: user\n  fields: {username: a}\n- add: user\n  fields: {username: a}\n', '3:3', 'twice'],
  ['[{"delete": "user", "key": ""}]', '1:28', '"key" must be text'],
])('a change set with a mistake is refused with its place: %j', async (stdin, place, text) => {
  const { devsh, devices } = await startFleet();
  const { stderr, exitCode } = await devsh(['apply', '-', '--on', 'sim1', '--yes'], { stdin });
  expect(stderr).toContain(`standard input:${place}: `);
  expect(stderr).toContain(text);
  expect(exitCode).toBe(2);
  expect(devices[0]?.log).toEqual([]);
});

test.each([
  ['username,lang\nzoe,de\nzoe,fr\n', 'standard input:3: user zoe appears twice (first in line 2)'],
  ['username,lang\nzoe,de,x\n', 'standard input:2: 3 cells, but the first line has 2'],
  ['username,lang\n,de\n', 'standard input:2'],
])('a CSV file with a mistake is refused with its line: %j', async (stdin, text) => {
  const { devsh, devices } = await startFleet();
  const { stderr, exitCode } = await devsh(['apply', '-', '--on', 'sim1', '--yes'], { stdin });
  expect(stderr).toContain(text);
  expect(exitCode).toBe(2);
  expect(devices[0]?.log).toEqual([]);
});

test('a CSV value may hold the other separators', async () => {
  const { devsh, device } = await startFleet();
  const stdin = 'username;first_name;lang\nzoe;"Zoe, the first";de\nmax;a,b;fr\n';
  expect((await devsh(['apply', '-', '--on', 'sim1', '--yes'], { stdin })).exitCode).toBe(0);
  expect(device(1).users.at(-1)).toMatchObject({ username: 'max', first_name: 'a,b' });
});

test('two changes of one record are refused before anything is sent', async () => {
  const { devsh, writes } = await startFleet();
  const stdin =
    '- set: user\n  key: viewer\n  fields: {lang: de}\n- set: user\n  where: username=viewer\n  fields: {lastname: X}\n';
  const { stderr, exitCode } = await devsh(['apply', '-', '--on', 'sim1', '--yes'], { stdin });
  expect(stderr).toContain('user viewer would be changed twice');
  expect(exitCode).toBe(2);
  expect(writes()).toEqual([]);
});

test('apply --confirm keeps a confirmed change, and Ctrl-C reverts it', async () => {
  const { devsh, device } = await startFleet({ devices: 2, latencyMs: 20 });
  const file = join(devsh.folder, 'add.yaml');
  await writeFile(file, ADD);
  const kept = await devsh(['apply', file, '--on', 'sim1', '--confirm', '60'], {
    tty: ['y', 'keep'],
  });
  expect(kept.exitCode).toBe(0);
  expect(usernames(device(1))).toContain('zoe');
  const cancelled = await devsh(['apply', file, '--on', 'sim2', '--yes', '--confirm', '60'], {
    stopAt: { text: 'unless you confirm', signal: 'SIGINT' },
  });
  expect(cancelled.stderr).toContain('undoing run');
  expect(cancelled.exitCode).toBe(130);
  expect(usernames(device(2))).not.toContain('zoe');
});
