import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Aliases } from '../../src/settings/settings-table.ts';
import { makeDevsh, startFleet, type Devsh } from './devsh.ts';

type Own = Devsh & { readonly folder: string };

function fileOf({ folder }: Own): string {
  return join(folder, 'config', 'devsh', 'settings.json');
}

/** Writes aliases as a person would with an editor, unchecked. */
async function withAliases(devsh: Own, aliases: Aliases): Promise<void> {
  await mkdir(join(devsh.folder, 'config', 'devsh'), { recursive: true, mode: 0o700 });
  await writeFile(fileOf(devsh), JSON.stringify({ aliases }), { mode: 0o600 });
}

test('an alias works in a shell, at the prompt and in a script, and adds what follows it', async () => {
  const { devsh } = await startFleet({ devices: 2 });
  const line = 'user list viewer --on @lab --columns username,lang';
  expect(await devsh(['alias', 'set', 'viewers', line])).toMatchObject({ exitCode: 0, stdout: '' });
  const direct = await devsh(line);
  expect(direct.stdout).toContain('viewer');
  expect(await devsh('viewers')).toEqual(direct);
  expect((await devsh('--format csv viewers --sort -device')).stdout).toBe(
    (await devsh(`${line} --format csv --sort -device`)).stdout,
  );
  expect((await devsh('viewers lang=zz')).stdout).not.toContain('viewer');
  expect((await devsh('--plain', { stdin: 'viewers\n' })).stdout).toBe(direct.stdout);
  expect((await devsh('run -', { stdin: 'viewers\n' })).stdout).toBe(direct.stdout);
});

test('each value stays one word and is never an option', async () => {
  const { devsh, writes } = await startFleet({ devices: 1 });
  await devsh(['alias', 'set', 'leaver', 'user delete ${1} --on sim1']);
  await devsh(['alias', 'set', 'last', 'user set ${KEY} "lastname=${2}" --on ${WHERE:-sim1}']);
  const option = await devsh(['leaver', '--', '--yes']);
  expect(option.stderr).toContain('no user "--yes" was ever read');
  expect(writes()).toEqual([]);
  const renamed = await devsh(['last', 'x', 'van Dyk --all', 'KEY=viewer', '--yes', '--json']);
  expect(renamed.exitCode).toBe(2);
  await devsh(['alias', 'set', 'last', 'user set ${KEY} "lastname=${1}" --on ${WHERE:-sim1}']);
  const { stdout } = await devsh(['last', 'van Dyk --all', 'KEY=viewer', '--yes', '--json']);
  expect(stdout).toContain('"lastname":"van Dyk --all"');
  expect((await devsh('leaver viewer')).exitCode).toBe(6);
  expect((await devsh('leaver viewer --yes')).exitCode).toBe(0);
});

test('a missing value is named, and a variable of the environment gives it', async () => {
  const { devsh } = await startFleet({ devices: 1 });
  await devsh(['alias', 'set', 'who', 'user show ${1} --on ${HOST}']);
  const none = await devsh('who');
  expect(none.stderr).toContain('the alias who needs ${1}: who VALUE');
  expect(none.exitCode).toBe(2);
  expect((await devsh('who viewer')).stderr).toContain('needs ${HOST}: who HOST=VALUE');
  expect((await devsh('who viewer HOST=sim1')).stdout).toContain('viewer');
  expect((await devsh('who viewer HOST=sim1 HOST=sim2')).stderr).toContain('HOST is given twice');
  const env = { DEVSH_VAR_HOST: 'sim1' };
  expect((await devsh('who viewer', { env })).stdout).toContain('viewer');
});

test('the journal of a run has the line that ran', async () => {
  const { devsh } = await startFleet({ devices: 1 });
  await devsh(['alias', 'set', 'leaver', 'user delete ${1} --on sim1']);
  expect((await devsh('leaver viewer --yes')).exitCode).toBe(0);
  const { stdout } = await devsh('runs --json');
  expect(stdout).toContain('user delete viewer --on sim1 --yes');
});

