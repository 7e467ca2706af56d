import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rounds } from '../rounds.ts';
import { type Devsh, startFleet, usernames } from './devsh.ts';

type Json = Record<string, unknown>;

/** Applies a change to the parsed lines of a plan file, and seals it again, as anybody can. */
async function altered(file: string, change: (lines: Json[]) => void): Promise<void> {
  const text = await readFile(file, 'utf8');
  const lines = text
    .trimEnd()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Json);
  change(lines);
  const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const sha256 = createHash('sha256').update(body, 'utf8').digest('hex');
  await writeFile(file, `${body}${JSON.stringify({ kind: 'seal', sha256 })}\n`);
}

function planOf(lines: readonly Json[]): { device: Json; steps: Json[]; changes?: Json[] } {
  const line = lines.find(({ kind }) => kind === 'device');
  return line?.['plan'] as { device: Json; steps: Json[] };
}

async function planned(devsh: Devsh & { folder: string }, on = 'sim1'): Promise<string> {
  const file = join(devsh.folder, 'monday.plan');
  const stdin = '- set: user\n  key: bob\n  fields: {lang: fr}\n';
  const { exitCode, stderr } = await devsh(['plan', '-', '--on', on, '-o', file], { stdin });
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining('wrote the plan')]);
  return file;
}

async function fleetWithRoot() {
  const fleet = await startFleet({ devices: 1 });
  for (const username of ['bob', 'root']) fleet.device(1).putUser({ username, lang: 'de' });
  const inventory = join(fleet.devsh.folder, 'config/devsh/devices.yaml');
  await writeFile(inventory, `${await readFile(inventory, 'utf8')}break_glass: [root]\n`);
  const uuidOf = (name: string): string =>
    fleet.device(1).users.find(({ username }) => username === name)?.uuid ?? '';
  return { ...fleet, uuidOf };
}

test('a plan file holds no request, and an altered one sends nothing but what it shows', async () => {
  const { devsh, device, writes, uuidOf } = await fleetWithRoot();
  const file = await planned(devsh);
  const whole = await readFile(file, 'utf8');
  expect(whole).not.toMatch(/"request"|"path"|"method"/);
  const others = JSON.stringify(device(1).users.filter(({ username }) => username !== 'bob'));
  const name = fc.constantFrom('root', 'admin');
  const text = fc.string({ maxLength: 12 });
  const method = fc.constantFrom('DELETE', 'POST', 'PUT', 'PATCH');
  const alteration = fc.record(
    {
      request: fc.record({
        method,
        path: fc.oneof(
          name.map((one) => `/api/user/${uuidOf(one)}/`),
          fc.webPath().map((path) => `/${path}`),
          fc.constant('/api/user/'),
        ),
        form: fc.array(fc.tuple(text, text)),
      }),
      action: fc.constantFrom('set', 'delete', 'add'),
      key: fc.oneof(name, text),
      keyField: fc.constantFrom('username', 'uuid', 'lang', 'lastname'),
      purpose: fc.oneof(
        fc.constant({ kind: 'typed' }),
        fc.constant({ kind: 'rotate', rotation: { kind: 'basic' } }),
        fc.constant({ kind: 'lockout', endsAccess: true }),
        fc.constant({ kind: 'undo', isFirst: true }),
      ),
      before: name.chain((username) =>
        fc.constantFrom({}, { username }, { uuid: uuidOf(username), username: 'bob', lang: 'de' }),
      ),
      asked: fc.constantFrom({ is_active: false }, { username: 'root' }, { lang: 'xx' }),
    },
    { requiredKeys: ['request'] },
  );
  await fc.assert(
    fc.asyncProperty(alteration, fc.boolean(), async (change, isDryRun) => {
      await writeFile(file, whole);
      await altered(file, (lines) => Object.assign(planOf(lines).steps[0] ?? {}, change));
      const sent = writes().length;
      const run = await devsh(['apply', file, isDryRun ? '--dry-run' : '--yes']);
      expect(run.exitCode).not.toBe(70);
      expect(JSON.stringify(device(1).users.filter(({ username }) => username !== 'bob'))).toBe(
        others,
      );
      if (isDryRun) expect(writes()).toHaveLength(sent);
      // What bob lost or got is what the plan showed.
      const bob = device(1).users.find(({ username }) => username === 'bob');
      if (bob === undefined) expect(run.stderr + run.stdout).toContain('delete user bob');
      if (bob?.lang !== 'de') expect(run.stderr + run.stdout).toContain(`lang: de → ${bob?.lang}`);
      device(1).putUser({ ...(bob ?? { username: 'bob' }), lang: 'de', is_active: true });
    }),
    { numRuns: rounds(300, { least: 80 }) },
  );
});

