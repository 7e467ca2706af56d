import { expect, test } from 'vitest';
import { startFleet } from './devsh.ts';

test('open starts the browser on the page of the API, and prints its address', async () => {
  const { devsh, device } = await startFleet({ env: { BROWSER: '/bin/true' } });
  const { stdout, stderr, exitCode } = await devsh('open sim1 /api/user/');
  expect(stdout.trim()).toBe(`https://${device(1).address}/api/user/`);
  expect(stderr).toBe('');
  expect(exitCode).toBe(0);
});

test('open without a browser says so and prints the address', async () => {
  const { devsh, device } = await startFleet({ env: { BROWSER: '/nowhere/browser' } });
  const { stdout, stderr } = await devsh('open sim1');
  expect(stdout.trim()).toBe(`https://${device(1).address}/api/`);
  expect(stderr).toContain('open the URL yourself');
});

test.each(['open sim1 //evil.invalid/', 'open sim1 api', 'open --on sim1,sim2'])(
  '"%s" is a usage error',
  async (line) => {
    const { devsh } = await startFleet({ devices: 2, env: { BROWSER: '/bin/true' } });
    expect((await devsh(line)).exitCode).toBe(2);
  },
);
