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

test('gives the same data with --as json, --json and --format yaml', async () => {
  const devsh = await fleetWithRun();
  const outputs = await Promise.all(
    ['--as json', '--json', '--as json --json', '--format yaml'].map((options) =>
      devsh(`report ${options}`),
    ),
  );
  const [first, ...others] = outputs.map(({ stdout }) => parse(stdout) as unknown);

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

test('gives a kind that was asked for as one text in JSON', async () => {
  const devsh = await fleetWithRun();
  const { stdout: xml } = await devsh('report --as junit');
  const { stdout } = await devsh('report --as junit --json');

  expect(xml).toContain('<testsuite name="devsh run ');
  expect(JSON.parse(stdout)).toEqual({ schema: 'devsh/1', report: xml });
});

test.each(['markdown', 'json', 'junit', 'curl'])('has no secret in the %s', async (kind) => {
  const devsh = await fleetWithRun('password=Hunter2!');
  const { stdout } = await devsh(`report --as ${kind}`);

  expect(stdout).toContain('zoe');
  expect(stdout).not.toMatch(/Hunter2|admin-secret/);
});

test('says which run or kind there is not', async () => {
  const { devsh } = await startFleet();

  expect(await devsh('report')).toMatchObject({
    stderr: expect.stringContaining('no run yet') as string,
  });
  expect(await devsh('report --as pdf')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('there is no report "pdf"') as string,
  });
});
