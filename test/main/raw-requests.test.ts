import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startFleet, type TestFleet, usernames } from './devsh.ts';
import { settleAtOnce } from '../settle.ts';

settleAtOnce();

async function fleet(profile?: 'drf'): Promise<TestFleet & { uuidOf: (name: string) => string }> {
  const one = await startFleet({ devices: 1, ...(profile && { profile }) });
  if (profile) await one.devsh(`profile set sim1 profile=${profile}`);
  const uuidOf = (name: string): string =>
    one.device(1).users.find(({ username }) => username === name)?.uuid ?? '';
  return { ...one, uuidOf };
}

async function protect({ devsh }: TestFleet, text: string): Promise<void> {
  const path = join(devsh.folder, 'config/devsh/devices.yaml');
  await mkdir(join(devsh.folder, 'config/devsh'), { recursive: true });
  await writeFile(path, `break_glass: [${text}]\n${await readFile(path, 'utf8')}`);
}

test.each([undefined, 'drf'] as const)(
  'no spelling of the account in use or of a break-glass account gets through (profile: %s)',
  async (profile) => {
    const one = await fleet(profile);
    await protect(one, 'viewer');
    for (const name of ['admin', 'viewer']) {
      const uuid = one.uuidOf(name);
      for (const line of [
        `delete /api/user/${uuid.toUpperCase()}/`,
        `delete /api/user/${uuid}%2f`,
        `delete /api/user/%7B${uuid.replace('-', '%252D')}%7D/`,
        `post /api/user/ uuid=${uuid.replaceAll('-', '')} username=root2`,
        `post /api/user/${uuid}/ username=root2`,
        `post /api/user/${uuid}/deactivate/`,
        `post /api/user/bulk/ usernames=${name},bob action=delete`,
        `post /api/user/bulk/ data={"all":["${uuid.toUpperCase()}"]}`,
        `delete /api/user/0/?user=${name}`,
      ]) {
        const { stderr, exitCode } = await one.devsh(`${line} --on sim1 --yes --allow unread`);
        const word = name === 'admin' ? '--allow own-account' : '--allow break-glass=viewer';
        expect([line, stderr]).toEqual([line, expect.stringContaining(word)]);
        expect([line, exitCode]).toEqual([line, 6]);
      }
    }
    expect(one.writes()).toEqual([]);
  },
);

test('a raw write of one record is planned, journaled and read back, and undo takes it back', async () => {
  const { devsh, device, uuidOf } = await fleet('drf');
  const uuid = uuidOf('viewer').toUpperCase();
  const before = device(1).log.length;
  const set = await devsh(`post /api/user/ uuid=${uuid} lang=fr --on sim1 --dry-run`);
  expect(set.stdout).toContain('user viewer');
  expect(
    device(1)
      .log.slice(before)
      .map(({ method, path }) => `${method} ${path}`),
  ).toEqual(['GET /api/user/']);
  const deleted = await devsh(`delete /api/user/${uuidOf('viewer')}/ --on sim1 --yes`);
  expect(deleted.stdout).toContain('viewer  deleted');
  expect(deleted.exitCode).toBe(0);
  expect(usernames(device(1))).not.toContain('viewer');
  await devsh('undo --yes');
  expect(usernames(device(1))).toContain('viewer');
});

test('a new record is proven by reading it back, and the request is sent as typed', async () => {
  const { devsh, device } = await fleet();
  const form = ['uuid=null', 'first_name=Zoe', 'lastname=Z', 'username=zoe', 'lang=de'];
  const line = ['post', '/api/user/', ...form, '--on', 'sim1', '--yes', '--json'];
  const { stdout, exitCode } = await devsh(line);
  expect(JSON.parse(stdout)).toMatchObject({
    results: [{ action: 'add', verdict: 'done' }],
    answers: [{ device: 'sim1', status: 201 }],
  });
  expect(exitCode).toBe(0);
  const sent = device(1).log.find(({ method }) => method === 'POST');
  expect(sent?.body).toBe(form.join('&'));
  device(1).setFault('accept-and-forget', 1);
  const forgotten = await devsh([
    'post',
    '/api/user/',
    ...form.with(3, 'username=eve'),
    ...line.slice(-4),
  ]);
  expect(JSON.parse(forgotten.stdout)).toMatchObject({ results: [{ verdict: 'no effect' }] });
  expect(forgotten.exitCode).toBe(1);
});

