import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ROOT } from './pages.ts';

const page = readFileSync(join(ROOT, 'docs/commands.md'), 'utf8');

/** Each row of "Quoting in your shell": its example as it is typed. */
const EXAMPLES = [...page.matchAll(/^\| `.*\| `(devsh .*'.*)` \|$/gm)].map(([, line = '']) =>
  line.replaceAll('\\|', '|'),
);

/** An interactive one: only such a shell repeats lines of its history. */
const SHELLS = [
  { name: 'bash', args: ['--norc', '-is'], setUp: '' },
  { name: 'zsh', args: ['-fis'], setUp: 'setopt extendedglob\n' },
];

function isThere(name: string): boolean {
  return ['setsid', name].every((one) => spawnSync(one, ['--version']).error === undefined);
}

/** The words that a program gets from the shell, each in brackets. */
function wordsFrom({ name, args, setUp }: (typeof SHELLS)[number], line: string): string {
  const cwd = mkdtempSync(join(tmpdir(), 'devsh-quoting-'));
  onTestFinished(() => {
    rmSync(cwd, { recursive: true });
  });
  const input = `${setUp}devsh() { printf '[%s]' "$@"; }\n${line}\n`;
  // In a session of its own: an interactive shell would take the terminal of this one.
  const { stdout } = spawnSync('setsid', ['--wait', name, ...args], {
    cwd,
    input,
    encoding: 'utf8',
  });
  return stdout;
}

test('every row has an example', () => {
  expect(EXAMPLES.length).toBe(4);
});

describe.each(SHELLS)('$name', (shell) => {
  test.skipIf(!isThere(shell.name))('hands on the words of each example as they are', () => {
    for (const line of EXAMPLES) {
      const words = line.split(' ').slice(1);
      const expected = words.map((word) => `[${word.replaceAll("'", '')}]`).join('');
      expect(wordsFrom(shell, line)).toContain(expected);
    }
  });
});

test.each(EXAMPLES)('%s: without the quotes one of the shells changes it', (line) => {
  const bare = line.replaceAll("'", '');
  const expected = `[${bare.split(' ').slice(1).join('][')}]`;
  const isSame = SHELLS.every(
    (shell) => isThere(shell.name) && wordsFrom(shell, bare).includes(expected),
  );
  expect(isSame).toBe(false);
});
