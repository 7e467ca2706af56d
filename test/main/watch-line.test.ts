import { expect, test, vi } from 'vitest';
import { startFleet } from './devsh.ts';
import { startProgram, waitUntil } from './process.ts';

test('watch repeats a line with its options until Ctrl-C', async () => {
  const { devsh, device } = await startFleet({ devices: 1 });
  const line = 'watch --interval 0.2 user list zoe --on sim1 --columns username';
  const running = devsh(line, { stopAt: { text: 'sim1\tzoe', signal: 'SIGINT' } });
  await vi.waitUntil(() => device(1).log.length >= 2, { timeout: 10_000 });
  device(1).putUser({ username: 'zoe' });
  const { stdout, stderr, exitCode } = await running;
  expect(stdout.split('\n').filter((text) => text === 'DEVICE\tUSERNAME').length).toBeGreaterThan(
    1,
  );
  expect(stderr).toMatch(/^\d\d:\d\d:\d\d · again in 0.2 s; Ctrl-C stops it$/m);
  expect(exitCode).toBe(130);
});

test('a failed round is reported, and the next one follows', async () => {
  const { devsh, device } = await startFleet({ devices: 1 });
  device(1).setFault('refuse');
  const line = 'watch --interval 0.2 get /api/user/ --on sim1 --format jsonl';
  const program = startProgram(line.split(' '), devsh.folder);
  let text = '';
  program.child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await waitUntil(() => text.includes('\n'), program);
  device(1).clearFaults();
  await waitUntil(() => text.includes('"status":200'), program);
  program.child.kill('SIGINT');
  expect((await program.ended).code).toBe(130);
  const [first = ''] = text.split('\n');
  expect(JSON.parse(first)).toHaveProperty('error.code', 'unreachable');
});

test.each([
  ['watch user add username=zoe --on sim1 --yes', '"user add" is not one'],
  ['watch delete /api/user/x/ --on sim1', '"delete" is not one'],
  ['watch plan x.yaml --on sim1 -o y.plan', '"plan" is not one'],
  ['watch doctor --report x.txt', '"doctor" is not one'],
  ['watch trust forget sim1', '"trust forget" is not one'],
  ['watch watch devices', '"watch" is not one'],
  ['watch user list --on sim1 --watch', 'leave out --watch'],
  ['watch user list --on sim1 --json', 'watch never ends, and json needs an end'],
  ['watch user list --colums lang', 'there is no option --colums'],
  ['watch', 'watch needs LINE'],
])('%s is refused', async (line, reason) => {
  const { devsh, device, writes } = await startFleet({ devices: 1 });
  const { stdout, stderr, exitCode } = await devsh(line);
  expect(stdout + stderr).toContain(reason);
  expect(exitCode).toBe(2);
  expect(device(1).log).toEqual([]);
  expect(writes()).toEqual([]);
});
