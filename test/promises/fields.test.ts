import { expect, onTestFinished, test } from 'vitest';
import { PROFILE_NAMES, type ProfileName } from '../simulator/dialects/site.ts';
import { startSimulator } from '../simulator/simulator.ts';
import { ADMIN, makeDevsh, type Run } from '../main/devsh.ts';
import { announced, bodyLeaves, leavesOf, names } from '../oracle/judge.ts';
import type { JsonObject, Model, Way } from '../oracle/model-device.ts';
import { openModelFleet, type ModelFleet } from '../oracle/model-fleet.ts';
import { startRecorder } from '../oracle/recorder.ts';

/** The fields after "filled in:" in a plan. */
function filledIn(plan: string): string[] {
  const groups = Array.from(plan.matchAll(/filled in: ([^)\n]*)/g), ([, group = '']) => group);
  return groups.flatMap((group) =>
    Array.from(group.matchAll(/([\w.]+)=/g), ([, name = '']) => name),
  );
}

/** The fields that a simulated device gets, and the plan shown before. */
async function sentTo(
  profile: ProfileName,
  line: string,
): Promise<{ sent: string[]; held: string[]; plan: string }> {
  const simulator = await startSimulator({ users: 6, profile });
  onTestFinished(() => simulator.close());
  const recorder = await startRecorder(simulator.devices[0]?.address ?? '');
  onTestFinished(recorder.close);
  const devsh = await makeDevsh(ADMIN);
  await devsh(['trust', 'accept', recorder.address, '--fingerprint', recorder.fingerprint]);
  const on = `--on ${recorder.address} --profile ${profile}`;
  const { stdout: list } = await devsh(`user list --format jsonl ${on}`);
  const viewer = list.split('\n').find((record) => record.includes('"viewer"')) ?? '{}';
  const { stdout: plan } = await devsh(`${line} ${on} --dry-run`);
  expect([profile, line, recorder.writes()]).toEqual([profile, line, []]);
  await devsh(`${line} ${on} --yes`);
  const writes = recorder.writes();
  expect([profile, line, writes.length]).toEqual([profile, line, 1]);
  return {
    sent: writes.flatMap(({ contentType, body }) => [...bodyLeaves(contentType, body).keys()]),
    held: [...leavesOf((JSON.parse(viewer) as { record?: JsonObject }).record).keys()],
    plan,
  };
}

async function openFleet(model: Model, records: readonly JsonObject[]): Promise<ModelFleet> {
  const fleet = await openModelFleet(model, [{ presence: 'here', records }]);
  onTestFinished(fleet.close);
  return fleet;
}

