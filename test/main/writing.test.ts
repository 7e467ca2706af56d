import { expect, test } from 'vitest';
import { startFleet, usernames, writesOf } from './devsh.ts';

test('a user is added on every selected device, proven, and summed up', async () => {
  const { devsh, devices } = await startFleet({ devices: 3 });
  const { stdout, exitCode } = await devsh(
    'user add username=zoe first_name=Zoe lastname=Zimmer lang=de --on @lab --yes',
  );
  expect(stdout).toMatchInlineSnapshot(`
    "✓ zoe  added  sim1 sim2 sim3
    3 done
    "
  `);
  expect(exitCode).toBe(0);
  for (const device of devices) {
    expect(device.users.at(-1)).toMatchObject({ username: 'zoe', lang: 'de', lastname: 'Zimmer' });
    expect(writesOf(device)).toEqual(['POST /api/user/']);
    expect(device.log.find(({ method }) => method === 'POST')?.body).toBe(
      'uuid=null&first_name=Zoe&lastname=Zimmer&username=zoe&lang=de',
    );
  }
});

test('one device after the other is written to, unless --concurrency says otherwise', async () => {
  const { devsh, devices } = await startFleet({ devices: 3, latencyMs: 200 });
  const last = (method: string): number[] =>
    devices.map(({ log }) => log.findLast((request) => request.method === method)?.at ?? 0);
  await devsh('user add username=one --on @lab --yes');
  const [, second = 0, third = 0] = last('POST');
  const [firstReadBack = 0, secondReadBack = 0] = last('GET');
  expect(second).toBeGreaterThanOrEqual(firstReadBack);
  expect(third).toBeGreaterThanOrEqual(secondReadBack);
  await devsh('user add username=two --on @lab --yes --concurrency 3');
  const [, ...laterWrites] = last('POST');
  expect(Math.min(...laterWrites)).toBeLessThan(last('GET')[0] ?? 0);
});

test('adding a user that exists is unchanged, and nothing is sent', async () => {
  const { devsh, device, writes } = await startFleet();
  device(1).putUser({ username: 'zoe', lang: 'de' });
  const { stdout, exitCode } = await devsh('user add username=zoe lang=de --on sim1 --yes');
  expect(stdout).toContain('= zoe  already so - exists already  sim1');
  expect(exitCode).toBe(0);
  expect(writes()).toEqual([]);
});

test('adding a user that exists with other fields differs, never makes a second one', async () => {
  const { devsh, device, writes } = await startFleet();
  device(1).putUser({ username: 'zoe', lang: 'de' });
  const { stdout, exitCode } = await devsh('user add username=zoe lang=fr --on sim1 --yes');
  expect(stdout).toContain('differs - lang: wanted fr, device has de');
  expect(exitCode).toBe(1);
  expect(writes()).toEqual([]);
});

test('set sends the whole record with its id, and changes only what was asked', async () => {
  const { devsh, device } = await startFleet();
  const before = device(1).users[3];
  const { exitCode } = await devsh(`user set ${before?.username ?? ''} lang=it --on sim1 --yes`);
  expect(exitCode).toBe(0);
  expect(device(1).users[3]).toEqual({ ...before, lang: 'it' });
  const sent = device(1).log.find(({ method }) => method === 'POST')?.body;
  expect(Object.fromEntries(new URLSearchParams(sent))).toEqual({ ...before, lang: 'it' });
});

test('set without a difference is unchanged, and nothing is sent', async () => {
  const { devsh, writes } = await startFleet();
  const { stdout, exitCode } = await devsh('user set admin lang=en --on sim1 --yes');
  expect(stdout).toContain('unchanged');
  expect(exitCode).toBe(0);
  expect(writes()).toEqual([]);
});

test('set takes a value with spaces, quotes and an equals sign', async () => {
  const { devsh, device } = await startFleet();
  const value = `O'Neil = "x" & y%`;
  await devsh(['user', 'set', 'viewer', `lastname=${value}`, '--on', 'sim1', '--yes']);
  expect(device(1).users[1]?.lastname).toBe(value);
});

