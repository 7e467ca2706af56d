import { UsageError } from '../errors.ts';

export const REPORT_KINDS = ['markdown', 'json', 'junit', 'curl'] as const;
export type ReportKind = (typeof REPORT_KINDS)[number];

export const FORMATS = ['table', 'json', 'jsonl', 'csv', 'yaml'] as const;
export type Format = (typeof FORMATS)[number];

/** Every option of every command, parsed. Absent ones have the value of `NO_OPTIONS`. */
export interface Options {
  readonly help: boolean;
  readonly version: boolean;
  readonly format: Format | undefined;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly noColor: boolean;
  readonly plain: boolean;
  readonly on: readonly string[];
  readonly user: string | undefined;
  readonly ca: string | undefined;
  readonly insecure: boolean;
  readonly timeoutMs: number | undefined;
  readonly concurrency: number | undefined;
  readonly tokenStdin: boolean;
  readonly passwordStdin: boolean;
  readonly readOnly: boolean;
  readonly columns: readonly string[] | undefined;
  readonly sort: readonly string[] | undefined;
  readonly filter: string | undefined;
  readonly fold: boolean;
  readonly yes: boolean;
  readonly dryRun: boolean;
  readonly force: boolean;
  readonly where: string | undefined;
  readonly canary: number;
  readonly batch: number | undefined;
  readonly pauseMs: number;
  readonly maxFailures: { readonly kind: 'count' | 'percent'; readonly limit: number } | undefined;
  readonly replan: boolean;
  readonly confirmMs: number | undefined;
  readonly output: string | undefined;
  readonly expiresMs: number | undefined;
  readonly resource: string;
  readonly rest: boolean;
  readonly as: ReportKind | undefined;
  readonly fingerprint: string | undefined;
  readonly raw: boolean;
  readonly groups: readonly string[];
  readonly devices: number | undefined;
  readonly users: number | undefined;
  readonly latencyMs: number | undefined;
  readonly seed: number | undefined;
  readonly port: number | undefined;
  readonly faults: readonly string[];
}

export const NO_OPTIONS: Options = {
  help: false,
  version: false,
  format: undefined,
  quiet: false,
  verbose: false,
  noColor: false,
  plain: false,
  on: [],
  user: undefined,
  ca: undefined,
  insecure: false,
  timeoutMs: undefined,
  concurrency: undefined,
  tokenStdin: false,
  passwordStdin: false,
  readOnly: false,
  columns: undefined,
  sort: undefined,
  filter: undefined,
  fold: false,
  yes: false,
  dryRun: false,
  force: false,
  where: undefined,
  canary: 0,
  batch: undefined,
  pauseMs: 0,
  maxFailures: undefined,
  replan: false,
  confirmMs: undefined,
  output: undefined,
  expiresMs: undefined,
  resource: 'user',
  rest: false,
  as: undefined,
  fingerprint: undefined,
  raw: false,
  groups: [],
  devices: undefined,
  users: undefined,
  latencyMs: undefined,
  seed: undefined,
  port: undefined,
  faults: [],
};

/** Which commands an option belongs to: `general` ones are understood everywhere. */
export type OptionGroup =
  | 'general'
  | 'devices'
  | 'table'
  | 'write'
  | 'where'
  | 'trust'
  | 'raw'
  | 'device'
  | 'simulator'
  | 'roll-out'
  | 'plan'
  | 'apply'
  | 'change-set'
  | 'retry'
  | 'report';

export interface OptionSpec {
  readonly name: string;
  readonly short?: string;
  /** The placeholder of its value; an option without one is a switch. */
  readonly value?: string;
  readonly summary: string;
  readonly group: OptionGroup;
  /** The values to choose from, for completion and the error. */
  readonly choices?: readonly string[];
  /** Takes the value into `options`; throws a `UsageError` for one that it does not understand. */
  readonly set: (options: Options, text: string) => Options;
}

