import { mkdtemp, readdir, rm, writeFile, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { answer, connect, goToTable, isQuiet, simulate, type StartOptions } from '../devsh.ts';
import type { Alias } from '../../../src/settings/settings-table.ts';
import type { PtyProgram } from '../harness.ts';

/** A program that leaves a file behind, so that a test sees whether it ran. */
function program(folder: string, code: string, args = ''): string {
  const mark = `require('node:fs').writeFileSync(${JSON.stringify(join(folder, 'ran'))}, '');`;
  return `!${nodeThat(mark + code)} -- ${args}`;
}

function nodeThat(code: string): string {
  return `'${process.execPath}' -e "${code.replace(/["\\$]/g, '\\$&')}"`;
}

async function start(
  aliasesOf: (folder: string) => Readonly<Record<string, Alias>>,
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
    JSON.stringify({ aliases: aliasesOf(folder) }),
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

test('a line of one key: its plan, its question, and nothing without an answer', async () => {
  const { screen, simulator } = await start(() => ({
    speak: {
      run: 'user set ${key} lang=it lastname=d30',
      key: 'X',
      place: 'table',
    },
  }));
  screen.type('/viewer\r');
  await screen.waitFor('1 of');
  screen.type('X');
  // The echo of the line gives way to the question at once.
  await screen.waitFor('lastname: Reader -> d30, lang: en -> it');
  await screen.waitFor('1 to change');
  await answer(screen, 'y');
  await screen.waitFor((lines) => isQuiet(lines) && lines.join('\n').includes('✓ viewer  '));
  await screen.waitFor('› speak key=viewer');
  expect(simulator.devices[0]?.users).toContainEqual(
    expect.objectContaining({ username: 'viewer', lang: 'it', lastname: 'd30' }),
  );
});

test('a program gets its words and no secret; what it prints is foreign text', async () => {
  const code =
    `console.log('words', JSON.stringify(process.argv.slice(1)));` +
    `console.log('env', Object.keys(process.env).filter((n) => n.startsWith('DEVSH')).length, JSON.stringify(process.env).includes('canary'));` +
    `console.log('hostile \\x1b[2J\\x1b]0;x\\x07');`;
  const { screen, hasRun } = await start((folder) => ({
    probe: {
      run: program(folder, code, '"${key} $(id)" ${device}'),
      key: 'X',
      place: 'table',
    },
  }));
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
  // The same alias, typed.
  screen.type(':probe key=bob device=fw9\r');
  await screen.waitFor(/'bob \$\(id\)' fw9/);
  await answer(screen, 'y');
  await screen.waitFor('words ["bob $(id)","fw9"]');
});

test('a program is stopped by Ctrl-C, by its time, and when it prints too much', async () => {
  const wait = nodeThat('setTimeout(() => 0, 60000)');
  const slow = nodeThat('console.log(`begun`); setTimeout(() => 0, 60000)');
  const place = { place: 'table' } as const;
  const { screen } = await start(() => ({
    sleep: { ...place, run: `!${wait}`, key: 'X' },
    late: { ...place, run: `!${slow}`, key: 'Y', seconds: 1 },
    flood: { ...place, run: '!yes xxxx', key: 'Z' },
    none: { ...place, run: '!/nowhere/there-is-no-such-program', key: 'W' },
    fails: { ...place, run: `!${nodeThat('process.exit(3)')}`, key: 'V', label: 'try it' },
  }));
  const run = async (key: string): Promise<void> => {
    screen.type(key);
    await screen.waitFor('run this program? Type y');
    await answer(screen, 'y');
  };
  await run('X');
  await screen.waitFor('Ctrl-C cancels');
  screen.press('ctrl-c');
  await screen.waitFor(/cancelled/i);
  await run('Y');
  await screen.waitFor(/begun[^]*late: stopped after 1 s/);
  await run('Z');
  await screen.waitFor('stopped after 256 KB of output');
  await screen.waitFor('xxxx');
  screen.type('q');
  await screen.waitFor('enter details');
  await run('W');
  await screen.waitFor('none: not started: the program does not exist');
  await run('V');
  await screen.waitFor('try it: ended with 3');
});

test('read-only refuses a program that may write, in the table and in the list of devices', async () => {
  const { screen, hasRun } = await start(
    (folder) => ({
      probe: { run: program(folder, ''), key: 'X', place: 'table' },
      'probe-it': { run: program(folder, '', '${device}'), key: 'X', place: 'devices' },
    }),
    { args: ['--read-only'] },
  );
  screen.type('X');
  await screen.waitFor('X (probe): read-only');
  screen.type('D');
  await screen.waitFor('open');
  screen.type('X');
  await screen.waitFor('X (probe-it): read-only');
  screen.type(':probe\r');
  await screen.waitFor('this session is read-only, and the program may write');
  expect(await hasRun()).toBe(false);
});

test('a name that a device chose runs nothing where it would be an option', async () => {
  const { screen, simulator, hasRun } = await start((folder) => ({
    probe: { run: program(folder, '', '${key}'), key: 'X', place: 'table' },
    gone: { run: 'user delete ${key}', key: 'Y', place: 'table' },
    'set-it': { run: 'config set theme ${record.lang}', key: 'Z', place: 'table' },
  }));
  const first = simulator.devices[0]?.users.find(({ username }) => username === 'viewer');
  if (first === undefined) throw new Error('no user');
  Object.assign(first, { username: '--yes' });
  screen.type('r');
  await screen.waitFor('--yes');
  screen.type('g');
  await screen.waitFor(/▸.*--yes/);
  screen.type('X');
  await screen.waitFor('${key} "--yes" begins with "-"');
  screen.type('Y');
  await screen.waitFor('error: ${key} "--yes" begins with "-"');
  screen.type('Z');
  await screen.waitFor('"config" accepts no value of a record');
  expect(await hasRun()).toBe(false);
  const writes = simulator.devices[0]?.log.filter(
    ({ method }) => method !== 'GET' && method !== 'OPTIONS',
  );
  expect(writes).toEqual([]);
});
