import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { answer, connect, goToTable, shared, simulate, startOver } from './devsh.ts';

describe('two devices', () => {
  const session = shared(
    async () => {
      const simulator = await simulate({ devices: 2, users: 12 });
      return { simulator, program: await connect(simulator) };
    },
    async ({ program }) => {
      await startOver(program);
      program.type('use all\r');
      await program.waitFor('devsh all 2>');
      program.type('user list\r');
      await program.waitFor(/^ users · 2 devices · \d+: \d+ same/m);
    },
  );

  test('the table is browsed, filtered while typing, and the filter is cleared with Esc', async () => {
    const { program } = session();
    await goToTable(program);
    program.press('G');
    await program.waitFor((screen) =>
      /^▸/.test(screen.findLast((line) => /^[▸ ] /.test(line)) ?? ''),
    );
    program.type('/viewer');
    await program.waitFor(/filter: viewer \(1 of \d+ rows\)/);
    await program.waitFor(/^▸ .*viewer\s+Vic/m);
    program.press('enter');
    await program.waitFor(': prompt');
    program.type('/');
    program.press('escape');
    await program.waitFor((screen) => !screen.join('\n').includes('filter: viewer'));
    await program.waitFor(/▸ .*viewer/);
  });

  test('a filter typed as a command fills the table, and is named above it', async () => {
    const { program } = session();
    program.type('user list username=viewer\r');
    await program.waitFor(/2 records · filter: username=viewer/);
    program.type('user list\r');
    await program.waitFor(/\d+: \d same/);
  });

  test('a filter that cannot be right leaves the table as it was', async () => {
    const { program } = session();
    program.type('user list is_admin=true\r');
    await program.waitFor('error: no record has a field "is_admin"');
    await program.waitFor(/^ users · 2 devices · \d+: \d same/m);
    await program.waitFor(/^[▸ ].* admin +Ada/m);
  });

  test('f unfolds equal records, Tab goes through the devices, and the prompt follows', async () => {
    const { program } = session();
    program.press('tab');
    await program.waitFor(/^▸. admin .*\ball\b/m);
    program.press('f');
    await program.waitFor('not folded');
    await program.waitFor(/^▸. admin .* 127\.0\.0\.2/m);
    program.press('f');
    await program.waitFor(/^▸.* all\b/m);
    program.press('tab');
    await program.waitFor(/devsh 127\.0\.0\.2\S*>/);
    await program.waitFor(/\[● 127\.0\.0\.2/);
    await program.waitFor(/ 1 device · 12 records/);
    program.press('tab');
    await program.waitFor(/\[● 127\.0\.0\.3/);
    program.press('tab');
    await program.waitFor('devsh all 2>');
    program.press('shift-tab');
    await program.waitFor(/\[● 127\.0\.0\.3/);
  });

  test('help is made from the keymap and closes with Esc', async () => {
    const { program } = session();
    await goToTable(program);
    program.press('?');
    await program.waitFor('In the table');
    program.type('/delete the\r');
    await program.waitFor(/d +delete the marked records, or this one/);
    program.press('escape');
    program.press('escape');
    await program.waitFor(/admin +Ada/);
  });

  test('Enter shows every field, with the devices of each value', async () => {
    const { simulator, program } = session();
    simulator.devices[1]?.putUser({ username: 'viewer', lang: 'de' });
    await goToTable(program);
    program.type('r');
    program.type('/viewer\r');
    await program.waitFor(/differs: lang/);
    program.press('enter');
    await program.waitFor(/^ ≠ lang +en +127\.0\.0\.2\S*\n +de +127\.0\.0\.3/m);
    program.press('escape');
    await program.waitFor('NOTE');
  });
});

test('hostile text from a device is shown, not obeyed', async () => {
  const simulator = await simulate();
  simulator.devices[0]?.putUser({
    username: 'aaa',
    first_name: '\x1b[2J\x07\u202eevil',
    lang: 'en',
  });
  const program = await connect(simulator);
  await program.waitFor(/aaa +\^\[\[2J\^G<U\+202E>e/);
  expect(program.raw()).not.toContain('\u202e');
});

test('10,000 records scroll without delay, and only what is visible is drawn', async () => {
  const program = await connect(await simulate({ users: 10_000 }));
  await program.waitFor('10000 records');
  await goToTable(program);
  const before = program.raw().length;
  for (let press = 0; press < 200; press++) program.press('j');
  program.press('G');
  await program.waitFor((screen) => screen.filter((line) => line.startsWith('▸ ')).length === 1);
  program.press('g');
  await program.waitFor(/^▸ .*\badmin\b/m);
  expect(program.raw().length - before).toBeLessThan(400_000);
});

test('a watched table shows what changed where it stands, and the cursor stays on its record', async () => {
  const simulator = await simulate({ devices: 2 });
  const program = await connect(simulator);
  program.type('user list --watch=0.3\r');
  await program.waitFor('every 0.3 s');
  await goToTable(program);
  program.press('G');
  await program.waitFor(/^▸.*viewer/m);
  simulator.devices[0]?.putUser({ username: 'aaron', first_name: 'Aaron', lang: 'de' });
  await program.waitFor('1 new');
  await program.waitFor(/^ \+ aaron .* 127\.0\.0\.2/m);
  await program.waitFor(/^▸.*viewer/m);
  await program.waitFor((screen) => !screen.join('\n').includes('1 new'));
  program.press('w');
  await program.waitFor((screen) => !screen.join('\n').includes('every 0.3 s'));
});

test('with REDUCE_MOTION what changed stands out until the next change', async () => {
  const simulator = await simulate();
  const [device] = simulator.devices;
  const program = await connect(simulator, { env: { REDUCE_MOTION: '1' } });
  program.type('user list --watch=0.2\r');
  await program.waitFor('every 0.2 s');
  device?.putUser({ username: 'aaron', first_name: 'Aaron', lang: 'de' });
  await program.waitFor('1 new');
  const since = Date.now();
  await expect
    .poll(() => (device?.log.at(-1)?.at ?? 0) - since, { timeout: 10_000 })
    .toBeGreaterThan(5_000);
  expect(program.screen().join('\n')).toContain('1 new');
  device?.putUser({ username: 'aaron', first_name: 'Ron' });
  await program.waitFor('1 changed');
});

test('--theme ascii draws with ASCII alone, and the table stays aligned', async () => {
  const simulator = await simulate({ users: 2 });
  const program = await connect(simulator, { args: ['--theme', 'ascii'] });
  await goToTable(program);
  await program.waitFor(/^> +admin/m);
  await program.waitFor(/^ devsh {3}\* 127/m);
  expect(program.screen().join('')).toMatch(/^[\x20-\x7e]*$/);
});

test('d means the devices of the typed command, and names those that were not read', async () => {
  const simulator = await simulate({ devices: 3 });
  for (const device of simulator.devices) device.putUser({ username: 'bob', lang: 'de' });
  simulator.devices[1]?.putUser({ username: 'bob', lang: 'fr' });
  simulator.devices[2]?.setFault('refuse');
  const program = await connect(simulator);
  await goToTable(program);
  await program.waitFor(/2 of 3 devices read · \d+: \d+ same on 2 read/);
  program.type('/viewer\r');
  program.type('d');
  await program.waitFor(/not reached: 127\.0\.0\.4\S* - /);
  await program.waitFor('2 steps on 2 of 3 devices, 1 not reached. Type 2 to DELETE:');
  await answer(program, '2');
  await program.waitFor(/not reached: 127\.0\.0\.4\S* · pending there/);
  // One word for it: what could not be planned is not also called failed.
  expect(program.screen().join('\n')).not.toContain('failed on');
});

test('--columns chooses the columns, and the next session has them', async () => {
  const simulator = await simulate({ devices: 2 });
  const config = await mkdtemp(join(tmpdir(), 'devsh-columns-'));
  onTestFinished(() => rm(config, { recursive: true, force: true }));
  const env = { XDG_CONFIG_HOME: config };
  const program = await connect(simulator, { env });
  await program.waitFor(/USERNAME ↑ +FIRST NAME +LASTNAME +LANG +DEVICE/);
  program.type('user list --columns username,lastname,lang,uuid\r');
  await program.waitFor(/USERNAME ↑ +LASTNAME +LANG +UUID +DEVICE/);
  await goToTable(program);
  program.type('r');
  await program.waitFor(/USERNAME ↑ +LASTNAME +LANG +UUID +DEVICE/);
  program.type('q');
  await program.exit;
  const next = await connect(simulator, { env });
  await next.waitFor(/USERNAME ↑ +LASTNAME +LANG +UUID +DEVICE/);
});

test('d on marked rows plans exactly these records on their devices, and the answer says DELETE', async () => {
  const simulator = await simulate({ devices: 3, users: 9 });
  const program = await connect(simulator, { cols: 110, rows: 35 });
  await goToTable(program);
  // Two that one device has, and one that all have.
  for (const name of ['anke.weiss', 'misaki.watanabe', 'theo.lhote', 'sho.yamada']) {
    const holders = simulator.devices.filter(({ users }) =>
      users.some(({ username }) => username === name),
    );
    if (holders.length === 0) continue;
    program.type(`/username=${name}\r`);
    await program.waitFor(new RegExp(`filter: username=${name}`));
    program.press('space');
    await program.waitFor(/marked/);
    program.type('/');
    await program.waitFor('filter>');
    program.press('escape');
  }
  await program.waitFor(/^▸users/m);
  const before = simulator.devices.map(({ users }) => users.length);
  program.type('d');
  await program.waitFor(/Type \d to DELETE:/);
  const text = program.screen().join('\n');
  expect(text).not.toMatch(/unchanged|no such user/);
  const [, count = ''] = /Type (\d) to DELETE:/.exec(text) ?? [];
  await answer(program, count);
  await program.waitFor(`${count} gone`);
  const after = simulator.devices.map(({ users }) => users.length);
  const sum = (all: number[]): number => all.reduce((one, other) => one + other, 0);
  expect(sum(before) - sum(after)).toBe(Number(count));
});
