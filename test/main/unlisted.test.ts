import fc from 'fast-check';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Account, Box, type Habit, openPlace, PASSWORD } from '../oracle/sequences/box.ts';
import { rounds } from '../rounds.ts';
import { settleAtOnce } from '../settle.ts';
import { makeDevsh, trust } from './devsh.ts';

settleAtOnce();

interface Pending {
  readonly pending?: readonly unknown[];
}

const PROFILE = 'extends: drf\nid_fields: [id]\n';

function account(username: string): Omit<Account, 'id'> {
  const email = `${username}@example.net`;
  const names = { username, email, first_name: username, last_name: 'Ng' };
  return { person: username, secrets: {}, fields: { ...names, lang: 'en', is_active: true } };
}

/** A box with a habit, and a devsh that has read it. */
async function startBox(
  habit: Habit | undefined,
  names: readonly string[] = ['ann', 'bob', 'cyd'],
  atEnd: (cleanUp: () => void | Promise<void>) => void = onTestFinished,
) {
  const box = new Box('oslo', names.map(account), { ids: 'new', first: 1, deeds: [], habit });
  const requests: string[] = [];
  const watch = (_: boolean, request: string) => {
    requests.push(request);
    return { isCarriedOut: true, isAnswered: true };
  };
  const place = await openPlace(box, watch);
  atEnd(() => place.close());
  const env = { DEVSH_USER: 'root', DEVSH_PASSWORD: PASSWORD };
  const devsh = await makeDevsh(env, atEnd);
  const config = join(devsh.folder, 'config/devsh');
  await mkdir(join(config, 'profiles'), { recursive: true });
  const entry = `{name: oslo, address: "${place.address}", profile: box}`;
  await writeFile(join(config, 'devices.yaml'), `devices:\n  - ${entry}\n`);
  await writeFile(join(config, 'profiles/box.yaml'), PROFILE);
  await trust(devsh, [{ address: place.address, fingerprint: box.certificate.fingerprint }]);
  await devsh('user list --on oslo');
  requests.length = 0;
  return { box, devsh, requests };
}

test('an account that the list hides once it is closed is locked, deleted and made again', async () => {
  const { box, devsh } = await startBox('hides');
  const locked = await devsh('lockout bob --now --yes --allow unlisted-login');
  expect(locked.stdout).toContain('✓ bob  ');
  expect(locked.exitCode).toBe(0);
  expect((await devsh('changes --since 1d --on oslo')).stdout).not.toContain('gone');
  const again = await devsh('lockout bob --now --yes --allow unlisted-login');
  expect(again.stderr + again.stdout).not.toContain('no device has');
  const deleted = await devsh('user delete bob --on oslo --yes --allow unlisted-login');
  expect([deleted.exitCode, box.named('bob')]).toEqual([0, []]);
  expect((await devsh('changes --since 1d --on oslo')).stdout).toContain('user bob gone');
  expect((await devsh('undo --yes --allow loss --allow unlisted-login')).stdout).toContain(
    'bob  added',
  );
  expect(box.named('bob')).toHaveLength(1);
});

test.each([
  'user delete dan --on oslo --yes --allow unlisted-login',
  'lockout dan --now --yes --allow unlisted-login',
  'user set dan lang=fr --on oslo --yes --allow unlisted-login',
])('a list that may be cut is no proof: %s', async (line) => {
  const names = Array.from({ length: 4 }, (_, index) => `u${index}`);
  const { devsh, requests } = await startBox('cuts', [...names, 'dan']);
  const { stdout, stderr, exitCode } = await devsh(line);
  expect(stdout + stderr).toContain('user dan is not in the list, which may be cut');
  expect(stdout + stderr).toContain('list.paging');
  expect(exitCode).toBe(3);
  expect(requests.filter((one) => !/^(?:GET|OPTIONS) /.test(one))).toEqual([]);
  // The next page is asked for once.
  expect(requests.filter((one) => one.includes('?')).length).toBeLessThanOrEqual(3);
});

test('a list that may be cut is no proof for import --prune', async () => {
  const { box, devsh, requests } = await startBox('cuts');
  const file = join(devsh.folder, 'all.csv');
  const rows = box.accounts.slice(0, 20).map(({ fields }) => String(fields['username']));
  await writeFile(file, ['username', ...rows].join('\n'));
  const line = `import ${file} --prune --on oslo --yes`;
  const { stdout, stderr, exitCode } = await devsh(line);
  expect(stdout + stderr).toContain('not in the list, which may be cut');
  expect(exitCode).toBe(3);
  expect(requests.filter((one) => !/^(?:GET|OPTIONS) /.test(one))).toEqual([]);
  expect((await devsh(`${line} --allow prune`)).exitCode).toBe(0);
});