test('changes in a plan file carry no request either, with --replan and for a device that was not read', async () => {
  const { devsh, device, writes, uuidOf } = await fleetWithRoot();
  const file = await planned(devsh);
  const typed = { method: 'DELETE', path: `/api/user/${uuidOf('root')}/` };
  const change = { action: 'set', resource: 'user', fields: { lang: 'fr' }, typed };
  const changes = [{ ...change, target: { kind: 'key', key: 'bob' } }];
  await altered(file, (lines) => Object.assign(lines[0] ?? {}, { changes }));
  await devsh(['apply', file, '--replan', '--yes']);
  await altered(file, (lines) => {
    const error = { code: 'unreachable', exitCode: 5, message: 'down' };
    Object.assign(planOf(lines), { error, steps: [], changes });
  });
  await devsh(['apply', file, '--yes']);
  await devsh('resume --yes');
  expect(usernames(device(1))).toContain('root');
  expect(writes().every((line) => line.startsWith('POST'))).toBe(true);
});

test('a plan file of an older devsh is applied, without its request', async () => {
  const { devsh, device, uuidOf } = await fleetWithRoot();
  const file = await planned(devsh);
  const request = { method: 'DELETE', path: `/api/user/${uuidOf('root')}/` };
  await altered(file, (lines) => {
    Object.assign(planOf(lines).steps[0] ?? {}, { request, filled: {}, after: { lang: 'fr' } });
  });
  const { stdout, exitCode } = await devsh(['apply', file, '--yes']);
  expect(stdout).toContain('✓ bob  ');
  expect(exitCode).toBe(0);
  expect(usernames(device(1))).toContain('root');
});

test('no request and no login goes to an address that only a plan file names', async () => {
  const { devsh, device } = await startFleet({ devices: 1, isListed: false });
  device(1).putUser({ username: 'bob', lang: 'de' });
  const { address } = device(1);
  const file = await planned(devsh, address);
  for (const name of ['fw1', address, '127.0.0']) {
    await altered(file, (lines) => Object.assign(planOf(lines).device, { name }));
    const before = device(1).log.length;
    for (const option of ['--yes', '--dry-run', '--replan --yes', '--shard 1/1 --yes']) {
      const { stderr, exitCode } = await devsh(['apply', file, ...option.split(' ')]);
      expect(stderr).toContain('is not in the inventory, and devsh sends no login to an address');
      expect(exitCode).toBe(2);
    }
    expect(device(1).log).toHaveLength(before);
  }
  const { exitCode } = await devsh(['apply', file, '--on', address, '--yes']);
  expect(exitCode).toBe(0);
  expect(device(1).users.find(({ username }) => username === 'bob')?.lang).toBe('fr');
});

test('what a device was not reached with is pending, and resume does it as it was reviewed', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  const file = join(devsh.folder, 'monday.plan');
  const stdin =
    '- {add: user, fields: {username: zoe, lang: de}}\n- {set: user, key: viewer, fields: {lang: fr}}\n' +
    '- {add: user, fields: {username: eve, lang: de}}\n';
  await devsh(['plan', '-', '--on', '@lab', '-o', file], { stdin });
  device(2).setFault('refuse');
  expect((await devsh(['apply', file, '--yes'])).exitCode).toBe(3);
  device(2).setFault('refuse', false);
  await devsh('user add username=zoe lang=de --on sim2 --yes');
  const { stdout, exitCode } = await devsh('resume --yes');
  expect(stdout).toContain('✓ viewer  ');
  expect(stdout).toContain('eve  added');
  expect(exitCode).toBe(0);
  expect((await devsh('runs show')).exitCode).toBe(0);
  expect((await devsh('pending')).stderr).toContain('nothing is pending');
});

test.each(['done', 'no effect', 'unknown'])(
  'a plan file that tells a result "%s" is refused: nothing was sent',
  async (verdict) => {
    const { devsh, device, writes } = await fleetWithRoot();
    const file = await planned(devsh);
    await altered(file, (lines) => {
      const { name, address } = device(1);
      const about = { resource: 'user', key: 'root', action: 'delete' };
      Object.assign(planOf(lines), { settled: [{ device: { name, address }, ...about, verdict }] });
    });
    const { stdout, stderr, exitCode } = await devsh(['apply', file, '--yes']);
    expect([exitCode, stdout, writes()]).toEqual([6, '', []]);
    expect(stderr).toContain('the file holds what no plan of devsh has');
  },
);
