import { mkdtemp, readdir, rm, writeFile, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { answer, connect, goToTable, isQuiet, simulate, type StartOptions } from '../devsh.ts';
import type { PtyProgram } from '../harness.ts';

/** A program that leaves a file behind, so that a test sees whether it ran. */
function program(folder: string, code: string, ...args: readonly string[]): readonly string[] {
  const mark = `require('node:fs').writeFileSync(${JSON.stringify(join(folder, 'ran'))}, '');`;
  return [process.execPath, '-e', mark + code, '--', ...args];
}

async function start(
  actionsOf: (folder: string) => readonly object[],
  {
    users,
    args = [],
    ...options
  }: StartOptions & {
    readonly users?: Parameters<typeof simulate>[0];
    readonly args?: readonly string[];
  } = {},
): Promise<{
  screen: PtyProgram;
  hasRun: () => Promise<boolean>;
  simulator: Awaited<ReturnType<typeof simulate>>;
}> {
  const folder = await mkdtemp(join(tmpdir(), 'devsh-own-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, 'devsh'), { mode: 0o700 });
  await writeFile(
    join(folder, 'devsh', 'settings.json'),
    JSON.stringify({ actions: actionsOf(folder) }),
    { mode: 0o600 },
  );
  const simulator = await simulate(users);
  const screen = await connect(simulator, {
    ...options,
    args,
    env: { XDG_CONFIG_HOME: folder, DEVSH_SAMPLE: 'canary-of-devsh', ...options.env },
  });
  await goToTable(screen);
  return { screen, simulator, hasRun: async () => (await readdir(folder)).includes('ran') };
}

test('a line of one key: its prompt, its plan, its question, and nothing without an answer', async () => {
  const { screen, simulator } = await start(() => [
    {
      key: 'X',
      place: 'table',
      label: 'speak',
      when: 'username=viewer',
      prompts: [
        { name: 'days', text: 'Days', kind: 'number' },
        { name: 'lang', text: 'Language', kind: 'choice', choices: ['fr', 'it'] },
      ],
      line: 'user set {key} lang={prompt.lang} lastname=d{prompt.days}',
    },
  ]);
  screen.type('X');
  await screen.waitFor('only for username=viewer');
  screen.type('/viewer\r');
  await screen.waitFor('1 of');
  screen.type('X');
  await screen.waitFor('speak: Days:');
  await answer(screen, 'soon');
  await screen.waitFor('"soon" is not a number');
  await answer(screen, '30');
  await screen.waitFor('Language (fr, it):');
  await answer(screen, 'i');
  // The echo of the line gives way to the question at once.
  await screen.waitFor('lastname: Reader -> d30, lang: en -> it');
  await screen.waitFor('1 to change');
  await answer(screen, 'y');
  await screen.waitFor((lines) => isQuiet(lines) && lines.join('\n').includes('done'));
  expect(simulator.devices[0]?.users).toContainEqual(
    expect.objectContaining({ username: 'viewer', lang: 'it', lastname: 'd30' }),
  );
});

test('a program gets its words and no secret; what it prints is foreign text', async () => {
  const code =
    `console.log('words', JSON.stringify(process.argv.slice(1)));` +
    `console.log('env', Object.keys(process.env).filter((n) => n.startsWith('DEVSH')).length, JSON.stringify(process.env).includes('canary'));` +
    `console.log('hostile \\x1b[2J\\x1b]0;x\\x07');`;
  const { screen, hasRun } = await start((folder) => [
    {
      key: 'X',
      place: 'table',
      label: 'probe',
      program: program(folder, code, '{key} $(id)', '{device}'),
    },
  ]);
  screen.type('X');
  await screen.waitFor('probe: run this program? Type y');
  await screen.waitFor(/'admin \$\(id\)' 127/);
  expect(await hasRun()).toBe(false);
  await answer(screen, 'y');
  await screen.waitFor(/words \["admin \$\(id\)","127/);
  await screen.waitFor('env 0 false');
  await screen.waitFor('hostile ^[[2J^[]0;x^G');
  expect(screen.raw()).not.toContain('hostile \x1b');
  expect(await hasRun()).toBe(true);
  screen.press('escape');
  await screen.waitFor('✓ probe: done');
});

test('a program is stopped by Ctrl-C, by its time, and when it prints too much', async () => {
  const { screen } = await start(() => [
    {
      key: 'X',
      place: 'table',
      label: 'sleep',
      reads: true,
      program: [process.execPath, '-e', 'setTimeout(() => 0, 60000)'],
    },
    {
      key: 'Y',
      place: 'table',
      label: 'late',
      reads: true,
      seconds: 1,
      program: [process.execPath, '-e', 'console.log("begun"); setTimeout(() => 0, 60000)'],
    },
    {
      key: 'Z',
      place: 'table',
      label: 'flood',
      reads: true,
      program: ['yes', 'xxxx'],
    },
    {
      key: 'W',
      place: 'table',
      label: 'none',
      reads: true,
      program: ['/nowhere/there-is-no-such-program'],
    },
  ]);
  screen.type('X');
  await screen.waitFor('Ctrl-C cancels');
  screen.press('ctrl-c');
  await screen.waitFor(/✗ sleep: .*cancel/i);
  screen.type('Y');
  await screen.waitFor(/stopped after 1 s;[^]*\n begun/);
  screen.type('q');
  await screen.waitFor('enter details');
  screen.type('Z');
  await screen.waitFor('stopped after 256 KB of output');
  await screen.waitFor('xxxx');
  screen.type('q');
  await screen.waitFor('enter details');
  screen.type('W');
  await screen.waitFor('none: not started: the program does not exist');
});

test('read-only refuses a program that may write, in the table and in the list of devices', async () => {
  const { screen, hasRun } = await start(
    (folder) => [
      { key: 'X', place: 'table', label: 'probe', program: program(folder, '') },
      { key: 'X', place: 'devices', label: 'probe it', program: program(folder, '', '{device}') },
      {
        key: 'Y',
        place: 'devices',
        label: 'look',
        reads: true,
        program: [process.execPath, '-p', '"saw {device}"'],
      },
    ],
    { args: ['--read-only'] },
  );
  screen.type('X');
  await screen.waitFor('X (probe): read-only');
  screen.type('D');
  await screen.waitFor('open');
  screen.type('X');
  await screen.waitFor('X (probe it): read-only');
  screen.type('Y');
  await screen.waitFor('saw 127.');
  expect(await hasRun()).toBe(false);
});

test('a name that a device chose runs nothing where it would be an option', async () => {
  const { screen, simulator, hasRun } = await start((folder) => [
    {
      key: 'X',
      place: 'table',
      label: 'probe',
      reads: true,
      program: program(folder, '', '{key}'),
    },
    { key: 'Y', place: 'table', label: 'gone', line: 'user delete {key}' },
    { key: 'Z', place: 'table', label: 'set it', line: 'config set theme {record.lang}' },
  ]);
  const first = simulator.devices[0]?.users.find(({ username }) => username === 'viewer');
  if (first === undefined) throw new Error('no user');
  Object.assign(first, { username: '--yes' });
  screen.type('r');
  await screen.waitFor('--yes');
  screen.type('g');
  await screen.waitFor(/▸.*--yes/);
  screen.type('X');
  await screen.waitFor('{key} "--yes" begins with "-"');
  screen.type('Y');
  await screen.waitFor('error: gone: {key} "--yes" begins with "-"');
  screen.type('Z');
  await screen.waitFor('"config" accepts no value of a record');
  expect(await hasRun()).toBe(false);
  const writes = simulator.devices[0]?.log.filter(
    ({ method }) => method !== 'GET' && method !== 'OPTIONS',
  );
  expect(writes).toEqual([]);
});
