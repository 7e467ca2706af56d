import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startFleet } from './devsh.ts';

const SCREEN = { tty: [], env: { NO_COLOR: '1' } };

test('columns asked for on a terminal are those of the next list there, until auto', async () => {
  const { devsh } = await startFleet();
  const header = async (line: string): Promise<string> =>
    (await devsh(line, SCREEN)).stdout.split('\n')[0]?.replace(/ +/g, ' ').trim() ?? '';
  const all = await header('user list --on sim1');
  expect(all).toContain('FIRST NAME');
  const first = await devsh('user list --on sim1 --columns username,lang', SCREEN);
  expect(first.stderr).toContain('these columns from now on; --columns auto shows all again');
  const next = await devsh('user list --on sim1', SCREEN);
  expect(next.stdout).toMatch(/^DEVICE +USERNAME +LANG\n/);
  expect(next.stderr).toContain('3 fields hidden (--columns auto shows them)');
  const same = await devsh('user list --on sim1 --columns username,lang', SCREEN);
  expect(same.stderr).not.toContain('from now on');
  expect(await header('user list --on sim1 --columns auto')).toBe(all);
  expect(await header('user list --on sim1')).toBe(all);
  const settings = await readFile(join(devsh.folder, 'config/devsh/settings.json'), 'utf8');
  expect(JSON.parse(settings)).toEqual({});
});

test('what a program reads is neither kept nor changed by what was kept', async () => {
  const { devsh } = await startFleet();
  const piped = await devsh('user list --on sim1');
  await devsh('user list --on sim1 --columns username', SCREEN);
  expect(await devsh('user list --on sim1')).toEqual(piped);
  for (const format of ['json', 'csv', 'yaml']) {
    const { stdout } = await devsh(`user list --on sim1 --format ${format}`, SCREEN);
    expect(stdout).toContain('first_name');
  }
  await devsh('user list --on sim1 --columns lang');
  await devsh('user list --on sim1 --columns lang --json', SCREEN);
  const { stdout } = await devsh('user list --on sim1', SCREEN);
  expect(stdout).toMatch(/^DEVICE +USERNAME\n/);
  expect((await devsh('user list --on sim1 --columns auto')).stdout).toBe(piped.stdout);
});

test('columns belong to one resource of one profile, and a slip is not kept', async () => {
  const { devsh } = await startFleet({ profile: 'drf' });
  await devsh('user list --on sim1 --columns usrname', SCREEN);
  await devsh('user list --on sim1 --profile drf --columns username', SCREEN);
  expect((await devsh('user list --on sim1', SCREEN)).stdout).toMatch(/FIRST NAME/);
  expect((await devsh('user list --on sim1 --profile drf', SCREEN)).stdout).toMatch(
    /^DEVICE +USERNAME\n/,
  );
});

test('of many columns that no record has only the first are named', async () => {
  const { devsh } = await startFleet();
  const names = Array.from({ length: 500 }, (_, index) => `column${index}`).join(',');
  const { stderr } = await devsh(`user list --on sim1 --columns ${names}`);
  expect(stderr).toContain('no record has a field "column9"');
  expect(stderr).toContain('no record has 490 more of the fields that were named');
  expect(stderr.split('\n').length).toBeLessThan(15);
});
