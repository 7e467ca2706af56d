import { expect, test } from 'vitest';
import { UsageError } from '../../../src/errors.ts';
import { COMMANDS } from '../../../src/shell/commands/index.ts';
import type { Grammar } from '../../../src/shell/command.ts';
import { expandAlias } from '../../../src/shell/grammar/aliases.ts';
import { bind } from '../../../src/shell/grammar/bind.ts';
import { OPTIONS, type Given } from '../../../src/shell/grammar/options.ts';
import { parseCompleteLine } from '../../../src/text/words.ts';

function optionsOf(line: string): Given {
  return bind(parseCompleteLine(line), { commands: COMMANDS, resourceFor: () => undefined }).given;
}

test('no two options have the same name or letter', () => {
  const names = OPTIONS.flatMap(({ flag, short }) => [
    flag,
    ...(short === undefined ? [] : [short]),
  ]);
  expect(new Set(names).size).toBe(names.length);
});

test('a line without options has none', () => {
  expect(optionsOf('user list')).toEqual({});
});

test.each<[string, Given]>([
  ['user list --on a --on b,c', { on: ['a', 'b,c'] }],
  ['user list --json', { format: 'json' }],
  ['user list --json --format csv', { format: 'csv' }],
  ['user list -qv', { quiet: true, verbose: true }],
  ['user list --timeout 0.5', { timeoutMs: 500 }],
  ['user list --columns "a, b" --sort -a', { columns: ['a', 'b'], sort: ['-a'] }],
  ['user delete --where "lang=de bob"', { where: 'lang=de bob' }],
  [
    'user delete bob -y --dry-run --allow drift',
    { yes: true, dryRun: true, allow: new Set(['drift']) },
  ],
  [
    'user delete bob --allow own-account,loss --allow=prune',
    { allow: new Set(['own-account', 'loss', 'prune']) },
  ],
  ['simulator --devices 5 --seed 7', { devices: 5, seed: 7 }],
])('%s', (line, expected) => {
  expect(optionsOf(line)).toEqual(expected);
});

test.each([
  'user list --timeout 0',
  'user list --timeout 1e9',
  'user list --concurrency 0',
  'simulator --devices 0',
  'simulator --port 70000',
  'user list --where lang=de',
  'user list -z',
  'user delete --where --yes',
  'user delete bob --force',
  'user delete bob --allow everything',
  'user delete bob --allow',
])('%s is refused', (line) => {
  expect(() => optionsOf(line)).toThrow(UsageError);
});

test.each([
  ['user delete --where lang=xx --where username=b', "write --where 'lang=xx username=b'"],
  ['user list --columns lang --columns username', 'write --columns lang,username'],
  ['user list --sort lang --sort=-username', 'write --sort lang,-username'],
  ['user list --timeout 5 --timeout 6', '--timeout was given twice: leave one out'],
  ['user list --no-color --color always', '--no-color and --color exclude each other'],
])('%s is refused: the last one would silently win', (line, says) => {
  expect(() => optionsOf(line)).toThrow(says);
});

test('an option of an alias gives way to the same one behind the alias', () => {
  const aliases = { german: 'user list lang=de --sort username --columns lang' };
  const grammar: Grammar = {
    commands: COMMANDS,
    resourceFor: () => undefined,
    expand: (words) => expandAlias(words, aliases, { env: {}, isHidden: () => false }),
  };
  const given = (line: string): Given => bind(parseCompleteLine(line), grammar).given;
  expect(given('german --sort lang')).toMatchObject({ sort: ['lang'], columns: ['lang'] });
  expect(() => given('german --sort lang --sort uuid')).toThrow('--sort was given twice');
});
