import { expect, test } from 'vitest';
import { makeDevsh, startFleet } from './devsh.ts';

test('a read is one document: schema, and each device with its records or its error', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  device(2).setFault('refuse');
  const { stdout, stderr } = await devsh('user list admin --on @lab --json');
  expect(JSON.parse(stdout)).toEqual({
    schema: 'devsh/1',
    devices: [
      { device: 'sim1', address: device(1).address, ok: true, records: [device(1).users[0]] },
      {
        device: 'sim2',
        address: device(2).address,
        ok: false,
        error: {
          code: 'unreachable',
          note: 'no-response',
          message: `sim2: ${device(2).address} refuses the connection. Is its API switched on, and is the port right?`,
        },
      },
    ],
    notCovered: [{ device: 'sim2', address: device(2).address, code: 'unreachable' }],
  });
  expect(stdout.trimEnd()).not.toContain('\n');
  expect(stderr).toBe('');
});

test('a write is one document: run, results and summary', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  device(2).putUser({ username: 'zoe', lang: 'fr' });
  const { stdout } = await devsh('user add username=zoe lang=de --on @lab --yes --json');
  expect(JSON.parse(stdout)).toEqual({
    schema: 'devsh/1',
    run: expect.stringMatching(/^\d{8}-\d{6}-[a-z0-9]{6}$/) as string,
    results: expect.arrayContaining([
      {
        device: 'sim1',
        address: device(1).address,
        resource: 'user',
        key: 'zoe',
        action: 'add',
        verdict: 'done',
        record: device(1).users.at(-1),
      },
      {
        device: 'sim2',
        address: device(2).address,
        resource: 'user',
        key: 'zoe',
        action: 'add',
        verdict: 'differs',
        differences: [{ field: 'lang', wanted: 'de', held: 'fr' }],
        record: device(2).users.at(-1),
        note: expect.stringContaining('exists already') as string,
        codes: ['not-planned.exists-otherwise'],
      },
    ]) as unknown[],
    summary: { done: 1, differs: 1 },
  });
});

test('results stand in the order of the selection, whichever failed first', async () => {
  const { devsh, device } = await startFleet({ devices: 3 });
  device(2).setFault('refuse');
  device(3).putUser({ username: 'zoe' });
  const { stdout } = await devsh('user add username=zoe --on @lab --yes --json');
  const { results } = JSON.parse(stdout) as { results: { device: string }[] };
  expect(results.map((result) => result.device)).toEqual(['sim1', 'sim2', 'sim3']);
});

test('a usage error is a document, too: code, message, column', async () => {
  const devsh = await makeDevsh();
  const { stdout, stderr, exitCode } = await devsh('user sett bob --json');
  expect(JSON.parse(stdout)).toEqual({
    schema: 'devsh/1',
    error: {
      code: 'usage',
      message: expect.stringContaining('no verb "sett"') as string,
      column: 5,
      suggestions: ['user set bob --json'],
    },
  });
  expect(stderr).toBe('');
  expect(exitCode).toBe(2);
});

test('a refusal is a document with the unexecuted plan', async () => {
  const { devsh } = await startFleet();
  const { stdout, exitCode } = await devsh('user add username=zoe --on sim1 --json');
  expect(JSON.parse(stdout)).toMatchObject({
    schema: 'devsh/1',
    plan: [{ device: 'sim1', steps: [{ action: 'add', key: 'zoe' }] }],
    error: { code: 'refused' },
  });
  expect(exitCode).toBe(6);
});

test('an unknown certificate carries its fingerprint', async () => {
  const { devsh, device } = await startFleet({ isPinned: false });
  const { stdout } = await devsh('user list --on sim1 --json');
  expect(JSON.parse(stdout)).toMatchObject({
    devices: [{ error: { code: 'untrusted', fingerprint: device(1).fingerprint } }],
  });
});

