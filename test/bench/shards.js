// One change over a large fleet in four shards, in turn: time, memory and files for each device.
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { joined, startFleet } from './fleet.js';
import { peakIn, PRINT_PEAK } from './memory.js';
import { run } from './rounds.js';

const SIZES = [5000, 10_000, 20_000];
const SHARDS = ['1/4', '2/4', '3/4', '4/4'];
/** A process may open so many sockets. */
const DEVICES_A_PROCESS = 5000;
/** The devices share the machine with devsh. */
const SLOW = ['--timeout', '300'];
const CHANGE =
  '- add: user\n  fields: {username: zoe, first_name: Zoe, lastname: Zett, lang: de}\n';

export async function shardRows(bench) {
  const { report } = bench;
  const name = 'shards, a change on each device';
  await report.attempt(name, async () => {
    if (!report.wants(name)) return;
    const costs = [];
    for (const devices of SIZES) {
      const parts = Array.from({ length: devices / DEVICES_A_PROCESS }, () =>
        startFleet(bench, { devices: DEVICES_A_PROCESS, users: 10 }),
      );
      const fleet = joined(await Promise.all(parts));
      costs.push(await costOf(bench, fleet, devices).finally(() => fleet.close()));
    }
    const [before, last] = costs.slice(-2);
    report.add(name, {
      kind: 'ratio',
      goal: 1.3,
      value: last.cpuMs / before.cpuMs,
      against: `${SIZES.at(-2)}, by computing time`,
      detail: SIZES.map((size, index) => `${size}: ${textOf(costs[index])}`).join('; '),
    });
  });
}

function textOf({ ms, cpuMs, peak, journals, readings }) {
  return (
    `${ms.toFixed(1)} ms, ${cpuMs.toFixed(1)} ms of computing, at most ${Math.round(peak)} MB, ` +
    `journal ${journals.toFixed(2)} kB, readings ${readings.toFixed(2)} kB`
  );
}

async function costOf({ built }, { env, addresses }, devices) {
  const home = env.HOME;
  const at = (file) => join(home, file);
  writeFileSync(at('change.yaml'), CHANGE);
  const sum = { ms: 0, cpuMs: 0, peak: 0 };
  const devsh = async (...args) => {
    const onProblem = (text) => (sum.peak = Math.max(sum.peak, peakIn(text)));
    const { ms, cpuMs } = await run([...built.command, ...args], {
      env: { ...env, NODE_OPTIONS: `--require ${PRINT_PEAK}` },
      onProblem,
    });
    sum.ms += ms;
    sum.cpuMs += cpuMs;
  };
  const names = SHARDS.map((shard) => shard[0]);
  for (const [index, shard] of SHARDS.entries()) {
    const plan = at(`${names[index]}.plan`);
    await devsh('plan', at('change.yaml'), '--on', '@fleet', '--shard', shard, '-o', plan, ...SLOW);
    const result = at(`${names[index]}.jsonl`);
    await devsh(
      'apply',
      plan,
      '--result',
      result,
      '--concurrency',
      '64',
      '--yes',
      '--quiet',
      ...SLOW,
    );
  }
  const plans = names.flatMap((name) => ['--plan', at(`${name}.plan`)]);
  await devsh('runs', 'merge', ...names.map((name) => at(`${name}.jsonl`)), ...plans);
  if (addresses.length !== devices) throw new Error(`${addresses.length} devices, not ${devices}`);
  return {
    ms: sum.ms / devices,
    cpuMs: sum.cpuMs / devices,
    peak: sum.peak,
    journals: kilobytesIn(at('state/devsh/runs')) / devices,
    readings: kilobytesIn(at('state/devsh/readings')) / devices,
  };
}

function kilobytesIn(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  const own = files.filter((entry) => entry.isFile());
  const bytes = own.map(({ parentPath, name }) => statSync(join(parentPath, name)).size);
  return bytes.reduce((all, size) => all + size, 0) / 1000;
}
