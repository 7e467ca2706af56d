// npm run bench: how quick devsh is, each figure beside a floor or a rival in the same rounds.
// Loopback only. --json prints data, --rounds N overrules how often, --only TEXT picks rows by their
// names, --devices N and --records N make the fleet and the long table smaller or larger.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { whenEnding } from './cleanup.js';
import { connectRows } from './connect.js';
import { dataRows } from './data.js';
import { fleetRows } from './fleet-rows.js';
import { growthRows } from './growth.js';
import { memoryRows } from './memory.js';
import { Report } from './report.js';
import { startRows } from './start.js';
import { terminalRows } from './terminal.js';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    only: { type: 'string', default: '' },
    devices: { type: 'string', default: '1000' },
    records: { type: 'string', default: '100000' },
  },
});
// Certificates of an organization's own, which every Node reads at its start: 40 ms that are nobody's here.
delete process.env.NODE_EXTRA_CA_CERTS;
const root = join(import.meta.dirname, '../..');
// Below node_modules, where it finds its packages; each run builds its own.
const built = mkdtempSync(join(root, 'node_modules/.devsh-bench-'));
const folder = mkdtempSync(join(tmpdir(), 'devsh-bench-'));
whenEnding(() => {
  for (const made of [folder, built]) rmSync(made, { recursive: true, force: true });
});

const report = new Report({
  isJson: values.json,
  only: values.only,
  rounds: values.rounds === undefined ? undefined : Number(values.rounds),
});
const bench = {
  report,
  folder,
  built,
  cli: join(built, 'cli.js'),
  devices: Number(values.devices),
  records: Number(values.records),
};

execFileSync(process.execPath, ['build.js', built], { cwd: root, stdio: 'inherit' });
const load = () => loadavg()[0].toFixed(1);
report.note(`${cpus().length} processors, Node ${process.version}, load at the start ${load()}`);
const parts = {
  startRows,
  terminalRows,
  connectRows,
  dataRows,
  memoryRows,
  fleetRows,
  growthRows,
};
for (const [name, rows] of Object.entries(parts)) await report.attempt(name, () => rows(bench));
report.note(`load at the end ${load()}`);
report.print();
process.exitCode = report.hasFailed ? 1 : 0;