test('a deletion by somebody else is proven once, and then kept', async () => {
  const { box, devsh, requests } = await startBox(undefined);
  box.remove('bob');
  await devsh('user list --on oslo');
  const changes = async () => (await devsh('changes --since 1d --on oslo')).stdout;
  expect(await changes()).toContain('user bob no longer in the list');
  requests.length = 0;
  const line = 'user delete bob --on oslo --yes --allow unlisted-login';
  expect(await devsh(line)).toMatchObject({ exitCode: 0 });
  const own = /^GET \/api\/user\/[^?]+$/;
  expect(requests.filter((one) => own.test(one))).toHaveLength(2);
  expect(await changes()).toContain('user bob gone');
  requests.length = 0;
  expect((await devsh(line)).stdout).toContain('unchanged');
  expect(requests.filter((one) => own.test(one))).toEqual([]);
});

test('whatever a list leaves out, a delete that says "unchanged" leaves nobody behind', async () => {
  const cases = fc.record({
    habit: fc.constantFrom<Habit | undefined>('hides', 'cuts', 'pages', undefined),
    key: fc.constantFrom('ann', 'bob', 'cyd', 'nobody'),
    closed: fc.constantFrom('ann', 'bob', 'cyd', undefined),
    verb: fc.constantFrom('user delete', 'lockout'),
  });
  const property = fc.asyncProperty(cases, async ({ habit, key, closed, verb }) => {
    const ends: (() => void | Promise<void>)[] = [];
    const { box, devsh } = await startBox(habit, undefined, (end) => ends.push(end));
    if (closed !== undefined) box.change(closed, { is_active: false });
    const on = verb === 'lockout' ? '--now' : '--on oslo';
    const { exitCode, stdout, stderr } = await devsh(
      `${verb} ${key} ${on} --yes --allow unlisted-login`,
    );
    const left = box.named(key).filter(({ fields }) => verb !== 'lockout' || fields['is_active']);
    if (exitCode === 0) expect([left, stdout, stderr]).toEqual([[], stdout, stderr]);
    for (const end of ends) await end();
  });
  await fc.assert(property, { numRuns: rounds(12) });
});

const WISHES: readonly (readonly [string, (box: Box) => void, string])[] = [
  [
    '- set: user\n  key: bob\n  fields: {lang: fr}\n',
    (box) => box.change('bob', { lang: 'fr' }),
    'unchanged',
  ],
  [
    '- set: user\n  key: bob\n  fields: {lang: fr}\n',
    (box) => box.change('bob', { lang: 'it' }),
    'drift',
  ],
  ['- delete: user\n  key: bob\n', (box) => box.remove('bob'), 'unchanged'],
];

test.each(WISHES)(
  'since the plan %s, somebody else did this: %#',
  async (text, meanwhile, verdict) => {
    const { box, devsh, requests } = await startBox(undefined);
    const file = join(devsh.folder, 'plan');
    await devsh(`plan - -o ${file} --on oslo`, { stdin: text });
    meanwhile(box);
    const { stdout, exitCode } = await devsh(`apply ${file} --yes --json`);
    const { results } = JSON.parse(stdout) as { results: readonly { verdict: string }[] };
    expect([results.map((one) => one.verdict), exitCode]).toEqual([
      [verdict],
      verdict === 'drift' ? 7 : 0,
    ]);
    expect(requests.filter((one) => !/^(?:GET|OPTIONS) /.test(one))).toEqual([]);
  },
);

test.each<[Habit, string, number]>([
  ['late', 'no effect', 1],
  ['defers', 'unknown', 3],
  ['caches', 'unknown', 3],
])('on a box that %s, an effect that does not show yet is "%s"', async (habit, verdict, code) => {
  const { box, devsh } = await startBox(habit);
  const line = 'user set bob lang=fr --on oslo --yes --allow unlisted-login';
  const { stdout, stderr, exitCode } = await devsh(line);
  expect(stdout).toContain(`bob  set ${verdict}`);
  expect(stdout + stderr).not.toContain('profile set');
  expect(exitCode).toBe(code);
  expect(box.deeds).toHaveLength(1);
  const { pending = [] } = JSON.parse((await devsh('pending --json')).stdout) as Pending;
  expect(pending).toHaveLength(verdict === 'unknown' ? 1 : 0);
  for (let reads = 0; reads < 9; reads += 1) await devsh('user list --on oslo');
  expect((await devsh('changes --since 1d --on oslo')).stdout).not.toContain('not by a run');
  if (verdict === 'unknown')
    expect((await devsh('resume --yes --allow unlisted-login')).exitCode).toBe(0);
  else expect((await devsh('changes --since 1d --on oslo')).stdout).toContain('run 2');
  expect(box.deeds).toHaveLength(1);
});

