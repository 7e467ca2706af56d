import { expect, test } from 'vitest';
import { startFleet } from './devsh.ts';

test('profile shows every fact with its origin', async () => {
  const { devsh } = await startFleet();
  const { stdout } = await devsh('profile --on sim1 --json');
  const { facts } = JSON.parse(stdout) as { facts: { fact: string; origin: string }[] };
  expect(facts).toContainEqual(
    expect.objectContaining({ fact: 'create.method', value: 'POST', origin: 'documented' }),
  );
  expect(facts).toContainEqual(
    expect.objectContaining({ fact: 'remove.path', value: '{item}', origin: 'assumed' }),
  );
});

test('profile set states facts for a device of the inventory, and they are used', async () => {
  const { devsh } = await startFleet();
  expect((await devsh('profile set sim1 update.method=PUT update.path={item}')).exitCode).toBe(0);
  const { stdout } = await devsh('profile sim1 --json');
  expect(stdout).toContain('"fact":"update.method","value":"PUT","origin":"configured"');
  const plan = await devsh('user set viewer lang=fr --on sim1 --dry-run --json');
  expect(plan.stdout).toContain('"method":"PUT"');
});

test('fields with restricted values are configured by a profile', async () => {
  const { devsh } = await startFleet();
  const fact = '"fact":"resources.user.choice_fields","value":["lang","role"],"origin":';
  await devsh(['profile', 'set', 'sim1', 'resources.user.choice_fields=[lang, role]']);
  expect((await devsh('profile sim1 --json')).stdout).toContain(`${fact}"configured"`);
});

test.each(['documented', 'drf'] as const)(
  'profile set update.method=PATCH goes to the path of one record on a device that speaks %s',
  async (profile) => {
    const { devsh } = await startFleet({ profile });
    await devsh('profile set sim1 update.method=PATCH');
    const line = 'user set viewer lang=fr --on sim1 --dry-run --json';
    const { plan } = JSON.parse((await devsh(line)).stdout) as {
      plan: { steps: { request: { path: string; method: string; json?: unknown } }[] }[];
    };
    const request = plan[0]?.steps[0]?.request;
    expect(request).toMatchObject({ method: 'PATCH', json: { lang: 'fr' } });
    expect(request?.path).toMatch(/^\/api\/user\/[\w-]{36}\/$/);
  },
);

test.each([
  ['profile set sim1 update.metod=PUT', 'did you mean "method"'],
  ['profile set sim1 remove.path={collection}', 'must go to the path of one record'],
  ['profile set sim9 no_id=0', 'no device "sim9"'],
  ['profile set sim1 update.method=DELETE', 'a DELETE neither adds nor changes'],
  ['profile set sim1 update.record=none', 'changes nothing'],
  [
    'profile set sim1 update.method=PATCH update.path={collection} update.selector=none',
    'name one',
  ],
  ['profile set sim1 create.wrapper=user', 'wrapper needs the encoding json'],
])('%s is refused, and nothing changes', async (line, reason) => {
  const { devsh } = await startFleet();
  const { stderr, exitCode } = await devsh(line);
  expect(stderr).toContain(reason);
  expect(exitCode).toBe(2);
  expect((await devsh('profile sim1 --json')).stdout).not.toContain('configured');
});

test('profile check finds a mistake with line and column', async () => {
  const { devsh } = await startFleet();
  const text = 'extends: drf\nupdate: {encoding: xml}\n';
  const { stderr, exitCode } = await devsh('profile check -', { stdin: text });
  expect(stderr).toMatch(/:2:\d+: encoding/);
  expect(exitCode).not.toBe(0);
});

test('learn reads the fields of a device, and records are patched from then on', async () => {
  const { devsh } = await startFleet({ profile: 'drf' });
  expect((await devsh('learn --on sim1')).stderr).toContain('a record allows');
  const { stdout } = await devsh('user set viewer lang=fr --on sim1 --yes --json');
  expect(stdout).toContain('"verdict":"done"');
  const facts = (await devsh('profile --on sim1 --json')).stdout;
  expect(facts).toContain('"fact":"update.method","value":"PATCH","origin":"observed"');
  expect(facts).toContain(
    '"fact":"resources.user.update.method","value":"PATCH","origin":"observed"',
  );
});

test('before the first write to a resource, devsh asks the device how records are changed', async () => {
  const { devsh } = await startFleet({ profile: 'drf' });
  const first = await devsh('user set viewer lang=fr --on sim1 --yes -v');
  const second = await devsh('user set viewer lang=de --on sim1 --yes -v');
  expect(first.stdout).toContain('done');
  expect(first.stderr).toMatch(/> OPTIONS .*\/api\/user\/[\s\S]*> PATCH .*\/api\/user\/[\w-]+\//);
  expect(second.stderr).not.toContain('OPTIONS');
});

test('values are checked against the reported fields before anything is sent', async () => {
  const { devsh, writes } = await startFleet({ profile: 'drf' });
  await devsh('learn --on sim1');
  const { stderr, exitCode } = await devsh('user set viewer lang=zz --on sim1 --yes');
  expect(stderr).toContain('lang: not one of');
  expect(stderr).toContain('nothing was sent');
  expect(exitCode).toBe(2);
  expect(writes()).toEqual([]);
  const added = await devsh('user add username=zoe is_active=maybe --on sim1 --yes');
  expect(added.stderr).toContain('is_active: neither true nor false');
  expect(writes()).toEqual([]);
});

test('a value that is invalid on one device is sent to none, unless that is allowed', async () => {
  const { devsh, writes, device } = await startFleet({ profile: 'drf', devices: 2 });
  await devsh('learn --on sim1');
  const line = 'user add username=zoe lang=xxq --on sim1,sim2 --yes';
  const refused = await devsh(line);
  expect(refused.exitCode).toBe(2);
  expect(refused.stderr).toMatch(/lang: not one of de, en.*--allow invalid/);
  expect(refused.stderr).not.toContain('retry');
  const rows = await devsh('import - --on sim1 --yes', { stdin: 'username,lang\nzoe,xxq\n' });
  expect(rows.exitCode).toBe(2);
  expect(rows.stderr).toMatch(/:2:.*lang: not one of de, en.*--allow invalid/);
  expect(writes()).toEqual([]);
  const allowed = await devsh(`${line} --allow invalid`);
  expect(allowed.exitCode).toBe(1);
  expect(device(1).log.at(-2)?.body).toContain('xxq');
  expect(writes()).toHaveLength(2);
});
