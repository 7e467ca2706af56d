import { expect, test } from 'vitest';
import { startFleet } from './devsh.ts';
import { startOwnDevice } from './own-device.ts';

interface Counts {
  readonly counts: readonly {
    readonly value?: unknown;
    readonly records: number;
    readonly devices: number;
    readonly note?: string;
  }[];
  readonly notCovered?: readonly { readonly code: string }[];
}

test('--count-by counts the records of all devices by value, most frequent first', async () => {
  const { devsh } = await startFleet({ devices: 3, users: 8 });
  const { stdout, stderr, exitCode } = await devsh('user list --on @lab --count-by lang');
  const [header, ...rows] = stdout.trimEnd().split('\n');
  expect(header).toBe('LANG\tRECORDS\tDEVICES');
  const counts = rows.map((row) => Number(row.split('\t')[1]));
  expect(counts).toEqual([...counts].sort((a, b) => b - a));
  const total = counts.reduce((sum, one) => sum + one, 0);
  const { stdout: all } = await devsh('user list --on @lab --format csv');
  expect(total).toBe(all.trimEnd().split('\n').length - 1);
  expect(stderr).toContain(`${total} users on 3 devices, ${rows.length} values`);
  expect(exitCode).toBe(0);
});

test('a filter chooses what is counted, and every format has the counts', async () => {
  const { devsh } = await startFleet({ devices: 2 });
  const line = 'user list username=viewer --on @lab --count-by username';
  const { stdout } = await devsh(`${line} --json`);
  const row = { value: 'viewer', records: 2, devices: 2 };
  expect((JSON.parse(stdout) as Counts).counts).toEqual([row]);
  expect(JSON.parse((await devsh(`${line} --format jsonl`)).stdout)).toEqual(row);
  expect((await devsh(`${line} --format csv`)).stdout.replaceAll('\r', '')).toBe(
    'value,records,devices\nviewer,2,2\n',
  );
  expect((await devsh(`${line} --format yaml`)).stdout).toContain('value: viewer');
});

test('a part of a nested field is counted by and filtered by, and a secret part is not', async () => {
  const users = ['Ulm', 'Ulm', 'Bonn'].map((city, id) => ({
    id,
    username: `u${id}`,
    address: { city, psk: 'hush' },
  }));
  const { devsh } = await startOwnDevice({ users });
  const { stdout, stderr } = await devsh('user list --on oslo --count-by address.city --json');
  expect((JSON.parse(stdout) as Counts).counts).toEqual([
    { value: 'Ulm', records: 2, devices: 1 },
    { value: 'Bonn', records: 1, devices: 1 },
  ]);
  expect(stderr).not.toContain('no record has a field');
  const filtered = await devsh('user list address.city=bonn --on oslo --format csv');
  expect(filtered.stdout.match(/u\d/g)).toEqual(['u2']);
  expect((await devsh('user list --on oslo --count-by address.psk')).exitCode).toBe(2);
  const missing = await devsh('user list --on oslo --count-by address.street');
  expect(missing.stderr).toContain('no record has a field "address.street"');
});

test('the device is counted by, too', async () => {
  const { devsh } = await startFleet({ devices: 2 });
  const { stdout } = await devsh('user list --on @lab --count-by device --json');
  expect((JSON.parse(stdout) as Counts).counts.map(({ value }) => value)).toEqual(['sim1', 'sim2']);
});

test('an empty value, and a field that a record does not have, are values of their own', async () => {
  const { devsh } = await startFleet({ devices: 2 });
  await devsh([
    'user',
    'set',
    'viewer',
    'lastname=',
    '--on',
    'sim1',
    '--yes',
    '--allow',
    'invalid',
  ]);
  const lang = await devsh('user list viewer --on @lab --count-by lastname --json');
  const { counts } = JSON.parse(lang.stdout) as Counts;
  expect(counts).toContainEqual({ value: '', records: 1, devices: 1, note: 'empty' });
  const { stdout, exitCode } = await devsh('user list --on sim1 --count-by lnag --json');
  expect(JSON.parse(stdout)).toMatchObject({
    error: { code: 'usage', message: 'no record has a field "lnag"; did you mean lang?' },
  });
  expect(exitCode).toBe(2);
});

test('devices that were not read are counted apart, and the exit code says so', async () => {
  const { devsh } = await startFleet({ devices: 2, faults: ['sim2:silence'] });
  const line = 'user list --on @lab --timeout 0.3 --count-by lang';
  const { stdout, exitCode } = await devsh(`${line} --json`);
  const document = JSON.parse(stdout) as Counts;
  expect(document.notCovered).toHaveLength(1);
  expect(document.counts.every(({ devices }) => devices === 1)).toBe(true);
  expect(exitCode).toBe(3);
  const text = await devsh(line);
  expect(text.stderr).toContain('not counted: 1 of 2 devices could not be read');
  const none = await devsh(line.replace('@lab', 'sim2'));
  expect(none).toMatchObject({ exitCode: 5, stdout: '' });
});

test.each([
  ['--count-by password', 'may be a secret'],
  ['--count-by lang --drift', 'leave out --drift'],
  ['--count-by lang --watch', 'leave out --watch'],
  ['--count-by lang --sort lang', 'leave out --sort'],
])('%s is refused before a request', async (options, message) => {
  const { devsh, device } = await startFleet({ devices: 2 });
  const { stderr, exitCode } = await devsh(`user list --on @lab ${options}`);
  expect(stderr).toContain(message);
  expect(exitCode).toBe(2);
  expect(device(1).log).toEqual([]);
});
