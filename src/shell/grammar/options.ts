import { ALLOW_WORDS, allowedWord, allowMeaning, type Allowed } from '../../change/allow.ts';
import type { Mark } from '../../change/identity.ts';
import { parseShard } from '../../change/plan.ts';
import { parseRoute, type ConfiguredRoute } from '../../device/route/route.ts';
import { UsageError } from '../../errors.ts';
import { SOURCE_KINDS } from '../../fleet/import/source.ts';
import { FORMAT_NAMES, THEME_NAMES } from '../../text/choices.ts';
import {
  anyText,
  choice,
  completeList,
  failures,
  filled,
  integer,
  list,
  names,
  onlyOn,
  option,
  reason,
  textValue,
  timeMs,
  toggle,
  value,
  type Option,
  type ValueScope,
} from './option.ts';

const COLOR_CHOICES = ['auto', 'always', 'never'] as const;
export type ColorChoice = (typeof COLOR_CHOICES)[number];

export type Format = (typeof FORMAT_NAMES)[number];

/** `--watch` without a number. */
export const WATCH_MS = 5_000;

/** The names of the built-in profiles. An import would load code that one-shot commands do not need. */
const PROFILES = ['documented', 'drf', 'generic-rest', 'form-action'];
const NOTHING: Allowed = new Set();

const GENERAL_ROWS = [
  toggle('help', '-h, --help  Explain the command'),
  toggle('version', '-V, --version  Print the version'),
  choice('format', `--format FORMAT  Print data as ${FORMAT_NAMES.join(', ')}`, FORMAT_NAMES, {
    synonyms: ['o', 'output'],
  }),
  value(
    'fields',
    '--json[=FIELDS]  The same as --format json; with FIELDS only these fields',
    (text) => (text === '' ? undefined : names(text)),
    { standsApart: /^\w+(?:,\w+)+$/ },
  ),
  toggle('quiet', '-q, --quiet  No remarks, only data and errors'),
  toggle('verbose', '-v, --verbose  Show each request on stderr, secrets masked', {
    isRepeatable: true,
  }),
  choice(
    'color',
    `--color WHEN  Colours: ${COLOR_CHOICES.join(', ')} (default auto)`,
    COLOR_CHOICES,
  ),
  value('color', '--no-color  No colours, as with NO_COLOR', () => 'never' as const),
  toggle('noHeaders', '--no-headers  No header lines above tables and CSV'),
  toggle('plain', '--plain  A line-by-line prompt instead of the full screen'),
  choice('theme', `--theme THEME  The theme of the screen: ${THEME_NAMES.join(', ')}`, THEME_NAMES),
];

/** Which devices, and how to reach and log in to them. */
const DEVICE_ROWS = [
  list(
    'on',
    '--on SELECTOR  The devices: names, addresses, 10.0.0.[5-9], 10.0.0.0/29, @group, !but-not (repeatable)',
    anyText,
    {
      complete: ({ typed, targets }) => completeList(typed, /[\s,]/, () => targets),
      synonyms: ['host'],
    },
  ),
  textValue('user', '--user NAME  The account to log in as', { synonyms: ['u'] }),
  textValue('ca', '--ca FILE  Trust certificates signed by the CA in this PEM file'),
  toggle('insecure', '--insecure  Do not check certificates', { synonyms: ['k'] }),
  value(
    'route',
    '--proxy URL  Reach the devices through this proxy (http, https, socks5, socks5h); "none": directly',
    (text): ConfiguredRoute => parseRoute('proxy', text),
  ),
  value(
    'route',
    '--jump HOST  Reach the devices through this SSH jump host (ssh -W); "none": directly',
    (text): ConfiguredRoute => parseRoute('jump', text),
  ),
  value(
    'timeoutMs',
    '--timeout SECONDS  Time limit of a write, or of a read without new data (default 10)',
    timeMs('s', 0.001, 3600),
  ),
  value(
    'concurrency',
    '--concurrency N  How many devices at a time (default: reads adapt to the machine, writes go one by one)',
    integer(1, 1024),
  ),
  toggle('tokenStdin', '--token-stdin  Read a token from standard input'),
  toggle('passwordStdin', '--password-stdin  Read the password from standard input'),
  toggle('passphraseStdin', '--passphrase-stdin  Read the vault passphrase from standard input'),
  toggle('readOnly', '--read-only  Refuse every write'),
];