export const OPTIONS: readonly OptionSpec[] = [
  {
    name: 'help',
    short: 'h',
    summary: 'Explain the command',
    group: 'general',
    set: (options) => ({ ...options, help: true }),
  },
  {
    name: 'version',
    short: 'V',
    summary: 'Print the version',
    group: 'general',
    set: (options) => ({ ...options, version: true }),
  },
  {
    name: 'format',
    value: 'FORMAT',
    summary: `Print data as ${FORMATS.join(', ')}`,
    group: 'general',
    choices: FORMATS,
    set: (options, text) => ({ ...options, format: formatOf(text) }),
  },
  {
    name: 'json',
    summary: 'The same as --format json',
    group: 'general',
    set: (options) => ({ ...options, format: 'json' }),
  },
  {
    name: 'quiet',
    short: 'q',
    summary: 'No remarks, only data and errors',
    group: 'general',
    set: (options) => ({ ...options, quiet: true }),
  },
  {
    name: 'verbose',
    short: 'v',
    summary: 'Show each request on stderr, secrets masked',
    group: 'general',
    set: (options) => ({ ...options, verbose: true }),
  },
  {
    name: 'no-color',
    summary: 'No colours, as with NO_COLOR in the environment',
    group: 'general',
    set: (options) => ({ ...options, noColor: true }),
  },
  {
    name: 'plain',
    summary: 'A line-by-line prompt instead of the full screen',
    group: 'general',
    set: (options) => ({ ...options, plain: true }),
  },
  {
    name: 'on',
    value: 'SELECTOR',
    summary:
      'The devices: names, addresses, 10.0.0.[5-9], 10.0.0.0/29, @group, !but-not (repeatable)',
    group: 'devices',
    set: (options, text) => ({ ...options, on: [...options.on, text] }),
  },
  {
    name: 'user',
    value: 'NAME',
    summary: 'The account to log in as',
    group: 'devices',
    set: (options, text) => ({ ...options, user: text }),
  },
  {
    name: 'ca',
    value: 'FILE',
    summary: 'Trust certificates signed by the CA in this PEM file',
    group: 'devices',
    set: (options, text) => ({ ...options, ca: text }),
  },
  {
    name: 'insecure',
    summary: 'Do not check certificates (for this call)',
    group: 'devices',
    set: (options) => ({ ...options, insecure: true }),
  },
  {
    name: 'timeout',
    value: 'SECONDS',
    summary: 'How long to wait for a whole answer (default 10)',
    group: 'devices',
    set: (options, text) => ({ ...options, timeoutMs: numberOf(text, 0.001, 3600) * 1000 }),
  },
  {
    name: 'concurrency',
    value: 'N',
    summary: 'How many devices at a time (default: 64 for reads, 1 for writes)',
    group: 'devices',
    set: (options, text) => ({ ...options, concurrency: integerOf(text, 1, 1024) }),
  },
  {
    name: 'token-stdin',
    summary: 'Read a token from standard input',
    group: 'devices',
    set: (options) => ({ ...options, tokenStdin: true }),
  },
  {
    name: 'password-stdin',
    summary: 'Read the password from standard input',
    group: 'devices',
    set: (options) => ({ ...options, passwordStdin: true }),
  },
  {
    name: 'read-only',
    summary: 'Refuse every write',
    group: 'devices',
    set: (options) => ({ ...options, readOnly: true }),
  },
  {
    name: 'columns',
    value: 'FIELDS',
    summary: 'Show these fields only, in this order (comma-separated)',
    group: 'table',
    set: (options, text) => ({ ...options, columns: namesOf(text) }),
  },
  {
    name: 'sort',
    value: 'FIELDS',
    summary: 'Sort by these fields; -field sorts downwards',
    group: 'table',
    set: (options, text) => ({ ...options, sort: namesOf(text) }),
  },
  {
    name: 'filter',
    value: 'FILTER',
    summary: 'Only records that match: words, field=value, field!=value, field~regex',
    group: 'table',
    set: (options, text) => ({ ...options, filter: text }),
  },
  {
    name: 'fold',
    summary: 'Show records that are equal on several devices as one row',
    group: 'table',
    set: (options) => ({ ...options, fold: true }),
  },
  {
    name: 'yes',
    short: 'y',
    summary: 'Do not ask before writing',
    group: 'write',
    set: (options) => ({ ...options, yes: true }),
  },
  {
    name: 'dry-run',
    summary: 'Show what would be sent, and send nothing',
    group: 'write',
    set: (options) => ({ ...options, dryRun: true }),
  },
  {
    name: 'force',
    summary: 'Also delete or rename the account in use',
    group: 'write',
    set: (options) => ({ ...options, force: true }),
  },
  {
    name: 'where',
    value: 'FILTER',
    summary: 'All records that match, instead of one KEY',
    group: 'where',
    set: (options, text) => ({ ...options, where: text }),
  },
  {
    name: 'canary',
    value: 'N',
    summary: 'Write to N devices first, check the login, then ask whether to go on',
    group: 'roll-out',
    set: (options, text) => ({ ...options, canary: integerOf(text, 1, 100_000) }),
  },
  {
    name: 'batch',
    value: 'N',
    summary: 'Then go on in portions of N devices',
    group: 'roll-out',
    set: (options, text) => ({ ...options, batch: integerOf(text, 1, 100_000) }),
  },
  {
    name: 'pause',
    value: 'SECONDS',
    summary: 'Wait between two portions',
    group: 'roll-out',
    set: (options, text) => ({ ...options, pauseMs: numberOf(text, 0, 86_400) * 1000 }),
  },
  {
    name: 'max-failures',
    value: 'N|P%',
    summary: 'Stop when more devices than this have failed',
    group: 'roll-out',
    set: (options, text) => ({ ...options, maxFailures: failuresOf(text) }),
  },
  {
    name: 'output',
    short: 'o',
    value: 'FILE',
    summary: 'Write the plan to a file, to be applied later as it is',
    group: 'plan',
    set: (options, text) => ({ ...options, output: text }),
  },
  {
    name: 'expires',
    value: 'HOURS',
    summary: 'How long the plan file may be applied (default 24)',
    group: 'plan',
    set: (options, text) => ({ ...options, expiresMs: numberOf(text, 0.001, 8760) * 3_600_000 }),
  },
  {
    name: 'resource',
    value: 'NAME',
    summary: 'What the lines of a CSV file are (default user)',
    group: 'change-set',
    set: (options, text) => ({ ...options, resource: text }),
  },
  {
    name: 'replan',
    summary: 'Plan anew from what the devices hold now',
    group: 'apply',
    set: (options) => ({ ...options, replan: true }),
  },
  {
    name: 'confirm',
    value: 'SECONDS',
    summary: 'Take it back by itself unless you confirm in time (only while devsh runs)',
    group: 'apply',
    set: (options, text) => ({ ...options, confirmMs: numberOf(text, 1, 86_400) * 1000 }),
  },
  {
    name: 'rest',
    summary: 'Also the steps that were never reached',
    group: 'retry',
    set: (options) => ({ ...options, rest: true }),
  },
  {
    name: 'as',
    value: 'KIND',
    summary: `The report as ${REPORT_KINDS.join(', ')}`,
    group: 'report',
    choices: REPORT_KINDS,
    set: (options, text) => ({ ...options, as: reportKindOf(text) }),
  },
  {
    name: 'fingerprint',
    value: 'HEX',
    summary: 'The expected SHA-256 fingerprint, colons optional',
    group: 'trust',
    set: (options, text) => ({ ...options, fingerprint: text }),
  },
  {
    name: 'raw',
    summary: 'Print the body as it came',
    group: 'raw',
    set: (options) => ({ ...options, raw: true }),
  },
  {
    name: 'group',
    value: 'GROUP',
    summary: 'Put the device into this group (repeatable)',
    group: 'device',
    set: (options, text) => ({ ...options, groups: [...options.groups, text] }),
  },
  {
    name: 'devices',
    value: 'N',
    summary: 'How many devices to simulate (default 3)',
    group: 'simulator',
    set: (options, text) => ({ ...options, devices: integerOf(text, 1, 10_000) }),
  },
  {
    name: 'users',
    value: 'N',
    summary: 'How many users each device has (default 25)',
    group: 'simulator',
    set: (options, text) => ({ ...options, users: integerOf(text, 0, 1_000_000) }),
  },
  {
    name: 'latency',
    value: 'MS',
    summary: 'How long each answer takes, in milliseconds (default 0)',
    group: 'simulator',
    set: (options, text) => ({ ...options, latencyMs: integerOf(text, 0, 600_000) }),
  },
  {
    name: 'seed',
    value: 'N',
    summary: 'Another set of users; the same seed gives the same ones (default 1)',
    group: 'simulator',
    set: (options, text) => ({ ...options, seed: integerOf(text, 0, 2 ** 31) }),
  },
  {
    name: 'port',
    value: 'PORT',
    summary: 'The port to listen on (default 8443)',
    group: 'simulator',
    set: (options, text) => ({ ...options, port: integerOf(text, 0, 65_535) }),
  },
  {
    name: 'fault',
    value: 'DEVICE:NAME',
    summary: 'Let a device misbehave (repeatable; "help simulator" lists the names)',
    group: 'simulator',
    set: (options, text) => ({ ...options, faults: [...options.faults, text] }),
  },
];

