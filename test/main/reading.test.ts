import { expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { startFleet } from './devsh.ts';
import { contention } from '../contention.ts';

/** Cells of tab-separated output, without the header. */
function rows(stdout: string): string[][] {
  return stdout
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split('\t'));
}

test('a list over three devices is one table, in the order of the selection', async () => {
  const { devsh, devices } = await startFleet({ devices: 3, latencyMs: 5 });
  const { stdout, stderr, exitCode } = await devsh('user list --on @lab');
  expect(stdout.split('\n')[0]).toBe('DEVICE\tUSERNAME\tFIRST NAME\tLASTNAME\tLANG\tUUID');
  expect(rows(stdout).map(([device, username]) => [device, username])).toEqual(
    devices.flatMap(({ name, users }) => users.map(({ username }) => [name, username])),
  );
  expect(stderr).toBe('');
  expect(exitCode).toBe(0);
});

test('not on a terminal nothing is cut, coloured or framed', async () => {
  const { devsh, device } = await startFleet();
  const long = 'x'.repeat(140);
  device(1).putUser({ username: 'long', first_name: long });
  const { stdout } = await devsh('user list --on sim1');
  expect(stdout).toContain(`\t${long}\t`);
  expect(stdout).not.toMatch(/[\u0000-\u0008\u000b-\u001f]/);
});

test('on a terminal columns are aligned by display width and cut to it', async () => {
  const { devsh, device } = await startFleet();
  device(1).putUser({ username: 'wide', first_name: '大輔', lastname: 'Z' });
  device(1).putUser({ username: 'flag', first_name: 'x'.repeat(200), lastname: 'Z' });
  const { stdout } = await devsh('user list --on sim1 --columns username,first_name,lastname', {
    tty: [],
    env: { NO_COLOR: '1' },
  });
  const lines = stdout.trimEnd().split('\n');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
  expect(lines.find((line) => line.includes('flag'))).toContain('…');
});

test('colours appear on a terminal, and not with --no-color or NO_COLOR', async () => {
  const { devsh } = await startFleet();
  const line = 'user list --on sim1';
  const escape = '\u001B[1m';
  expect((await devsh(line, { tty: [] })).stdout).toContain(escape);
  expect((await devsh(`${line} --no-color`, { tty: [] })).stdout).not.toContain(escape);
  const { stdout } = await devsh(line, { tty: [], env: { NO_COLOR: '1' } });
  expect(stdout).not.toContain(escape);
});

test.each([
  ['lang=de', ['ulrike.vogel', 'jurgen.kruger']],
  ['lang!=de lang!=ja', ['admin', 'viewer', 'theo.lhote', 'noa.mizrahi']],
  ['username~^(admin|viewer)$', ['admin', 'viewer']],
  ['vogel', ['ulrike.vogel']],
  ['lang=ja 渡辺', ['misaki.watanabe']],
  ['nobody-at-all', []],
])('FILTER %s picks %j', async (filter, expected) => {
  const { devsh } = await startFleet();
  const { stdout, exitCode } = await devsh(`user list --on sim1 ${filter}`);
  expect(rows(stdout).map(([, username]) => username)).toEqual(expected);
  expect(exitCode).toBe(0);
  const option = await devsh(['user', 'list', '--on', 'sim1', '--filter', filter]);
  expect(option.stdout).toBe(stdout);
});

test('a word that is no verb is a filter: "user bob"', async () => {
  const { devsh } = await startFleet();
  const { stdout } = await devsh('user vogel --on sim1');
  expect(rows(stdout)).toHaveLength(1);
});

test('--columns and --sort hold in every format', async () => {
  const { devsh } = await startFleet();
  const line = 'user list --on sim1 lang=ja --columns lang,username --sort -username';
  const expected = ['misaki.watanabe', 'daisuke.sato'];
  expect((await devsh(line)).stdout).toBe(
    'DEVICE\tLANG\tUSERNAME\nsim1\tja\tmisaki.watanabe\nsim1\tja\tdaisuke.sato\n',
  );
  expect((await devsh(`${line} --format csv`)).stdout).toBe(
    'device,lang,username\nsim1,ja,misaki.watanabe\nsim1,ja,daisuke.sato\n',
  );
  const records = expected.map((username) => ({ lang: 'ja', username }));
  expect(JSON.parse((await devsh(`${line} --json`)).stdout)).toMatchObject({
    devices: [{ records }],
  });
  const lines = (await devsh(`${line} --format jsonl`)).stdout.trimEnd().split('\n');
  expect(lines.map((text) => JSON.parse(text) as unknown)).toEqual(
    records.map((record) => ({ device: 'sim1', record })),
  );
});

