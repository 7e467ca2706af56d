import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startFleet, usernames, writesOf } from './devsh.ts';

const ADD = 'user add username=zed first_name=Zed lastname=Zulu lang=en --yes';

/** The devices that a write reaches after these lines, with one of three selected. */
async function writtenAfter(...lines: readonly string[]) {
  const fleet = await startFleet({ devices: 4 });
  const stdin = ['use sim2', ...lines, ADD, ''].join('\n');
  const { stderr } = await fleet.devsh('connect sim1 sim2 sim3 --plain', { stdin });
  const written = fleet.devices.flatMap((one) => (writesOf(one).length > 0 ? [one.name] : []));
  return { ...fleet, stderr, written };
}

test.each([
  ['the selected device is connected again', 'connect sim2'],
  ['another one is connected again', 'connect sim1'],
  ['another one is connected as another user', 'connect sim3 --user admin'],
  ['the selected one is connected in another way', 'connect sim2 --user admin'],
  ['all are connected again', 'connect @lab'],
  ['another one leaves', 'disconnect sim1'],
  ['another one is read in another way', 'user list --on sim1 --profile drf'],
])('%s: the next write goes to the selected device alone', async (_what, line) => {
  const { written } = await writtenAfter(line);
  expect(written).toEqual(['sim2']);
});

test('a newly connected device is reported as not selected, and the selection stays', async () => {
  const { written, stderr } = await writtenAfter('connect sim4');
  expect(stderr).toContain(
    'not selected: sim4; the selection stays sim2 ("use all" selects all 4)',
  );
  expect(written).toEqual(['sim2']);
});

test('no other device replaces a selected one that leaves, not even those of the settings', async () => {
  const { devsh, writes } = await startFleet({ devices: 3 });
  const cwd = await projectIn(devsh.folder, { on: '@lab' });
  const stdin = `use sim2\ndisconnect sim2\n${ADD}\n`;
  const { stderr, exitCode } = await devsh('connect sim1 sim2 --plain', { stdin, cwd });
  expect(stderr).toContain('disconnected from sim2; no device is selected now');
  expect(stderr).toContain('none of the 1 connected devices is selected');
  expect(exitCode).toBe(2);
  expect(writes()).toEqual([]);
});

test.each(['undo', 'resume'])(
  '%s without an id does nothing if devices are connected and none is selected',
  async (verb) => {
    const { devsh, writes } = await startFleet({ devices: 2 });
    const stdin = `${ADD}\nuse sim2\ndisconnect sim2\n${verb} --yes\n`;
    const { stderr, exitCode } = await devsh('connect sim1 sim2 --plain', { stdin });
    expect(stderr).toContain('none of the 1 connected devices is selected');
    expect(exitCode).toBe(2);
    expect(writes()).toHaveLength(2);
  },
);

test('devices keep their order when some are connected again', async () => {
  const { devsh } = await startFleet({ devices: 3 });
  const stdin = 'connect sim2\ndisconnect sim1\nconnect sim1\nuser list viewer --format csv\n';
  const { stdout } = await devsh('connect @lab --plain', { stdin });
  const list = stdout.slice(stdout.lastIndexOf('device,'));
  expect(list.match(/^sim\d/gm)).toEqual(['sim1', 'sim2', 'sim3']);
});

test('the prompt shows the devices of the next line, and how many of them are absent', async () => {
  const { devsh, device } = await startFleet({ devices: 5 });
  device(2).setFault('refuse');
  const tty = ['use sim2', 'use sim1,sim3,sim4,sim5', 'use sim1', 'disconnect sim1', 'exit'];
  const { stderr } = await devsh('connect @lab --plain', { tty });
  const prompts = Array.from(stderr.matchAll(/devsh .*?> /g), ([text]) => text);
  expect([...new Set(prompts)]).toEqual([
    'devsh all 5 · 1 not connected> ',
    'devsh sim2 · not connected> ',
    'devsh 4 of 5> ',
    'devsh sim1> ',
    'devsh none of 4> ',
  ]);
});

test('without connections the prompt shows the selection of the settings', async () => {
  const { devsh } = await startFleet({ devices: 1 });
  const cwd = await projectIn(devsh.folder, { on: '@lab' });
  const { stderr } = await devsh('--plain', { tty: ['exit'], cwd });
  expect(stderr).toContain('devsh @lab> ');
});

