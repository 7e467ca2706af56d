import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ADMIN, startFleet } from './devsh.ts';
import { contention } from '../contention.ts';

test.each([
  ['users.json', '[\n  {"username": "zoe", "lang": "de",\n   "lang": "fr"}\n]', 'users.json:3:4'],
  [
    'users.jsonl',
    '{"username":"ann"}\n{"username":"zoe","lang":"de","lang":"fr"}\n',
    'users.jsonl:2:31',
  ],
])(
  'a name that is twice in one record of %s is refused with its place',
  async (name, text, place) => {
    const { devsh, writes } = await startFleet();
    await writeFile(join(devsh.folder, name), text);
    const { stderr, exitCode } = await devsh(`import ${join(devsh.folder, name)} --on sim1 --yes`);
    expect(stderr).toContain(`${place}: "lang" appears twice in one object`);
    expect(exitCode).toBe(2);
    expect(writes()).toEqual([]);
  },
);

test('a name that is twice in a record of a device is a warning, once', async () => {
  const { devsh, device } = await startFleet();
  device(1).setFault('duplicate-keys');
  const { stderr, exitCode } = await devsh(['run', '-'], {
    stdin: 'user list --on sim1\nuser list --on sim1\n',
  });
  expect(exitCode).toBe(0);
  expect(stderr.match(/sim1: user: its JSON has "lang" twice/g)).toHaveLength(1);
});

test.each(['{"users":{}}', '{"a":[{}]}', '{}', '{"users":[{"name":"x"}]}'])(
  'the JSON %s is no inventory',
  async (text) => {
    const { devsh } = await startFleet();
    await writeFile(join(devsh.folder, 'some.json'), text);
    const line = `device import ${join(devsh.folder, 'some.json')} --yes`;
    const { stderr, exitCode } = await devsh(line);
    expect(stderr).toContain('no known content: looked for');
    expect(exitCode).toBe(2);
  },
);

test('lines of standard input that nobody reads are reported', async () => {
  const { devsh } = await startFleet({ env: {} });
  const line = 'user list --on sim1 --user admin --password-stdin';
  const piped = await devsh(line, { stdin: 'admin-secret\nurl: https://x\n' });
  expect(piped).toMatchObject({ exitCode: 0 });
  expect(piped.stderr).toContain(
    '--password-stdin: standard input has more lines than devsh reads',
  );
  expect((await devsh(line, { stdin: 'admin-secret\r\n' })).stderr).not.toContain('more lines');
  const both = await devsh(`${line} --passphrase-stdin`, { stdin: 'admin-secret\npassphrase\n' });
  expect(both).toMatchObject({ exitCode: 0, stderr: '' });
});

test.each(['400-token', '403'] as const)(
  'a token refused with %s may require another scheme',
  async (fault) => {
    const { devsh, device } = await startFleet({ env: {} });
    device(1).setFault(fault);
    const { stderr, exitCode } = await devsh('user list --on sim1', {
      env: { DEVSH_TOKEN: 'abc' },
    });
    expect(stderr).toContain('"Authorization: Token …"; the device may require another scheme');
    expect(stderr).toContain('login sim1 --user NAME');
    expect(exitCode).not.toBe(0);
    const basic = await devsh('user list --on sim1', { env: ADMIN });
    expect(basic.stderr).not.toContain('scheme');
  },
);

test('blanks in a key are visible in plan, question and result', async () => {
  const { devsh, device } = await startFleet();
  for (const username of ['ADMIN ', 'a  b', 'plain one'])
    device(1).putUser({ username, lang: 'de' });
  const asked = await devsh(
    ['user', 'delete', 'ADMIN ', '--on', 'sim1', '--allow', 'own-account'],
    { tty: ['n'] },
  );
  expect(asked.stderr).toContain("delete user 'ADMIN ' on sim1");
  expect(asked.stderr).toContain("delete user 'ADMIN ' on sim1? Type y");
  const done = await devsh(['user', 'delete', 'a  b', '--on', 'sim1', '--yes']);
  expect(done.stdout).toContain("✓ 'a  b'  deleted");
  const other = await devsh(['user', 'delete', 'plain one', '--on', 'sim1', '--yes']);
  expect(other.stdout).toContain('plain one  deleted');
});

test.each<[cut: (whole: string) => string, line: string]>([
  [() => '', 'repeat the line that you typed'],
  [() => '{"schema":"devsh', 'repeat the line that you typed'],
  [(whole) => whole.slice(0, whole.indexOf('\n')), 'repeat the line that you typed'],
  [(whole) => whole.slice(0, whole.indexOf('\n') + 9), 'repeat its line: user set user1 lang=de'],
])(
  'a journal that was cut before its plan was whole sent nothing: resume names the line to repeat',
  async (cut, line) => {
    const { devsh, writes } = await startFleet();
    await devsh('user set user1 lang=de --on sim1 --yes');
    const folder = join(devsh.folder, 'state/devsh/runs');
    const [file = ''] = await readdir(folder);
    await writeFile(join(folder, file), cut(await readFile(join(folder, file), 'utf8')));
    const before = writes().length;
    const { stdout, exitCode } = await devsh(`resume ${file.replace('.jsonl', '')} --yes --json`);
    expect([stdout, exitCode]).toEqual([expect.stringContaining('sent nothing'), 6]);
    expect(stdout).toContain(line);
    expect(writes()).toHaveLength(before);
  },
);

test.each(['[', '{"a":', '{'])('a file of 100,000 times %j is refused at once', async (part) => {
  const { devsh } = await startFleet();
  const file = join(devsh.folder, 'deep.json');
  await writeFile(file, part.repeat(100_000));
  await devsh('device list');
  const from = performance.now();
  const { stderr, exitCode } = await devsh(`plan ${file} --on sim1`);
  expect(performance.now() - from).toBeLessThan(1000 * contention());
  expect(stderr).toContain('deep');
  expect(exitCode).toBe(2);
});