test('a column that no record has is remarked, and what may have been meant', async () => {
  const { devsh } = await startFleet();
  const { stderr, exitCode } = await devsh('user list --on sim1 --columns usrname,-uuid');
  expect(stderr).toContain('no record has a field "usrname"; did you mean username?');
  expect(stderr).toContain('no record has a field "-uuid"; did you mean uuid?');
  expect(exitCode).toBe(0);
});

test('a filter or an order that cannot be right is an error, and JSON has it, too', async () => {
  const { devsh } = await startFleet();
  const error = { code: 'usage', message: 'no record has a field "lnag"; did you mean lang?' };
  for (const question of ['lnag=de', 'lnag!=de', '--sort -lnag', '--filter lnag~d']) {
    const { stdout, exitCode } = await devsh(`user list ${question} --on sim1 --json`);
    expect(JSON.parse(stdout)).toMatchObject({ error });
    expect(exitCode).toBe(2);
  }
  const text = await devsh('user list lang==de --on sim1');
  expect(text).toEqual({
    stdout: '',
    stderr:
      'error: no record matches "lang==de", which is written lang=de here\n' +
      "  did you mean 'user list lang=de --on sim1'?\n",
    exitCode: 2,
  });
});

test('what devices really hold is no mistake, and one that was not read may hold it', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  device(1).putUser({ username: 'odd', lang: '=x', lastname: 'a,b' });
  for (const question of [
    'lang==x',
    'lastname=a,b',
    'lastname=Doe, Al',
    'odd',
    'lang=zz',
    'device=sim1',
  ]) {
    expect(await devsh(['user', 'list', question, '--on', '@lab'])).toMatchObject({ exitCode: 0 });
  }
});

test.each([
  ['user list lnag=de', 'has a field "lnag"; did you mean lang?'],
  ['user list --sort lnag', 'has a field "lnag"; did you mean lang?'],
  ['user list --columns lnag', 'has a field "lnag"; did you mean lang?'],
  ['user list --count-by lnag', 'has a field "lnag"; did you mean lang?'],
  ['export user lnag=de', 'has a field "lnag"; did you mean lang?'],
  ['user list lang==de', 'matches "lang==de", which is written lang=de here'],
  ['user list lnag=de --at 0s', 'has a field "lnag"; did you mean lang?'],
])('"%s" claims nothing of a device that was not read', async (line, says) => {
  const { devsh, device } = await startFleet({ devices: 2 });
  device(2).setFault('refuse');
  await devsh('user list --on @lab');
  const { stderr, exitCode } = await devsh(`${line} --on @lab`);
  expect(stderr).toContain(`warning: no record that was read (not read: sim2) ${says}`);
  expect(exitCode).toBe(3);
});

test.each([
  ['list lang=ge', 'no record has lang=ge; did you mean de?'],
  ['list lang=german', 'no record has lang=german; the values are de, en, fr, ja'],
  ['list --filter lang=german', 'no record has lang=german; the values are de, en, fr, ja'],
  [
    'list lang=german --count-by lastname',
    'no record has lang=german; the values are de, en, fr, ja',
  ],
  ['list lang=german --drift', 'no record has lang=german; the values are de, en, fr, ja'],
  ['list lang=german --at 0s', 'no record has lang=german; the values are de, en, fr, ja'],
  ['list password=zzz', ''],
  ['list lang=de username=viewer', ''],
  ['list lang=zz --quiet', ''],
])('"user %s" is an answer without records, and says %j', async (line, says) => {
  const { devsh, device } = await startFleet({ devices: 2 });
  for (const number of [1, 2])
    for (const user of device(number).users) Object.assign(user, { password: `$1$${number}` });
  await devsh('user list --on @lab');
  const { stderr, exitCode } = await devsh(`user ${line} --on @lab`);
  if (says === '') expect(stderr).not.toContain('no record');
  else expect(stderr).toContain(`${says}\n`);
  expect(exitCode).toBe(0);
});

