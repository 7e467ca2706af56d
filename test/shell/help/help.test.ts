import { expect, test } from 'vitest';
import { COMMANDS } from '../../../src/shell/commands/index.ts';
import { makeDevsh } from '../../main/devsh.ts';
import { parseLine } from '../../../src/text/words.ts';

const verbs = COMMANDS.flatMap((command) =>
  command.verbs.map((verb) => ({ line: `${command.name} ${verb.name}`.trim(), verb })),
);

test.each(verbs)(
  '"$line" has help: what it is called, what it takes, what it does',
  async (one) => {
    const devsh = await makeDevsh();
    const { stdout, stderr, exitCode } = await devsh(`${one.line} --help`);
    expect(stdout).toContain(one.line);
    // A long summary is wrapped.
    expect(stdout.replaceAll(/\n? +|\n/g, ' ')).toContain(one.verb.summary);
    for (const arg of one.verb.args) expect(stdout).toContain(arg.name);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  },
);

test('each summary is one sentence without its full stop', () => {
  for (const { line, verb } of verbs) {
    expect(`${line}: ${verb.summary}`).toMatch(/^[^\n]+: [A-Z][^\n]*[^.\s]$/);
  }
});

test('each example is understood', async () => {
  const devsh = await makeDevsh();
  for (const { verb } of verbs) {
    for (const example of verb.examples ?? []) {
      const { words } = parseLine(example.split(' < ')[0] ?? '');
      const { exitCode, stderr } = await devsh([...words.map(({ text }) => text), '--help']);
      expect({ example, exitCode, stderr }).toEqual({ example, exitCode: 0, stderr: '' });
    }
  }
});

test('the overview names every command, and fits into 120 columns', async () => {
  const devsh = await makeDevsh();
  const { stdout } = await devsh('help all');
  for (const { name } of COMMANDS) expect(stdout).toContain(`\n  ${name}`);
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(120);
});

test('a verb without a name is reached from the help of its command', async () => {
  const devsh = await makeDevsh();
  const { stdout } = await devsh('help runs');
  expect(stdout).toContain('"runs --help" explains "runs".');
});

test.each([
  ['usr', 'help user'],
  ['refuse', 'help allow'],
  ['variables', 'help environment'],
  ['zzzzzz', undefined],
  ['add', 'help user add'],
])('help of what there is not suggests what there is: %s', async (word, meant) => {
  const devsh = await makeDevsh();
  const { stderr, exitCode } = await devsh(`help ${word}`);
  if (meant === undefined) expect(stderr).not.toContain('did you mean');
  else expect(stderr).toContain(`'${meant}'`);
  expect(exitCode).toBe(2);
});

test('--help behind a command alone lists its verbs, behind a verb it explains that', async () => {
  const devsh = await makeDevsh();
  const { stdout } = await devsh('user --help');
  for (const verb of ['[list]', 'show', 'add', 'set', 'delete', 'changes', 'restore'])
    expect(stdout).toContain(`\n  user ${verb} `);
  expect((await devsh('run -', { stdin: 'user --help\n' })).stdout).toBe(stdout);
  expect((await devsh('user list --help')).stdout).toContain('user list: Show users');
  expect((await devsh('user bob --help')).stdout).toContain('user list: Show users');
});

test.each(['help', '--help', '-h'])(
  '%s is one screen: ten commands, and how to find the rest',
  async (line) => {
    const devsh = await makeDevsh();
    const { stdout } = await devsh(line);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(23);
    for (const text of lines) expect(text.length).toBeLessThanOrEqual(80);
    expect(lines.filter((text) => /^ {2}[a-z].* {2}[A-Z]/.test(text))).toHaveLength(10);
    for (const more of ['help all', 'help COMMAND', 'help TOPIC']) expect(stdout).toContain(more);
  },
);

test('the help of a verb lists its own options, and where the general ones are', async () => {
  const devsh = await makeDevsh();
  const { stdout } = await devsh('vault init --help');
  expect(stdout).not.toContain('--jump');
  const list = (await devsh('user list --help')).stdout;
  expect(list).toContain('  --drift ');
  expect(list).not.toContain('  --proxy');
  expect(list).toContain(
    'The options of commands that use devices, --json and its like: "help all"',
  );
  // What a verb takes of them alone is its own.
  expect((await devsh('changes --help')).stdout).toContain('  --on SELECTOR');
});
