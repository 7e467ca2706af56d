import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  startSimulator,
  type Simulator,
  type SimulatorOptions,
} from '../../test/simulator/simulator.ts';
import { startInPty, type PtyProgram } from '../../test/pty/harness.ts';

export interface StageOptions {
  readonly names: readonly string[];
  readonly users: number;
  readonly columns: number;
  readonly rows: number;
  /** Default: the documented API. */
  readonly profile?: SimulatorOptions['profile'];
  /** Sets records and faults before devsh starts. */
  readonly prepare?: (simulator: Simulator) => void;
}

/** devsh in a terminal, connected to simulated devices with given names. */
export interface Stage {
  readonly program: PtyProgram;
  readonly simulator: Simulator;
  /** For files that commands name. */
  readonly folder: string;
  close(): Promise<void>;
}

/** Starts the built program at `cli` with an empty home; its inventory has the devices in @berlin. */
export async function openStage(cli: string, options: StageOptions): Promise<Stage> {
  const { names, users, columns: cols, rows, profile, prepare } = options;
  const simulator = await startSimulator({
    devices: names.length,
    users,
    seed: 7,
    ...(profile !== undefined && { profile }),
  });
  const home = await mkdtemp(join(tmpdir(), 'devsh-screenshots-'));
  const config = join(home, 'config');
  await mkdir(join(config, 'devsh'), { recursive: true, mode: 0o700 });
  const devices = simulator.devices.flatMap(({ address }, index) => [
    `  - name: ${names[index] ?? ''}`,
    `    address: ${address}`,
    '    groups: [berlin]',
  ]);
  await writeFile(join(config, 'devsh', 'devices.yaml'), ['devices:', ...devices, ''].join('\n'), {
    mode: 0o600,
  });
  const start = (args: readonly string[]): PtyProgram =>
    startInPty({
      command: process.execPath,
      args: [cli, ...args],
      cols,
      rows,
      cwd: home,
      env: {
        HOME: home,
        XDG_CONFIG_HOME: config,
        XDG_DATA_HOME: join(home, 'data'),
        XDG_STATE_HOME: join(home, 'state'),
        XDG_CACHE_HOME: join(home, 'cache'),
        DEVSH_USER: 'admin',
        DEVSH_PASSWORD: 'admin-secret',
        COLORTERM: 'truecolor',
        TZ: 'UTC',
      },
    });
  const trusting = start(['trust', 'accept', '@berlin']);
  await trusting.waitFor(/type yes/i);
  trusting.type('yes\r');
  const { code } = await trusting.exit;
  if (code !== 0) throw new Error(trusting.screen().join('\n').trim());
  await trusting.close();
  prepare?.(simulator);
  const program = start(['connect', '@berlin', '--timeout', '60']);
  // Below a full table only the newest message is in sight.
  await program.waitFor(/connected to|\(m: all\)/);
  return {
    program,
    simulator,
    folder: home,
    async close() {
      await program.close();
      await simulator.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}
