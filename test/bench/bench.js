// npm run bench: measures devsh beside a floor or a rival in the same rounds, over loopback only.
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
import { Report, RowNames } from './report.js';
import { startRows } from './start.js';
import { terminalRows } from './terminal.js';

const USAGE = `Usage: npm run bench -- [OPTION]...

Measures devsh beside floors and rivals.

  --only TEXT   only the rows whose names contain TEXT
  --rounds N    how often each program runs
  --devices N   devices of the fleet (1000)
  --records N   records of the long table (100000)
  --json        print data
  --help        print this help
`;

const options = optionsIn(process.argv.slice(2));
const parts = {
  startRows,
  terminalRows,
  connectRows,
  dataRows,
  memoryRows,
  fleetRows,
  growthRows,
};
if (options.help) {
  const rows = new RowNames();
  for (const addRows of Object.values(parts)) await addRows({ ...options, report: rows });
  console.log([USAGE, 'Rows:', ...rows.names].join('\n'));
  process.exit();
}

// Every Node reads these certificates at its start, which takes 40 ms.
delete process.env.NODE_EXTRA_CA_CERTS;
const root = join(import.meta.dirname, '../..');
// Below node_modules, so that the build finds its packages.
const built = mkdtempSync(join(root, 'node_modules/.devsh-bench-'));
const folder = mkdtempSync(join(tmpdir(), 'devsh-bench-'));
whenEnding(() => {
  for (const made of [folder, built]) rmSync(made, { recursive: true, force: true });
});

const report = new Report(options);
const bench = { ...options, report, folder, built, cli: join(built, 'cli.js') };

execFileSync(process.execPath, ['build.js', built], { cwd: root, stdio: 'inherit' });
const load = () => loadavg()[0].toFixed(1);
report.note(`${cpus().length} processors, Node ${process.version}, load at the start ${load()}`);
for (const [name, rows] of Object.entries(parts)) await report.attempt(name, () => rows(bench));
report.note(`load at the end ${load()}`);
report.print();
process.exitCode = report.hasFailed ? 1 : 0;

/** Ends the program with status 2 if an option is wrong. */
function optionsIn(args) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        json: { type: 'boolean', default: false },
        only: { type: 'string', default: '' },
        rounds: { type: 'string' },
        devices: { type: 'string', default: '1000' },
        records: { type: 'string', default: '100000' },
      },
    });
    const { help, json, only, rounds, devices, records } = values;
    return {
      help,
      isJson: json,
      only,
      rounds: rounds && wholeNumber('--rounds', rounds),
      devices: wholeNumber('--devices', devices),
      records: wholeNumber('--records', records),
    };
  } catch (error) {
    console.error(`${error.message}\n\n${USAGE}`);
    process.exit(2);
  }
}

function wholeNumber(option, text) {
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`${option} must be a whole number from 1.`);
  return Number(text);
}