test.each([
  [['user', 'user list'], 'user is a command: choose another name'],
  [['exit', 'user list'], 'exit is a command'],
  [['-x', 'user list'], 'there is no option -x'],
  [['a b', 'user list'], 'a name has only letters'],
  [['gone', 'user delete ${1} --yes'], '--yes cannot be saved: type it after the alias'],
  [['gone', 'user delete ${1} -qy'], '--yes cannot be saved'],
  [['gone', 'user delete ${1} --allow own-account'], '--allow cannot be saved'],
  [['look', 'user list --insecure'], '--insecure cannot be saved'],
  [['look', 'user list --${1}'], 'a variable is never an option'],
  [['gone', 'user set bob ${FIELD}=${VALUE}'], 'a variable is never the name of a field'],
  [['look', '${1} list'], 'the line begins with a command'],
  [['look', ''], 'LINE is empty'],
  [['look', 'user list ${a b}'], 'is no variable'],
  [['look', "user list 'open"], "the quote ' is not closed"],
  [['look', 'user lits'], 'user has no verb "lits"'],
  [['look', 'user list --nonsense'], 'there is no option --nonsense'],
  [['look', 'other'], 'there is no command "other"'],
  [['pass', 'user set bob password=hunter2'], 'an alias contains no secret'],
  [['pass', 'user set bob password=${1}'], 'an alias contains no secret'],
])('alias set %j is refused', async (words, message) => {
  const devsh = await makeDevsh();
  await devsh(['alias', 'set', 'other', 'user list']);
  const before = await readFile(fileOf(devsh), 'utf8');
  const { stderr, exitCode } = await devsh(['alias', 'set', ...words]);
  expect(stderr).toContain(message);
  expect(exitCode).toBe(2);
  expect(await readFile(fileOf(devsh), 'utf8')).toBe(before);
});

test('a file that was edited by hand gives an alias no more rights', async () => {
  const { devsh, writes } = await startFleet({ devices: 1 });
  await withAliases(devsh, {
    gone: 'user delete viewer --on sim1 --yes',
    nested: 'user delete viewer --on sim1 --${1}',
    user: 'get /nothing',
    twice: 'look',
    look: 'user list --on sim1',
  });
  expect((await devsh('gone')).stderr).toContain('--yes cannot be saved');
  expect((await devsh('nested yes')).stderr).toContain('a variable is never an option');
  const list = await devsh('user list --on sim1');
  expect(list.exitCode).toBe(0);
  expect(list.stderr).toContain('user is a command, so your alias user does not run');
  const twice = await devsh('twice');
  expect(twice.stderr).toContain('there is no command "look"');
  expect(twice.stderr).toContain('(twice is the alias of: look)');
  expect((await devsh('user lang=de --on sim1')).exitCode).toBe(0);
  expect(writes()).toEqual([]);
});

test('a secret that was written into the settings by hand is not shown', async () => {
  const devsh = await makeDevsh();
  await mkdir(join(devsh.folder, 'config', 'devsh'), { recursive: true, mode: 0o700 });
  const aliases = { leak: 'user set bob password=hunter2' };
  const settings = { aliases, on: 'admin:hunter2@10.0.0.1' };
  await writeFile(fileOf(devsh), JSON.stringify(settings), { mode: 0o600 });
  for (const line of ['alias', 'config list', 'config get on', 'config get aliases'])
    for (const json of ['', ' --json']) {
      const { stdout, stderr, exitCode } = await devsh(line + json);
      expect(exitCode).toBe(0);
      expect(stdout).not.toBe('');
      expect(stdout + stderr).not.toContain('hunter2');
    }
  expect((await devsh('alias delete leak')).stderr).not.toContain('hunter2');
});

test('a resource of the devices wins over an alias of its name, with a warning', async () => {
  const { devsh } = await startFleet({ devices: 1, profile: 'drf' });
  await withAliases(devsh, { interface: 'user list viewer --on sim1' });
  expect((await devsh('interface --on sim1')).stdout).toContain('viewer');
  expect((await devsh('learn --on sim1')).exitCode).toBe(0);
  const { stderr, stdout } = await devsh('interface --on sim1');
  expect(stderr).toContain('interface is a resource here, so your alias interface does not run');
  expect(stdout).not.toContain('viewer');
  const set = await devsh(['alias', 'set', 'interface', 'user list']);
  expect(set.stderr).toContain('interface is a resource of your devices');
  expect(set.exitCode).toBe(2);
});

