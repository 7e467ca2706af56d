import { once } from 'node:events';
import { type Call, command } from '../command.ts';
import { SIMULATOR, type SimulatorOption } from '../grammar/options.ts';
import { info, table } from '../output.ts';
import type { RunningSimulator } from '../services.ts';
import { probe } from '../devices/probe.ts';

const DEFAULT_PORT = 8443;

export const simulator = command({
  name: 'simulator',
  brief: 'Run simulated devices on this machine',
  section: 'Shell',
  summary: 'Run simulated devices on loopback addresses until Ctrl-C',
  options: SIMULATOR,
  details:
    'Each device has the documented API, its own certificate, and two accounts: admin, and a read-only viewer.',
  examples: ['simulator --devices 5 --latency 50'],
  async *run(call) {
    const running = await start(call, DEFAULT_PORT);
    try {
      yield table(
        'simulator',
        [
          ...['device', 'address', 'user', 'password', 'token'],
          { key: 'fingerprint', title: 'SHA-256' },
        ],
        running.devices.flatMap(({ name, address, fingerprint, accounts }) =>
          [accounts.admin, accounts.viewer].map(({ username: user, password, token }) => {
            return { device: name, address, user, password, token, fingerprint };
          }),
        ),
        { showsSecrets: true },
      );
      yield { kind: 'checkpoint' };
      yield info(`running until Ctrl-C; connect from another terminal`);
      if (!call.io.signal.aborted) await once(call.io.signal, 'abort');
    } finally {
      await running.close();
    }
  },
});

export const demo = command({
  name: 'demo',
  brief: 'Start simulated devices and connect to them',
  section: 'Shell',
  summary: 'Start three simulated devices in this session and connect to them',
  options: SIMULATOR,
  details:
    'Pins and logins last for this session. "devsh demo" on the command line does not touch your settings,\n' +
    'history and keychain; without a terminal it plays a short tour.',
  async *run(call) {
    const running = await start(call, 0);
    const { shell } = call;
    shell.closing.push(() => running.close());
    for (const device of running.devices) {
      const { username, password } = device.accounts.admin;
      shell.give(device.name, { fingerprint: device.fingerprint, username, password });
    }
    const entries = running.devices.map(({ name, address }) => ({ name, address, groups: [] }));
    const sessions = shell.fleet.sessions(entries);
    shell.fleet.join(sessions);
    yield* probe(call, sessions);
  },
});

function start({ options, shell }: Call<SimulatorOption>, port: number): Promise<RunningSimulator> {
  return shell.services.startSimulator({
    devices: options.devices ?? 3,
    users: options.users ?? 25,
    latencyMs: options.latencyMs ?? 0,
    seed: options.seed ?? 1,
    port: options.port ?? port,
  });
}