test('set of a user that does not exist fails', async () => {
  const { devsh, writes } = await startFleet();
  const { stdout, exitCode } = await devsh('user set nobody lang=de --on sim1 --yes');
  expect(stdout).toContain('failed - no user "nobody"');
  expect(exitCode).toBe(1);
  expect(writes()).toEqual([]);
});

test('a name that another user has is refused before anything is sent', async () => {
  const { devsh, writes } = await startFleet();
  const { stdout, exitCode } = await devsh('user set viewer username=admin --on sim1 --yes');
  expect(stdout).toContain('taken');
  expect(exitCode).toBe(1);
  expect(writes()).toEqual([]);
});

test('delete goes to the path of one record, and proves that it is gone', async () => {
  const { devsh, device } = await startFleet();
  const victim = device(1).users[3];
  const { stdout, exitCode } = await devsh(`user delete ${victim?.username ?? ''} --on sim1 --yes`);
  expect(stdout).toContain('done');
  expect(exitCode).toBe(0);
  expect(writesOf(device(1))).toEqual([`DELETE /api/user/${victim?.uuid ?? ''}/`]);
  expect(device(1).users).toHaveLength(7);
});

test('several keys are several steps', async () => {
  const { devsh, device } = await startFleet();
  device(1).putUser({ username: 'a' });
  device(1).putUser({ username: 'b' });
  await devsh('user delete a b --on sim1 --yes');
  expect(usernames(device(1))).not.toContain('a');
  expect(usernames(device(1))).not.toContain('b');
  expect(writesOf(device(1))).toHaveLength(2);
});

test('--where takes all records that match, one request each', async () => {
  const { devsh, device } = await startFleet();
  const german = device(1).users.filter(({ lang }) => lang === 'de');
  const { stdout } = await devsh('user delete --where lang=de --on sim1 --yes');
  expect(stdout).toContain(`${german.length} done`);
  expect(writesOf(device(1))).toEqual(german.map(({ uuid }) => `DELETE /api/user/${uuid}/`));
  expect(device(1).users.filter(({ lang }) => lang === 'de')).toEqual([]);
});

test.each([
  ['user delete --where lang=de alice', 'KEY'],
  ['user delete', 'KEY'],
  ['user delete --where', '--where'],
])('%s is a usage error', async (line, word) => {
  const { devsh, writes } = await startFleet();
  const { stderr, exitCode } = await devsh(`${line} --yes --on=sim1`);
  expect(stderr).toContain(word);
  expect(exitCode).toBe(2);
  expect(writes()).toEqual([]);
});

test('an empty --where is a usage error and deletes no user', async () => {
  const { devsh, writes } = await startFleet();
  for (const where of ['', '  ']) {
    const { exitCode } = await devsh(['user', 'delete', '--where', where, '--on', 'sim1', '--yes']);
    expect(exitCode).toBe(2);
  }
  expect(writes()).toEqual([]);
});

test('--dry-run shows the plan as data and sends nothing', async () => {
  const { devsh, writes } = await startFleet({ devices: 2 });
  const { stdout, stderr, exitCode } = await devsh('user set viewer lang=de --on @lab --dry-run');
  expect(stdout).toBe(
    'set user viewer on sim1, sim2: lang: en -> de\n' +
      'devsh assumes, without documentation: set user by POST /api/user/ with its uuid on sim1, sim2\n' +
      'the device may erase fields that it does not show on sim1, sim2\n' +
      '2 to change\n',
  );
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  expect(writes()).toEqual([]);
});

test('without --yes and without a terminal nothing is sent: exit 6, and the plan is shown', async () => {
  const { devsh, writes } = await startFleet();
  const { stdout, stderr, exitCode } = await devsh('user add username=zoe --on sim1');
  expect(stderr).toContain('add user zoe on sim1');
  expect(stderr).toContain('use --yes');
  expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 6 });
  expect(writes()).toEqual([]);
});