test.each<Habit>(['late', 'defers', 'caches'])(
  'what a run takes back because nobody confirmed it is no drift, if it only showed late: %s',
  async (habit) => {
    const { box, devsh } = await startBox(habit);
    const argv = ['apply', '-', '--on', 'oslo', '--yes', '--confirm', '2'];
    const stdin = '- set: user\n  key: bob\n  fields: {lang: fr}\n';
    const applied = devsh([...argv, '--allow', 'unlisted-login'], { stdin });
    const langs = (): unknown[] => box.named('bob').map(({ fields }) => fields['lang']);
    await vi.waitUntil(() => langs()[0] === 'fr', 10_000);
    // It shows before the time is over.
    await vi.waitUntil(async () => {
      const { stdout } = await devsh('user list bob --on oslo --json');
      return stdout.includes('"fr"');
    }, 10_000);
    const { stdout, stderr } = await applied;
    expect(stdout + stderr).not.toContain('drift');
    expect(langs()).toEqual(['en']);
  },
);

test('what was added behind the end of a list that may be cut is not added again', async () => {
  const { box, devsh } = await startBox('cuts');
  const line = 'user add username=rob email=rob@example.net --on oslo --yes';
  const added = await devsh(`${line} --allow unlisted-login`);
  expect(added.stdout).toContain('rob  add unknown');
  const resumed = await devsh('resume --yes --allow unlisted-login');
  expect(resumed.stdout).toContain('rob  add unknown');
  expect(resumed.exitCode).toBe(3);
  expect(box.deeds).toHaveLength(1);
});

test('a record that somebody has renamed is not one that the list leaves out', async () => {
  const { box, devsh } = await startBox(undefined);
  await devsh('user set bob lang=fr --on oslo --yes --allow unlisted-login');
  box.change('bob', { username: 'rob' });
  const gone = await devsh('user delete bob --on oslo --yes --allow unlisted-login');
  expect([gone.exitCode, gone.stdout]).toEqual([0, expect.stringContaining('no such user here')]);
  const other = await devsh('user show nobody --on oslo');
  expect(other.stderr + other.stdout).not.toContain('leaves records out');
});

/** Each reading line that says of a name that nothing has it. */
const READINGS: readonly ((name: string, file: string) => string)[] = [
  (name) => `user show ${name} --on oslo`,
  (name) => `user ${name} --on oslo`,
  (name) => `user list ${name} --on oslo`,
  (name) => `user list username=${name} --on oslo`,
  (name) => `user list username=${name} --count-by lang --on oslo`,
  (name) => `export user username=${name} --on oslo`,
  (_, file) => `user list --against ${file} --on oslo`,
];

test('no line that reads takes what a list does not show for absent', async () => {
  const cases = fc.record({
    habit: fc.constantFrom<Habit | undefined>('hides', 'cuts', 'pages', undefined),
    name: fc.constantFrom('ann', 'bob', 'dan', 'nobody', 'u0'),
    closed: fc.constantFrom('ann', 'bob', undefined),
    reading: fc.constantFrom(...READINGS),
  });
  const property = fc.asyncProperty(cases, async ({ habit, name, closed, reading }) => {
    const ends: (() => void | Promise<void>)[] = [];
    const names = ['u0', 'ann', 'bob', 'dan'];
    const { box, devsh } = await startBox(habit, names, (end) => ends.push(end));
    if (closed !== undefined) box.change(closed, { is_active: false });
    // At its own path it shows what the list was seen to hold before.
    const seen = await devsh(`user show ${closed ?? 'u0'} --on oslo`);
    expect(seen.stdout.includes('@')).toBe(habit !== 'cuts' || closed !== 'bob');
    const file = join(devsh.folder, 'all.csv');
    await writeFile(file, `username\n${name}\n`);
    const line = reading(name, file);
    const { exitCode, stdout, stderr } = await devsh(line);
    const isInDoubt = habit === 'cuts' || (habit === 'hides' && closed !== undefined);
    const isHidden = habit === 'hides' && name === closed;
    const listed = box.accounts.slice(0, habit === 'cuts' ? 20 : undefined);
    const isListed = listed.some(({ person }) => person === name) && !isHidden;
    const isFound = isListed || (isHidden && line.startsWith('user show'));
    const expected = [isInDoubt && !isFound, stdout, stderr];
    expect([exitCode === 3, stdout, stderr]).toEqual(expected);
    for (const end of ends) await end();
  });
  await fc.assert(property, { numRuns: rounds(60, { least: 20 }) });
});

test.each<[Habit, string]>([
  ['late', 'unknown'],
  ['caches', 'unknown'],
])(
  'on a box that %s, a write that is stored and answered by 500 is "%s"',
  async (habit, verdict) => {
    const { box, devsh } = await startBox(habit);
    // Its first change is seen to show late.
    if (habit === 'late') {
      await devsh('user set bob lang=fr --on oslo --yes --allow unlisted-login');
      for (let reads = 0; reads < 9; reads += 1) await devsh('user list --on oslo');
    }
    box.fate = 'store, then 500';
    const line = 'user set ann lang=it --on oslo --yes --allow unlisted-login';
    const { stdout, exitCode } = await devsh(line);
    expect([exitCode, stdout]).toEqual([3, expect.stringContaining(`ann  set ${verdict}`)]);
    const { pending = [] } = JSON.parse((await devsh('pending --json')).stdout) as Pending;
    expect(pending).toHaveLength(1);
  },
);
