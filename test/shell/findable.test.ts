import { expect, test } from 'vitest';
import { type Findable, findableLines, found } from '../../src/shell/findable.ts';
import { commandNamed } from '../../src/shell/command.ts';
import { COMMANDS } from '../../src/shell/commands/index.ts';
import { synonymsOf } from '../../src/shell/grammar/meant-lines.ts';
import { OPTIONS } from '../../src/shell/grammar/options.ts';
import { startSession } from './session.ts';

function entry(kind: Findable['kind'], name: string, summary = ''): Findable {
  return { kind, name, summary, words: kind === 'command' ? synonymsOf(name, COMMANDS) : [] };
}

const ALL = [
  entry('command', 'user list', 'List users'),
  entry('command', 'user delete', 'Delete users on each selected device'),
  entry('command', 'undo', 'Take the last run back'),
  entry('device', 'fw1', '10.0.0.5'),
  entry('device', 'fw10', '10.0.0.6'),
  entry('user', 'undine', 'fw1'),
  entry('setting', 'format', 'The format of data'),
];

test.each([
  ['', ALL.map(({ name }) => name)],
  ['rm', ['user delete', 'format']],
  ['ls', ['user list']],
  ['rollback', ['undo']],
  ['fw1', ['fw1', 'fw10', 'undine']],
  ['FW10', ['fw10']],
  ['delete user', ['user delete']],
  ['und', ['undo', 'undine']],
  ['data', ['format']],
  // A typing error.
  ['delte', ['user delete']],
  ['qqqqqq', []],
])('%s finds %j', (typed, expected) => {
  expect(found(ALL, typed).map(({ name }) => name)).toEqual(expected);
});

test('at most 60 synonyms lead to commands and options, and none is the name of one', () => {
  const named = COMMANDS.flatMap((command) => [command, ...command.verbs]);
  const all = [...named, ...OPTIONS].flatMap(({ synonyms = [] }) => synonyms);
  expect(all.length).toBeLessThanOrEqual(60);
  for (const command of COMMANDS) {
    const names = command.verbs.map(({ name }) => name);
    const others = command.verbs.flatMap(({ synonyms = [] }) => synonyms);
    expect(names.filter((name) => others.includes(name))).toEqual([]);
    expect(commandNamed(COMMANDS, command.synonyms?.[0] ?? '')).toBeUndefined();
  }
});

test('a long list of users ends with how many are not listed', async () => {
  const { session, device } = await startSession();
  const keys = Array.from({ length: 10_003 }, (_, index) => `user${index}`);
  await session.services.seenKeys.keep(device.address, 'user', { keys, fields: [] });
  const users = (await findableLines(session, [])).filter(({ kind }) => kind === 'user');
  expect(users).toHaveLength(10_001);
  expect(users.at(-1)).toMatchObject({ name: '3 more users', line: 'user list ' });
});
