import { onTestFinished } from 'vitest';
import type { Shell } from '../../src/shell/shell.ts';
import { startSimulator } from '../simulator/simulator.ts';
import { Controller } from '../../src/tui/controller.ts';
import { initialState } from '../../src/tui/initial-state.ts';
import { reduce } from '../../src/tui/reduce.ts';
import { Store } from '../../src/tui/store.ts';
import type { Surface } from '../../src/tui/surface.ts';
import { openSession } from '../shell/session.ts';

/** The screen without a terminal, over three simulated devices whose users it lists. `onLeave`: the user leaves. */
export async function startScreen<S extends Shell>(
  shellOf: (...parameters: ConstructorParameters<typeof Shell>) => S,
  onLeave: () => void = () => undefined,
) {
  const shellSession = await openSession();
  const simulator = await startSimulator({ users: 6, devices: 3, profile: 'drf' });
  const { devices } = simulator;
  for (const { name, fingerprint, accounts } of devices)
    shellSession.give(name, { fingerprint, ...accounts.admin });
  shellSession.fleet.join(
    shellSession.fleet.sessions(
      devices.map(({ name, address }) => ({ name, address, groups: [] })),
    ),
  );
  const shell = shellOf(shellSession);
  const store = new Store(initialState({ columns: 80, rows: 24 }), reduce);
  const surface: Surface = {
    repaint: () => undefined,
    showTheme: () => undefined,
    suspend: () => undefined,
    leave: onLeave,
    send: () => undefined,
    edit: ({ text }) => Promise.resolve(text),
    copy: () => Promise.resolve(undefined),
  };
  const controller = new Controller(shell, store, surface, true);
  onTestFinished(async () => {
    controller.runner.interrupt();
    await controller.stop();
    await shellSession.close();
    await simulator.close();
  });
  const writes = (): number =>
    devices.flatMap(({ log }) => log).filter(({ method }) => !['GET', 'OPTIONS'].includes(method))
      .length;
  return { controller, store, shell, writes, devices, names: devices.map(({ name }) => name) };
}
