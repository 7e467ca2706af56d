// The peak of memory (RSS), and its growth over time.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFleet } from './fleet.js';
import { run } from './rounds.js';
import { openTable } from './table-screen.js';

/** Prints the peak of a program on standard error. */
export const PRINT_PEAK = join(import.meta.dirname, 'print-peak.cjs');
const REFRESHES = 1000;

export async function memoryRows(bench) {
  const { report } = bench;
  for (const [devices, goal] of [
    [1, 58],
    [bench.devices, 140],
  ]) {
    await report.attempt(`memory, ${devices} devices`, () => oneShotRow(bench, devices, goal));
  }
  for (const [records, columns, rows, goal] of [
    [1000, 80, 24, 140],
    [bench.records, 80, 24, 200],
    [bench.records, 200, 50, 350],
  ]) {
    const row = () => screenRow(bench, records, { columns, rows }, goal);
    await report.attempt(`memory, ${records} records on the screen`, row);
  }
  await report.attempt('memory, refreshes', () => refreshRow(bench));
}

async function oneShotRow(bench, devices, goal) {
  const { report } = bench;
  const name = `memory, list of ${devices} devices`;
  if (!report.wants(name)) return;
  const fleet = await startFleet(bench, { devices });
  const env = { ...fleet.env, NODE_OPTIONS: `--require ${PRINT_PEAK}` };
  try {
    await report.measure(name, {
      kind: 'MB',
      goal,
      own: async ({ command }) => {
        let peak;
        const onProblem = (text) => (peak = peakIn(text));
        await run([...command, 'user', 'list', '--on', '@fleet'], { env, onProblem });
        return peak;
      },
      rounds: 5,
    });
  } finally {
    fleet.close();
  }
}

export function peakIn(text) {
  return Number(/^peak (\d+) KiB$/m.exec(text)[1]) / 1000;
}

async function screenRow(bench, users, size, goal) {
  const { report } = bench;
  const name = `memory, full screen with ${users} records, ${size.columns}x${size.rows}`;
  if (!report.wants(name)) return;
  if (!existsSync('/proc/self/status')) {
    report.note(`no /proc here: "${name}" is left out`);
    return;
  }
  const fleet = await startFleet(bench, { devices: 1, users });
  try {
    await report.measure(name, {
      kind: 'MB',
      goal,
      own: async (build) => {
        const screen = await openTable(build, fleet, size);
        for (const keys of 'jjjjjG' + 'kkkkkg') await screen.press(keys);
        await screen.press('/');
        for (const letter of 'anna') await screen.press(letter, { quietMs: 100 });
        const peak = memoryOf(screen.pid, 'VmHWM');
        await screen.close();
        return peak;
      },
      rounds: 3,
    });
  } finally {
    fleet.close();
  }
}

async function refreshRow(bench) {
  const { report } = bench;
  const name = `memory, growth over ${REFRESHES} refreshes`;
  if (!report.wants(name)) return;
  const fleet = await startFleet(bench, { devices: 3 });
  const screen = await openTable(bench.built, fleet, { columns: 80, rows: 24 });
  try {
    const refresh = async (times) => {
      // A refresh within one frame shows nothing: the cursor moves so that there is output.
      for (let time = 0; time < times; time += 1) {
        await screen.press(time % 2 === 0 ? 'rj' : 'rk', { quietMs: 20 });
      }
    };
    // V8 first grows its young generation.
    await refresh(REFRESHES);
    const before = memoryOf(screen.pid, 'VmRSS');
    await refresh(REFRESHES);
    const after = memoryOf(screen.pid, 'VmRSS');
    const detail = `${before.toFixed(0)} MB before, ${after.toFixed(0)} MB after`;
    report.add(name, { kind: 'MB', goal: 5, value: after - before, detail });
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    report.note(`no /proc here: "${name}" is left out`);
  } finally {
    await screen.close();
    fleet.close();
  }
}

/** In MB, on Linux. `VmHWM` is the peak. */
function memoryOf(pid, field) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)[1]) / 1000;
}
