// Simulated devices in a process of their own, and a home for devsh that knows and trusts them.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Starts devices; resolves when all of them listen. */
export function startFleet(cli, { devices, users = 50, latencyMs = 0 }) {
  const home = mkdtempSync(join(tmpdir(), 'devsh-bench-'));
  const env = {
    HOME: home,
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_DATA_HOME: join(home, 'data'),
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CACHE_HOME: join(home, 'cache'),
    DEVSH_USER: 'admin',
    DEVSH_PASSWORD: 'admin-secret',
  };
  const args = ['simulator', '--devices', devices, '--users', users, '--latency', latencyMs];
  const child = spawn(process.execPath, [cli, ...args.map(String), '--port', '0'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const close = () => {
    child.kill('SIGKILL');
    rmSync(home, { recursive: true, force: true });
  };
  return new Promise((resolve, reject) => {
    let table = '';
    child.on('error', reject);
    child.on('exit', (code) => reject(new Error(`the simulator ended with ${code}: ${table}`)));
    child.stderr.resume();
    child.stdout.on('data', (chunk) => {
      table += chunk;
      const rows = table.split('\n').slice(1, -1);
      // One for each of the two accounts of a device.
      if (rows.length < 2 * devices) return;
      const found = new Map(rows.map((row) => [row.split('\t')[1], row.split('\t')[5]]));
      knowAll(home, found);
      resolve({ addresses: [...found.keys()], env, close });
    });
  });
}

/** An inventory with the group `fleet`, and a pin for each device. */
function knowAll(home, found) {
  const pins = [...found].map(
    ([address, pin]) => `${address} sha256:${pin} first-seen=2026-01-01T00:00:00.000Z\n`,
  );
  const devices = [...found.keys()].map(
    (address, index) => `  - {name: d${index}, address: "${address}", groups: [fleet]}\n`,
  );
  for (const folder of ['config/devsh', 'data/devsh']) {
    mkdirSync(join(home, folder), { recursive: true, mode: 0o700 });
  }
  writeFileSync(join(home, 'data/devsh/known-devices'), pins.join(''), { mode: 0o600 });
  writeFileSync(join(home, 'config/devsh/devices.yaml'), `devices:\n${devices.join('')}`, {
    mode: 0o600,
  });
}
