import { CHANGE, DEVICES, PART } from '../grammar/options.ts';
import { type ArgSpec, command, later } from '../command.ts';
import { UsageError } from '../../errors.ts';
import { RESOURCE } from './export.ts';

const FILE: ArgSpec = {
  name: 'FILE',
  summary: 'a change set (YAML, JSON; CSV for adds), or - for standard input',
  isRequired: true,
};

export const plan = command({
  name: 'plan',
  brief: 'Show what a change set would do',
  section: 'Change sets',
  summary: 'Show what a change set would do on each selected device; sends nothing',
  args: [FILE],
  options: [...DEVICES, 'profile', 'asCurl', 'resource', 'output', 'expiresMs'],
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
    'With -o the plan is written down, sealed with its SHA-256, for "apply PLANFILE".',
  examples: ['plan change.yaml --on @berlin', 'plan change.yaml --on @berlin -o monday.plan'],
  run: later(async () => (await import('../writing/change-files.ts')).planFile),
});

export const apply = command({
  name: 'apply',
  brief: 'Carry out a change set or a plan',
  section: 'Change sets',
  summary: 'Carry out a change set, or a plan that was written down',
  args: [{ ...FILE, summary: 'a change set, a plan file, or - for standard input' }],
  options: [...CHANGE, 'resource', ...PART, 'confirmMs'],
  forced: 'drift',
  details:
    'A plan file is applied as it was looked at: a device that has changed since gets the verdict\n' +
    '"drift" and nothing is sent there; --replan plans anew. A plan that was altered or has expired\n' +
    'is refused; --allow drift applies one that has expired.\n' +
    'Several machines or jobs share a plan file by --shard I/N; each keeps its result in a file, and\n' +
    '"runs merge" puts them together. The same line again goes on from its result file: what is in\n' +
    'doubt is settled by reading, what failed or was not reached is sent, what is done is not.',
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
  brief: 'Make the devices hold the records of a file',
  section: 'Change sets',
  summary: 'Plan and write what is in a file: adds, changes and, with --prune, deletes',
  args: [
    {
      name: 'FILE',
      summary: 'CSV, JSON, JSON lines or YAML as "export" writes it, or - for standard input',
      isRequired: true,
    },
    { ...RESOURCE, summary: 'what the records are (default: as the file says, else user)' },
  ],
  options: [...CHANGE, 'prune', 'key', 'map', 'output', 'expiresMs', 'confirmMs'],
  forced: 'prune',
  details:
    'Each row is laid beside the record with the same natural key (--key names another field): a new one\n' +
    'is added, one that differs is changed in the fields that differ, one that is the same is left alone.\n' +
    'A column or key DEVICE says for which device a row is; rows without it are for all selected devices.\n' +
    'With nothing selected, the devices are those that the file names.\n' +
    '\n' +
    'The plan is shown and asked about as always; -o keeps it for "apply". Ids and read-only fields are not\n' +
    'taken from the file, a field that the file does not have is left as it is. Mistakes are told with line\n' +
    'and column, up to twenty at once, and nothing is sent then.\n' +
    '\n' +
    '--prune refuses what looks like a mistake, unless --allow prune is said: a file that holds no record of a\n' +
    'device, and a new row that spells one which would be deleted in another way ("Bob", "7" for "007").\n' +
    'Devices that only the file names must be in the inventory.\n' +
    '\n' +
    'In CSV an empty cell empties the field (of a new record: leaves it to the device; of a secret: leaves\n' +
    'it alone), true, 5 and ["a"] are what the field holds on the device, and one apostrophe before\n' +
    '= + - @ [ { " or more apostrophes before these, as in \'=1+1, is taken off again. Separators , ; and\n' +
    'tab, quotes, CRLF and a mark of UTF-8 are understood. JSON and YAML tell null, "", 5 and "5" apart.',
  examples: [
    'import users.csv --on @berlin --dry-run',
    'import users.csv --prune',
    'import hr.csv --map Login=username --map Vorname=first_name --map Abteilung=',
    'import interfaces.yaml interface --key name',
  ],
  async *run(call) {
    const { output, dryRun, yes } = call.options;
    if (output !== undefined && (dryRun || yes)) {
      throw new UsageError('-o only writes the plan down: leave out --yes and --dry-run');
    }
    const { importRecords } = await import('../records/import-records.ts');
    yield* importRecords(call);
  },
});
