// A fleet on the full screen: how soon it is connected, compared with the same reads without a screen, and how
// soon keys show under load.
import { setTimeout as sleep } from 'node:timers/promises';
import { startFleet } from './fleet.js';
import { openScreen } from './screen.js';
import { quantile, run } from './rounds.js';

const SIZE = { columns: 120, rows: 35 };
const LARGE = 2.5;
/** The first of thousands of characters that devsh never draws by itself. */
const FIRST_SIGN = 0x4e00;

export async function connectRows(bench) {
  const { report, devices } = bench;
  for (const count of [devices, devices * LARGE]) {
    await report.attempt(`connect ${count}`, () => connectRow(bench, count));
  }
}

async function connectRow(bench, devices) {
  const { report, built } = bench;
  const name = `connect ${devices} devices on the full screen`;
  const keyName = `key to frame while ${devices} devices connect`;
  if (!report.wants(name, keyName)) return;
  const fleet = await startFleet(bench, { devices });
  const keys = [];
  try {
    await report.compare(name, {
      kind: 'ratio',
      goal: 1.3,
      against: 'user list',
      own: (build) => connected(build, fleet, devices),
      other: () => run([...built.command, 'user', 'list', '--on', '@fleet'], fleet),
      rounds: 3,
    });
    if (!report.wants(keyName)) return;
    for (let round = 0; round < report.rounds(2); round += 1) {
      keys.push(...(await keysMeanwhile(built, fleet, devices)));
    }
    const ms = (share) => quantile(keys, share);
    const detail = `${keys.length} keys, the slowest ${ms(1).toFixed(0)} ms`;
    report.add(`${keyName} p50`, { kind: 'ms', goal: 30, value: ms(0.5), detail });
    report.add(`${keyName} p99`, { kind: 'ms', goal: 200, value: ms(0.99) });
  } finally {
    fleet.close();
  }
}

const open = ({ command }, { env }) =>
  openScreen([...command, 'connect', '@fleet'], { ...SIZE, env });

async function connected(build, fleet, devices) {
  const screen = open(build, fleet);
  const ms = await screen.shows(new RegExp(`connected to ${devices} `));
  const cpuMs = screen.cpuMs();
  await screen.close();
  return { ms, cpuMs };
}

/** Types a character every 100 ms at the prompt, from the first response to the last. */
async function keysMeanwhile(build, fleet, devices) {
  const screen = open(build, fleet);
  await screen.shows(/USERNAME/);
  const figures = [];
  let isDone = false;
  const done = screen.shows(new RegExp(`connected to ${devices} `)).then(() => (isDone = true));
  for (let key = 0; !isDone; key += 1) {
    figures.push(await screen.echoMs(String.fromCodePoint(FIRST_SIGN + key)));
    // As fast as a person types; the pace is part of what is measured.
    await sleep(100);
  }
  await done;
  await screen.close();
  return figures;
}