test('on a terminal one step on one device is confirmed with y', async () => {
  const { devsh, device } = await startFleet();
  const { exitCode } = await devsh('user add username=zoe --on sim1', { tty: ['y'] });
  expect(exitCode).toBe(0);
  expect(usernames(device(1))).toContain('zoe');
});

test('on a terminal several steps are confirmed with their number, not with y', async () => {
  const { devsh, writes, devices } = await startFleet({ devices: 3 });
  const line = 'user add username=zoe --on @lab';
  const refused = await devsh(line, { tty: ['y'] });
  expect(refused.exitCode).toBe(6);
  expect(writes()).toEqual([]);
  expect((await devsh(line, { tty: ['3'] })).exitCode).toBe(0);
  for (const device of devices) expect(usernames(device)).toContain('zoe');
});

test('the question of a delete names what cannot be restored', async () => {
  const { devsh, writes } = await startFleet();
  const { stderr, exitCode } = await devsh('user delete viewer --on sim1', { tty: ['n'] });
  expect(stderr).toContain('undo cannot restore uuid, hidden fields');
  expect(exitCode).toBe(6);
  expect(writes()).toEqual([]);
});

test('--read-only refuses every write', async () => {
  const { devsh, writes } = await startFleet();
  for (const line of [
    'user add username=zoe',
    'user set viewer lang=de',
    'user delete viewer',
    'post /api/user/ username=zoe',
    'delete /api/user/some-id/',
  ]) {
    const { stderr, exitCode } = await devsh(`${line} --on sim1 --yes --read-only`);
    expect(stderr).toContain('read-only');
    expect(exitCode).toBe(6);
  }
  expect(writes()).toEqual([]);
});

test('a device that is read-only in the inventory refuses writes, the others take them', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  await devsh('device remove sim2');
  await devsh(`device add sim2 ${device(2).address} --group lab --read-only`);
  const { stdout, exitCode } = await devsh('user add username=zoe --on @lab --yes');
  expect(stdout).toMatch(/✗ .*read-only in the inventory.* sim2/);
  expect(exitCode).toBe(3);
  expect(writesOf(device(2))).toEqual([]);
  expect(usernames(device(1))).toContain('zoe');
});

test('the account in use is not deleted or renamed unless that is allowed', async () => {
  const { devsh, device, writes } = await startFleet();
  device(1).putUser({ username: 'zoe' });
  for (const line of [
    'user delete admin',
    'user delete zoe admin',
    'user delete --where username~.',
    'user set admin username=root',
  ]) {
    const { stderr, exitCode } = await devsh(`${line} --on sim1 --yes`);
    expect(stderr).toContain('lock you out');
    expect(exitCode).toBe(6);
  }
  expect(writes()).toEqual([]);
  await devsh('user delete admin --on sim1 --yes --allow own-account=admin');
  expect(usernames(device(1))).not.toContain('admin');
});

test.each([
  ['user delete admin', 'a refusal names the --allow'],
  ['apply change.yaml', '--allow drift'],
  ['undo', '--allow drift'],
  ['import users.csv --prune', '--allow prune'],
])('%s --force is refused, and the message has "%s"', async (line, words) => {
  const { devsh, writes } = await startFleet({ devices: 1 });
  const { stderr, exitCode } = await devsh(`${line} --on sim1 --yes --force`);
  expect(stderr).toContain(words);
  expect(exitCode).toBe(2);
  expect(writes()).toEqual([]);
});

test('the account in use is guarded when it logs in with a token, too', async () => {
  const { devsh, device } = await startFleet({ env: {} });
  const env = { DEVSH_TOKEN: device(1).accounts.admin.token, DEVSH_USER: 'admin' };
  const { exitCode } = await devsh('user delete admin --on sim1 --yes', { env });
  expect(exitCode).toBe(6);
  expect(usernames(device(1))).toContain('admin');
});

