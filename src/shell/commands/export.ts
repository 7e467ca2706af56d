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
  brief: 'Write records to a file, exactly, for "import" and other programs',
  section: 'Records',
  summary: 'Write the records of the selected devices, all fields and values exact',
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
  options: [...DEVICES, 'profile', 'output', 'overwrite', 'perDevice', 'outputDir'],
  details:
    'The format is that of --format, else what the name of the file ends with (.csv, .json, .jsonl, .yaml),\n' +
    'else CSV. The first column, DEVICE, says which device a record is on. Secrets (tokens, passwords) are\n' +
    'left out. What "import" reads back is the very same record.\n' +
    '\n' +
    "CSV: what a spreadsheet would run as a formula has an apostrophe in front ('=1+1), and so has text that\n" +
    'begins with [ { or "; text with control or invisible characters and line breaks is a JSON string\n' +
    '("a\\u000ab"); lists and nested values are JSON. "import" takes all this back. null, "" and no value are\n' +
    'an empty cell. In a spreadsheet, open the columns as text: it makes 7 of 007 otherwise.\n' +
    '\n' +
    'A file is replaced only with --overwrite, in one step, and can be read by you alone (it holds personal\n' +
    'data). A device that cannot be read makes the exit code 3, and the file says so (CSV cannot).',
  examples: [
    'export --on @berlin --output users.csv',
    'export user lang=de --format json',
    'export interface --per-device --output-dir backup --format yaml',
  ],
  run: later(async () => (await import('../records/export-records.ts')).exportRecords),
});
