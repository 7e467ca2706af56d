// The start of devsh: one command, the first prompt, the first records.
import { join } from 'node:path';
import { mkdirSync, writeFileSync } from 'node:fs';
import { joined, startFleet } from './fleet.js';
import { openScreen } from './screen.js';
import { inTurn, median, run } from './rounds.js';
import { timeOfOneGet } from './rivals/one-get.js';

const NODE = [process.execPath, '-e', '0'];
const ROUNDS = 11;

export async function startRows(bench) {
  const { report } = bench;
  await report.attempt('one command', () => oneCommandRows(bench));
  await report.attempt('files', () => fileRows(bench));
  await report.attempt('first users', () => firstUsersRows(bench));
}

async function oneCommandRows(bench) {
  const { report, folder } = bench;
  const names = {
    version: 'devsh --version',
    list: 'list of one device',
    script: 'list of one device, by a plain script',
    prompt: 'first prompt of the full screen',
  };
  if (!report.wants(...Object.values(names))) return;
  const fleet = await startFleet(bench, { devices: 1 });
  const [address] = fleet.addresses;
  const addresses = join(folder, 'one');
  writeFileSync(addresses, address);
  const { env } = fleet;
  const overNode = { kind: 'over', against: 'node -e 0', other: () => run(NODE), rounds: ROUNDS };
  const list = ({ command }) => run([...command, 'user', 'list', '--on', address], { env });
  const script = join(import.meta.dirname, 'rivals/plain-undici.js');
  try {
    await report.compare(names.version, {
      ...overNode,
      goal: 10,
      own: ({ command }) => run([...command, '--version']),
    });
    await report.compare(names.list, { ...overNode, own: list });
    await report.compare(names.script, {
      kind: 'ratio',
      goal: process.versions.node.startsWith('20.') ? 0.7 : 0.55,
      against: 'undici as documented',
      own: list,
      other: () => run([process.execPath, script, 'list', '1'], { env: { ADDRESSES: addresses } }),
      rounds: ROUNDS,
    });
    await report.compare(names.prompt, {
      ...overNode,
      goal: 80,
      own: async ({ command }) => ({ ms: await timeToPrompt(command, env), cpuMs: NaN }),
    });
  } finally {
    fleet.close();
  }
}

/** What files of the user add to a command that reads no device. */
async function fileRows({ report, built, folder }) {
  const names = { settings: 'a settings file', inventory: 'an inventory of 1,000 devices' };
  if (!report.wants(...Object.values(names))) return;
  const devices = Array.from(
    { length: 1000 },
    (_, at) => `  - {name: d${at}, address: '127.0.0.1:${9000 + at}', groups: [g${at % 10}]}\n`,
  );
  const homes = {
    none: {},
    settings: { 'settings.json': '{"timeoutMs": 9000, "rememberKeys": false}' },
    inventory: { 'devices.yaml': `devices:\n${devices.join('')}` },
  };
  const start = (name) => {
    const config = join(folder, name, 'devsh');
    mkdirSync(config, { recursive: true });
    for (const [file, text] of Object.entries(homes[name])) writeFileSync(join(config, file), text);
    const env = {
      XDG_CONFIG_HOME: join(folder, name),
      XDG_CACHE_HOME: join(folder, name),
      XDG_STATE_HOME: join(folder, name),
    };
    const on = name === 'inventory' ? 'd7' : '127.0.0.1:9007';
    const args = ['user', 'add', 'username=zoe', '--read-only', '--on', on];
    return ({ command }) => run([...command, ...args], { env, accepts: [6] });
  };
  const overNone = {
    kind: 'over',
    against: 'without',
    other: () => start('none')(built),
    rounds: ROUNDS,
  };
  await report.compare(names.settings, { ...overNone, goal: 5, own: start('settings') });
  await report.compare(names.inventory, { ...overNone, goal: 8, own: start('inventory') });
}

/** Three devices, the slowest with 600 ms per response. */
async function firstUsersRows(bench) {
  const { report, built } = bench;
  const names = {
    all: 'all users of 3 devices visible, after the prompt',
    first: 'first users visible, before the slowest device answers',
  };
  if (!report.wants(...Object.values(names))) return;
  const latencies = [20, 200, 600];
  const fleets = await Promise.all(
    latencies.map((latencyMs) => startFleet(bench, { devices: 1, users: 8, latencyMs })),
  );
  const fleet = joined(fleets);
  const slowest = fleets[2].addresses[0];
  const { env } = fleet;
  const args = ['connect', '@fleet'];
  try {
    const [prompt, shown, own] = await inTurn(
      [
        () => timesTo(built, [], env, [/devsh[^\n]*>/]),
        // The users of the first device; the last users come in the frame of the message.
        () => timesTo(built, args, env, [/2 not read/, /connected to 3 devices/]),
        () => timeOfOneGet(slowest),
      ],
      report.rounds(5),
    );
    const after = (which, round) => shown[round][which] - prompt[round][0];
    report.add(names.all, {
      kind: 'ratio',
      goal: 1.2,
      value: median(own.map((ms, round) => after(1, round) / ms)),
      against: `the slowest device's own time, ${median(own).toFixed(0)} ms`,
    });
    report.add(names.first, {
      kind: 'ratio',
      goal: 1,
      value: median(own.map((ms, round) => after(0, round) / ms)),
      against: 'the same',
    });
  } finally {
    fleet.close();
  }
}

/** Ends the program with `quit`, so that Node writes its compile cache. */
async function timeToPrompt(command, env) {
  const screen = openScreen(command, { env });
  const ms = await screen.shows(/devsh[^\n]*>/);
  await screen.quiet(200);
  await screen.end('quit');
  return ms;
}

/** Resolves to the ms from the start until the screen has shown each of these in turn. */
async function timesTo({ command }, args, env, wanted) {
  const screen = openScreen([...command, ...args], { env });
  try {
    const times = [];
    for (const one of wanted) times.push(await screen.shows(one));
    return times;
  } finally {
    await screen.close();
  }
}