test('a device that refuses says why, per field', async () => {
  const { devsh } = await startFleet();
  const { stdout, exitCode } = await devsh('user add username=zoe lang=zz --on sim1 --yes --json');
  expect(JSON.parse(stdout)).toMatchObject({
    results: [
      {
        verdict: 'failed',
        error: { code: 'rejected', issues: { lang: ['"zz" is not a valid choice.'] } },
      },
    ],
  });
  expect(exitCode).toBe(1);
});

test('a device that is down fails alone, and the exit code says partial', async () => {
  const { devsh, device } = await startFleet({ devices: 3 });
  device(2).setFault('refuse');
  const { stdout, exitCode } = await devsh('user add username=zoe --on @lab --yes');
  expect(stdout).toMatch(/✗ not reached: .*refuses the connection.* sim2/);
  expect(stdout).toMatch(/^2 done · .*sim2/m);
  expect(exitCode).toBe(3);
  expect(usernames(device(1))).toContain('zoe');
  expect(usernames(device(3))).toContain('zoe');
});

test('Ctrl-C lets the request in flight finish, and says what was not sent', async () => {
  const { devsh, devices } = await startFleet({ devices: 3, latencyMs: 20 });
  const { stdout, exitCode } = await devsh('user add username=zoe --on @lab --yes -v', {
    stopAt: { text: 'zoe  added', signal: 'SIGINT' },
  });
  expect(exitCode).toBe(130);
  expect(stdout).toMatch(/✓ zoe {2}added .* sim1$/m);
  expect(stdout).toMatch(/add skipped .*sim3/);
  const holders = devices.filter((device) => usernames(device).includes('zoe'));
  expect(holders.length).toBeLessThan(3);
  expect(stdout.match(/zoe {2}added/g)).toHaveLength(holders.length);
});

test('output that cannot be written fails the command, and ends no write in the middle', async () => {
  const { devsh, devices, writes } = await startFleet({ devices: 3 });
  const add = 'user add username=carol first_name=C lastname=L lang=de --on @lab --yes';
  const { stderr, exitCode } = await devsh(`${add} --format jsonl`, { diskFullAfter: 1 });
  expect(stderr).toContain('the output cannot be written: no space left on the disk');
  expect(stderr).not.toContain('bug');
  expect(exitCode).toBe(1);
  expect(writes()).toHaveLength(3);
  for (const device of devices) expect(usernames(device)).toContain('carol');
});

test('SIGTERM ends with 143', async () => {
  const { devsh } = await startFleet({ devices: 3, latencyMs: 20 });
  const { exitCode } = await devsh('user add username=zoe --on @lab --yes -v', {
    stopAt: { text: 'zoe  added', signal: 'SIGTERM' },
  });
  expect(exitCode).toBe(143);
});

test('a misspelt name is reported with a suggestion', async () => {
  const { devsh, writes } = await startFleet();
  const { stdout, stderr, exitCode } = await devsh('user set viewr lang=en --on sim1 --yes');
  expect(exitCode).toBe(1);
  expect(stdout + stderr).toContain('no user "viewr"; did you mean viewer?');
  expect(writes()).toEqual([]);
});

test('the question before a long roll-out says how long it takes', async () => {
  const { devsh } = await startFleet({ devices: 4 });
  const line = 'user set viewer lang=fr --on @lab --pause 60';
  const asked = await devsh(line, { tty: ['n'] });
  expect(asked.stderr).toMatch(
    /4 steps on 4 devices, about 3 min \d s with one device at a time\./,
  );
  const wide = await devsh(`${line} --concurrency 2`, { tty: ['n'] });
  expect(wide.stderr).toContain('about 1 min 0 s with 2 devices at a time');
  const short = await devsh('user set viewer lang=fr --on @lab', { tty: ['n'] });
  expect(short.stderr).toContain('4 steps on 4 devices. Type 4 to do them:');
});