test('what nobody can tell of accounts needs --allow unread, elsewhere the ordinary question', async () => {
  const { devsh, writes } = await fleet();
  for (const line of [
    'post /api/user/bulk/ usernames=viewer,bob action=delete --on sim1',
    'post /api/user/ lang=de --on sim1',
  ]) {
    const refused = await devsh(`${line} --yes`);
    expect([line, refused.stderr]).toEqual([line, expect.stringContaining('--allow unread')]);
    expect(refused.stderr).toContain('sim1: ');
    expect(refused.exitCode).toBe(6);
    const before = writes().length;
    await devsh(`${line} --yes --allow unread --dry-run`);
    expect(writes()).toHaveLength(before);
    await devsh(`${line} --yes --allow unread`);
    expect(writes()).toHaveLength(before + 1);
  }
  const before = writes().length;
  expect((await devsh('post /api/reload/ now=1 --on sim1')).exitCode).toBe(6);
  const asked = await devsh('post /api/reload/ now=1 --on sim1', { tty: ['y'] });
  expect(asked.stderr + asked.stdout).toContain('"undo" cannot take it back');
  expect(writes()).toHaveLength(before + 1);
});

test('after a request whose effect is not known the list tells what is different', async () => {
  const { devsh, device } = await fleet('drf');
  const form = ['post', '/api/user/?all=1', 'username=zoe', 'lang=de'];
  const line = [...form, '--on', 'sim1', '--yes', '--allow', 'unread'];
  device(1).setFault('accept-and-forget', 1);
  expect((await devsh(line)).stderr).toContain('sim1: the list of its users is as before');
  const { stdout } = await devsh([...line, '--json']);
  expect(JSON.parse(stdout)).toMatchObject({
    answers: [{ status: 201 }],
    changed: [{ device: 'sim1', change: 'added', key: 'zoe', record: { lang: 'de' } }],
  });
  const csv = await devsh([...line.with(2, 'username=ann'), '--format', 'csv']);
  expect(csv.stdout).toContain('sim1,user,ann,added');
  const other = await devsh(line.with(2, 'username=eve'));
  expect(other.stdout).toMatch(/sim1 user eve: added/);
});

test('the journal of a raw request has no secret of its query or body', async () => {
  const { devsh, uuidOf } = await fleet();
  await devsh(
    `delete /api/user/${uuidOf('viewer')}/?token=hush-hush&password=top-secret --on sim1 --yes`,
  );
  await devsh(`post /api/user/ uuid=null username=zoe password=top-secret --on sim1 --yes`);
  const { stdout } = await devsh('runs show --json');
  expect(stdout).toContain('zoe');
  expect(stdout).not.toContain('top-secret');
  const runs = join(devsh.folder, 'state/devsh/runs');
  for (const path of ['/api/reload/token=top-secret/', '/api/reload/#password=top-secret']) {
    await devsh(['post', path, 'a=1', '--on', 'sim1', '--yes']);
    for (const name of await readdir(runs))
      expect(await readFile(join(runs, name), 'utf8')).not.toContain('top-secret');
  }
});

test('a request whose effect is not known is in the journal, and nothing is said that nobody knows', async () => {
  const { devsh, device } = await fleet('drf');
  await devsh('user set viewer lang=fr --on sim1 --yes');
  await devsh('user list --on sim1');
  const form = ['post', '/api/user/?all=1&password=top-secret', 'username=zoe', 'lang=de'];
  await devsh([...form, '--on', 'sim1', '--yes', '--allow', 'unread', '--reason', 'INC-7']);
  expect(usernames(device(1))).toContain('zoe');

  const { stdout: listed } = await devsh('runs --json');
  const [raw, set] = (JSON.parse(listed) as { runs: { run: string }[] }).runs;
  expect(raw).toMatchObject({ state: 'ended', verdicts: ['1 unknown'], reason: 'INC-7' });
  const shown = await devsh('runs show');
  expect(shown.stdout).toContain('devsh does not know what it did');
  expect(shown.stdout).not.toContain('top-secret');
  const report = await devsh('report');
  expect(report.stdout).toMatch(/POST \/api\/user\/\?all=1.*: unknown/);

  const changes = await devsh('changes --on sim1');
  expect(changes.stdout).toMatch(
    new RegExp(`zoe added\\s+unclear: run ${raw?.run} was at work then`),
  );
  const undone = await devsh('undo --on sim1 --yes');
  expect(undone.stderr).toContain('devsh does not know what it did, and cannot take it back');
  expect(undone.stderr).toContain(`"undo ${set?.run}"`);
  expect(undone.exitCode).toBe(6);
  expect((await devsh('pending')).stdout).not.toContain('zoe');
  expect((await devsh(`resume ${raw?.run} --yes`)).exitCode).toBe(0);
});