test('of many values of a field only a near one is named, and of a device that was not read none is denied', async () => {
  const { devsh, device } = await startFleet({ devices: 2, users: 21 });
  device(2).setFault('refuse');
  const { stderr } = await devsh('user list username=viewr --on @lab');
  const none = 'no record that was read (not read: sim2)';
  expect(stderr).toContain(`${none} has username=viewr; did you mean viewer?\n`);
  const other = await devsh('user list username=zzzzzz --on @lab');
  expect(other.stderr).toContain(`${none} has username=zzzzzz\n`);
});

test('a column that no record has is never "the same" in a comparison', async () => {
  const { devsh } = await startFleet({ devices: 2 });
  const line = 'user list --drift --columns lnag --on @lab';
  expect(await devsh(line)).toMatchObject({
    stderr: expect.stringContaining('no record has a field "lnag"; did you mean lang?') as string,
    exitCode: 2,
  });
});

test.each([
  ['lnag=de', 'no record has a field "lnag"; did you mean lang?'],
  ['lang=xx,yy', 'which is written lang~^(xx|yy)$ here'],
  ['username=bob3,bob4', 'which is written username~^(bob3|bob4)$ here'],
  ['lang=xx or lang=yy', 'which is written lang~^(xx|yy)$ here'],
])('--where %s is an error before anything is planned, as in a list', async (filter, says) => {
  const { devsh, device, writes } = await startFleet({ devices: 2 });
  const line = ['user', 'delete', '--where', filter, '--on', '@lab', '--yes', '--json'];
  const { stdout, exitCode } = await devsh(line);
  const { error } = JSON.parse(stdout) as { error: { message: string } };
  expect(error.message).toContain(says);
  expect(exitCode).toBe(2);
  // A device that nobody read may have such a record.
  device(2).setFault('refuse');
  expect((await devsh(line)).exitCode).toBe(3);
  expect(writes()).toEqual([]);
});

test('--fold shows what devices share as one row, and says where a record is not', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  for (const number of [1, 2]) device(number).putUser({ username: 'both', lang: 'de' });
  device(1).putUser({ username: 'differs', lang: 'de' });
  device(2).putUser({ username: 'differs', lang: 'fr' });
  device(1).putUser({ username: 'alone', lang: 'de' });
  const { stdout } = await devsh('user list --on @lab --fold --columns username,lang');
  const table = rows(stdout);
  expect(table.filter(([, username]) => username === 'both')).toEqual([
    ['sim1,sim2', 'both', 'de', ''],
  ]);
  expect(table.filter(([, username]) => username === 'differs')).toHaveLength(2);
  expect(table.find(([, username]) => username === 'alone')?.at(-1)).toContain('only here');
});

test('user show prints every field, on each device', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  const { stdout, exitCode } = await devsh('user show admin --on @lab');
  for (const number of [1, 2]) {
    const [admin] = device(number).users;
    expect(stdout).toContain(admin?.uuid);
    expect(stdout).toContain(`sim${number}`);
  }
  expect(exitCode).toBe(0);
});

test('user show finds a record by its id, too', async () => {
  const { devsh, device } = await startFleet();
  const admin = device(1).users[0];
  const { stdout } = await devsh(`user show ${admin?.uuid ?? ''} --on sim1 --json`);
  expect(JSON.parse(stdout)).toMatchObject({ devices: [{ records: [admin] }] });
});

test('user show of an unknown user fails, and says so', async () => {
  const { devsh } = await startFleet();
  const { stdout, stderr, exitCode } = await devsh('user show nobody --on sim1');
  expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 1 });
  expect(stderr).toBe('error: no user "nobody" on the devices that responded\n');
  const slip = await devsh('user show vewer --on sim1');
  expect(slip.stderr).toContain(
    'no user "vewer" on the devices that responded; did you mean viewer?',
  );
});