/** The source of new secrets, and the places that keep them. */
const NEW_SECRET_ROWS = [
  toggle('newStdin', '--new-stdin  Read the new secret from standard input, after other secrets'),
  toggle('generate', '--generate  Generate it'),
  value('length', '--length N  The number of its characters (default 24)', integer(8, 128)),
  toggle('each', '--each  Another one on each device'),
  textValue('escrow', '--escrow FILE  Write it to this age file, too, before it is sent'),
  list('recipients', '--recipient KEY  Who can open that: age1… (repeatable)', filled),
];

/** Every option, in the order of the help. A verb lists the keys of the options that it takes. */
const ROWS = [
  ...GENERAL_ROWS,
  ...DEVICE_ROWS,
  textValue(
    'profile',
    `--profile NAME  How the device speaks: ${PROFILES.join(', ')}, or one of yours`,
    { choices: PROFILES, takesFile: true },
  ),
  value(
    'fingerprint',
    '--fingerprint HEX  The expected SHA-256 fingerprint, colons optional',
    anyText,
  ),
  value(
    'fingerprints',
    '--fingerprints FILE  A file with those of many devices, as "trust scan" writes it',
    (text) => {
      if (!/^(?:sha256:)?(?:[\da-f]{2}:?){8,}$/i.test(text)) return text;
      throw new UsageError('--fingerprints takes a file; one of them is --fingerprint HEX');
    },
  ),
  toggle('check', '--check  Only try the login of each device; ask and keep nothing'),
  toggle('token', '--token  A token instead of a password'),
  choice('to', '--to STORE  Keep the login in the keychain or the vault', ['keychain', 'vault']),

  // Which parts of records and responses to show, and how often.
  value(
    'columns',
    '--columns FIELDS  Show only these fields, in this order; a prompt keeps them until "auto", which shows all',
    names,
    { complete: fieldNames, synonyms: ['fields'] },
  ),
  value('sort', '--sort FIELDS  Sort by these fields; -field sorts in descending order', names, {
    complete: fieldNames,
    synonyms: ['sort-by'],
  }),
  value(
    'filter',
    '--filter FILTER  Only records that match: words, field=value, field!=value, field~regex',
    anyText,
    { complete: ({ typed, fields }) => fields(typed, []), synonyms: ['where'] },
  ),
  toggle('fold', '--fold  Show equal records of several devices as one row'),
  toggle(
    'drift',
    '--drift  Compare the records of the devices: same, differs, missing; exit code 8 if they differ',
    { synonyms: ['diff', 'compare'] },
  ),
  textValue('against', '--against FILE  Compare with the expected records in this file'),
  textValue(
    'countBy',
    '--count-by FIELD  Count the records by the value of this field (also address.city), most frequent first',
    { complete: fieldNames, synonyms: ['count', 'group-by'] },
  ),
  textValue('since', '--since TIME  Only after TIME: 2d (ago), 03:00, 2026-11-22T03:00Z, or a RUN'),
  textValue('until', '--until TIME  Only before TIME'),
  textValue('at', '--at TIME  As it was at TIME: 2d (ago), 03:00, 2026-11-22T03:00Z, before a RUN'),
  toggle('allFields', '--all-fields  Also the last values of fields that change by themselves'),
  toggle('exitCode', '--exit-code  End with 8 if there are changes'),
  value(
    'watchMs',
    '--watch[=SECONDS]  Read again every SECONDS (default 5) and show changes, until Ctrl-C',
    (text) => (text === '' ? WATCH_MS : timeMs('s', 0.2, 86_400)(text)),
    { standsApart: /^\d+(?:\.\d+)?(?:ms|s|m|h)?$/, synonyms: ['w'] },
  ),
  toggle('raw', '--raw  Print the body unchanged'),

  // Writes and roll-out.
  toggle('yes', '-y, --yes  Do not ask before writing'),
  toggle('dryRun', '--dry-run  Show what would be sent; send nothing', {
    synonyms: ['check', 'diff'],
  }),
  toggle('asCurl', '--as-curl  Print curl calls and send nothing; secrets become variables'),
  option('allow', '--allow WORD  Override a refusal; "help allow" lists the words (repeatable)', {
    fallback: NOTHING,
    parse: (text, before = NOTHING) => new Set([...before, ...names(text).map(allowedWord)]),
    choices: ALLOW_WORDS,
    isRepeatable: true,
    complete: ({ typed }) =>
      completeList(typed, /,/, () =>
        ALLOW_WORDS.map((text) => ({ text, summary: allowMeaning(text) })),
      ),
  }),
  value('reason', '--reason TEXT  Why: kept in the journal; shown by "runs" and reports', reason),
  value('where', '--where FILTER  All records that match, instead of KEY', anyText, {
    complete: ({ typed, fields }) => fields(typed, []),
    synonyms: ['filter'],
  }),
  list('only', '--only DEVICES=KEY  This KEY only on these devices (repeatable)', onlyOn),
  list('also', '--also DEVICE=KEY  Take this record, which devsh asks about (repeatable)', markOf),
  toggle('now', '--now  Act although some devices were not read'),
  toggle('deletes', '--delete  Delete the account on devices that cannot disable it'),
  value(
    'canary',
    '--canary N  Write to N devices first, check the login, then ask',
    integer(1, 100_000),
  ),
  value('batch', '--batch N  Then write in batches of N devices', integer(1, 100_000)),
  value('pauseMs', '--pause SECONDS  Wait between two batches', timeMs('s', 0, 86_400)),
  value('maxFailures', '--max-failures N|P%  Stop if more devices than this have failed', failures),
  value(
    'confirmMs',
    '--confirm SECONDS  Undo the run unless you confirm in time, while devsh runs',
    timeMs('s', 1, 86_400),
  ),

  ...NEW_SECRET_ROWS,

  // Plans, their parts and their runs.
  textValue('output', '-o, --output FILE  Write a plan, a report, or records to this file'),
  value(
    'expiresMs',
    '--expires HOURS  How long the plan file is valid (default 24)',
    timeMs('h', 0.001, 8760),
  ),
  textValue('resource', '--resource NAME  The resource of the rows of a CSV file (default user)'),
  toggle('replan', '--replan  Plan again from the present state of the devices'),
  value('shard', '--shard I/N  Only devices of shard I of N, by a hash of addresses', parseShard),
  textValue(
    'result',
    '--result FILE  Keep the result of a plan file; the same line continues from it',
  ),
  list('plans', '--plan FILE  A plan file of these results (repeatable)', filled),
  toggle('wait', '--wait  Try again with growing pauses until each device has answered, or Ctrl-C'),
  toggle('long', '--long  Also the columns that the short table leaves out'),
  toggle('keepGoing', '--keep-going  Continue after a failed line'),

  // Records in files.
  toggle('overwrite', '--overwrite  Replace existing files'),
  textValue('outputDir', '--output-dir DIR  One file for each device, named after it'),
  toggle('prune', '--prune  Also delete records that are not in the file, or were not there then'),
  textValue('key', '--key FIELD  The field that identifies a record (default: the natural key)'),
  list('map', '--map COLUMN=FIELD  The field of a column; COLUMN= omits it (repeatable)', filled),

  // The inventory and its sources.
  list('groups', '--group GROUP  Put the device into this group (repeatable)', (text) =>
    filled(text.replace(/^@/, '')),
  ),
  choice(
    'from',
    `--from KIND  The kind of the source, if devsh does not recognize it: ${SOURCE_KINDS.join(', ')}`,
    SOURCE_KINDS,
  ),
  value('forget', '--forget DEVICE  Remove all that is kept of what DEVICE showed', anyText),

  // Simulated devices.
  value('devices', '--devices N  How many devices to simulate (default 3)', integer(1, 10_000)),
  value('users', '--users N  How many users each device has (default 25)', integer(0, 1_000_000)),
  value('latencyMs', '--latency MS  Latency of each response (default 0)', integer(0, 600_000)),
  value('seed', '--seed N  The seed of the random users (default 1)', integer(0, 2 ** 31)),
  value('port', '--port PORT  The port to listen on (default 8443)', integer(0, 65_535)),
];

