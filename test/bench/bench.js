// npm run bench: measures devsh beside a floor or a rival in the same rounds, over loopback only.
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildRevision, buildThis, HOMES, isRevision, temporaryFolder } from './builds.js';
import { connectRows } from './connect.js';
import { dataRows } from './data.js';
import { fleetRows } from './fleet-rows.js';
import { growthRows } from './growth.js';
import { historyRows } from './history.js';
import { memoryRows } from './memory.js';
import { Profiles } from './profile.js';
import { Report, RowNames } from './report.js';
import { shardRows } from './shards.js';
import { startRows } from './start.js';
import { terminalRows } from './terminal.js';

const USAGE = `Usage: npm run bench -- [OPTION]...

Measures devsh beside floors and rivals.

  --only TEXT         only the rows whose names contain TEXT
  --rounds N          how often each program runs
  --devices N         devices of the fleet (1000)
  --records N         records of the long table (100000)
  --compare REVISION  build REVISION too, and compare with it instead of floors and rivals
  --profile TEXT      like --only, but keep CPU profiles of devsh, and print where its time goes:
                      by part, by folder of the source, by function
  --json              print data
  --help              print this help

A ratio below 1.00x of --compare means that this source is faster or smaller than REVISION. Other
programs on the machine change the computing time less than the time. For --profile the time outside
the processor counts too, as "idle", and profiling itself takes time.
`;

const options = optionsIn(process.argv.slice(2));
const parts = {
  startRows,
  terminalRows,
  connectRows,
  dataRows,
  memoryRows,
  fleetRows,
  historyRows,
  growthRows,
  shardRows,
};
const rows = new RowNames();
for (const addRows of Object.values(parts)) await addRows({ ...options, report: rows });
const names = [...rows.names];
if (options.help) {
  console.log([USAGE, 'Rows:', ...names].join('\n'));
  process.exit();
}
if (!names.some((name) => name.includes(options.only))) {
  console.error(`No row has "${options.only}" in its name: see --help.`);
  process.exit(2);
}

// Every Node reads these certificates at its start, which takes 40 ms.
delete process.env.NODE_EXTRA_CA_CERTS;
const folder = temporaryFolder(HOMES);
const profiles = options.profile === undefined ? undefined : new Profiles();
const built = buildThis(profiles?.nodeOptions);
const other = options.compare && buildRevision(options.compare);
const report = new Report({ ...options, built, other, profiles });
const bench = { ...options, report, folder, built };

if (other?.hasOtherPackages) {
  report.note(`${options.compare} locks other packages: it was built with those of this source`);
}
const load = () => loadavg()[0].toFixed(1);
report.note(`${cpus().length} processors, Node ${process.version}, load at the start ${load()}`);
for (const [name, rows] of Object.entries(parts)) await report.attempt(name, () => rows(bench));
report.note(`load at the end ${load()}`);
if (profiles)
  report.note(`the profiles are in ${profiles.folder}, for the developer tools of a browser`);
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
        compare: { type: 'string' },
        profile: { type: 'string' },
        devices: { type: 'string', default: '1000' },
        records: { type: 'string', default: '100000' },
      },
    });
    const { help, json, only, rounds, devices, records, compare, profile } = values;
    if (compare !== undefined && profile !== undefined)
      throw new Error('--compare and --profile exclude each other: a profiled run is slower.');
    if (compare !== undefined && !isRevision(compare))
      throw new Error(`${compare} is no revision of this repository.`);
    if (profile === '') throw new Error('--profile needs a part of the name of a row: see --help.');
    return {
      help,
      isJson: json,
      only: profile ?? only,
      compare,
      profile,
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
