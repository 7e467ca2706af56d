// The time per device and per record, for growing numbers of them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { joined, startFleet, startStaticDevice } from './fleet.js';
import { bundleParts } from './parts.js';
import { inTurn, median, run } from './rounds.js';

const DEVICES = [10, 100, 1000, 10_000];
const RECORDS = [1000, 10_000, 100_000, 1_000_000];
/** The most records of one device; for more records there are more devices. */
const RECORDS_A_DEVICE = 100_000;
const NODE = [process.execPath, '-e', '0'];

export async function growthRows(bench) {
  const { report } = bench;
  const devicesName = 'growth, time for each device';
  const recordsName = 'growth, time for each 1,000 records';
  await report.attempt(devicesName, async () => {
    if (!report.wants(devicesName)) return;
    const figures = [];
    for (const devices of DEVICES) {
      const fleet = await startFleet(bench, { devices, users: 10 });
      figures.push(await cost(bench, fleet, devices));
    }
    add(report, devicesName, DEVICES, figures);
  });
  await report.attempt(recordsName, async () => {
    if (!report.wants(recordsName)) return;
    const { createFleetData } = await bundleParts(bench.built);
    const figures = [];
    for (const records of RECORDS) {
      const count = Math.ceil(records / RECORDS_A_DEVICE);
      const file = join(bench.folder, 'records.json');
      const { users } = createFleetData(1, 1, records / count)(0);
      writeFileSync(file, JSON.stringify(users));
      const devices = Array.from({ length: count }, () => startStaticDevice(bench, file));
      const fleet = joined(await Promise.all(devices));
      figures.push(await cost(bench, fleet, records / 1000));
    }
    add(report, recordsName, RECORDS, figures);
  });
}

/** The figures of a list over the start of node, divided by `parts`. Closes the fleet. */
async function cost({ report, built }, fleet, parts) {
  const list = [
    ...built.command,
    'user',
    'list',
    '--on',
    '@fleet',
    '--format',
    'jsonl',
    '--timeout',
    '300',
  ];
  const works = [() => run(list, fleet), () => run(NODE)];
  const [ours, floor] = await inTurn(works, report.rounds(3)).finally(() => fleet.close());
  const each = (part) =>
    median(ours.map((figures, round) => figures[part] - floor[round][part])) / parts;
  return { ms: each('ms'), cpuMs: each('cpuMs') };
}

/** Compares the time per part of the largest number with that of a tenth of it. */
function add(report, name, counts, figures) {
  const [before, last] = figures.slice(-2);
  report.add(name, {
    kind: 'ratio',
    goal: 1.3,
    value: last.cpuMs / before.cpuMs || last.ms / before.ms,
    against: `${counts.at(-2)}, by computing time`,
    detail: counts.map((count, index) => `${count}: ${figures[index].ms.toFixed(2)} ms`).join(', '),
  });
}
