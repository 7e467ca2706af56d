import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startFleet, usernames, writesOf } from './devsh.ts';

/** Three devices with the same users, but bob has another language on sim3, and zoe is on sim2 alone. */
async function startKnown() {
  const fleet = await startFleet({ devices: 3, users: 2 });
  for (const device of fleet.devices) device.putUser({ username: 'bob', lang: 'de' });
  fleet.device(3).putUser({ username: 'bob', lang: 'fr' });
  fleet.device(2).putUser({ username: 'zoe', lang: 'de' });
  const pathOf = (name: string): string => join(fleet.devsh.folder, name);
  const write = async (name: string, text: string): Promise<string> => {
    await writeFile(pathOf(name), text);
    return pathOf(name);
  };
  return { ...fleet, pathOf, write };
}

describe('list --against', () => {
  test('names what is unexpected, what is missing and what differs, folded over devices', async () => {
    const { devsh, devices, device, pathOf } = await startKnown();
    const file = pathOf('expected.csv');
    await devsh(`export --on @lab --output ${file}`);
    for (const one of devices) one.putUser({ username: 'Bob', lang: 'de' });
    device(1).putUser({ username: 'zoe', lang: 'de' });
    device(2).removeUser('bob');
    device(3).putUser({ username: 'bob', lang: 'it' });
    const { stdout, stderr, exitCode } = await devsh(`user list --against ${file} --on @lab`);
    expect(exitCode).toBe(8);
    expect(stdout).toMatchInlineSnapshot(`
      "USERNAME	STATE	FIELD	EXPECTED	HELD	ON	NOTE
      Bob	unexpected				sim1, sim2, sim3	looks like "bob" in the file
      zoe	unexpected				sim1	
      bob	missing				sim2	
      bob	differs	lang	fr	it	sim3	
      "
    `);
    expect(stderr.replace(file, 'FILE')).toMatchInlineSnapshot(`
      "not compared, because devices set them: uuid
      differs from FILE on 3 devices: 2 unexpected, 1 missing, 1 differing; 8 as expected
      "
    `);
    const json = await devsh(`user list --against ${file} --on @lab --json`);
    expect(JSON.parse(json.stdout)).toEqual({
      schema: 'devsh/1',
      baseline: [
        {
          state: 'unexpected',
          key: 'Bob',
          note: 'looks like "bob" in the file',
          devices: ['sim1', 'sim2', 'sim3'],
        },
        { state: 'unexpected', key: 'zoe', devices: ['sim1'] },
        { state: 'missing', key: 'bob', devices: ['sim2'] },
        {
          state: 'differs',
          key: 'bob',
          field: 'lang',
          expected: 'fr',
          held: 'it',
          devices: ['sim3'],
        },
      ],
    });
    const csv = await devsh(`user list --against ${file} --on @lab --format csv`);
    expect(csv.stdout).toContain('Bob,unexpected,,,,"sim1, sim2, sim3",');
    const one = await devsh(`user list zoe --against ${file} --on @lab --format jsonl`);
    expect(one.stdout).toBe('{"state":"unexpected","key":"zoe","devices":["sim1"]}\n');
    expect(writesOf(device(1))).toEqual([]);
  });

  test('compares only what the file states; without DEVICE it is for all devices', async () => {
    const { devsh, write, device } = await startKnown();
    const names = [...new Set([...usernames(device(1)), ...usernames(device(3))])];
    const file = await write('names.csv', ['username', ...names, 'zoe', ''].join('\n'));
    const { stdout } = await devsh(`user list --against ${file} --on @lab --format jsonl`);
    expect(stdout).toBe('{"state":"missing","key":"zoe","devices":["sim1","sim3"]}\n');
    const sim2 = await devsh(`user list --against ${file} --on sim2`);
    expect(sim2.exitCode).toBe(0);
  });

  test('the closest row counts: a device, then a group, then all', async () => {
    const { devsh, write } = await startKnown();
    const base =
      'DEVICE,username,first_name,lang,lastname\nall,admin,Ada,en,Operator\nall,viewer,Vic,en,Reader\n';
    const file = await write(
      'scoped.csv',
      `${base}all,bob,,xx,\n'@LAB,bob,,de,\nsim3,bob,,fr,\n@lab !sim1 !sim3,zoe,,de,\n`,
    );
    const { stdout, stderr, exitCode } = await devsh(`user list --against ${file} --on @lab`);
    expect({ stdout, exitCode }, stderr).toEqual({ stdout: 'USERNAME\tSTATE\tON\n', exitCode: 0 });
  });

  test('a device that could not be read, or is not in the file, is never the same', async () => {
    const { devsh, device, pathOf, write } = await startKnown();
    const file = pathOf('expected.yaml');
    await devsh(`export --on @lab --output ${file}`);
    await device(2).close();
    const { stderr, exitCode } = await devsh(`user list --against ${file} --on @lab`);
    expect(stderr).toContain('not compared: sim2');
    expect(stderr).not.toContain('✓');
    expect(exitCode).toBe(3);
    const own = await write('own.csv', (await devsh('export --on sim1')).stdout);
    const partly = await devsh(`user list --against ${own} --on sim1,sim3`);
    expect(partly.stderr).toContain('sim3: not compared');
    expect(partly.exitCode).toBe(3);
  });

  test('a plain export is a baseline, too: its ids and times do not count', async () => {
    const { devsh, pathOf } = await startKnown();
    const file = pathOf('all.csv');
    await devsh(`export --on @lab --output ${file}`);
    const { stderr, exitCode } = await devsh(`user list --against ${file} --on @lab`);
    expect(exitCode).toBe(0);
    expect(stderr).toContain('not compared, because devices set them: ');
  });

  test('needs a file, and says so of the former setting', async () => {
    const { devsh } = await startKnown();
    expect((await devsh('user list --on @lab --against')).exitCode).toBe(2);
    const { stderr, exitCode } = await devsh('config set baseline users.csv');
    expect(stderr).toContain('user list --against FILE');
    expect(exitCode).toBe(2);
    expect((await devsh('export --baseline')).exitCode).toBe(2);
  });
});