test('a project cannot bring an alias', async () => {
  const devsh = await makeDevsh();
  const cwd = join(devsh.folder, 'project');
  await mkdir(cwd);
  await writeFile(join(cwd, '.devsh.json'), '{"aliases": {"look": "user list"}}');
  const { stderr, exitCode } = await devsh('look', { cwd });
  expect(stderr).toContain('"aliases" is only allowed');
  expect(exitCode).toBe(1);
});

test('an alias with a part of an older devsh loads, stays in the file, and is refused by itself', async () => {
  const { devsh, writes } = await startFleet({ devices: 1 });
  const prompts = [{ name: 'to', text: 'New owner', kind: 'text' }];
  const aliases = {
    speak: { run: 'user set ${key} lastname=${prompt.to} --on sim1', prompts },
    german: { run: 'user list --on sim1', key: 'X', place: 'table', when: 'lang=de' },
    look: { run: '!ping -c 1 ${1}', reads: true },
    list: 'user list viewer --on sim1',
  } as const;
  await withAliases(devsh, aliases);
  for (const [line, part] of [
    ['speak key=viewer --yes', 'prompts'],
    ['german', 'when'],
    ['look x --yes', 'reads'],
  ] as const) {
    const { stderr, exitCode } = await devsh(line);
    expect(stderr).toContain(`"${part}" is no longer a part of an alias`);
    expect(exitCode).toBe(2);
  }
  expect((await devsh('list')).stdout).toContain('viewer');
  expect((await devsh(['alias', 'set', 'more', 'user list'])).exitCode).toBe(0);
  const kept = JSON.parse(await readFile(fileOf(devsh), 'utf8')) as { aliases: Aliases };
  expect(kept.aliases).toEqual({ ...aliases, more: 'user list' });
  expect(writes()).toEqual([]);
});

/** A program that prints its words, and a line to stderr. */
const ECHO = `!'${process.execPath}' -e "console.log(JSON.stringify(process.argv.slice(1))); console.error('aside')" --`;

test('a program runs at the prompt, in a shell and in a script, after a question', async () => {
  const { devsh } = await startFleet({ devices: 1 });
  const file = fileOf(devsh);
  expect((await devsh(['alias', 'set', 'probe', `${ECHO} \${1} "a  b" '$(id)'`])).exitCode).toBe(0);
  expect(JSON.parse(await readFile(file, 'utf8'))).toHaveProperty('aliases.probe');
  const words = '["x@y.z:1",' + '"a  b","$(id)"]\n';
  const run = await devsh(['probe', 'x@y.z:1', '--yes']);
  expect(run).toEqual({ stdout: words, stderr: 'aside\n', exitCode: 0 });
  const unasked = await devsh('probe x');
  expect(unasked.stdout).toBe('');
  expect(unasked.stderr).toContain('not confirmed: use --yes');
  expect(unasked.exitCode).toBe(6);
  const asked = await devsh('probe x', { tty: ['y'] });
  expect(asked.stdout + asked.stderr).toContain('probe: run this program? Type y to run it:');
  expect(asked.stdout).toContain('["x","a  b","$(id)"]');
  expect((await devsh('probe x', { tty: ['n'] })).exitCode).toBe(6);
  expect((await devsh('run -', { stdin: 'probe x --yes\n' })).stdout).toContain('["x",');
  expect((await devsh('--plain', { stdin: 'probe x --yes\n' })).stdout).toContain('["x",');
  expect(JSON.parse((await devsh('probe x --yes --json')).stdout)).toMatchObject({
    output: '["x","a  b","$(id)"]',
  });
  const more = await devsh('probe x y --yes');
  expect(more.stderr).toContain('probe takes no further word "y"');
  expect((await devsh(['probe', '--yes', '--', '-rf'])).stderr).toContain('begins with "-"');
  expect((await devsh('probe x --on sim1 --yes')).stderr).toContain('has no option --on');
  expect((await devsh('probe x --help')).stdout).toContain('Run the program');
});