test('a label of the inventory stands in the prompt and in the question of a write', async () => {
  const { devsh, device } = await startFleet({ devices: 3 });
  const file = join(devsh.folder, 'config', 'devsh', 'devices.yaml');
  await appendFile(file, 'groups:\n  lab: { label: PROD, color: red }\n');
  const add = ADD.replace(' --yes', '');
  const one = await devsh('connect @lab --plain', { tty: ['use sim2', add, 'y', 'exit'] });
  expect(one.stderr).toContain('devsh PROD · all 3> ');
  expect(one.stderr).toContain('devsh PROD · sim2> ');
  expect(one.stderr).toContain('PROD: add user zed on sim2? Type y to do it:');
  expect(usernames(device(2))).toContain('zed');
  const many = await devsh(`${add} --on @lab`, { tty: ['2'] });
  expect(many.stderr).toContain('PROD: 2 steps on 2 of 3 devices. Type 2 to do them:');
  const last = await devsh('user delete zed --on @lab', { tty: ['n'] });
  expect(last.stderr).toContain('PROD: 3 steps on 3 devices. Type 3 to DELETE:');
});

test('different labels are counted, that of a device overrides that of its group, and lists show both', async () => {
  const { devsh } = await startFleet({ devices: 3 });
  const file = join(devsh.folder, 'config', 'devsh', 'devices.yaml');
  const text = await readFile(file, 'utf8');
  const labelled = text.replace('name: sim1\n', 'name: sim1\n    label: PROD\n    color: red\n');
  await writeFile(file, `${labelled}groups:\n  lab: { label: LAB, color: green }\n`);
  const { stderr } = await devsh('connect @lab --plain', { tty: ['exit'] });
  expect(stderr).toContain('devsh 1 PROD, 2 LAB · all 3> ');
  const { stdout } = await devsh('device list --format csv');
  expect(stdout).toMatch(/,label,color$/m);
  expect(stdout.match(/,PROD,red$/gm)).toHaveLength(1);
  expect(stdout.match(/,LAB,green$/gm)).toHaveLength(2);
});

test.each([
  ['csv', 'name,address,label,color\nfw1,10.0.0.5,PROD,red\n'],
  ['yaml', 'devices:\n  - { name: fw1, address: 10.0.0.5, label: PROD, color: red }\n'],
])('an import from %s takes label and colour over', async (kind, text) => {
  const { devsh } = await startFleet({ devices: 1 });
  const source = join(devsh.folder, `more.${kind}`);
  await writeFile(source, text);
  expect((await devsh(`device import ${source} --yes`)).exitCode).toBe(0);
  const { stdout } = await devsh('device list --format csv');
  expect(stdout).toMatch(/^fw1,10\.0\.0\.5,.*,PROD,red$/m);
  expect((await devsh(`device import ${source} --yes`)).stderr).toContain('nothing to do');
});

test('the plain prompt shows what can be resumed, and a connect line with a secret is not kept', async () => {
  const { devsh } = await startFleet({ devices: 2 });
  await devsh('connect @lab --plain', { tty: ['exit'] });
  const { stderr } = await devsh('--plain', { tty: ['exit'] });
  expect(stderr).toContain('To continue, type one of these:');
  expect(stderr).toMatch(/^ {2}connect @lab +as in the last session, (?:yesterday )?\d\d:\d\d$/m);
  expect(stderr).toMatch(/^ {2}connect @all +all 2 of the inventory$/m);
  const line = 'connect sim1 --proxy http://u:tell-nobody@127.0.0.1:9';
  await devsh('--plain', { tty: [line, 'exit'] });
  const again = await devsh('--plain', { tty: ['exit'] });
  expect(again.stderr).toMatch(/connect @lab +as in the last session/);
  expect(again.stderr).not.toContain('127.0.0.1:9');
});

/** A folder with project settings. */
async function projectIn(folder: string, settings: object): Promise<string> {
  const cwd = join(folder, 'project');
  await mkdir(cwd);
  await writeFile(join(cwd, '.devsh.json'), JSON.stringify(settings));
  return cwd;
}
