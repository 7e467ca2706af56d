import { join } from 'node:path';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { startSimulator } from '../simulator/simulator.ts';
import { startInPty } from '../pty/harness.ts';
import { nodeBinary } from './node-binary.ts';
import { FIRST_READING, makeFolder, ROOT, run } from './programs.ts';

/** The oldest supported version, and an early one of each newer line. */
const VERSIONS = ['22.19.0', '24.1.0', '26.0.0'] as const;

/** Versions that cannot run devsh. */
const TOO_OLD = ['14.21.3', '18.20.8', '20.20.2'] as const;

const binaries = await Promise.all(
  VERSIONS.map(async (version) => ({ version, binary: await nodeBinary(version) })),
);

for (const { version, binary } of binaries) {
  const path = 'path' in binary ? binary.path : '';
  const title = 'path' in binary ? '' : ` (${binary.missing})`;
  describe.skipIf(path === '')(`on Node ${version}${title}`, () => {
    async function environment(): Promise<Record<string, string>> {
      const home = await makeFolder(onTestFinished);
      return {
        PATH: process.env['PATH'] ?? '',
        HOME: home,
        DEVSH_USER: 'admin',
        DEVSH_PASSWORD: 'admin-secret',
      };
    }

    test('starts, lists and adds, and Node has nothing to say on stderr', async () => {
      const simulator = await startSimulator({ users: 5 });
      onTestFinished(() => simulator.close());
      const [device] = simulator.devices;
      if (device === undefined) throw new RangeError('no device');
      const env = await environment();
      const devsh = (...args: readonly string[]) => run(path, [inject('cli'), ...args], { env });
      const on = ['--on', device.address];

      expect((await run(path, ['--version'])).stdout.trim()).toBe(`v${version}`);
      expect(await devsh('--version')).toMatchObject({ code: 0, stderr: '' });
      const pinned = ['--fingerprint', device.fingerprint];
      expect(await devsh('trust', 'accept', device.address, ...pinned)).toMatchObject({ code: 0 });
      expect((await devsh('user', 'list', ...on, '--json')).stderr).toMatch(FIRST_READING);
      expect(await devsh('user', 'list', ...on, '--json')).toMatchObject({ code: 0, stderr: '' });
      const added = await devsh(
        ...['user', 'add', 'username=zoe', 'first_name=Zoe', 'lastname=Z', 'lang=de'],
        ...['--yes', ...on],
      );
      expect(added.code, added.stderr).toBe(0);
      expect(added.stderr).not.toMatch(/\(node:\d+\)|Warning:|experimental/i);
      expect(device.users.map(({ username }) => username)).toContain('zoe');
    });

    test('draws the full screen', async () => {
      const program = startInPty({
        command: path,
        args: [inject('cli'), 'demo'],
        env: await environment(),
        cols: 100,
        rows: 30,
      });
      onTestFinished(() => program.close());

      await program.waitFor(/USERNAME[\s\S]*sim1/, 20_000);
      expect(program.screen().join('\n')).not.toMatch(/Warning/);
      program.press('ctrl-c');
      program.type('quit\r');
      expect(await program.exit).toMatchObject({ code: 0 });
      expect(program.raw()).not.toMatch(/\(node:\d+\)|ExperimentalWarning|DeprecationWarning/);
    });

    test('loads the keychain', async () => {
      const program = `
        const { Entry } = await import('@napi-rs/keyring');
        const { getPassword } = (await import('@napi-rs/keyring/keytar.js')).default;
        console.log(typeof Entry, typeof getPassword);`;
      const ran = await run(path, ['--input-type=module', '-e', program], { cwd: join(ROOT) });
      expect(ran).toEqual({ code: 0, stdout: 'function function\n', stderr: '' });
    });
  });
}

for (const version of TOO_OLD) {
  const binary = await nodeBinary(version);
  test.skipIf('missing' in binary)(`Node ${version} gets one line and 69`, async () => {
    const path = 'path' in binary ? binary.path : '';
    for (const args of [['doctor'], ['--version'], ['user', 'list', '--json'], []]) {
      const { code, stdout, stderr } = await run(path, [inject('cli'), ...args]);
      expect([code, stdout], stderr).toEqual([69, '']);
      expect(stderr).toBe(
        `devsh needs Node.js 22.19.0 or newer; this is ${version} (${path}). ` +
          'The package of devsh that includes Node needs none.\n',
      );
    }
  });
}
