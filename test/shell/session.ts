import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { AllServices } from '../../src/main.ts';
import { resolvePaths } from '../../src/os/environment.ts';
import { openSettings } from '../../src/settings/settings.ts';
import { ShellSession, type ShellIo } from '../../src/shell/session.ts';
import { Shell } from '../../src/shell/shell.ts';
import { startSimulator } from '../simulator/simulator.ts';
import { makeTempFolder } from '../settings/temp-folder.ts';

/** A session in folders of its own, with nothing connected. */
export async function openSession(
  given: { readonly env?: NodeJS.ProcessEnv; readonly stdin?: string } = {},
): Promise<ShellSession> {
  const folder = await makeTempFolder();
  const folders = Object.fromEntries(
    ['CONFIG', 'DATA', 'STATE', 'CACHE'].map((name) => [`XDG_${name}_HOME`, join(folder, name)]),
  );
  const env = { ...given.env, ...folders };
  const paths = resolvePaths(env);
  const settings = await openSettings(paths);
  const readStdin = () => Promise.resolve(given.stdin ?? '');
  return new ShellSession(
    new AllServices({ env, version: '0.0.0', paths, settings, readStdin, stdout: {} }),
  );
}

/** A session connected to one simulated device, which has been asked nothing yet. */
export async function startSession() {
  const shellSession = await openSession();
  const simulator = await startSimulator({ users: 8 });
  onTestFinished(async () => {
    await shellSession.close();
    await simulator.close();
  });
  const [device] = simulator.devices;
  if (device === undefined) throw new Error('no device');
  const { name, address, fingerprint, accounts } = device;
  shellSession.give(name, { fingerprint, ...accounts.admin });
  shellSession.fleet.join(shellSession.fleet.sessions([{ name, address, groups: [] }]));
  const shell = new Shell(shellSession);
  const io: ShellIo = {
    signal: new AbortController().signal,
    readInput: () => Promise.resolve(''),
    trace: () => undefined,
  };
  return {
    session: shellSession,
    device,
    /** Reads the users, so that there is something to complete from. */
    read: async (): Promise<number> => {
      let count = 0;
      for await (const { kind } of shell.evaluate('user list', io))
        count += kind === 'read' ? 1 : 0;
      return count;
    },
  };
}