test('a program that fails is a failure, and what it prints is foreign text', async () => {
  const devsh = await makeDevsh();
  const node = `!'${process.execPath}' -e`;
  await withAliases(devsh, {
    fails: { run: `${node} "console.log('\\x1b[2J\\tx'); process.exit(3)"` },
    late: { run: `${node} "console.log('begun'); setTimeout(() => 0, 60000)"`, seconds: 1 },
    none: { run: '!/nowhere/there-is-no-such-program', label: 'no program' },
    quiet: { run: `${node} ""` },
    spy: {
      run: `${node} "console.log(Object.keys(process.env).filter((n) => /DEVSH/.test(n)))"`,
    },
  });
  const fails = await devsh('fails --yes');
  expect(fails.stdout).toBe('^[[2J  x\n');
  expect(fails.stderr).toContain('fails: ended with 3');
  expect(fails.exitCode).toBe(1);
  const late = await devsh('late --yes');
  expect(late.stdout).toBe('begun\n');
  expect(late.stderr).toContain('late: stopped after 1 s');
  const none = await devsh('none --yes');
  expect(none.stderr).toContain('no program: not started: the program does not exist');
  expect(none.exitCode).toBe(1);
  expect((await devsh('quiet --yes')).stderr).toContain('quiet: done');
  expect((await devsh('spy --yes', { env: { DEVSH_TOKEN: 'canary' } })).stdout).toBe('[]\n');
});

/** Programs that read their words as code, each with the value in a text of that code. */
const READERS: readonly (readonly [program: string, run: string])[] = [
  ['sh', `!sh -c "echo \${key}"`],
  ['env', `!env sh -c "echo '\${key}'"`],
  ['script', `!script -qc "echo \${key}" /dev/null`],
  ['python3', `!python3 -c "print('\${key}')"`],
  ['perl', `!perl -e "print '\${key}'"`],
  ['awk', `!awk "BEGIN { print \\"\${key}\\" }"`],
  ['find', `!find . -maxdepth 0 -exec sh -c "echo \${key}" \\;`],
  ['node', `!'${process.execPath}' -e "console.log('\${key}')"`],
];

test.each(READERS)('a value is no code for %s', async (program, run) => {
  const devsh = await makeDevsh();
  const mark = join(devsh.folder, 'mark');
  await withAliases(devsh, { say: { run } });
  const plain = await devsh(['say', 'key=bob.o_neil-2@x:1+y', '--yes']);
  if (plain.stderr.includes('does not exist')) return expect(program).not.toBe('sh');
  expect(plain.stdout).toContain('bob.o_neil-2@x:1+y');
  const code = `process.getBuiltinModule("node:fs").writeFileSync("${mark}", "")`;
  for (const value of [
    `$(touch ${mark})`,
    `\`touch ${mark}\``,
    `x; touch ${mark}`,
    `x" & touch "${mark}`,
    `x'; open("${mark}", "w"); '`,
    `'.system("touch ${mark}").'`,
    `" system("touch ${mark}") "`,
    `'+${code}+'`,
  ]) {
    const { stderr, exitCode } = await devsh(['say', `key=${value}`, '--yes']);
    expect(stderr).toMatch(/DEVSH_KEY=\$\{key\} in front of the program.*standard input/s);
    expect(exitCode).toBe(6);
  }
  await expect(readFile(mark)).rejects.toThrow('ENOENT');
});

test('a program gets any value as a variable and on its standard input', async () => {
  const devsh = await makeDevsh();
  const code = `console.log(process.env.DEVSH_WHO, require('fs').readFileSync(0, 'utf8'))`;
  const run = `!DEVSH_WHO=\${key} '${process.execPath}' -e "${code}"`;
  await withAliases(devsh, { greet: { run } });
  const value = `$(id) "it's" -x = 李`;
  const { stdout } = await devsh(['greet', `key=${value}`, '--yes'], { env: { DEVSH_OTHER: 'x' } });
  expect(stdout).toBe(`${value} ${JSON.stringify({ DEVSH_WHO: value })}\n`);
});

