import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { visible, widthOf } from '../../src/text/visible.ts';
import { COMMANDS } from '../../src/shell/commands/index.ts';
import { HELP_TOPICS } from '../../src/shell/help/topic-names.ts';
import { inWidth } from '../../src/shell/help/help.ts';
import { startFleet } from './devsh.ts';

test('with an inventory and nothing selected, the error offers all devices and the groups', async () => {
  const { devsh } = await startFleet({ devices: 2 });
  const file = join(devsh.folder, 'config', 'devsh', 'devices.yaml');
  const none = await devsh('user list');
  expect(none.exitCode).toBe(2);
  expect(none.stderr).toContain('--on @all (or @lab) behind the command');
  await appendFile(file, 'groups:\n  north-sea: { children: [lab] }\n');
  const spaced = await devsh('user delete bob --yes');
  expect(spaced.stderr).toContain('@lab, @north-sea');
  const prompt = await devsh('--plain', { tty: ['user list', 'exit'] });
  expect(prompt.stderr).toContain('"connect @all" connects');
});

test('a wrong question has no answer in JSON or YAML, only its error', async () => {
  const { devsh } = await startFleet({ devices: 2 });
  for (const format of ['--json', '--format yaml']) {
    const { stdout, exitCode } = await devsh(`user list ${format} username --on @lab`);
    expect(exitCode).toBe(2);
    expect(stdout).not.toMatch(/records|"ok":true|ok: true/);
    expect(stdout).toMatch(/usage|error/);
  }
});

test('the word behind an option with an optional value is its value if it has the form of one', async () => {
  const { devsh } = await startFleet({ devices: 1 });
  const fields = await devsh('user show viewer --json username,lang --on @lab');
  expect(JSON.parse(fields.stdout)).toMatchObject({
    devices: [{ records: [{ username: 'viewer', lang: expect.any(String) as string }] }],
  });
  const plain = await devsh('user show --json viewer --on @lab');
  expect(plain.exitCode).toBe(0);
  for (const typed of ['0', '0.1s', '99999999'])
    expect((await devsh(`user list --watch ${typed} --on @lab`)).exitCode).toBe(2);
});

test('every verb that goes to devices names --on in its help, and help fits 80 columns', async () => {
  const { devsh } = await startFleet({ devices: 1 });
  const lines = ['help', 'help all', ...Object.keys(HELP_TOPICS).map((topic) => `help ${topic}`)];
  for (const command of COMMANDS)
    for (const verb of command.verbs) {
      const line = `${command.name} ${verb.name} --help`.trim();
      if (verb.name !== '' || command.verbs.length === 1) lines.push(line);
      else continue;
      if (!verb.options.includes('on')) continue;
      expect((await devsh(line)).stdout, line).toMatch(/^ {2}--on SELECTOR/m);
    }
  for (const line of lines) {
    const { stdout } = await devsh(line);
    const long = stdout.split('\n').filter((text) => widthOf(visible(text)) > 80);
    expect(long, line).toEqual([]);
  }
}, 120_000);

test('a help text in 80 columns keeps every word in its order', () => {
  const word = fc.stringMatching(/^[a-z-]{1,30}$/);
  const line = fc
    .tuple(fc.constantFrom('', '  ', '    '), fc.array(word), fc.constantFrom(' ', '    '))
    .map(([indent, words, gap]) => `${indent}${words.join(' ').replace(' ', gap)}`);
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const text = lines.join('\n');
      const fitted = inWidth(text);
      expect(fitted.split(/\s+/).filter(Boolean)).toEqual(text.split(/\s+/).filter(Boolean));
      for (const one of fitted.split('\n')) expect(one.length).toBeLessThanOrEqual(80);
    }),
  );
});

test.each([
  'help 1password',
  'help op',
  'help pass',
  'help 1Password',
  'user list --on @lab --password-command "pass show fw"',
  'user list --on @lab --token-file /run/token',
  'login @lab --password-file x',
])('%s leads to credential_command with a line that works', async (line) => {
  const { devsh } = await startFleet({ devices: 1 });
  const { stdout, stderr } = await devsh(line);
  expect(stdout + stderr).toMatch(/credential_command: \[\w+,/);
});

test('on a terminal the records of all devices are one sorted table, and flat in a pipe', async () => {
  const { devsh } = await startFleet({ devices: 3 });
  const piped = (await devsh('user list --on @lab --columns username')).stdout.trim().split('\n');
  const { stdout } = await devsh('user list --on @lab --columns username', { tty: [] });
  const names = stdout
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => /^\S+/.exec(line)?.[0] ?? '');
  expect(names).toEqual([...names].sort());
  expect(piped.length).toBeGreaterThan(names.length + 1);
});

test('many new pins are one line', async () => {
  const { devsh } = await startFleet({ devices: 5 });
  await devsh('trust forget sim1');
  for (const name of ['sim2', 'sim3', 'sim4']) await devsh(`trust forget ${name}`);
  const { stderr } = await devsh('trust accept @lab', { tty: ['yes'] });
  expect(stderr.match(/pinned/g)?.length).toBeLessThan(8);
  expect(stderr).toContain('pinned 4 devices: sim1, sim2, sim3, sim4; "trust list"');
});

test('pending fits 80 columns, and --long has the run and its line', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  device(2).setFault('refuse');
  const line =
    'user add username=a.very.long.name.of.somebody first_name=A lastname=B lang=de --on @lab --yes';
  await devsh(line);
  const short = await devsh('pending --no-color', { tty: [], columns: 80 });
  for (const text of short.stdout.split('\n')) expect(widthOf(text)).toBeLessThanOrEqual(80);
  expect(short.stdout).toContain('sim2');
  expect(short.stdout).not.toMatch(/RUN|COMMAND/);
  expect((await devsh('pending --long')).stdout).toMatch(/RUN\tCOMMAND/);
  const json = JSON.parse((await devsh('pending --json')).stdout) as { pending: object[] };
  expect(json.pending[0]).toMatchObject({ id: expect.any(String) as string });
});

test('changes of one minute are one line each at 120 columns, with one time', async () => {
  const { devsh } = await startFleet({ devices: 4 });
  await devsh('user list --on @lab');
  const record =
    'username=maria.magdalena.wolkenstein first_name=Maria lastname=Wolkenstein lang=de';
  await devsh(`user add ${record} --on @lab --yes`);
  await devsh('user set maria.magdalena.wolkenstein lang=fr --on sim2 --yes');
  await devsh('user delete viewer --on @lab --yes');
  const { stdout } = await devsh('changes --on @lab --no-color', { tty: [], columns: 120 });
  const [head = '', ...rows] = stdout.trimEnd().split('\n');
  expect(head).toMatch(/^WHEN/);
  expect(rows).toHaveLength(3);
  for (const row of rows) {
    expect(row).toMatch(/^\d\d:\d\d/);
    expect(row).not.toMatch(/between|–/);
    expect(widthOf(row)).toBeLessThanOrEqual(120);
  }
});
