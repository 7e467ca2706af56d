import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startFleet } from './devsh.ts';
import { startOwnDevice } from './own-device.ts';

test('only what a profile states is configured', async () => {
  const { devsh } = await startFleet({ devices: 1 });
  await devsh('profile use sim1 drf');
  await devsh('profile set sim1 list.paging=page resources.user.path=/api/users/');
  const { stdout } = await devsh('profile show --on sim1 --json');
  const { facts } = JSON.parse(stdout) as { facts: { fact: string; origin: string }[] };
  const origins = facts.filter(({ fact }) => /^(?:list|resources\.user)\.\w+$/.test(fact));
  expect(Object.fromEntries(origins.map(({ fact, origin }) => [fact, origin]))).toEqual({
    'list.path': 'assumed',
    'list.paging': 'configured',
    'resources.user.key_field': 'assumed',
    'resources.user.path': 'configured',
  });
});

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
  await devsh(['profile', 'set', 'sim1', 'resources.user.fields.role={choices: [admin, viewer]}']);
  const fact = '"fact":"resources.user.fields.role","value":"admin|viewer","origin":"configured"';
  expect((await devsh('profile sim1 --json')).stdout).toContain(fact);
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
  ['profile set sim9 ids=stable', 'no device "sim9"'],
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
  expect((await devsh('learn --on sim1')).stdout).toContain('resources.user.options');
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

test('profile use attaches a profile, and says how to go back', async () => {
  const { devsh } = await startFleet();
  const inventory = join(devsh.folder, 'config/devsh/devices.yaml');
  const first = await devsh('profile use sim1 drf');
  expect(first.stderr).toContain(
    'sim1 uses the profile drf (before: documented; "profile use sim1 documented" sets it back)',
  );
  expect(await readFile(inventory, 'utf8')).toMatch(/^# Devices that[^]*profile: drf$/m);
  expect((await devsh('profile sim1 --json')).stdout).toContain('"fact":"name","value":"drf"');
  expect((await devsh('profile use sim1 drf')).stderr).toContain('drf, as before');
});

test('profile use copies a valid file to the profiles of the user', async () => {
  const { devsh } = await startFleet();
  const file = join(devsh.folder, 'router.yaml');
  const text = '# mine\nextends: drf\nlist: {items: x}\n';
  await writeFile(file, text);
  expect((await devsh(['profile', 'use', 'sim1', file])).exitCode).toBe(0);
  const own = join(devsh.folder, 'config/devsh/profiles/router.yaml');
  expect(await readFile(own, 'utf8')).toBe(text);
  expect((await devsh('profile sim1 --json')).stdout).toContain('"list.items","value":"x"');
  await writeFile(file, 'extends: drf\n');
  const use = ['profile', 'use', 'sim1', file];
  const other = await devsh(use);
  expect(other.stderr).toContain('not confirmed: use --yes');
  expect(other.exitCode).toBe(6);
  expect(await readFile(own, 'utf8')).toBe(text);
  const asked = await devsh(use, { tty: ['n'] });
  expect(asked.stderr).toContain('Replace the profile router, which sim1 now uses?');
  expect(await readFile(own, 'utf8')).toBe(text);
  const said = await devsh([...use, '--yes']);
  expect(await readFile(own, 'utf8')).toBe('extends: drf\n');
  const [, aside = ''] = /what it replaced is in (\S+)/.exec(said.stderr) ?? [];
  expect(await readFile(aside, 'utf8')).toBe(text);
  expect((await devsh('profile sim1 --json')).stdout).not.toContain('"list.items"');
});

test.each<[what: string, name: string, device: string, reason: string]>([
  ['an invalid file', 'bad.yaml', 'sim1', 'bad.yaml:1:20: encoding'],
  ['an unknown profile', 'nothing', 'sim1', 'there is no profile "nothing"'],
  ['the name of a built-in one', 'drf.yaml', 'sim1', 'it is built in'],
  ['an unknown device', 'good.yaml', 'sim9', 'no device "sim9"'],
  ['a name with a blank', 'my own.yaml', 'sim1', '"my own" is not the name of a profile'],
  ['a file without a name', '.yaml', 'sim1', '"" is not the name of a profile'],
])('profile use refuses %s, and nothing changes', async (_, name, device, reason) => {
  const { devsh } = await startFleet();
  await writeFile(join(devsh.folder, 'bad.yaml'), 'update: {encoding: xml}\n');
  for (const valid of ['drf', 'good', 'my own', '']) {
    await writeFile(join(devsh.folder, `${valid}.yaml`), 'extends: drf\nlist: {items: x}\n');
  }
  const inventory = join(devsh.folder, 'config/devsh/devices.yaml');
  const before = await readFile(inventory, 'utf8');
  const given = name.includes('.') ? join(devsh.folder, name) : name;
  const { stderr, exitCode } = await devsh(['profile', 'use', device, given]);
  expect(stderr).toContain(reason);
  expect(exitCode).not.toBe(0);
  expect(await readFile(inventory, 'utf8')).toBe(before);
  expect(await readdir(join(devsh.folder, 'config/devsh'))).not.toContain('profiles');
});

test('profile use leaves a damaged inventory as it is', async () => {
  const { devsh } = await startFleet();
  const inventory = join(devsh.folder, 'config/devsh/devices.yaml');
  await writeFile(inventory, 'devices: [');
  expect((await devsh('profile use sim1 drf')).exitCode).toBe(1);
  expect(await readFile(inventory, 'utf8')).toBe('devices: [');
});

test('profile shows no secret among the constants of a login or a write', async () => {
  const { devsh } = await startFleet();
  const file = join(devsh.folder, 'router.yaml');
  await writeFile(
    file,
    'auth: {login: {path: /login, cookie: sid, constants: {client_secret: Xq9canary, realm: lab}}}\n' +
      'create: {constants: {api_key: Xq9canary}}\n' +
      'resources: {user: {rotate_token: {path: "{item}token/", constants: {secret: Xq9canary}}}}\n',
  );
  await devsh(['profile', 'use', 'sim1', file]);
  for (const line of ['profile sim1', 'profile sim1 --json']) {
    const { stdout } = await devsh(line);
    expect(stdout).toContain('lab');
    expect(stdout).not.toContain('Xq9canary');
  }
});

interface Shown {
  readonly fact: string;
  readonly origin: string;
  readonly since: string | null;
  readonly source: string | null;
}

test('profile shows since when a fact is known, and from what', async () => {
  const { devsh } = await startFleet({ profile: 'drf' });
  const shown = async (): Promise<(name: string) => Shown | undefined> => {
    const { facts } = JSON.parse((await devsh('profile sim1 --json')).stdout) as {
      facts: readonly Shown[];
    };
    return (name) => facts.find(({ fact }) => fact === name);
  };
  await devsh('learn --on sim1');
  const today = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string;
  const learned = await shown();
  expect(learned('resources.user.update.method')).toMatchObject({
    origin: 'observed',
    since: today,
    source: 'OPTIONS /api/user/',
  });
  expect(learned('resources.user.fields.lang')).toMatchObject({
    since: today,
    source: 'OPTIONS /api/user/',
  });
  expect(learned('base_path')).toMatchObject({ since: null, source: null });
  const onTerminal = await devsh('profile sim1', { tty: [], columns: 80 });
  expect(onTerminal.stdout).toMatch(/^sim1 {2,}offers .* (?:yesterday )?\d\d:\d\d$/m);
  expect(onTerminal.stdout).toMatch(/^sim1 {2,}resources\.user\.fields\.lang /m);
  expect(onTerminal.stdout).not.toContain('…Z');
  const [file = ''] = await readdir(join(devsh.folder, 'cache/devsh/learned'));
  const path = join(devsh.folder, 'cache/devsh/learned', file);
  const { since, seal, ...old } = JSON.parse(await readFile(path, 'utf8')) as Record<
    string,
    unknown
  >;
  expect([typeof since, typeof seal]).toEqual(['object', 'string']);
  await writeFile(path, JSON.stringify(old));
  const unknown = await shown();
  expect(unknown('resources.user.fields.lang')).toMatchObject({
    origin: 'observed',
    since: 'not known',
  });
  await devsh('profile set sim1 list.items=x');
  expect((await shown())('list.items')).toMatchObject({
    origin: 'configured',
    source: 'profile sim1',
  });
});

test('a fact that a run shows is told once, and known from that run', async () => {
  const password_hash = 'pbkdf2_sha256$600000$abc$0123456789abcdef0123456789abcdef';
  const { devsh } = await startOwnDevice({
    users: [{ id: 1, username: 'ann', lang: 'de', password_hash }],
    store: (user) => ({ password_hash: '', ...user }),
    profile: ['update.method=PUT', 'update.record=whole'],
  });
  const set = async (lang: string): Promise<string> => {
    const line = `user set ann lang=${lang} --on oslo --yes --allow loss,unlisted-login`;
    const { stdout, stderr } = await devsh(line);
    return stdout + stderr;
  };
  expect(await set('fr')).toContain('oslo replaces user records on PUT: observed');
  expect(await set('de')).not.toContain('observed');
  const { stdout } = await devsh('profile oslo --json');
  expect(stdout).toMatch(
    /"resources.user.update.left_out","value":"erased","origin":"observed","since":"[^"]+","source":"run \d{8}/,
  );
});

