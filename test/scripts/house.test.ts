import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { SETTING_ROWS } from '../../src/settings/settings-table.ts';
import { COMMANDS } from '../../src/shell/commands/index.ts';
import { KEYMAP } from '../../src/tui/keys/default-keymap.ts';
import { profileFacts } from '../docs/fact-tables.ts';

const script = join(import.meta.dirname, '../../scripts/house.js');

async function house(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...args]);
  return stdout;
}

test('the report counts files, lines, small files, circles and fan-in', async () => {
  const root = await mkdtemp(join(tmpdir(), 'devsh-house-test-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const sources: Readonly<Record<string, string>> = {
    'main.ts': "import { a } from './room/a.ts';\nawait import('./late.ts');\na();\n",
    // What is imported only at run time closes no circle; a type does.
    'late.ts': "import './main.ts';\n",
    'room/a.ts': `import { b } from './b.tsx';\nexport { c } from './inner/c.ts';\n${'b();\n'.repeat(50)}`,
    'room/b.tsx': "import type { A } from './a.ts';\nexport const b = (): A => 1;\n",
    'room/inner/c.ts': "export type C = import('../b.tsx').B;\nexport const c = 1;\n",
    'room/topic.md': 'A topic.\n',
  };
  for (const [name, text] of Object.entries(sources)) {
    await mkdir(dirname(join(root, 'src', name)), { recursive: true });
    await writeFile(join(root, 'src', name), text);
  }
  expect(await house(root)).toMatchInlineSnapshot(`
    "files                                6
    lines                               61
    median                               2
    small files (under 40 lines)         5
    over 400 lines                       0
    with one importer                    3
    at the root of src                   2
    circles                              1
      3: room/a.ts room/b.tsx room/inner/c.ts

    most imported
      room/a.ts                          2
      room/b.tsx                         2
      late.ts                            1
      main.ts                            1
      room/inner/c.ts                    1
      room/topic.md                      0

    room                             files   lines  median   small
    (root)                               2       4       3       2
    room                                 4      57       2       3
    sum                                  6      61
    "
  `);
});

test('the report counts verbs, options, keys, settings and facts from their tables', async () => {
  const told = await house();
  const counted = (name: string): number => Number(RegExp(`^${name} +(\\d+)`, 'm').exec(told)?.[1]);
  expect(counted('verbs')).toBe(COMMANDS.flatMap(({ verbs }) => verbs).length);
  expect(counted('keys')).toBe(KEYMAP.flatMap(({ keys }) => keys).length);
  expect(counted('settings')).toBe(SETTING_ROWS.length);
  // Without the two lines above the table.
  expect(counted('facts')).toBe(profileFacts().split('\n').length - 2);
  expect(told).toMatch(/^options +\d+ \(\d+ serve one verb\)$/m);
});

test('the way of a write is told in files and functions, as one command and on the screen', async () => {
  const told = await house('--way', '--screen', '--list');
  const [, oneCommand = '', screen = ''] = told.split(/one command|full screen/);
  for (const way of [oneCommand, screen]) {
    expect(Number(/files +(\d+)/.exec(way)?.[1])).toBeGreaterThan(50);
    expect(Number(/functions +(\d+)/.exec(way)?.[1])).toBeGreaterThan(200);
    expect(way).toMatch(/: .*\bjudge\b/);
  }
  expect(oneCommand).not.toMatch(/^ {2}tui\//m);
  expect(screen).toMatch(/: .*\breduce\b/);
});
