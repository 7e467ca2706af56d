import { UsageError } from '../../errors.ts';
import { fieldCandidates } from '../arguments.ts';
import { type ArgSpec, command, later } from '../command.ts';
import { CHANGE, DEVICES, PART } from '../grammar/options.ts';
import { resourceNames } from './profile.ts';

const FILE: ArgSpec = {
  name: 'FILE',
  summary: 'a change set (YAML, JSON; CSV for adds), or - for standard input',
  isRequired: true,
};

const RESOURCE: ArgSpec = {
  name: 'RESOURCE',
  summary: 'which records (default user)',
  complete: ({ fleet }) =>
    [...new Set(['user', ...resourceNames(fleet)])].map((text) => ({ text })),
};

export const plan = command({
  name: 'plan',
  brief: 'Show what a change set would do',
  section: 'Change sets',
  summary: 'Show what a change set would do on each selected device; sends nothing',
  args: [FILE],
  options: [...DEVICES, 'profile', 'asCurl', 'resource', 'output', 'expiresMs', 'reason', 'shard'],
  changes: 'nothing',
  details:
    'A change set is a list:\n' +
    '  - add: user\n' +
    '    fields: {username: bob, first_name: Bob, lastname: Builder, lang: de}\n' +
    '  - set: user\n' +
    '    key: alice\n' +
    '    fields: {lang: en}\n' +
    '  - delete: user\n' +
    '    where: lang=xx\n' +
    '-o writes the plan to a file for "apply".',
  examples: [
    'plan change.yaml --on @berlin',
    'plan change.yaml --on @berlin -o monday.plan',
    'plan change.yaml --on @all --shard 2/4 -o 2.plan',
  ],
  run: later(async () => (await import('../writing/change-files.ts')).planFile),
});

export const apply = command({
  name: 'apply',
  synonyms: ['commit'],
  brief: 'Apply a change set or a plan',
  section: 'Change sets',
  summary: 'Apply a change set or a plan file',
  args: [{ ...FILE, summary: 'a change set, a plan file, or - for standard input' }],
  options: [...CHANGE, 'resource', ...PART, 'confirmMs'],
  forced: 'drift',
  details:
    'A plan file holds wishes and what was there: a device that has changed since gets the verdict "drift"\n' +
    'and no request; --replan plans again. devsh shows what it plans from the file, and asks every guard.\n' +
    'It refuses a file that has expired (--allow drift applies it), and an address that is neither in the\n' +
    'inventory nor typed with --on.\n' +
    'Several machines or jobs share the work with --shard I/N: of a plan file, or each with the plan that\n' +
    '"plan --shard I/N" made for it. A device belongs to a shard by its address, whatever else the inventory\n' +
    'has. With --result FILE each writes a result, and "runs merge" merges them. The same line again continues\n' +
    'from its result: devsh settles unconfirmed steps by reading, sends what failed or was not reached, and\n' +
    'sends nothing again that is done.',
  examples: [
    'apply change.yaml --on @berlin --canary 1 --batch 20 --max-failures 5%',
    'apply monday.plan',
    'apply change.yaml --on fw1 --confirm 120',
    'apply monday.plan --shard 2/4 --result 2.jsonl --yes',
  ],
  run: later(async () => (await import('../writing/change-files.ts')).applyFile),
});

export const importCommand = command({
  name: 'import',
  brief: 'Write the records of a file to the devices',
  section: 'Change sets',
  summary: 'Add and change records as in a file; with --prune also delete the others',
  args: [
    {
      name: 'FILE',
      summary: 'CSV, JSON, JSON lines or YAML as "export" writes it, or - for standard input',
      isRequired: true,
    },
    { ...RESOURCE, summary: 'which records (default: as in the file, else user)' },
  ],
  options: [...CHANGE, 'also', 'prune', 'key', 'map', 'output', 'expiresMs', 'confirmMs'],
  forced: 'prune',
  details:
    'devsh compares each row with the record of the same natural key. It adds new records and changes only\n' +
    'the fields that differ. A column or key DEVICE names the device of a row; rows without it are for all\n' +
    'selected devices. If no device is selected, the file names them; these must be in the inventory.\n' +
    '\n' +
    'devsh shows the plan and asks; -o writes it to a file for "apply". Ids and read-only fields of the file\n' +
    'are ignored, and fields that the file lacks stay unchanged. After mistakes devsh sends nothing and lists\n' +
    'up to twenty of them with their lines.\n' +
    '\n' +
    'Without --allow prune, --prune refuses what looks like a mistake: a file without any record of a device,\n' +
    'and a new row that is only another spelling of a record to be deleted ("Bob", "7" for "007").\n' +
    '\n' +
    'In CSV an empty cell empties the field; in a new record it leaves the field to the device, and a secret\n' +
    'stays unchanged. true, 5 and ["a"] get the type that the field has on the device. devsh removes one\n' +
    'apostrophe before = + - @ [ { " (or before more apostrophes in front of these), which "export" adds.\n' +
    'It reads the separators , ; and tab, quotes, CRLF and a UTF-8 byte order mark.\n' +
    'JSON and YAML distinguish null, "", 5 and "5".',
  examples: [
    'import users.csv --on @berlin --dry-run',
    'import users.csv --prune',
    'import hr.csv --map Login=username --map Vorname=first_name --map Abteilung=',
    'import interfaces.yaml interface --key name',
  ],
  async *run(call) {
    const { output, dryRun, yes } = call.options;
    if (output !== undefined && (dryRun || yes)) {
      throw new UsageError('-o only writes a plan file: leave out --yes and --dry-run');
    }
    const { importRecords } = await import('../records/import-records.ts');
    yield* importRecords(call);
  },
});

export const exportCommand = command({
  name: 'export',
  synonyms: ['backup'],
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
  options: [...DEVICES, 'profile', 'output', 'overwrite', 'outputDir'],
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
    'Records are sorted by key; "list --against" compares devices with such a file.\n' +
    '\n' +
    'devsh writes a file in one step and lets only you read it (it contains personal data). If a device\n' +
    'cannot be read, the exit code is 3, and the file says so (CSV cannot).',
  examples: [
    'export --on @berlin --output users.csv',
    'export user lang=de --format json',
    'export interface --output-dir backup --format yaml',
  ],
  run: later(async () => (await import('../records/export-records.ts')).exportRecords),
});
