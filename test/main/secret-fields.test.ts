import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { know, startFleet } from './devsh.ts';

async function textsIn(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = await Promise.all(
    files.map((file) => readFile(join(file.parentPath, file.name), 'latin1')),
  );
  return texts.join('\n');
}

test('a field that the profile calls secret is in no output and no file, from the first line on', async () => {
  const { devsh, devices, device } = await startFleet({ devices: 1, profile: 'generic-rest' });
  await mkdir(join(devsh.folder, 'config/devsh/profiles'), { recursive: true });
  await writeFile(
    join(devsh.folder, 'config/devsh/profiles/mine.yaml'),
    'extends: generic-rest\nresources:\n  user:\n    field_facts:\n      lastname: {secret: true}\n',
  );
  await know(devsh, devices, { profile: 'mine' });
  const name = device(1).users.at(-1)?.username ?? '';
  const old = device(1).users.at(-1)?.lastname ?? '';

  const lines = [
    ['user', 'set', name, 'lastname=Quaggamire', '--yes'],
    ['user', 'list'],
    ['user', 'show', name, '--json'],
    ['export', 'user', '--on', 'sim1'],
    ['runs'],
    ['report', '--json'],
    ['user', 'delete', name, '--yes'],
    ['report'],
  ];
  const printed: string[] = [];
  for (const line of lines) {
    const { stdout, stderr, exitCode } = await devsh([
      ...line,
      ...(line[0] === 'user' ? ['--on', 'sim1'] : []),
    ]);
    printed.push(stdout, stderr);
    expect([line, exitCode]).toEqual([line, 0]);
  }
  expect(printed[0]).toContain(`✓ ${name}  `);
  expect(device(1).log.some(({ body }) => body.includes('Quaggamire'))).toBe(true);
  expect(printed.join('\n')).not.toContain('Quaggamire');
  expect(printed.join('\n')).not.toContain(old);
  expect(await textsIn(devsh.folder)).not.toMatch(new RegExp(`Quaggamire|${old}`));
});

test('the profile of a device says what is stated of its fields', async () => {
  const { devsh } = await startFleet({ devices: 1, profile: 'generic-rest' });
  const fact = 'resources.user.field_facts.pin={type: integer, secret: true, create_only: true}';
  expect((await devsh(['profile', 'set', 'sim1', fact])).exitCode).toBe(0);
  expect((await devsh('profile sim1')).stdout).toMatch(
    /resources\.user\.fields\.pin\s+integer secret create_only\s+configured/,
  );
});

test('a change of a secret says once, before the question, that undo cannot restore it', async () => {
  const { devsh, devices, device } = await startFleet({ devices: 2, profile: 'generic-rest' });
  await mkdir(join(devsh.folder, 'config/devsh/profiles'), { recursive: true });
  await writeFile(
    join(devsh.folder, 'config/devsh/profiles/mine.yaml'),
    'extends: generic-rest\nresources:\n  user:\n    field_facts:\n      lastname: {secret: true}\n',
  );
  await know(devsh, devices, { profile: 'mine' });
  for (const one of devices) one.putUser({ username: 'bob', lastname: 'old' });
  const file = join(devsh.folder, 'rows.csv');
  await writeFile(file, 'username,lastname\nbob,Quaggamire\n');
  const lines = [
    'user set bob lastname=Quaggamire --on sim1,sim2',
    ['import', file, '--on', 'sim1,sim2'],
  ];
  for (const line of lines) {
    const { stdout, stderr } = await devsh(line, { tty: ['no'] });
    const [before = ''] = `${stdout}${stderr}`.split('Type 2 to do');
    expect(before.match(/undo cannot restore lastname of user/g), before).toHaveLength(1);
  }
  expect(device(1).users.find(({ username }) => username === 'bob')?.lastname).toBe('old');
});