/** `--name` or `-n` as it is typed. */
export function optionLabel(spec: OptionSpec): string {
  const value = spec.value === undefined ? '' : ` ${spec.value}`;
  return `${spec.short === undefined ? '' : `-${spec.short}, `}--${spec.name}${value}`;
}

function formatOf(text: string): Format {
  const format = FORMATS.find((name) => name === text);
  if (format === undefined) {
    throw new UsageError(`there is no format "${text}"; the formats are ${FORMATS.join(', ')}`);
  }
  return format;
}

function reportKindOf(text: string): ReportKind {
  const kind = REPORT_KINDS.find((name) => name === text);
  if (kind === undefined) {
    throw new UsageError(`there is no report "${text}"; there are ${REPORT_KINDS.join(', ')}`);
  }
  return kind;
}

/** `5`, `10%`. */
function failuresOf(text: string): { kind: 'count' | 'percent'; limit: number } {
  return text.endsWith('%')
    ? { kind: 'percent', limit: numberOf(text.slice(0, -1), 0, 100) }
    : { kind: 'count', limit: integerOf(text, 0, 1_000_000) };
}

function numberOf(text: string, least: number, most: number): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= least && value <= most)) {
    throw new UsageError(`"${text}" is not a number from ${least} to ${most}`);
  }
  return value;
}

function integerOf(text: string, least: number, most: number): number {
  const value = numberOf(text, least, most);
  if (!Number.isInteger(value)) throw new UsageError(`"${text}" is not a whole number`);
  return value;
}

function namesOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((name) => name !== '');
}
