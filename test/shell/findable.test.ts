import { expect, test } from 'vitest';
import { type Findable, findableLines, found } from '../../src/shell/findable.ts';
import { synonymsOf } from '../../src/shell/grammar/tried-words.ts';
import { startSession } from './session.ts';

function entry(kind: Findable['kind'], name: string, summary = ''): Findable {
  return { kind, name, summary, words: kind === 'command' ? synonymsOf(name) : [] };
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

test('a long list of users ends with how many are not listed', async () => {
  const { session, device } = await startSession();
  const keys = Array.from({ length: 10_003 }, (_, index) => `user${index}`);
  await session.services.seenKeys.keep(device.address, 'user', { keys, fields: [] });
  const users = (await findableLines(session, [])).filter(({ kind }) => kind === 'user');
  expect(users).toHaveLength(10_001);
  expect(users.at(-1)).toMatchObject({ name: '3 more users', line: 'user list ' });
});
