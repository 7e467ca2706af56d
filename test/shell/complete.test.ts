import { expect, test } from 'vitest';
import { COMMANDS } from '../../src/shell/commands/index.ts';
import { complete } from '../../src/shell/complete.ts';
import type { Session } from '../../src/shell/session.ts';
import { startSession } from './session.ts';

async function inserts(session: Session, line: string, cursor = line.length): Promise<string[]> {
  const { proposals } = await complete(line, cursor, COMMANDS, session);
  return proposals.map(({ insert }) => insert);
}

test('an empty line offers every command', async () => {
  const { session } = await startSession();
  expect(await inserts(session, '')).toEqual(
    expect.arrayContaining(['user ', 'connect ', 'help ']) as string[],
  );
});

test('commands, verbs, options and their values, by what is typed already', async () => {
  const { session } = await startSession();
  expect(await inserts(session, 'conn')).toEqual(['connect ']);
  expect(await inserts(session, 'user sh')).toEqual(['show ']);
  expect(await inserts(session, 'user list --col')).toEqual(['--columns ']);
  expect(await inserts(session, 'user list --format js')).toEqual(['json ', 'jsonl ']);
  expect(await inserts(session, 'user list --yes')).toEqual([]);
});

test('usernames, fields and values come from what was read', async () => {
  const { session, read } = await startSession();
  await read();
  expect(await inserts(session, 'user delete vi')).toEqual(['viewer ']);
  expect(await inserts(session, 'user set viewer la')).toContain('lang=');
  expect(await inserts(session, 'user set viewer lang=d')).toEqual(['lang=de ']);
  expect(await inserts(session, 'user set viewer lang=de la')).not.toContain('lang=');
});

test('the word at the cursor is completed, not the end of the line', async () => {
  const { session } = await startSession();
  const completion = await complete('us list', 2, COMMANDS, session);
  expect(completion).toMatchObject({ start: 0, end: 2 });
  expect(completion.proposals.map(({ text }) => text)).toEqual(
    expect.arrayContaining(['user', 'use']) as string[],
  );
});