test('connect with --json shows the state of each device', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  device(2).setFault('refuse');
  const { stdout, exitCode } = await devsh('connect sim1 sim2 --json');
  expect(JSON.parse(stdout)).toMatchObject({
    inventory: [
      { name: 'sim1', state: 'connected', users: 8 },
      { name: 'sim2', state: 'unreachable' },
    ],
    errors: [{ device: 'sim2', error: { code: 'unreachable' } }],
  });
  expect(exitCode).toBe(3);
});

test.each([
  ['device list', 'inventory'],
  ['trust list', 'pins'],
  ['info', 'info'],
])('%s --json is a list called %s', async (line, name) => {
  const { devsh } = await startFleet();
  const { stdout, exitCode } = await devsh(`${line} --json`);
  const document = JSON.parse(stdout) as Record<string, unknown>;
  expect(document['schema']).toBe('devsh/1');
  expect(document[name]).toBeInstanceOf(Array);
  expect(exitCode).toBe(0);
});

test('numbers beyond 2^53 and every other value come out as they came in', async () => {
  const { devsh } = await startFleet();
  const { stdout } = await devsh('get /api/user/ --on sim1 --json');
  const { answers } = JSON.parse(stdout) as { answers: { status: number; value: unknown[] }[] };
  expect(answers[0]).toMatchObject({ device: 'sim1', status: 200 });
  expect(answers[0]?.value).toHaveLength(8);
});

test('jsonl gives one line per result, then the summary', async () => {
  const { devsh } = await startFleet({ devices: 2 });
  const { stdout } = await devsh('user add username=zoe --on @lab --yes --format jsonl');
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  expect(lines).toMatchObject([
    { device: 'sim1', verdict: 'done' },
    { device: 'sim2', verdict: 'done' },
    { summary: { done: 2 } },
  ]);
});

test('--json=FIELDS chooses fields of records and of tables, in their order', async () => {
  const { devsh } = await startFleet();
  const users = await devsh('user list viewer --on sim1 --json=lang,username');
  expect(JSON.parse(users.stdout)).toMatchObject({ devices: [{ device: 'sim1' }] });
  expect(users.stdout).toMatch(/"records":\[\{"lang":"\w+","username":"viewer"\}\]/);
  const devices = await devsh('device list --json=address,name');
  expect(devices.stdout).toMatch(
    /^\{"schema":"devsh\/1","inventory":\[\{"address":"[^"]+","name":"sim1"\}\]/,
  );
  expect((await devsh('user show viewer --on sim1 --json=lang')).stdout).toMatch(
    /"records":\[\{"lang":"\w+"\}\]/,
  );
});

test('--json=FIELDS says what it cannot choose', async () => {
  const { devsh } = await startFleet();
  const wrong = await devsh('device list --json=nmae');
  expect(JSON.parse(wrong.stdout)).toMatchObject({
    error: { code: 'usage', message: expect.stringContaining('did you mean name?') as string },
  });
  const column = await devsh('user list --on sim1 --json=lnag');
  expect(column.stderr).toContain('no record has a field "lnag"; did you mean lang?');
  const write = await devsh('user add username=zoe --on sim1 --dry-run --json=key');
  expect(write.stdout).toContain('chooses fields of records and tables');
  expect((await devsh('user list --json=')).exitCode).toBe(2);
});

test.each([
  ['user list viewer --columns lang --on sim1', 'sim1\t'],
  ['user list viewer --columns username --on sim1 --format csv', 'sim1,viewer\n'],
  ['device list', 'sim1\t'],
  ['export user viewer --on sim1', 'sim1,'],
])('%s --no-headers begins with data', async (line, start) => {
  const { devsh } = await startFleet({ devices: 1 });
  const { stdout } = await devsh(`${line} --no-headers`);
  expect(stdout.slice(0, start.length)).toBe(start);
  expect((await devsh(line)).stdout.endsWith(`\n${stdout}`)).toBe(true);
});
