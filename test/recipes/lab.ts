import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject, onTestFinished } from 'vitest';
import { startSimulator, type SimulatedDevice } from '../simulator/simulator.ts';
import { ADMIN } from '../main/devsh.ts';

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Simulated devices, an inventory with all of them in the group `lab`, and `devsh` in the PATH. */
export interface Lab {
  readonly folder: string;
  readonly devices: readonly SimulatedDevice[];
  readonly writes: () => number;
  /** Runs a program in the folder; a `devsh` that it starts writes its process id to `pids/SHARD`. */
  readonly run: (
    program: string,
    args: readonly string[],
    env?: NodeJS.ProcessEnv,
  ) => Promise<Ended>;
}

/** The path of a recipe. */
export function recipe(name: string): string {
  return fileURLToPath(new URL(`../../recipes/${name}`, import.meta.url));
}

export async function startLab(options: Parameters<typeof startSimulator>[0]): Promise<Lab> {
  const simulator = await startSimulator({ users: 4, ...options });
  const folder = await mkdtemp(join(tmpdir(), 'devsh-recipe-'));
  onTestFinished(async () => {
    await simulator.close();
    await rm(folder, { recursive: true, force: true });
  });
  const { devices } = simulator;
  const home = {
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, 'config'),
    XDG_DATA_HOME: join(folder, 'data'),
    XDG_STATE_HOME: join(folder, 'state'),
    XDG_CACHE_HOME: join(folder, 'cache'),
  };
  const inventory = devices.map(
    ({ name, address }) => `  - { name: ${name}, address: ${address}, groups: [lab] }\n`,
  );
  const pins = devices.map(
    ({ address, fingerprint }) => `${address} sha256:${fingerprint} first-seen=2026-11-21\n`,
  );
  const program = [
    '#!/bin/sh',
    `for word; do case $word in [0-9]*/[0-9]*) echo $$ > '${folder}/pids/'"\${word%%/*}";; esac; done`,
    `exec '${process.execPath}' '${inject('cli')}' "$@"`,
  ];
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), text);
  };
  await write('config/devsh/devices.yaml', `devices:\n${inventory.join('')}`);
  await write('data/devsh/known-devices', pins.join(''));
  await write('bin/devsh', `${program.join('\n')}\n`);
  await chmod(join(folder, 'bin/devsh'), 0o755);
  await mkdir(join(folder, 'pids'));
  return {
    folder,
    devices,
    writes: () =>
      devices.flatMap(({ log }) => log).filter(({ method }) => method === 'POST').length,
    run: (name, args, env = {}) =>
      new Promise((resolve) => {
        const path = `${folder}/bin:${process.env['PATH'] ?? ''}`;
        const child = execFile(
          name,
          args,
          {
            cwd: folder,
            env: {
              PATH: path,
              PWD: folder,
              LANG: 'C.UTF-8',
              NO_COLOR: '1',
              ...home,
              ...ADMIN,
              ...env,
            },
            maxBuffer: 2 ** 26,
          },
          (error, stdout, stderr) => {
            const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
            resolve({ code, stdout, stderr });
          },
        );
        child.stdin?.end();
      }),
  };
}
