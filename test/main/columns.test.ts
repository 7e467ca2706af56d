import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startFleet, type Devsh } from './devsh.ts';

const SCREEN = { tty: [], env: { NO_COLOR: '1' } };

/** The output of a line typed at the plain prompt. */
async function typed(devsh: Devsh, line: string): Promise<string> {
  const { stderr } = await devsh('--plain', { ...SCREEN, tty: [line, 'quit'] });
  return stderr;
}

test('columns chosen at a prompt apply to the next lists on a terminal, until auto', async () => {
  const { devsh } = await startFleet();
  const header = async (line: string): Promise<string> =>
    (await devsh(line, SCREEN)).stdout.split('\n')[0]?.replace(/ +/g, ' ').trim() ?? '';
  const all = await header('user list --on sim1');
  expect(all).toContain('FIRST NAME');
  const line = 'user list --on sim1 --columns username,lang';
  expect(await typed(devsh, line)).toContain(
    'these columns from now on; --columns auto shows all again',
  );
  const next = await devsh('user list --on sim1', SCREEN);
  expect(next.stdout).toMatch(/^USERNAME +LANG +DEVICE\n/);
  expect(next.stderr).toContain('3 fields hidden (--columns auto shows them)');
  expect(await typed(devsh, line)).not.toContain('from now on');
  expect(await header('user list --on sim1 --columns auto')).toBe(all);
  expect(await header('user list --on sim1')).toBe(all);
  const settings = await readFile(join(devsh.folder, 'config/devsh/settings.json'), 'utf8');
  expect(JSON.parse(settings)).toEqual({});
});

test('columns of a one-shot and of a script line are not kept', async () => {
  const { devsh } = await startFleet();
  const first = await devsh('user list --on sim1 --columns username', SCREEN);
  expect(first.stdout).toMatch(/^USERNAME +DEVICE\n/);
  expect(first.stderr).not.toContain('from now on');
  const script = join(devsh.folder, 'look.devsh');
  await writeFile(script, 'user list --on sim1 --columns username\n');
  expect((await devsh(['run', script], SCREEN)).stdout).toMatch(/^USERNAME +DEVICE\n/);
  expect(await typed(devsh, `run ${script}`)).not.toContain('from now on');
  expect((await devsh('user list --on sim1', SCREEN)).stdout).toContain('FIRST NAME');
});

test('output for programs neither keeps columns nor uses kept ones', async () => {
  const { devsh } = await startFleet();
  const piped = await devsh('user list --on sim1');
  await typed(devsh, 'user list --on sim1 --columns username');
  expect(await devsh('user list --on sim1')).toEqual(piped);
  for (const format of ['json', 'csv', 'yaml']) {
    const { stdout } = await devsh(`user list --on sim1 --format ${format}`, SCREEN);
    expect(stdout).toContain('first_name');
  }
  await devsh('--plain', { stdin: 'user list --on sim1 --columns lang\n' });
  await typed(devsh, 'user list --on sim1 --columns lang --json');
  const { stdout } = await devsh('user list --on sim1', SCREEN);
  expect(stdout).toMatch(/^USERNAME +DEVICE\n/);
  expect((await devsh('user list --on sim1 --columns auto')).stdout).toBe(piped.stdout);
});

test('columns belong to one resource of one profile, and an unknown one is not kept', async () => {
  const { devsh } = await startFleet({ profile: 'drf' });
  await typed(devsh, 'user list --on sim1 --columns usrname');
  await typed(devsh, 'user list --on sim1 --profile drf --columns username');
  expect((await devsh('user list --on sim1', SCREEN)).stdout).toMatch(/FIRST NAME/);
  expect((await devsh('user list --on sim1 --profile drf', SCREEN)).stdout).toMatch(
    /^USERNAME +DEVICE\n/,
  );
});

test('only the first of many unknown columns are named', async () => {
  const { devsh } = await startFleet();
  const names = Array.from({ length: 500 }, (_, index) => `column${index}`).join(',');
  const { stderr } = await devsh(`user list --on sim1 --columns ${names}`);
  expect(stderr).toContain('no record has a field "column9"');
  expect(stderr).toContain('no record has 490 more of the named fields');
  expect(stderr.split('\n').length).toBeLessThan(15);
});
