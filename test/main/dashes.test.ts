import { describe, expect, test } from 'vitest';
import { bind } from '../../src/shell/grammar/bind.ts';
import { COMMANDS } from '../../src/shell/commands/index.ts';
import { wordsOfArgv } from '../../src/text/words.ts';
import { startFleet } from './devsh.ts';

const CHANGES = '- add: user\n  fields: {username: bob, first_name: B, lastname: B, lang: de}\n';

const READERS: readonly (readonly [line: string, stdin: string, shown: RegExp])[] = [
  ['plan - --on sim1', CHANGES, /add .*bob|bob/],
  ['apply - --on sim1 --dry-run', CHANGES, /bob/],
  ['run -', 'device list\n', /sim1/],
  ['import - --on sim1 --dry-run', 'username,lang\nviewer,fr\n', /viewer/],
  ['device import - --dry-run', 'name,address\nfw9,10.0.0.9\n', /fw9/],
  ['profile check -', 'extends: documented\n', /./],
];

test.each(READERS)('"%s" reads what is piped in', async (line, stdin, shown) => {
  const { devsh, writes } = await startFleet({ devices: 1 });
  const { stdout, stderr, exitCode } = await devsh(line, { stdin });
  expect(stdout + stderr).toMatch(shown);
  expect({ exitCode, writes: writes() }, stderr).toEqual({ exitCode: 0, writes: [] });
});

describe('nothing after -- is an option', () => {
  const grammar = { commands: COMMANDS, resourceFor: () => undefined };
  const verbs = COMMANDS.flatMap((command) =>
    command.verbs
      .filter(({ args }) => args.length > 0)
      .map((verb) => ({ line: `${command.name} ${verb.name}`.trim(), verb })),
  );

  test.each(verbs)('$line', ({ line, verb }) => {
    const words = verb.args.map((_arg, index) => ['--yes', '-x', '--', '-'][index] ?? '-h');
    const argv = [...line.split(' '), '--', ...words];
    const { args, given, verb: bound } = bind(wordsOfArgv(argv), grammar);
    expect(bound.name).toBe(verb.name);
    expect(given).toEqual({});
    expect(verb.args.flatMap(({ name }) => args.all(name))).toEqual(words);
  });
});

test('a record whose name begins with a dash is shown, and never taken for an option', async () => {
  const { devsh } = await startFleet({ devices: 1 });
  await devsh('user add username=-x first_name=A lastname=B lang=de --on sim1 --yes');
  const shown = await devsh('user show --on sim1 --json -- -x');
  expect(JSON.parse(shown.stdout)).toMatchObject({ devices: [{ records: [{ username: '-x' }] }] });
  const { stderr, exitCode } = await devsh('user show --on sim1 -x');
  expect(stderr).toContain('there is no option -x');
  expect(exitCode).toBe(2);
});