/** Whether the value of `-o` is a format of devsh or kubectl, and not a file. A file of that name is `./json`. */
export function isFormatElsewhere(text: string): boolean {
  const isName = FORMAT_NAMES.some((name) => name === text);
  return (
    isName || /^(?:wide|name|(?:jsonpath|go-template|custom-columns)(?:-file)?(?:=|$))/.test(text)
  );
}

type Row = (typeof ROWS)[number];

export type OptionKey = Row['key'];

/** The value of each option: as given in the line, else its fallback. */
export type AllOptions = {
  readonly [R in Row as R['key']]: R extends Option<R['key'], infer T> ? T : never;
};

/** The values of the options `K`, as a verb with these options gets them. */
export type Options<K extends OptionKey> = Pick<AllOptions, K>;

/** The options that a line gives, without fallbacks. */
export type Given = { readonly [K in OptionKey]?: AllOptions[K] };

export const OPTIONS: readonly Option<OptionKey>[] = ROWS;

export const FALLBACKS = Object.fromEntries(
  ROWS.map(({ key, fallback }) => [key, fallback]),
) as unknown as AllOptions;

function keysOf<K extends OptionKey>(rows: readonly Option<K>[]): readonly K[] {
  return [...new Set(rows.map(({ key }) => key))];
}