test('profile use takes effect on a connected device', async () => {
  const { devsh } = await startFleet();
  const plan = 'user delete viewer --dry-run --json';
  const stdin = ['connect sim1', plan, 'profile use sim1 form-action', plan].join('\n');
  const { stdout } = await devsh('run -', { stdin });
  const methods = Array.from(stdout.matchAll(/"request":\{"method":"(\w+)"/g), ([, one]) => one);
  expect(methods).toEqual(['DELETE', 'POST']);
});

test('the words of fields are set, whole or field by field', async () => {
  const { devsh } = await startFleet();
  const map = 'resources.user.fields={pin: [write_only]}';
  expect((await devsh(['profile', 'set', 'sim1', map])).exitCode).toBe(0);
  const stated = await devsh('profile set sim1 resources.user.fields.pin=write_only');
  expect(stated.exitCode).toBe(0);
});

test.each(['{a:x}', '{a: [}', '{a: ~b', '[a: &x'])(
  'what is no map of facts is a usage error: %s',
  async (value) => {
    const { devsh } = await startFleet();
    const fact = `resources.user.fields=${value}`;
    const { stderr, exitCode } = await devsh(['profile', 'set', 'sim1', fact]);
    expect(stderr).toContain('fields');
    expect(exitCode).toBe(2);
  },
);

test('a fact of an older version that has no effect is named once, and stays in the file', async () => {
  const { devsh } = await startFleet({ devices: 2 });
  await devsh('profile set sim1 ids=stable');
  const file = join(devsh.folder, 'config/devsh/profiles/sim1.yaml');
  const text = `${await readFile(file, 'utf8')}connections: one\nno_id: "0"\n`;
  await writeFile(file, text);
  const { stderr, exitCode } = await devsh('user list --on @lab');
  const line = 'profile sim1: connections, no_id of an older devsh has no effect any more';
  expect(stderr.split(line)).toHaveLength(2);
  expect(exitCode).toBe(0);
  expect(await readFile(file, 'utf8')).toBe(text);
});
