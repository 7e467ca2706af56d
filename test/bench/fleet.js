// Devices in separate processes, and a home for devsh that trusts them.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HOMES } from './builds.js';
import { whenEnding } from './cleanup.js';

const ACCOUNT = { DEVSH_USER: 'admin', DEVSH_PASSWORD: 'admin-secret' };

/** Starts simulated devices; resolves when all of them listen. */
export function startFleet({ built }, { devices, users = 50, latencyMs = 0 }) {
  const args = ['simulator', '--devices', devices, '--users', users, '--latency', latencyMs];
  return startDevices([built.cli, ...args.map(String), '--port', '0'], devices);
}

/** One device that sends the bytes of a file, as quickly as Node can. */
export function startStaticDevice({ built }, file) {
  const program = join(import.meta.dirname, 'static-device.js');
  return startDevices([program, built.parts, file], 1);
}

/** Joins several fleets to one. */
export function joined(fleets) {
  return known(new Map(fleets.flatMap(({ found }) => [...found])), () =>
    fleets.forEach((fleet) => fleet.close()),
  );
}

/** Runs a program that prints the table of `devsh simulator`. */
function startDevices(args, devices) {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, HOME: tmpdir() },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = whenEnding(() => child.kill('SIGKILL'));
  return new Promise((resolve, reject) => {
    let table = '';
    let problem = '';
    child.on('error', reject);
    child.on('exit', (code) => reject(new Error(`the devices ended with ${code}: ${problem}`)));
    child.stderr.on('data', (chunk) => (problem += chunk));
    child.stdout.on('data', (chunk) => {
      table += chunk;
      const rows = table.split('\n').slice(1, -1);
      // A device has a row for each of its two accounts.
      if (rows.length < 2 * devices) return;
      const found = new Map(rows.map((row) => [row.split('\t')[1], row.split('\t')[5]]));
      resolve(known(found, kill));
    });
  });
}

/** @param found addresses with their pins */
function known(found, end) {
  const home = mkdtempSync(HOMES);
  knowAll(home, found);
  const env = {
    HOME: home,
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_DATA_HOME: join(home, 'data'),
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CACHE_HOME: join(home, 'cache'),
    ...ACCOUNT,
  };
  const close = whenEnding(() => {
    end();
    rmSync(home, { recursive: true, force: true });
  });
  return { addresses: [...found.keys()], found, env, close };
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
