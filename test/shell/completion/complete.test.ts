import { expect, test } from 'vitest';
import { BUILT_IN_PROFILES } from '../../../src/device/built-in-profiles.ts';
import { parseProfile, withFacts } from '../../../src/device/profile-file.ts';
import { COMMANDS } from '../../../src/shell/commands/index.ts';
import { complete } from '../../../src/shell/completion/complete.ts';
import type { ShellSession } from '../../../src/shell/session.ts';
import { startSession } from '../session.ts';

async function inserts(shell: ShellSession, line: string, cursor = line.length): Promise<string[]> {
  const { proposals } = await complete(line, cursor, COMMANDS, shell);
  return proposals.map(({ insert }) => insert);
}

test('an empty line offers every command', async () => {
  const { session: shell } = await startSession();
  expect(await inserts(shell, '')).toEqual(
    expect.arrayContaining(['user ', 'connect ', 'help ']) as string[],
  );
});

test('commands, verbs, options and their values, by what is typed already', async () => {
  const { session: shell } = await startSession();
  expect(await inserts(shell, 'conn')).toEqual(['connect ']);
  expect(await inserts(shell, 'user sh')).toEqual(['show ']);
  expect(await inserts(shell, 'user list --colu')).toEqual(['--columns ']);
  expect(await inserts(shell, 'user list --format js')).toEqual(['json ', 'jsonl ']);
  expect(await inserts(shell, 'user list --yes')).toEqual([]);
});

test('the profiles that are built in are proposed', async () => {
  const { session: shell } = await startSession();
  const names = BUILT_IN_PROFILES.map(({ name }) => `${name} `);
  const proposed = await inserts(shell, 'user list --profile ');
  expect(proposed).toEqual(expect.arrayContaining(names) as string[]);
  expect(await inserts(shell, 'device add fw1 --profile dr')).toEqual(['drf ']);
  expect(await inserts(shell, 'config set theme li')).toEqual(['light ']);
});

test('each fact of a profile is proposed, and each proposal is one', async () => {
  const { session: shell } = await startSession();
  const proposed = await inserts(shell, 'profile set fw1 ');
  const some = ['extends=', 'list.items=', 'auth.login.token_in=', 'resources.user.rotate.path='];
  expect(proposed).toEqual(expect.arrayContaining(some) as string[]);
  for (const insert of proposed) {
    const text = withFacts('', { [insert.slice(0, -1)]: '/x/{item}' });
    let problem = '';
    try {
      parseProfile(text, 'p.yaml', 'p');
    } catch (error) {
      problem = String(error);
    }
    expect(problem, insert).not.toContain('unknown fact');
  }
  expect(await inserts(shell, 'profile set fw1 remove.pa')).toEqual(['remove.path=']);
});

test('usernames, fields and values come from what was read', async () => {
  const { session: shell, read } = await startSession();
  await read();
  expect(await inserts(shell, 'user delete vi')).toEqual(['viewer ']);
  expect(await inserts(shell, 'user set viewer la')).toContain('lang=');
  expect(await inserts(shell, 'user set viewer lang=d')).toEqual(['lang=de ']);
  expect(await inserts(shell, 'user set viewer lang=de la')).not.toContain('lang=');
});

test('behind resource NAME comes what comes behind the resource itself', async () => {
  const { session: shell, read } = await startSession();
  await read();
  expect(await inserts(shell, 'resource us')).toEqual(['user ']);
  expect(await inserts(shell, 'resource user sh')).toEqual(['show ']);
  for (const rest of [
    '',
    ' ',
    ' delete vi',
    ' set viewer la',
    ' set viewer lang=d',
    ' list --sort la',
  ]) {
    expect(await inserts(shell, `resource user${rest}`)).toEqual(
      rest === '' ? ['user '] : await inserts(shell, `user${rest}`),
    );
  }
  expect(await inserts(shell, 'resource run de')).toEqual(['delete ']);
});

test('the word at the cursor is completed, not the end of the line', async () => {
  const { session: shell } = await startSession();
  const completion = await complete('us list', 2, COMMANDS, shell);
  expect(completion).toMatchObject({ start: 0, end: 2 });
  expect(completion.proposals.map(({ text }) => text)).toEqual(
    expect.arrayContaining(['user', 'use']) as string[],
  );
});

test('what begins as typed comes alone; else what contains it, else what has its letters', async () => {
  const { session: shell, read } = await startSession();
  await read();
  expect(await inserts(shell, 'user add name')).toEqual(['first_name=', 'lastname=', 'username=']);
  expect(await inserts(shell, 'user add fn')).toEqual(['first_name=']);
  const { proposals } = await complete('user add fn', 11, COMMANDS, shell);
  expect(proposals[0]?.letters).toEqual([0, 6]);
});

test('an option stands once, unless it may be repeated; its value may be joined to it', async () => {
  const { session: shell, read } = await startSession();
  await read();
  expect(await inserts(shell, 'user list --fold --fo')).toEqual(['--format ']);
  expect(await inserts(shell, 'user list --on sim1 --on')).toContain('--on ');
  expect(await inserts(shell, 'user list --format=js')).toEqual([
    '--format=json ',
    '--format=jsonl ',
  ]);
  expect(await inserts(shell, 'user list --columns lang,user')).toEqual(['lang,username ']);
  expect(await inserts(shell, 'user list --sort -las')).toEqual(['-lastname ']);
});

test('a secret that was read is never proposed', async () => {
  const { session: shell, read } = await startSession();
  await read();
  expect(await inserts(shell, 'user list token=')).toEqual([]);
});

test('records of devices that are not connected are known from an earlier session', async () => {
  const { session: shell, device } = await startSession();
  await shell.fleet.leave(shell.fleet.connected);
  const seen = { keys: ['alice', 'bob'], fields: ['username', 'lang'] };
  await shell.services.inventory.edit((file) =>
    file.addDevice({ name: 'fw1', address: device.address, groups: [] }),
  );
  await shell.services.seenKeys.keep(device.address, 'user', seen);
  expect(await inserts(shell, 'user show a')).toEqual(['alice ']);
  expect(await inserts(shell, 'user show --on fw1 b')).toEqual(['bob ']);
  expect(await inserts(shell, 'user add --on fw1 us')).toEqual(['username=']);
});

test('no name that would be an option is proposed as a value, except behind --', async () => {
  const { session: shell, device } = await startSession();
  await shell.fleet.leave(shell.fleet.connected);
  const keys = ['-y', '--yes', '--allow=own-account=admin', '-', '--', 'bob'];
  await shell.services.inventory.edit((file) =>
    file.addDevice({ name: 'fw1', address: device.address, groups: [] }),
  );
  await shell.services.seenKeys.keep(device.address, 'user', { keys, fields: ['username'] });
  for (const verb of ['show', 'delete', 'set']) {
    const proposed = await inserts(shell, `user ${verb} --on fw1 `);
    expect(proposed).toContain('bob ');
    expect(proposed.filter((text) => text.startsWith('-'))).toEqual([]);
  }
  expect(await inserts(shell, 'user show --on fw1 -- -')).toContain('-y ');
});