describe('a file that is no baseline', () => {
  const cases: [what: string, name: string, text: string, message: string][] = [
    [
      'a secret',
      'x.csv',
      'username,password\nbob,\neve,geheim\n',
      'x.csv:3: password contains a secret: a baseline is shared and has none; remove it',
    ],
    [
      'a hash',
      'x.yaml',
      '- username: bob\n  note: $6$abc$0123456789\n',
      'x.yaml:2:9: note contains a secret',
    ],
    [
      'a key twice',
      'x.csv',
      'username\nbob\nbob\n',
      'x.csv:3: user bob appears twice for sim1 (first at ',
    ],
    [
      'a key twice for a device',
      'x.csv',
      'DEVICE,username\nall,bob\nsim1,eve\nsim1,eve\n',
      'x.csv:4: user eve appears twice for sim1',
    ],
    [
      'an unknown group',
      'x.csv',
      'DEVICE,username\nall,bob\n@labb,bob\n',
      'x.csv:3: no group "labb" in the inventory; it has lab',
    ],
    [
      'an unknown field',
      'x.csv',
      'username,langg\nbob,de\n',
      'x.csv:2: no user on the devices that were read has a field "langg"; did you mean lang?',
    ],
    ['no key', 'x.csv', 'name,lang\nbob,de\n', 'x.csv:2: this user has no username'],
    [
      'another resource',
      'x.yaml',
      'resource: interface\ndevices:\n  - device: all\n    records: [{name: eth0}]\n',
      'x.yaml contains interfaces, not users',
    ],
    [
      'a filtered export',
      'x.yaml',
      'resource: user\nfilter: lang=de\ndevices:\n  - device: all\n    records: [{username: bob}]\n',
      'x.yaml has only the users that match "lang=de"',
    ],
    ['no record', 'x.csv', 'username\n', 'x.csv has no records'],
    ['no file', 'y.csv', '', 'y.csv has no records'],
  ];
  test.each(cases)('%s is refused with its place', async (_, name, text, message) => {
    const { devsh, write } = await startKnown();
    const file = await write(name, text);
    const { stdout, stderr, exitCode } = await devsh(`user list --against ${file} --on @lab`);
    expect(stderr).toContain(message);
    expect(stdout).toBe('');
    expect(exitCode).toBe(2);
    expect(stderr).not.toContain('geheim');
  });

  test('a device called "all" is not mistaken for all devices', async () => {
    const { devsh, write } = await startKnown();
    const added = await devsh('device add all 127.0.0.2:9');
    expect(added.exitCode, added.stderr).toBe(0);
    const file = await write('x.csv', 'DEVICE,username\nall,bob\n');
    const { stderr, exitCode } = await devsh(`import ${file} --prune --on @lab --yes`);
    expect(stderr).toContain('a device is called "all": write @all for all devices');
    expect(exitCode).toBe(2);
    const lines = ['--drift', '--watch', '--count-by lang', '--fold', '--sort lang'].map((option) =>
      devsh(`user list --against ${file} ${option} --on @lab`),
    );
    for (const one of await Promise.all(lines)) expect(one.exitCode).toBe(2);
  });
});

test('import --prune deletes nothing on devices that no row is for', async () => {
  const { devsh, write } = await startKnown();
  const file = await write('x.csv', 'DEVICE,username,lang\n@lab !sim3,bob,de\n');
  const { stdout } = await devsh(
    `import ${file} --prune --on @lab --dry-run --allow prune,own-account=admin,loss`,
  );
  expect(stdout).toContain('on sim1, sim2');
  expect(stdout).not.toContain('sim3');
});
