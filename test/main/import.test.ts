import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startFleet, usernames, type Devsh } from './devsh.ts';

/** Writes a file into the test's folder. */
async function put(devsh: Devsh & { folder: string }, name: string, text: string): Promise<string> {
  const path = join(devsh.folder, name);
  await writeFile(path, text);
  return path;
}

describe('export and import', () => {
  test.each([
    ['documented', 'csv'],
    ['documented', 'yaml'],
    ['drf', 'csv'],
    ['drf', 'json'],
    ['generic-rest', 'jsonl'],
    ['generic-rest', 'yaml'],
    ['form-action', 'csv'],
  ] as const)(
    'of %s devices as %s change nothing, and add what is gone',
    async (profile, format) => {
      const { devsh, device, writes } = await startFleet({ devices: 2, users: 5, profile });
      const file = join(devsh.folder, `users.${format}`);
      const on = ['--on', '@lab', '--profile', profile];

      const exported = await devsh(['export', ...on, '--output', file]);
      expect(exported).toMatchObject({ exitCode: 0, stderr: '' });
      expect((await stat(file)).mode & 0o777).toBe(0o600);

      const same = await devsh(['import', file, '--yes', ...on]);
      expect(same).toMatchObject({ exitCode: 0, stdout: 'nothing to do\n' });
      expect(same.stderr).toContain('all 10 records are unchanged');
      expect(writes()).toEqual([]);
      expect((await devsh('runs show')).stderr).toContain('there is no run yet');

      const gone = usernames(device(2)).at(-1) ?? '';
      await devsh(['user', 'delete', gone, '--on', 'sim2', '--profile', profile, '--yes']);
      const again = await devsh(['import', file, '--yes', ...on]);
      expect(again.exitCode).toBe(0);
      expect(again.stdout).toMatch(
        new RegExp(`done +add user ${gone}|add user ${gone}.*done|done`),
      );
      expect(usernames(device(2))).toContain(gone);
    },
  );

  test('a device without a response makes the export partial, and the file says so', async () => {
    const { devsh, device } = await startFleet({ devices: 2 });
    device(2).setFault('refuse');
    const file = join(devsh.folder, 'users.yaml');

    const { exitCode, stderr } = await devsh(['export', '--on', '@lab', '--output', file]);

    expect(exitCode).toBe(3);
    expect(stderr).toContain('sim2');
    expect(await readFile(file, 'utf8')).toMatch(/device: sim2\n.*\n {4}ok: false\n {4}error:/);
  });

  test('a file that exists is replaced only with --overwrite', async () => {
    const { devsh } = await startFleet({ devices: 1 });
    const file = await put(devsh, 'users.csv', 'mine');

    const refused = await devsh(['export', '--on', 'sim1', '--output', file]);
    expect(refused.exitCode).toBe(6);
    expect(await readFile(file, 'utf8')).toBe('mine');

    await devsh(['export', '--on', 'sim1', '--output', file, '--overwrite']);
    expect(await readFile(file, 'utf8')).toContain('DEVICE,username');
  });

  test('each device can have a file of its own, which goes to any device', async () => {
    const { devsh, device } = await startFleet({ devices: 2 });
    const folder = join(devsh.folder, 'backup');

    const { stdout, exitCode } = await devsh([
      ...['export', 'user', '--on', '@lab', '--output-dir', folder],
      ...['--format', 'yaml'],
    ]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('sim1.yaml');

    const plain = await devsh([
      ...['export', '--on', 'sim1', '--output-dir', folder, '--format', 'csv'],
    ]);
    expect(plain.exitCode).toBe(0);
    const rows = await readFile(join(folder, 'sim1.csv'), 'utf8');
    expect(rows).not.toContain('DEVICE');

    await devsh([
      'import',
      join(folder, 'sim1.csv'),
      '--on',
      'sim2',
      '--prune',
      '--yes',
      '--allow=loss',
    ]);
    expect([...usernames(device(2))].sort()).toEqual([...usernames(device(1))].sort());
  });
});

describe('import', () => {
  test('adds, changes and prunes by one plan, after the count was typed', async () => {
    const { devsh, device } = await startFleet({ devices: 2, users: 4 });
    const kept = ['admin', 'viewer', 'daisuke.sato'];
    const text = ['username;first_name;lastname;lang', ...kept.map((name) => `${name};;B;fr`)];
    const file = await put(
      devsh,
      'team.csv',
      `\ufeff${[...text, 'neu;"N;1";É;de'].join('\r\n')}\r\n`,
    );

    const run = await devsh(['import', file, '--on', '@lab', '--prune'], { tty: ['10'] });

    expect(run.exitCode).toBe(0);
    for (const number of [1, 2]) {
      expect([...usernames(device(number))].sort()).toEqual([...kept, 'neu'].sort());
      const { users } = device(number);
      expect(users.find(({ username }) => username === 'neu')).toMatchObject({
        first_name: 'N;1',
        lastname: 'É',
        lang: 'de',
      });
    }
  });

  test('shows the plan and sends nothing with --dry-run, and keeps it with -o', async () => {
    const { devsh, writes, device } = await startFleet({ devices: 1 });
    const file = await put(devsh, 'new.csv', 'username,first_name,lastname,lang\nneu,N,E,de\n');

    const dry = await devsh(['import', file, '--on', 'sim1', '--dry-run']);
    expect(dry).toMatchObject({ exitCode: 0 });
    expect(dry.stdout).toContain('add user neu on sim1');

    const plan = join(devsh.folder, 'new.plan');
    await devsh(['import', file, '--on', 'sim1', '-o', plan]);
    expect(writes()).toEqual([]);

    const applied = await devsh(['apply', plan, '--yes']);
    expect(applied.exitCode).toBe(0);
    expect(usernames(device(1))).toContain('neu');
  });

  test('is refused if no question can be asked', async () => {
    const { devsh, writes } = await startFleet({ devices: 1 });
    const file = await put(devsh, 'new.csv', 'username,lang\nneu,de\n');
    expect((await devsh(['import', file, '--on', 'sim1'])).exitCode).toBe(6);
    expect(writes()).toEqual([]);
  });

  test('uses the devices that the file names, and refuses others than those selected', async () => {
    const { devsh, device } = await startFleet({ devices: 2 });
    const file = await put(devsh, 'two.csv', 'DEVICE,username,lang\nsim1,neu,de\nsim2,neu,en\n');

    const refused = await devsh(['import', file, '--on', 'sim1', '--yes']);
    expect(refused.exitCode).toBe(6);
    expect(refused.stderr).toContain('has records for sim2, which is not selected (sim1)');

    const asked = await devsh(['import', file, '--on', 'sim1'], { tty: ['y', 'y'] });
    expect(asked.exitCode).toBe(0);
    expect(usernames(device(2))).not.toContain('neu');

    expect((await devsh(['import', file, '--yes'])).exitCode).toBe(0);
    expect(device(2).users.find(({ username }) => username === 'neu')).toMatchObject({
      lang: 'en',
    });
  });

  test('--prune does not delete the account in use, nor on devices without a row', async () => {
    const { devsh, writes } = await startFleet({ devices: 2 });
    const file = await put(devsh, 'one.csv', 'DEVICE,username,lang\nsim1,viewer,en\n');

    const { exitCode, stderr } = await devsh(['import', file, '--on', '@lab', '--prune', '--yes']);

    expect(exitCode).toBe(6);
    expect(stderr).toContain('sim1: deleting admin may lock you out');
    expect(writes()).toEqual([]);
  });

  test('what was exported with a filter cannot prune', async () => {
    const { devsh, writes } = await startFleet({ devices: 1 });
    const file = join(devsh.folder, 'de.json');
    await devsh(['export', 'user', 'lang=de', '--on', 'sim1', '--output', file]);

    const { exitCode, stderr } = await devsh(['import', file, '--on', 'sim1', '--prune', '--yes']);

    expect(exitCode).toBe(2);
    expect(stderr).toContain('only the users that match "lang=de"');
    expect(writes()).toEqual([]);
  });

  test('filtered CSV warns that it must not prune', async () => {
    const { devsh } = await startFleet({ devices: 1 });
    const { stderr } = await devsh(['export', 'user', 'lang=de', '--on', 'sim1']);
    expect(stderr).toContain('only records that match "lang=de", and csv cannot state that');
  });

  test('a file leads no login to a device that is not in the inventory', async () => {
    const { devsh, device } = await startFleet({ devices: 2, isListed: false });
    await devsh(['device', 'add', 'sim1', device(1).address]);
    const text = `DEVICE,username,lang\nsim1,viewer,en\n${device(2).address},viewer,en\n`;
    const file = await put(devsh, 'users.csv', text);

    const { exitCode, stderr } = await devsh(['import', file, '--yes']);

    expect(exitCode).toBe(2);
    expect(stderr).toContain(`${device(2).address} is not in the inventory`);
    expect(device(1).log).toEqual([]);
    expect(device(2).log).toEqual([]);
  });

  test('a device that cannot be read is among the results, and resume says what to do', async () => {
    const { devsh, device } = await startFleet({ devices: 2 });
    device(2).setFault('refuse');
    const file = await put(devsh, 'new.csv', 'username,first_name,lastname,lang\nneu,N,E,de\n');

    const run = await devsh(['import', file, '--on', '@lab', '--yes']);
    expect(run.exitCode).toBe(3);
    expect(run.stdout).toMatch(/^1 done · .*sim2/m);

    const again = await devsh(['resume', '--yes']);
    expect(again.exitCode).toBe(6);
    expect(again.stderr).toContain('can only be planned by its line: repeat it with --on sim2');
  });

  test('an imported plan cannot be planned again by itself', async () => {
    const { devsh, writes } = await startFleet({ devices: 1 });
    const file = await put(devsh, 'new.csv', 'username,first_name,lastname,lang\nneu,N,E,de\n');
    const plan = join(devsh.folder, 'new.plan');
    await devsh(['import', file, '--on', 'sim1', '-o', plan]);

    const { exitCode, stderr } = await devsh(['apply', plan, '--replan', '--yes']);

    expect(exitCode).toBe(2);
    expect(stderr).toContain('has no --replan: repeat "import ');
    expect(writes()).toEqual([]);
  });

  test('a plan is not applied if its device is gone', async () => {
    const { devsh, device, writes } = await startFleet({ devices: 2 });
    const file = await put(devsh, 'new.csv', 'username,first_name,lastname,lang\nneu,N,E,de\n');
    const plan = join(devsh.folder, 'new.plan');
    await devsh(['import', file, '--on', 'sim1', '-o', plan]);
    for (const name of ['sim1', 'sim2']) await devsh(['device', 'remove', name]);
    await devsh(['device', 'add', 'sim1', device(2).address]);

    const moved = await devsh(['apply', plan, '--yes']);
    expect(moved.exitCode).toBe(6);
    expect(moved.stderr).toContain(`the inventory at ${device(2).address}: plan again`);
    expect(writes()).toEqual([]);

    await devsh(['device', 'remove', 'sim1']);
    await devsh(['device', 'add', 'other', device(2).address]);
    const strange = await devsh(['apply', plan, '--dry-run']);
    expect(strange.stderr).toContain(`${device(1).address} is not in the inventory`);
    expect(strange.exitCode).toBe(2);
  });

  test('renames by another key, and takes columns by other names', async () => {
    const { devsh, device } = await startFleet({ devices: 1 });
    const [, , user] = device(1).users;
    const file = await put(
      devsh,
      'ids.csv',
      `Kennung,Login,Raum\n${user?.uuid ?? ''},renamed,12\n`,
    );

    const { exitCode } = await devsh([
      ...['import', file, '--on', 'sim1', '--key', 'uuid', '--yes'],
      ...['--map', 'Kennung=uuid', '--map', 'Login=username', '--map', 'Raum='],
    ]);

    expect(exitCode).toBe(0);
    expect(device(1).users.find(({ uuid }) => uuid === user?.uuid)?.username).toBe('renamed');
  });

  test('reports all mistakes at once, with line and column, and sends nothing', async () => {
    const { devsh, writes } = await startFleet({ devices: 1, profile: 'drf' });
    const file = await put(
      devsh,
      'bad.csv',
      'username,lnag,is_active\nadmin,de,maybe\n"a\nb",de,true\nadmin,de,true\n,x,true\nshort\n',
    );
    const { exitCode, stderr } = await devsh(['import', file, '--on', 'sim1', '--profile', 'drf']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('bad.csv:7: 1 cells, but the first line has 3');
    expect(writes()).toEqual([]);

    const typed = await put(
      devsh,
      'types.csv',
      'username,lnag,is_active\nadmin,de,maybe\nadmin,de,true\n,x,true\n',
    );
    const wrong = await devsh(['import', typed, '--on', 'sim1', '--profile', 'drf', '--yes']);
    expect(wrong.exitCode).toBe(2);
    expect(wrong.stderr).toContain(
      'types.csv:2: no user of sim1 has a field "lnag"; did you mean lang?',
    );
    expect(wrong.stderr).toContain('types.csv:2: is_active: neither true nor false');
    expect(wrong.stderr).toContain('types.csv:3: user admin appears twice for sim1');
    expect(wrong.stderr).toContain('types.csv:4: this user has no username');
    expect(writes()).toEqual([]);
  });

  test.each([
    ['quote.csv', 'username\n"bob', 'quote.csv:2: the quote that begins here is not closed'],
    ['json.json', '[{"username": "bob",}]', 'json.json:1:21: not valid JSON'],
    ['lines.jsonl', '{"username": "bob"}\n{oops}', 'lines.jsonl:2:'],
    ['list.yaml', '- username: bob\n- 7', 'list.yaml:2:3: a record looks like'],
    ['empty.csv', 'username\n', 'empty.csv has no records'],
    ['utf16.csv', 'u\0s\0e\0r\0', 'UTF-16'],
    ['runs.json', '{"schema":"devsh/1","runs":[]}', '"devices" is missing'],
  ])('says what is wrong with %s', async (name, text, message) => {
    const { devsh } = await startFleet({ devices: 1 });
    const { exitCode, stderr } = await devsh([
      'import',
      await put(devsh, name, text),
      '--on',
      'sim1',
    ]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
  });
});

test('a row with another person than the record has under its name asks, and --also takes it', async () => {
  const { devsh, device, writes } = await startFleet({ devices: 1, profile: 'drf' });
  const { lastname = '' } = device(1).users.find(({ username }) => username === 'viewer') ?? {};
  const other = 'username,first_name,lastname\nviewer,Eve,Else\n';
  const file = await put(devsh, 'users.csv', other);
  const asked = await devsh(['import', file, '--on', 'sim1', '--yes']);
  expect(asked.stdout).toContain('the row shows another person (first name');
  expect(asked.stdout).toContain('--also sim1=viewer takes it');
  expect(asked.exitCode).toBe(6);
  const same = await put(
    devsh,
    'same.csv',
    `username,first_name,lastname\nviewer,Victor,${lastname}\n`,
  );
  expect((await devsh(['import', same, '--on', 'sim1', '--yes'])).exitCode).toBe(0);
  expect(writes()).toHaveLength(1);
  const taken = await devsh(['import', file, '--on', 'sim1', '--yes', '--also', 'sim1=viewer']);
  expect(taken.exitCode, taken.stderr).toBe(0);
  expect(writes()).toHaveLength(2);
});
