import { describe, expect, test } from 'vitest';
import { makeDevsh, startFleet } from './devsh.ts';

async function mistake(line: string): Promise<{ message: string; suggestions: string[] }> {
  const devsh = await makeDevsh();
  const { stdout, exitCode } = await devsh([...line.split(' '), '--json']);
  expect(exitCode).toBe(2);
  const { error } = JSON.parse(stdout) as { error: { message: string; suggestions: string[] } };
  return error;
}

describe('a word of other tools suggests the command that does it', () => {
  test.each([
    ['ls', 'user list'],
    ['list users', 'user list'],
    ['users', 'user list'],
    ['users list', 'user list'],
    ['users delete bob', 'user delete bob'],
    ['show users', 'user list'],
    ['list users where lang=de', 'user list lang=de'],
    ['disable bob', 'lockout bob'],
    ['user disable bob', 'lockout bob'],
    ['rm bob', 'user delete bob'],
    ['remove user bob', 'user delete bob'],
    ['delete user bob', 'user delete bob'],
    ['compare', 'user list --drift'],
    ['filter', 'user list FILTER'],
    ['filter lang=de', 'user list lang=de'],
    ['find bob', 'user list bob'],
    ['show', 'user show KEY'],
    ['show user bob', 'user show bob'],
    ['adduser', 'user add username=NAME'],
    ['adduser bob', 'user add username=bob'],
    ['add user bob lang=de', 'user add username=bob lang=de'],
    ['add user bob password=hunter2', 'user add username=bob password=***'],
    ['change bob lang=en', 'user set bob lang=en'],
    ['user add bob', 'username=bob'],
    ['user rm bob', 'user delete bob'],
    ['user ls', 'user list'],
    ['user compare', 'user list --drift'],
    ['device rm fw1', 'device remove fw1'],
    ['q', 'quit'],
    ['?', 'help'],
    ['runs list', 'runs'],
    ['run show last', 'runs show last'],
    ['run list', 'runs'],
    ['owed', 'pending'],
    ['owed settle', 'resume'],
    ['owed drop 1', 'pending drop 1'],
    ['retry 1', 'resume 1'],
    ['device schema', 'schema devices'],
    ['plan schema', 'schema changes'],
    ['profile schema', 'schema profile'],
    ['config schema', 'schema settings'],
    ['alias add de x', 'alias set de x'],
    ['alias de=x', 'alias set de x'],
    ['trust show', 'trust list'],
    ['trust rm fw1', 'trust forget fw1'],
    ['config view', 'config list'],
    ['pins', 'trust list'],
    ['inventory', 'device list'],
    ['script a.devsh', 'run a.devsh'],
    ['open fw1 /api/user/', 'get /api/user/'],
    ['open', 'get /api/'],
    ['watch devices', 'devices --watch'],
    ['watch user list zoe', 'user list zoe --watch'],
    ['watch get /api/status/', 'user list --watch'],
    ['theme', 'config get theme'],
    ['theme light', 'config set theme light'],
    ['theme auto', 'config unset theme'],
    ['user list --where lang=de', '--filter'],
    ['user delete --filter lang=de', '--where'],
    ['user list --json username,lang', '--columns username,lang'],
  ])('%s: %s', async (line, meant) => {
    expect((await mistake(line)).suggestions).toEqual([meant]);
  });
});

test.each([
  ['user list -o json', '--format json chooses the format', ['--format json']],
  ['user list -oyaml', '--format yaml', ['--format yaml']],
  ['export --output json', 'a file of this name is ./json', ['--format json']],
  ['plan change.yaml -o jsonpath={.items}', '--json | jq', []],
  ['user list -o wide', '--columns FIELDS', []],
  ['user list --jq .devices', '--json | jq', []],
  ['user list --fields=username', '--columns FIELDS chooses fields', []],
  ['user list --limit 3', '"| head" cuts', []],
  ['user list -w', '--watch reads again', []],
  ['watch --interval 30 user list', '--watch=SECONDS reads again', []],
  ['user list -u admin', '--user NAME', []],
  ['user delete --all', '--where FILTER chooses what to write', []],
  ['user list --password x', 'no option takes a secret', []],
  ['apply -f x.yaml', 'apply FILE', []],
  ['apply x.yaml --check', 'no option --check', ['--dry-run']],
  ['undo --last', 'no option --last', ['--also']],
  ['undo --alow x', 'no option --alow', ['--allow', '--also']],
  ['info --config', '"config list" shows the settings', []],
  ['user list --as-curl', 'plan FILE --as-curl prints the requests', []],
  ['export --evidence folder', 'export RESOURCE --output-dir DIR', []],
  ['export --per-device', '--output-dir DIR writes one file', []],
  ['doctor --report report.json', 'doctor --json has all findings', []],
  ['rotate password bob --new-command gen', '--new-stdin reads what a program prints', []],
])('%s says what does it here', async (line, message, suggestions) => {
  const said: { message: string; suggestions?: string[] } = await mistake(line);
  expect(said.message).toContain(message);
  expect(said.suggestions ?? []).toEqual(suggestions);
});

test('a file that is called like a format is written with its folder', async () => {
  const { devsh } = await startFleet({ devices: 1 });
  const { exitCode, stderr } = await devsh([
    'export',
    '--on',
    'sim1',
    '-o',
    `${devsh.folder}/json`,
  ]);
  expect(exitCode, stderr).toBe(0);
});

test('the same is said at a prompt that reads from a pipe', async () => {
  const devsh = await makeDevsh();
  const { stderr } = await devsh([], { stdin: 'rm bob\nuser add bob\n' });
  expect(stderr).toContain("did you mean 'user delete bob'?");
  expect(stderr).toContain('write it as in username=bob');
});

test('the quit commands of other tools work here, too', async () => {
  const devsh = await makeDevsh();
  expect((await devsh(['exit'])).exitCode).toBe(0);
});

test('a resource that is named like such a word can be reached anyway', async () => {
  const { devsh } = await startFleet();
  const { exitCode } = await devsh(['resource', 'find', 'list', '--on', 'sim1']);
  expect(exitCode).not.toBe(2);
});

test('a condition in the place of a key points to --where', async () => {
  const { devsh, writes } = await startFleet({ devices: 1 });
  const hint = '--where "lang=en" selects by fields';
  const changed = await devsh('user set lang=en lang=de --on sim1 --yes');
  expect(changed.stderr).toContain(hint);
  const deleted = await devsh('user delete lang=en --on sim1 --yes');
  expect(deleted.stderr).toContain(hint);
  expect(writes()).toEqual([]);
});
