import { expect, test, vi } from 'vitest';
import type { Verdict } from '../../src/change/verdict.ts';
import type { FaultName } from '../simulator/faults.ts';
import { startFleet, usernames, writesOf } from '../main/devsh.ts';
import { settleAtOnce } from '../settle.ts';

settleAtOnce();

/**
 * Faults of the write only; before and after it the device works. The verdict is what
 * the device really holds, and never more than one write is sent.
 */
type Expected = Readonly<Record<'add' | 'set' | 'delete', Verdict>>;

const all = (verdict: Verdict): Expected => ({ add: verdict, set: verdict, delete: verdict });

const ON_THE_WRITE: Partial<Record<FaultName | 'none', Expected>> = {
  none: all('done'),
  // Nothing was stored, and reading back proves it.
  silence: all('failed'),
  reset: all('failed'),
  '401': all('failed'),
  '403': all('failed'),
  '500-once': all('failed'),
  // Throttled: devsh waits and sends again.
  '429': all('done'),
  // A false 2xx.
  'html-page': all('no effect'),
  'empty-200': all('no effect'),
  'accept-and-forget': { add: 'no effect', set: 'no effect', delete: 'done' },
  'delete-and-keep': { add: 'done', set: 'done', delete: 'no effect' },
  // The write was stored, whatever the response.
  'store-and-drop': all('done'),
  'truncated-body': all('done'),
  'invalid-json': all('done'),
  'store-altered': { add: 'differs', set: 'differs', delete: 'done' },
};

const LINES = {
  add: 'user add username=zoe lang=de',
  set: 'user set ann lang=de',
  delete: 'user delete ann',
} as const;

const cases = Object.entries(ON_THE_WRITE).flatMap(([fault, expected]) =>
  (['add', 'set', 'delete'] as const).map((action) => ({
    fault: fault as FaultName | 'none',
    action,
    verdict: expected[action],
  })),
);

// Most of the time is spent waiting for lost responses and before further reads.
test.concurrent.for(cases)('$action with $fault on the write is $verdict', async (one, own) => {
  const { devsh, device } = await startFleet({ atEnd: own.onTestFinished });
  device(1).putUser({ username: 'ann', lang: 'fr' });
  const method = one.action === 'delete' ? 'DELETE' : 'POST';
  if (one.fault !== 'none') device(1).setFault(one.fault, 1, { method });
  const { stdout, stderr } = await devsh(`${LINES[one.action]} --on sim1 --yes --json --timeout 1`);
  const document = JSON.parse(stdout) as { results?: { verdict: string; error?: unknown }[] };
  expect({ stderr, verdicts: document.results?.map(({ verdict }) => verdict) }).toMatchObject({
    verdicts: [one.verdict],
  });
  // An outcome proven by reading back is not reported as unknown.
  expect(stdout).not.toContain('may have executed it');
  // After a 429, reading back shows that the first write was not stored.
  expect(writesOf(device(1))).toHaveLength(one.fault === '429' ? 2 : 1);
  const names = usernames(device(1));
  if (one.verdict === 'done') {
    if (one.action === 'add') expect(names).toContain('zoe');
    if (one.action === 'delete') expect(names).not.toContain('ann');
  }
});

test.concurrent.for([
  { fault: 'refuse', code: 'unreachable' },
  { fault: 'certificate-change', code: 'untrusted' },
  { fault: 'silence', code: 'unreachable' },
  { fault: 'reset', code: 'unreachable' },
  { fault: 'html-page', code: 'protocol' },
  { fault: 'empty-200', code: 'protocol' },
  { fault: 'invalid-json', code: 'protocol' },
  { fault: 'truncated-body', code: 'unreachable' },
  { fault: '401', code: 'unauthorized' },
  { fault: '403', code: 'forbidden' },
] as const)('a device with $fault from the start fails, and gets no write', async (one, own) => {
  const { devsh, device } = await startFleet({ atEnd: own.onTestFinished });
  device(1).setFault(one.fault);
  for (const line of Object.values(LINES)) {
    const { stdout } = await devsh(`${line} --on sim1 --yes --json --timeout 1`);
    expect(JSON.parse(stdout)).toMatchObject({
      results: [{ verdict: 'failed', error: { code: one.code } }],
    });
  }
  expect(writesOf(device(1))).toEqual([]);
});

test('if the response is lost and reading back fails, the verdict is unknown', async () => {
  const { devsh, device } = await startFleet();
  device(1).setFault('silence', 1, { method: 'POST' });
  const run = devsh('user add username=zoe --on sim1 --yes --json --timeout 0.5');
  await vi.waitFor(() => {
    expect(writesOf(device(1))).toHaveLength(1);
  }, 10_000);
  // While devsh waits for the response, the device stops listing.
  device(1).setFault('html-page', true, { method: 'GET' });
  const { stdout, exitCode } = await run;
  expect(JSON.parse(stdout)).toMatchObject({
    results: [{ verdict: 'unknown', note: expect.stringContaining('check the record') as string }],
  });
  expect(exitCode).toBe(3);
  expect(writesOf(device(1))).toHaveLength(1);
});

test('a device that keeps responding with 429 fails in the end', async () => {
  const { devsh, device } = await startFleet();
  device(1).setFault('429', true, { method: 'POST' });
  const { stdout } = await devsh('user add username=zoe --on sim1 --yes --json');
  expect(JSON.parse(stdout)).toMatchObject({ results: [{ verdict: 'failed' }] });
  expect(usernames(device(1))).not.toContain('zoe');
});

test('a write is never sent twice, even if every response is lost', async () => {
  const { devsh, device } = await startFleet();
  device(1).setFault('store-and-drop');
  await devsh('user add username=zoe --on sim1 --yes');
  await devsh('user add username=zoe --on sim1 --yes');
  expect(writesOf(device(1))).toHaveLength(1);
  expect(usernames(device(1)).filter((name) => name === 'zoe')).toHaveLength(1);
});
