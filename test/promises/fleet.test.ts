import { expect, test } from 'vitest';
import { startFleet, type TestFleet } from '../main/devsh.ts';

const FORMATS = ['table', 'json', 'jsonl', 'csv', 'yaml'] as const;

/** Four devices: sim3 is unreachable, and sim4 refuses the login. */
async function startPartly(): Promise<TestFleet> {
  const fleet = await startFleet({ devices: 4, users: 4 });
  for (const device of fleet.devices) device.putUser({ username: 'bob', lang: 'de' });
  fleet.device(3).setFault('refuse');
  fleet.device(4).setFault('404');
  return fleet;
}

test('devsh names every device that it did not reach.', { timeout: 120_000 }, async () => {
  const { devsh, device, writes } = await startPartly();
  const lines = [
    'user list',
    'user show bob',
    'user list --drift',
    'user add username=zoe lang=de --dry-run',
    'user set bob lang=fr --dry-run',
    'user delete bob --dry-run',
    'user set bob lang=en --yes',
    'user set bob lang=en --yes', // nothing to do where it was read
    'get /api/user/',
  ];
  for (const line of lines) {
    const inFormat = async (format: (typeof FORMATS)[number]): Promise<void> => {
      const what = `${line} --format ${format}`;
      const { stdout, stderr, exitCode } = await devsh(`${what} --on @lab`);
      expect([what, exitCode]).toEqual([what, 3]);
      // Tables and CSV report failures beside their rows, on stderr.
      const output = format === 'table' || format === 'csv' ? stdout + stderr : stdout;
      expect([what, /\bsim3\b/.test(output), /\bsim4\b/.test(output)]).toEqual([what, true, true]);
      if (format === 'json') {
        const { notCovered } = JSON.parse(stdout) as { notCovered: unknown };
        const all = [
          { device: 'sim3', address: device(3).address, code: 'unreachable' },
          { device: 'sim4', address: device(4).address, code: 'rejected' },
        ];
        // Responses of `get` come in any order.
        const isOrdered = !line.startsWith('get');
        expect([what, notCovered]).toEqual([what, isOrdered ? all : expect.arrayContaining(all)]);
      }
    };
    // Each waits before it calls sim3 again, so all lines but writes run in parallel.
    if (line.includes('--yes')) for (const format of FORMATS) await inFormat(format);
    else await Promise.all(FORMATS.map(inFormat));
  }
  const NAMED = 'not reached: sim3; refused the request: sim4';

  // The plan, the question and the summary.
  const asked = await devsh('user set bob lang=it --on @lab', { tty: ['2'] });
  expect(asked.stderr).toMatch(/not reached: sim3 - .*refuses the connection/);
  expect(asked.stderr).toMatch(/refused the request: sim4 - /);
  expect(asked.stderr).toContain(
    '2 steps on 2 of 4 devices, 1 not reached, 1 refused the request. Type 2 to do them:',
  );
  expect(asked.stdout).toContain(NAMED);
  expect(asked.exitCode).toBe(3);

  // The later report of the run, in each format.
  for (const line of ['report', 'report --json']) {
    const { stdout } = await devsh(line);
    expect([line, /\bsim3\b/.test(stdout), /\bsim4\b/.test(stdout)]).toEqual([line, true, true]);
  }
  expect((await devsh('report')).stdout).toContain(NAMED);
  expect(JSON.parse((await devsh('report --json')).stdout)).toMatchObject({
    report: { notCovered: [{ device: 'sim3' }, { device: 'sim4' }] },
  });
  expect((await devsh('runs show')).stdout).toContain(NAMED);
  expect(JSON.parse((await devsh('runs show --json')).stdout)).toMatchObject({
    notCovered: [{ device: 'sim3' }, { device: 'sim4' }],
  });

  expect(writes().filter((line) => line.startsWith('DELETE'))).toEqual([]);
});

test('devsh claims nothing of devices that it did not read.', { timeout: 120_000 }, async () => {
  const { devsh, device, devices } = await startFleet({ devices: 3, users: 2 });
  device(1).putUser({ username: 'bob', lang: 'de' });
  /** Claims about all three. */
  const CLAIMS =
    /only here|only on|same on all|no differences: \d+ users on \d+ devices\b(?! read)/;
  const absences: readonly (readonly number[])[] = [[], [2], [3], [2, 3]];
  for (const absent of absences) {
    for (const one of devices) one.clearFaults();
    for (const number of absent) device(number).setFault('refuse');
    const of = `without ${absent.join(' and ') || 'none'}`;
    const read = 3 - absent.length;
    const inFormat = async (format: (typeof FORMATS)[number]): Promise<void> => {
      for (const line of ['user list --fold', 'user list --drift']) {
        const what = `${of}: ${line} ${format}`;
        const run = await devsh(`${line} --on @lab --format ${format}`, { env: { NO_COLOR: '1' } });
        const text = run.stdout + run.stderr;
        const isClaimed = CLAIMS.test(text);
        const isConfigured = format === 'table' || line.includes('--drift');
        if (absent.length > 0) expect([what, isClaimed]).toEqual([what, false]);
        // Proves that the test can fail.
        else if (isConfigured) expect([what, isClaimed]).toEqual([what, true]);
        for (const number of absent) {
          // Whether a record is missing there is unknown.
          expect([what, text]).not.toEqual([
            what,
            expect.stringMatching(`missing on.*sim${number}`),
          ]);
          expect([what, text]).toEqual([what, expect.stringContaining(`sim${number}`)]);
        }
      }
    };
    await Promise.all(FORMATS.map(inFormat));
    const listed = await devsh('user list --fold --on @lab', { tty: [], env: { NO_COLOR: '1' } });
    if (absent.length > 0) {
      expect(listed.stdout).toContain(`here; ${absent.length} not read`);
      expect(listed.stderr).toContain(` read, ${absent.length} not read`);
    }
    if (read === 2) {
      expect(listed.stdout).toContain('same on 2 read');
      const drift = await devsh('user list --drift --on @lab --format csv');
      const [head = '', ...rows] = drift.stdout.trimEnd().split('\n');
      expect(head).toBe(
        `username,${[1, 5 - (absent[0] ?? 0), ...absent].map((n) => `sim${n}`).join(',')}`,
      );
      for (const row of rows) expect(row).toMatch(/,not read$/);
      expect(rows.find((row) => row.startsWith('bob,'))).toBe('bob,only,missing,not read');
    }
  }
});