test('a request without an answer may have an effect later', async () => {
  const { devsh, device } = await fleet('drf');
  await devsh('user list --on sim1');
  device(1).setFault('reset', 1);
  await devsh('post /api/reload/ now=1 --on sim1 --yes');
  expect((await devsh('runs')).stdout).toContain('unfinished');
  const env = { XDG_STATE_HOME: join(devsh.folder, 'elsewhere') };
  await devsh('user add username=late lang=de --on sim1 --yes', { env });
  await devsh('user list --on sim1');
  expect((await devsh('changes --on sim1')).stdout).toMatch(/late added\s+unclear: run/);
});

test('of a device to which nothing was sent the journal does not say that it was', async () => {
  const { devsh, device, writes } = await startFleet({ devices: 3 });
  const line = 'post /api/reload/ now=1 --on @lab --yes';
  const results = async (): Promise<string[]> => {
    const { stdout } = await devsh('runs show --json');
    const { results } = JSON.parse(stdout) as { results: { device: string; verdict: string }[] };
    return results.map((one) => `${one.device} ${one.verdict}`);
  };
  device(2).setFault('refuse', true);
  await devsh(line);
  expect(await results()).toEqual(['sim1 unknown', 'sim2 skipped', 'sim3 unknown']);
  expect((await devsh('runs')).stdout).not.toContain('unfinished');
  device(2).setFault('refuse', false);
  const before = writes().length;
  await devsh(line, { stopAt: { text: 'sim1: HTTP 404', signal: 'SIGINT' } });
  const sent = writes().length - before;
  expect(sent).toBeLessThan(3);
  const shown = await results();
  expect(shown.filter((one) => one.endsWith('unknown'))).toHaveLength(sent);
  expect(shown.filter((one) => one.endsWith('skipped'))).toHaveLength(3 - sent);
  expect((await devsh('runs')).stdout).not.toContain('unfinished');
  expect((await devsh('pending')).stderr).toContain('nothing is pending');
});

test('a body as curl takes it is no field, and nothing is sent', async () => {
  const { devsh, device, writes } = await fleet();
  const line = ['post', '/api/user/', 'username=zoe&lang=de&uuid=null', '--on', 'sim1', '--yes'];
  const { stderr, exitCode } = await devsh(line);
  expect(stderr).toContain('the value of username contains lang=: put a blank between fields');
  expect(exitCode).toBe(2);
  expect(writes()).toEqual([]);
  await devsh(['post', '/api/', 'note=x&y=1', ...line.slice(-3), '--allow', 'invalid']);
  expect(device(1).log.find(({ method }) => method === 'POST')?.body).toBe('note=x%26y%3D1');
});

test('a raw POST has the encoding of each device, planned or not', async () => {
  const one = await startFleet({ devices: 2 });
  await one.devsh('profile set sim2 create.encoding=json update.encoding=json');
  const sent = (): readonly (string | undefined)[] =>
    [1, 2].map((place) => one.device(place).log.findLast(({ method }) => method === 'POST')?.body);
  const words = ['first_name=Zoé', 'lastname=Z', 'username=zoe', 'lang=de'];
  const line = (path: string): string[] =>
    `post ${path} ${words.join(' ')} --on sim1,sim2 --yes --allow unread`.split(' ');
  const json = Object.fromEntries(words.map((word) => word.split('=') as [string, string]));
  for (const path of ['/api/user/', '/api/user/bulk/', '/api/reload/']) {
    await one.devsh(line(path));
    const [form = '', text = ''] = sent();
    expect([path, [...new URLSearchParams(form)]]).toEqual([path, Object.entries(json)]);
    expect([path, JSON.parse(text)]).toEqual([path, json]);
  }
  await one.devsh('profile set sim2 update.encoding=form');
  const before = one.writes().length;
  const refused = await one.devsh(`post /api/reload/ now=1 --on sim2 --yes`);
  expect(refused.stdout).toContain('devsh does not know whether /api/reload/ takes a form or JSON');
  expect(refused.exitCode).toBe(6);
  expect(one.writes()).toHaveLength(before);
});
