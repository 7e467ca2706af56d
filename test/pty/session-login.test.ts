import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { connect, simulate } from './devsh.ts';

test.each(['quit', 'ctrl-d'] as const)(
  'the full screen logs in once, and out when it ends by %s',
  async (end) => {
    const simulator = await simulate({ devices: 2, quirk: ['session-cookie'] });
    const config = await mkdtemp(join(tmpdir(), 'devsh-config-'));
    onTestFinished(() => rm(config, { recursive: true, force: true }));
    await mkdir(join(config, 'devsh/profiles'), { recursive: true });
    await writeFile(
      join(config, 'devsh/profiles/cookie.yaml'),
      'auth: {login: {path: /api/login, cookie: sid, logout: {method: DELETE, path: /api/login}}}',
    );
    const program = await connect(simulator, {
      args: ['--profile', 'cookie'],
      env: { XDG_CONFIG_HOME: config },
    });
    await program.waitFor('connected to 2 devices');
    expect(simulator.devices.map(({ sessions }) => sessions)).toEqual([1, 1]);
    if (end === 'quit') program.type('quit\r');
    else program.press(end);
    await program.exit;
    await expect.poll(() => simulator.devices.map(({ sessions }) => sessions)).toEqual([0, 0]);
    for (const { log } of simulator.devices) {
      expect(
        log.filter(({ path, method }) => `${method} ${path}` === 'POST /api/login').length,
      ).toBe(1);
    }
  },
);