test('a program that may write is refused for what is read-only', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  const { address } = device(2);
  const inventory = join(devsh.folder, 'config', 'devsh', 'devices.yaml');
  const text = await readFile(inventory, 'utf8');
  await writeFile(inventory, text.replace('name: sim2', 'name: sim2\n    read_only: true'));
  const all = '!DEVSH_ALL=${devices:-x} ';
  const run = `${ECHO.replace('!', all)} \${1:-x} \${device:-x}`;
  await withAliases(devsh, { probe: run });
  for (const line of [
    'probe device=sim2',
    'probe sim2',
    `probe ${address}`,
    'probe devices=sim1,sim2',
  ]) {
    const { stdout, stderr, exitCode } = await devsh(`${line} --yes`);
    expect(stderr).toContain('sim2 is read-only, and the program may write');
    expect(stdout).toBe('');
    expect(exitCode).toBe(6);
  }
  expect((await devsh('probe device=sim1 --yes')).exitCode).toBe(0);
  const inSession = (line: string) => devsh('--plain', { stdin: `connect @lab\n${line} --yes\n` });
  expect((await inSession('probe')).stderr).toContain('sim2 is read-only');
  expect((await inSession('probe device=sim1')).stdout).toContain('["x","sim1"]');
  const readOnly = { env: { DEVSH_READ_ONLY: '1' } };
  const refused = await devsh('probe device=sim1 --yes', readOnly);
  expect(refused.stderr).toContain('this session is read-only');
  expect(refused.exitCode).toBe(6);
});

test('a value of a device reaches no command that would keep it', async () => {
  const devsh = await makeDevsh();
  await devsh(['alias', 'set', 'look', 'config set theme ${record.lang}']);
  const { stderr, exitCode } = await devsh('look record.lang=dark');
  expect(stderr).toContain('"config" accepts no value of a record: nothing was run');
  expect(exitCode).toBe(6);
});

test('an alias with a key keeps it when its line is set, and is listed with it', async () => {
  const devsh = await makeDevsh();
  const key = { key: 'X', place: 'table' } as const;
  await withAliases(devsh, {
    shout: { run: 'user show ${key}', ...key },
    leak: { run: 'user set bob password=hunter2', ...key },
  });
  expect((await devsh(['alias', 'set', 'shout', 'user show ${key} --json'])).exitCode).toBe(0);
  const { aliases } = JSON.parse(await readFile(fileOf(devsh), 'utf8')) as { aliases: Aliases };
  expect(aliases['shout']).toEqual({ run: 'user show ${key} --json', ...key });
  const lines = ['alias', 'alias --json', 'config get aliases', 'help all', 'help leak'];
  const shown = await Promise.all(lines.map((line) => devsh(line)));
  expect(shown[0]?.stdout).toContain('shout\tX\ttable\tuser show ${key} --json\n');
  for (const { stdout, stderr } of shown) expect(stdout + stderr).not.toContain('hunter2');
  const refused = await devsh(['alias', 'set', 'shout', 'user show ${1}']);
  expect(refused.stderr).toContain('"${1}" has no value at this place of the screen');
});

test('aliases are listed, shown in help, and deleted', async () => {
  const devsh = await makeDevsh();
  await devsh(['alias', 'set', 'german', 'user list lang=de']);
  const again = await devsh(['alias', 'set', 'german', 'user list lang=en']);
  expect(again.stderr).toContain('german was: user list lang=de');
  expect((await devsh('alias')).stdout).toBe('ALIAS\tLINE\ngerman\tuser list lang=en\n');
  expect((await devsh('help all')).stdout).toContain('Your aliases\n  german  user list lang=en\n');
  expect((await devsh('help german')).stdout).toBe('german: your alias of "user list lang=en"\n');
  expect((await devsh('german --help')).stdout).toContain('user list:');
  const unknown = await devsh('alias delete germna');
  expect(unknown.stderr).toContain("did you mean 'german'?");
  expect((await devsh('alias delete german')).stderr).toContain('it was: user list lang=en');
  expect(JSON.parse(await readFile(fileOf(devsh), 'utf8'))).toEqual({});
  expect((await devsh('german')).exitCode).toBe(2);
  expect((await devsh('help constructor')).stderr).toContain('no command or topic "constructor"');
  expect((await devsh('alias delete constructor')).exitCode).toBe(2);
  expect((await devsh('alias set constructor user')).stderr).not.toContain('was:');
});
