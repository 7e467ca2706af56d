import { appendFile, chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startFleet } from './devsh.ts';

const DOWN = 'refuse';

interface Document {
  readonly unread: readonly string[];
  readonly runs: readonly { readonly command: string; readonly devices: readonly unknown[] }[];
  readonly pending: readonly Record<string, unknown>[];
  readonly changes: readonly Record<string, unknown>[];
  readonly coverage: readonly { readonly device: string; readonly readings: number }[];
  readonly clocks: readonly {
    readonly device: string;
    readonly clock: string;
    readonly aheadMs?: readonly [number, number];
    readonly measured?: string;
  }[];
}

/** Three devices that were read once, before the incident. */
async function startIncident() {
  const fleet = await startFleet({ devices: 3 });
  const { devsh } = fleet;
  await devsh('user list --on @lab');
  const report = async (options = '--since 1h') => {
    const { stdout, exitCode, stderr } = await devsh(`report ${options} --json`);
    const { report } = JSON.parse(stdout) as { report: Document };
    return { ...report, exitCode, stderr };
  };
  const elsewhere = (line: string) =>
    devsh(`${line} --yes`, { env: { XDG_STATE_HOME: join(devsh.folder, 'elsewhere') } });
  return { ...fleet, report, elsewhere, state: join(devsh.folder, 'state/devsh') };
}