test('devsh sends no field that nobody named.', async () => {
  for (const profile of PROFILE_NAMES) {
    for (const line of [
      'user add username=zoe first_name=Zoe lastname=Zett lang=de',
      'user add username=zoe first_name=Zoe lastname=Zett',
    ]) {
      const { sent, plan } = await sentTo(profile, line);
      const typed = Array.from(line.matchAll(/(\w+)=/g), ([, name]) => name);
      const named = [...typed, 'uuid', 'action', ...filledIn(plan)];
      expect([profile, line, sent.filter((name) => !named.includes(name))]).toEqual([
        profile,
        line,
        [],
      ]);
    }
    const { sent, held } = await sentTo(profile, 'user set viewer lang=fr');
    expect([profile, sent.filter((name) => name !== 'action' && !held.includes(name))]).toEqual([
      profile,
      [],
    ]);
  }

  // Fields that most records have are not given to one more, rights least of all.
  const people = ['ann', 'bob', 'cyd'].map((username) => {
    const rights = username === 'ann' ? {} : { verbose: true, is_admin: true };
    return { username, first_name: 'F', lastname: 'L', lang: 'de', role: 'boss', ...rights };
  });
  for (const way of ['form POST', 'JSON POST', 'JSON PUT', 'JSON PATCH'] as const satisfies Way[]) {
    const fleet = await openFleet(
      {
        way,
        leftOut: 'erased',
        tells: 'nothing',
        idField: 'uuid',
        fields: [
          { name: 'first_name', kind: 'text', access: 'open' },
          { name: 'lastname', kind: 'text', access: 'open' },
          { name: 'lang', kind: 'text', access: 'open' },
          { name: 'role', kind: 'text', access: 'open' },
          { name: 'verbose', kind: 'flag', access: 'open' },
          { name: 'is_admin', kind: 'flag', access: 'open' },
        ],
      },
      people,
    );
    await fleet.devsh('user add username=zoe first_name=Z lastname=Z lang=de --on @lab --yes');
    await fleet.devsh('user set ann first_name=A --on @lab --yes');
    const sent = (fleet.devices[0]?.writes ?? []).map(({ contentType, body }) => [
      ...bodyLeaves(contentType, body).keys(),
    ]);
    expect([way, sent.length]).toEqual([way, 2]);
    const [added = [], changed = []] = sent;
    expect([way, added.sort()]).toEqual([
      way,
      ['first_name', 'lang', 'lastname', 'username', ...(way === 'form POST' ? ['uuid'] : [])],
    ]);
    // Ann has neither of them.
    expect([way, changed.filter((name) => ['verbose', 'is_admin'].includes(name))]).toEqual([
      way,
      [],
    ]);
  }
});

test('devsh says what an undo cannot bring back.', async () => {
  const { devsh, devices } = await openFleet(
    {
      way: 'JSON PATCH',
      leftOut: 'kept',
      tells: 'fields',
      idField: 'id',
      fields: [
        { name: 'first_name', kind: 'text', access: 'open' },
        { name: 'labels', kind: 'list', access: 'read-only' },
        { name: 'limits', kind: 'nested', access: 'read-only' },
        { name: 'made_by', kind: 'text', access: 'read-only' },
        { name: 'password', kind: 'text', access: 'masked' },
        { name: 'login_shell', kind: 'text', access: 'hidden' },
      ],
    },
    ['ann', 'bob'].map((username) => ({
      username,
      first_name: 'F',
      labels: ['red'],
      limits: { depth: 3 },
      made_by: 'root',
      password: 'pw1',
      login_shell: 'sh',
    })),
  );
  const lost = ['id', 'labels', 'limits', 'made_by', 'password', 'login_shell'];
  const unsaid = (run: Run): string[] => lost.filter((name) => !names(announced(run), name));

  // The device reports which fields are read-only and which are hidden.
  await devsh('learn oslo');
  const plan = await devsh('user delete bob --on @lab --dry-run');
  expect(unsaid(plan)).toEqual([]);
  // A restored field is not called lost.
  expect(names(announced(plan), 'first_name')).toBe(false);
  const declined = await devsh('user delete bob --on @lab', { tty: ['n'] });
  expect([declined.exitCode, unsaid(declined)]).toEqual([6, []]);
  await devsh('user delete bob --on @lab --yes --allow unlisted-login');
  const before = await devsh('undo --on @lab --dry-run');
  expect(unsaid(before)).toEqual([]);
  const undo = await devsh('undo --on @lab --yes --allow unlisted-login --json --allow loss');
  expect(undo.stdout).toContain('"verdict":"differs"');
  expect(undo.exitCode).toBe(1);
  const bob = [...(devices[0]?.held.values() ?? [])].find(({ username }) => username === 'bob');
  expect(bob).toMatchObject({ first_name: 'F', labels: [], made_by: '', password: '' });

  await devsh('user set ann password=pw2 first_name=G --on @lab --yes --allow unlisted-login');
  const back = await devsh('undo --on @lab --yes --allow unlisted-login --json');
  expect(back.stdout + back.stderr).toMatch(/password/);
  expect(back.stdout).not.toContain('"verdict":"done"');
});
