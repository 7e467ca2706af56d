import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { startFleet } from '../../main/devsh.ts';

async function fleetWithRun(fields = 'lang=de') {
  const { devsh } = await startFleet({ devices: 2 });
  await devsh(`user add username=zoe ${fields} --on @lab --yes`);
  return devsh;
}

test('reports the latest run as Markdown, or the one that is named', async () => {
  const devsh = await fleetWithRun();
  const latest = await devsh('report');
  const run = /devsh run (\S+)/.exec(latest.stdout)?.[1] ?? '';
  await devsh('user delete zoe --on sim1 --yes');

  expect(latest).toMatchObject({ exitCode: 0, stderr: '' });
  expect(latest.stdout).toContain('**2 done** on 2 devices');
  expect((await devsh(['report', run])).stdout).toBe(latest.stdout);
  expect((await devsh('report')).stdout).toContain('### delete user zoe: done');
});

test('gives the same data with --json, --format yaml and in a file', async () => {
  const devsh = await fleetWithRun();
  const file = join(devsh.folder, 'report.json');
  const outputs = [await devsh('report --json'), await devsh('report --format yaml')];
  await devsh(['report', '--json', '-o', file]);
  const texts = [...outputs.map(({ stdout }) => stdout), await readFile(file, 'utf8')];
  const [first, ...others] = texts.map((text) => parse(text) as unknown);

  expect(first).toMatchObject({
    schema: 'devsh/1',
    report: {
      ...{ state: 'ended', counts: { done: 2 } },
      devices: [
        { device: 'sim1', verdict: 'done' },
        { device: 'sim2', verdict: 'done' },
      ],
    },
  });
  for (const other of others) expect(other).toEqual(first);
});

test.each(['report', 'report --json'])('has no secret in "%s"', async (line) => {
  const devsh = await fleetWithRun('password=Hunter2!');
  const { stdout } = await devsh(line);

  expect(stdout).toContain('zoe');
  expect(stdout).not.toMatch(/Hunter2|admin-secret/);
});

test('says which run there is not, and that there is no --as', async () => {
  const { devsh } = await startFleet();

  expect(await devsh('report')).toMatchObject({
    stderr: expect.stringContaining('no run yet') as string,
  });
  expect(await devsh('report --as junit')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('there is no option --as') as string,
  });
});
