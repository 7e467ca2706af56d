import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Devsh, startFleet, usernames } from './devsh.ts';

const ADD = '- add: user\n  fields: {username: zoe, first_name: Z, lastname: Zoe, lang: de}\n';
const ADD_ZOE = 'user add username=zoe first_name=Z lastname=Zoe lang=de --on sim1'.split(' ');

async function requireReason({ folder }: { folder: string }): Promise<void> {
  await mkdir(join(folder, 'config/devsh'), { recursive: true });
  await writeFile(join(folder, 'config/devsh/settings.json'), '{"requireReason": true}');
}

async function journalsOf({ folder }: { folder: string }): Promise<string[]> {
  const runs = join(folder, 'state/devsh/runs');
  const names = (await readdir(runs)).filter((name) => name.endsWith('.jsonl')).sort();
  return Promise.all(names.map((name) => readFile(join(runs, name), 'utf8')));
}

/** The reasons of all runs, the newest first. */
async function reasons(devsh: Devsh): Promise<unknown[]> {
  const { stdout } = await devsh('runs --json');
  const { runs } = JSON.parse(stdout) as { runs: { reason?: string }[] };
  return runs.map(({ reason }) => reason);
}

test('a reason is in the journal, in "runs", and in every report', async () => {
  const { devsh } = await startFleet();
  const why = 'INC-4711: new colleague | <b>';
  expect(await devsh([...ADD_ZOE, '--reason', why, '--yes'])).toMatchObject({ exitCode: 0 });
  expect((await journalsOf(devsh))[0]).toContain(`"reason":"${why}"`);
  expect(await reasons(devsh)).toEqual([why]);
  expect((await devsh('runs')).stdout).toContain(why);
  expect((await devsh('runs show')).stderr).toContain(`reason: ${why}`);
  expect((await devsh('report')).stdout).toContain(
    '| Reason | INC-4711: new colleague &#124; &#60;b&#62; |',
  );
  expect(JSON.parse((await devsh('report --json')).stdout)).toMatchObject({
    report: { reason: why },
  });
});

test('a secret in a reason is in no file, and in nothing that is printed', async () => {
  const { devsh } = await startFleet();
  const added = await devsh([
    ...ADD_ZOE,
    '--reason',
    'set password=hunter2 at https://me:hunter2@x',
    '--yes',
    '-v',
  ]);
  expect(added.exitCode).toBe(0);
  const reports = await Promise.all(
    ['runs --json', 'report --json', 'report'].map((line) => devsh(line)),
  );
  const texts = [added, ...reports].flatMap(({ stdout, stderr }) => [stdout, stderr]);
  expect([...(await journalsOf(devsh)), ...texts].join('\n')).not.toContain('hunter2');
  expect(await reasons(devsh)).toEqual(['set password=***']);
});

test.each([
  ['', 'is empty'],
  ['one\ntwo', 'one line without control characters'],
  ['\u001b[2J', 'one line without control characters'],
  ['x'.repeat(201), 'at most 200 characters'],
])('the reason %j is refused before anything is sent', async (text, message) => {
  const { devsh, writes } = await startFleet();
  const { stderr, exitCode } = await devsh([...ADD_ZOE, '--yes', '--reason', text]);
  expect(stderr).toContain(message);
  expect(exitCode).toBe(2);
  expect(writes()).toEqual([]);
});

test('a required reason is asked for on a terminal; without one nothing is sent', async () => {
  const { devsh, device, writes } = await startFleet();
  await requireReason(devsh);
  const refused = await devsh([...ADD_ZOE, '--yes']);
  expect(refused.stderr).toContain('requireReason');
  expect(refused.exitCode).toBe(6);
  expect((await devsh([...ADD_ZOE, '--yes'], { tty: [''] })).exitCode).toBe(6);
  expect((await devsh('delete /api/user/bob/ --on sim1 --yes')).exitCode).toBe(6);
  expect(writes()).toEqual([]);
  expect((await devsh([...ADD_ZOE, '--dry-run'])).exitCode).toBe(0);

  const asked = await devsh([...ADD_ZOE], { tty: ['INC-1', 'y'] });
  expect(asked.exitCode, asked.stderr).toBe(0);
  expect(asked.stdout + asked.stderr).toContain('Reason for this change:');
  expect(usernames(device(1))).toContain('zoe');
  expect(await reasons(devsh)).toEqual(['INC-1']);
});

test('a plan file keeps its reason, and an automatic undo has that of its run', async () => {
  const { devsh, device } = await startFleet();
  await requireReason(devsh);
  const [changes, plan] = ['zoe.yaml', 'zoe.plan'].map((name) => join(devsh.folder, name));
  if (changes === undefined || plan === undefined) throw new RangeError('no paths');
  await writeFile(changes, ADD);
  await devsh(['plan', changes, '--on', 'sim1', '-o', plan, '--reason', 'INC-2']);
  const { stderr, exitCode } = await devsh(['apply', plan, '--yes', '--confirm', '1']);
  expect(stderr).toContain('devsh undid run');
  expect(exitCode).toBe(6);
  expect(await reasons(devsh)).toEqual(['INC-2', 'INC-2']);
  expect(usernames(device(1))).not.toContain('zoe');

  await devsh(['apply', plan, '--yes', '--reason', 'INC-3']);
  expect((await reasons(devsh))[0]).toBe('INC-3');
  expect((await devsh('undo --yes')).exitCode).toBe(6);
  expect((await devsh(['undo', '--yes', '--reason', 'back'])).exitCode).toBe(0);
});

test('a raw request keeps its reason, also if nobody knows what it does', async () => {
  const { devsh } = await startFleet();
  await devsh('post /api/user/ username=zoe --on sim1 --yes --reason INC-5');
  expect(await reasons(devsh)).toEqual(['INC-5']);
  const line = 'post /api/reload/ now=1 --on sim1 --yes --reason INC-6';
  await devsh(line);
  expect(await reasons(devsh)).toEqual(['INC-6', 'INC-5']);
});