export const GENERAL = keysOf(GENERAL_ROWS);
export type GeneralOption = (typeof GENERAL)[number];

export const DEVICES = keysOf(DEVICE_ROWS);
export type DeviceOption = (typeof DEVICES)[number];

export const NEW_SECRET = keysOf(NEW_SECRET_ROWS);
export type NewSecretOption = (typeof NEW_SECRET)[number];

export const TABLE = ['columns', 'sort', 'filter', 'fold', 'drift', 'against', 'countBy'] as const;

export const WRITE = ['yes', 'dryRun', 'allow', 'reason'] as const;
export type WriteOption = (typeof WRITE)[number];

export const ROLL_OUT = ['canary', 'batch', 'pauseMs', 'maxFailures'] as const;
export type RollOutOption = (typeof ROLL_OUT)[number];

export const PAST = ['since', 'until', 'allFields', 'exitCode'] as const;

export const CHANGE = [...DEVICES, 'profile', ...WRITE, ...ROLL_OUT] as const;

/** The options of a lockout, which goes to every device: no option leaves one out. */
export const LOCKOUT = [
  ...DEVICES.filter((option) => option !== 'on'),
  ...WRITE,
  'now',
  'deletes',
] as const;

/** The options of a rotation. It begins with a canary unless the line says otherwise. */
const ROTATION = [...DEVICES, 'profile', ...WRITE, ...ROLL_OUT, 'where'] as const;
export const ROTATE = [...ROTATION, ...NEW_SECRET] as const;
/** The device makes the token: devsh only keeps it. */
export const ROTATE_TOKEN = [...ROTATION, 'escrow', 'recipients'] as const;

/** Which part of a plan file to execute, and where its result goes. */
export const PART = ['replan', 'shard', 'result'] as const;
export type PartOption = (typeof PART)[number];

export const SIMULATOR = ['devices', 'users', 'latencyMs', 'seed', 'port'] as const;
export type SimulatorOption = (typeof SIMULATOR)[number];

/** The options that the lines of a script inherit from the script. */
const INHERITED: readonly OptionKey[] = [...DEVICES, 'profile', ...WRITE, 'verbose'];

export function pickGiven(given: Given, keys: readonly OptionKey[]): Given {
  let picked: Given = {};
  for (const key of keys) {
    if (given[key] !== undefined) picked = { ...picked, [key]: given[key] };
  }
  return picked;
}

/** The options of a line in a script; those it lacks come from the script. */
export function inherit(outer: Given, own: Given): Given {
  const allow = outer.allow && own.allow && new Set([...outer.allow, ...own.allow]);
  return { ...pickGiven(outer, INHERITED), ...own, ...(allow && { allow }) };
}

/** `fw2=bob`. Throws a `UsageError`. */
function markOf(text: string): Mark {
  const at = text.indexOf('=');
  if (at === -1) throw new UsageError(`name the device, too: --also DEVICE=${filled(text)}`);
  return { device: filled(text.slice(0, at)), key: filled(text.slice(at + 1)) };
}

function fieldNames({ typed, fields }: ValueScope) {
  return completeList(typed, /,/, (given) =>
    fields('', given).map(({ text, summary }) => ({ text: text.slice(0, -1), summary })),
  );
}