test('a device that failed is always listed with its reason, in every format', async () => {
  const { devsh, device } = await startFleet({ devices: 3 });
  device(2).setFault('refuse');
  for (const format of ['table', 'csv']) {
    const { stderr, exitCode } = await devsh(`user list --on @lab -q --format ${format}`);
    expect(stderr).toMatch(/^✗ sim2: .*refuses the connection/m);
    expect(exitCode).toBe(3);
  }
  const failure = { device: 'sim2', error: { code: 'unreachable' } };
  const json = await devsh('user list --on @lab --json');
  const document = JSON.parse(json.stdout) as { devices: { device: string; ok: boolean }[] };
  expect(document.devices.map(({ device, ok }) => `${device} ${ok}`)).toEqual([
    'sim1 true',
    'sim2 false',
    'sim3 true',
  ]);
  expect(document.devices[1]).toMatchObject(failure);
  const yaml = await devsh('user list --on @lab --format yaml');
  expect(parseYaml(yaml.stdout)).toEqual(document);
  const lines = (await devsh('user list --on @lab --format jsonl')).stdout.trimEnd().split('\n');
  const failed = lines.find((line) => line.includes('"sim2"')) ?? '';
  expect(JSON.parse(failed)).toMatchObject(failure);
});

test.each(['html-page', 'invalid-json', 'truncated-body', 'empty-200'] as const)(
  'a list that is %s fails with a reason, not with a bug',
  async (fault) => {
    const { devsh, device } = await startFleet({ devices: 2 });
    device(1).setFault(fault);
    const { stdout, stderr, exitCode } = await devsh('user list --on @lab');
    expect(stderr).toMatch(/^✗ sim1: /m);
    expect(rows(stdout).every(([name]) => name === 'sim2')).toBe(true);
    expect(exitCode).toBe(3);
  },
);

test('a device that is silent does not hold up the others', async () => {
  const { devsh, device } = await startFleet({ devices: 3 });
  device(1).setFault('silence');
  const startedAt = performance.now();
  const { stderr, exitCode } = await devsh('user list --on @lab --timeout 0.5');
  expect(stderr).toMatch(/✗ sim1: .*no complete response within 0.5 s/);
  expect(exitCode).toBe(3);
  expect(performance.now() - startedAt).toBeLessThan(5_000 * contention());
});

test('control characters of a device are made visible in text, and kept in JSON', async () => {
  const { devsh, device } = await startFleet();
  const evil = 'a\u001b[31m\u202eb\u200bc';
  device(1).putUser({ username: 'evil', first_name: evil });
  const line = 'user list --on sim1 username=evil';
  const text = await devsh(line);
  expect(text.stdout).not.toMatch(/[\u001b\u202e\u200b]/);
  const { stdout } = await devsh(`${line} --json`);
  expect(stdout).toContain('a\\u001b[31m\\u202eb\\u200bc');
  expect(JSON.parse(stdout)).toMatchObject({ devices: [{ records: [{ first_name: evil }] }] });
});

test('CSV is safe to open in a spreadsheet', async () => {
  const { devsh, device } = await startFleet();
  device(1).putUser({ username: 'formula', first_name: '=1+1', lastname: 'a,"b' });
  const { stdout } = await devsh(
    'user list --on sim1 formula --format csv --columns first_name,lastname',
  );
  expect(stdout).toBe('device,first_name,lastname\nsim1,\'=1+1,"a,""b"\n');
});

test('-v shows each request on stderr, without the secret', async () => {
  const { devsh, device } = await startFleet();
  const { stderr, stdout } = await devsh('user list --on sim1 -v');
  expect(stderr).toContain(`GET ${device(1).url}/api/user/`);
  expect(stderr + stdout).not.toContain('admin-secret');
  expect(stderr).not.toContain(Buffer.from('admin:admin-secret').toString('base64'));
});

test('-q prints only data and errors', async () => {
  const { devsh } = await startFleet();
  const line = 'device remove sim1';
  const quiet = await devsh(`${line} -q`);
  expect(quiet).toEqual({ stdout: '', stderr: '', exitCode: 0 });
});

test('a reader that disconnects early causes no error', async () => {
  const { devsh } = await startFleet({ users: 300 });
  const { stderr, exitCode } = await devsh('user list --on sim1 --format jsonl', {
    brokenPipeAfter: 500,
  });
  expect(stderr).toBe('');
  expect(exitCode).toBe(0);
});

test('"user show" finds an id in any spelling, as a write does', async () => {
  const { devsh, device } = await startFleet();
  const uuid = device(1).users[0]?.uuid ?? '';
  for (const key of [uuid, uuid.toUpperCase(), uuid.replaceAll('-', '')]) {
    const { stdout, exitCode } = await devsh(`user show ${key} --on sim1`);
    expect(stdout).toContain('admin');
    expect(exitCode).toBe(0);
  }
});
