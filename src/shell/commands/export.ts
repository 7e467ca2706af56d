import { DEVICES } from '../grammar/options.ts';
import { type ArgSpec, command, later } from '../command.ts';
import { fieldCandidates } from '../arguments.ts';

export const RESOURCE: ArgSpec = {
  name: 'RESOURCE',
  summary: 'which records (default user)',
  complete: ({ fleet }) =>
    [...new Set(['user', ...fleet.known.flatMap(({ profile }) => profile.offers ?? [])])].map(
      (text) => ({ text }),
    ),
};

export const exportCommand = command({
  name: 'export',
  brief: 'Export records for "import" and other programs',
  section: 'Records',
  summary: 'Export the records of the selected devices, with exact fields and values',
  args: [
    RESOURCE,
    {
      name: 'FILTER',
      summary: 'only records that match: words, field=value, field!=value, field~regex',
      isRest: true,
      mayBeEmpty: true,
      complete: (scope) => fieldCandidates(scope, scope.given[0] ?? 'user', 'read'),
    },
  ],
  options: [...DEVICES, 'profile', 'output', 'overwrite', 'baseline', 'outputDir'],
  details:
    'The format is that of --format, else of the file name (.csv, .json, .jsonl, .yaml), else CSV. The first\n' +
    'column, DEVICE, names the device of a record. Secrets (tokens, passwords) are left out. "import" reads\n' +
    'back exactly the same records.\n' +
    '\n' +
    "CSV: an apostrophe precedes what a spreadsheet would run as a formula ('=1+1) and text that begins with\n" +
    '[ { or "; text with control or invisible characters and line breaks is a JSON string ("a\\u000ab");\n' +
    'lists and nested values are JSON. "import" reverses all of this. null, "" and a missing value are an\n' +
    'empty cell. Open the columns of a spreadsheet as text: otherwise it turns 007 into 7.\n' +
    '\n' +
    '--baseline writes what "list --against" compares with, and the same file as long as nothing changes: sorted,\n' +
    'without ids, times and counters. What most devices have stands once, under "all"; deviations follow by\n' +
    'group and device. "import" reads it, too.\n' +
    '\n' +
    'devsh writes a file in one step and lets only you read it (it contains personal data). If a device\n' +
    'cannot be read, the exit code is 3, and the file says so (CSV cannot).',
  examples: [
    'export --on @berlin --output users.csv',
    'export user lang=de --format json',
    'export --baseline --output expected.csv',
    'export interface --output-dir backup --format yaml',
  ],
  run: later(async () => (await import('../records/export-records.ts')).exportRecords),
});