test('one document has the runs, what is pending, what others changed, coverage and clocks', async () => {
  const { devsh, device, elsewhere, report } = await startIncident();
  device(3).setFault(DOWN, true);
  await devsh('user delete viewer --on @lab --yes --reason INC-4711');
  await elsewhere('user add username=eve lang=de first_name=E lastname=V --on sim1');
  await devsh('user list --on sim1,sim2');

  const markdown = await devsh('report --since 1h');
  expect(markdown).toMatchObject({ exitCode: 0, stderr: '' });
  const lines = markdown.stdout.split('\n');
  const row = (start: RegExp): string | undefined => lines.find((line) => start.test(line));
  expect(row(/^# devsh record of /)).toMatch(/Z to \d{4}-\d\d-\d\dT[\d:.]+Z$/);
  expect(row(/^\| Since/)).toMatch(/UTC/);
  expect(row(/user delete viewer --on/)).toMatch(/\| 2 done · 1 failed \| sim3 \|$/);
  expect(row(/^\| \S+ \| sim3 \| delete/)).toMatch(
    /\| sim3 \| delete user viewer \| not reached \| \d/,
  );
  expect(row(/not by a run/)).toMatch(
    /\| sim1 \| user eve added \| not by a run of this devsh \|$/,
  );
  expect(row(/^\| sim3 \| user/)).toMatch(/\| 1 \| .*Z \| .*Z \|$/);
  expect(row(/agrees within/)).toMatch(/agrees within [012](\.\d)? s \| \d{4}-/);
  // The whole report of the run is in it, a level deeper.
  expect(markdown.stdout).toContain('\n## devsh run ');
  expect(markdown.stdout).toContain('| Reason | INC-4711 |');
  expect(markdown.stdout).toContain('\n#### delete user viewer: done\n');

  const data = await report();
  expect(data.runs.map(({ command }) => command)).toEqual([expect.stringContaining('viewer')]);
  expect(data.pending).toMatchObject([{ device: 'sim3', change: 'delete user viewer' }]);
  expect(data.changes).toMatchObject([{ device: 'sim1', key: 'eve', author: 'other', run: null }]);
  const json = await devsh('report --since 1h --json');
  expect(Object.keys((JSON.parse(json.stdout) as { report: object }).report)).toContain('clocks');
});

test('what is pending is in the record of the time in which it arose, was made or dropped', async () => {
  const { devsh, device, report } = await startIncident();
  device(3).setFault(DOWN, true);
  await devsh('user delete viewer --on @lab --yes');
  await devsh('user set admin lang=fr --on @lab --yes');
  const { stdout } = await devsh('pending --json');
  const { pending } = JSON.parse(stdout) as { pending: { id: string; change: string }[] };
  const set = pending.find(({ change }) => change.startsWith('set'))?.id ?? '';
  const between = new Date().toISOString();
  await devsh(['pending', 'drop', set, '--reason', 'INC-4712']);
  device(3).setFault(DOWN, false);
  await devsh('resume --yes');
  const after = new Date(Date.now() + 1).toISOString();
  const states = async (options: string) =>
    (await report(options)).pending.map(({ change, state }) => [change, state]);

  const closed = [
    ['delete user viewer', expect.stringMatching(/^continued by run /) as string],
    ['set user admin lang=fr', expect.stringMatching(/^dropped by .*: INC-4712$/) as string],
  ];
  expect(await states(`--since 1h --until ${between}`)).toEqual([
    ['delete user viewer', 'not reached'],
    ['set user admin lang=fr', 'not reached'],
  ]);
  expect(await states('--since 1h')).toEqual(closed);
  expect(await states(`--since ${between}`)).toEqual(closed);
  expect(await states(`--since ${after}`)).toEqual([]);
});

test('has no run and no change of another time, and says so', async () => {
  const { devsh } = await startIncident();
  await devsh('user delete viewer --on @lab --yes');
  await new Promise((resolve) => setTimeout(resolve, 5));
  const now = new Date().toISOString();
  const { stdout, exitCode, stderr } = await devsh(`report --since ${now}`);
  expect(stdout).toContain('Nothing is known of this time');
  expect(stdout).not.toContain('viewer');
  // Nobody read the devices in that time.
  expect(stdout).toMatch(/- not read then, last read .* UTC.*: sim1, sim2, sim3/);
  expect(stderr).toContain('not read then');
  expect(exitCode).toBe(3);
});

test('works before anything is known', async () => {
  const { devsh } = await startFleet({ devices: 1, isListed: false });
  const { stdout, exitCode } = await devsh('report --since 03:00');
  expect(stdout).toContain('Nothing is known of this time');
  expect(exitCode).toBe(0);
});

test('names damaged journals and histories in the document, and ends with 3', async () => {
  const { devsh, report, state } = await startIncident();
  await devsh('user delete viewer --on @lab --yes');
  await devsh('user list --on @lab');
  const [journal = ''] = await readdir(join(state, 'runs'));
  const path = join(state, 'runs', journal);
  const whole = await readFile(path, 'utf8');
  await writeFile(path, `{\n${whole}`);
  await appendFile(join(state, 'readings/sim2.jsonl'), 'rubbish\n');

  const { unread, exitCode, runs, changes } = await report();
  expect(exitCode).toBe(3);
  expect(unread).toEqual([
    expect.stringMatching(new RegExp(`^run ${journal.replace('.jsonl', '')}: .*damaged line`)),
    expect.stringMatching(/the history has gaps: .*sim2\.jsonl/),
  ]);
  const { stderr } = await devsh('report --since 1h');
  for (const text of unread) expect(stderr).toContain(text);
  expect(runs).toEqual([]);
  // What a run did that cannot be read is not laid at another's door.
  expect(changes.map(({ author }) => author)).toEqual(['unknown', 'unknown', 'unknown']);
  const { stdout } = await devsh('report --since 1h');
  expect(stdout).toMatch(/## Could not be read\n\n- run .*\n- the history has gaps/);
});

test('an unreadable history of one device hides no other', async () => {
  const { report, state } = await startIncident();
  const path = join(state, 'readings/sim2.jsonl');
  await chmod(path, 0o000);
  // Root reads it anyway.
  const isReadable = await readFile(path).then(
    () => true,
    () => false,
  );
  const { unread, coverage, exitCode } = await report();
  expect(coverage.map(({ device }) => device)).toContain('sim3');
  if (isReadable) return;
  expect(unread).toEqual([expect.stringContaining('permission denied')]);
  expect(exitCode).toBe(3);
});

test('never claims to know the clock of a device that was not read', async () => {
  const { report, devsh } = await startIncident();
  await devsh('device add other 192.0.2.1');
  const again = Date.now();
  await devsh('user list --on sim1');
  const { clocks, exitCode } = await report();
  const [sim1, , , other] = clocks;
  expect(other).toMatchObject({ device: 'other', clock: 'not measured' });
  expect(Date.parse(sim1?.measured ?? '')).toBeGreaterThan(again - 1000);
  // Each bound is true: the device has the clock of this machine.
  expect(sim1?.aheadMs?.[0]).toBeLessThanOrEqual(0);
  expect(sim1?.aheadMs?.[1]).toBeGreaterThanOrEqual(0);
  expect(exitCode).toBe(3);
});

test('shows no secret and breaks out of no cell', async () => {
  const { devsh, elsewhere, report } = await startIncident();
  const token = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
  await devsh(['user', 'set', 'viewer', `password=${token}`, '--on', 'sim1', '--yes']);
  await elsewhere(
    `user add username=eve password=${token} lang=de first_name=E lastname=V --on sim2`,
  );
  await elsewhere('user set viewer first_name=x|<b> --on sim1');
  await devsh('user list --on @lab');
  const { stdout } = await devsh('report --since 1h');
  expect(stdout).toContain('&#124;&#60;b&#62;');
  expect(stdout).not.toContain('<b>');
  expect(stdout + JSON.stringify(await report())).not.toMatch(/ghp_|admin-secret/);
});

test.each([
  ['report --until 03:00', '--until needs --since'],
  ['report 20260101-000000-abcdef --since 1h', 'either a RUN or --since'],
  ['report --since tomorrow', 'neither a time'],
  ['report --since yesterday', '"yesterday" is neither a time (2d, 03:00, "yesterday 03:00", '],
  ['report --since yesterday 03:00', 'needs quotes: --since "yesterday 03:00"'],
  ['report --since 1h --until 2h', '--since is after --until'],
])('refuses %s', async (line, text) => {
  const { devsh } = await startFleet({ devices: 1 });
  const { stderr, exitCode } = await devsh(line);
  expect(stderr).toContain(text);
  expect(exitCode).toBe(2);
});

test('--output writes the document, and --since takes a run', async () => {
  const { devsh } = await startIncident();
  const run = await devsh('user delete viewer --on @lab --yes --json');
  const id = (JSON.parse(run.stdout) as { run: string }).run;
  const file = join(devsh.folder, 'incident.md');
  const { stdout, stderr, exitCode } = await devsh(`report --since ${id} -o ${file}`);
  expect([stdout, exitCode]).toEqual(['', 0]);
  expect(stderr).toContain(`wrote the report to ${file}`);
  expect(await readFile(file, 'utf8')).toMatch(/^# devsh record of /);
});
