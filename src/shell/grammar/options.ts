import { FORMAT_NAMES } from '../../format-names.ts';
import type { SourceKind } from '../../fleet/import/source-kind.ts';
import type { ThemeName } from '../../theme-names.ts';
import type { Allowed } from '../../change/allow.ts';
import type { Shard } from '../../change/shard.ts';
import type { ConfiguredRoute } from '../../device/route/choose-route.ts';

export const REPORT_KINDS = ['markdown', 'json', 'junit', 'csv', 'curl'] as const;
export type ReportKind = (typeof REPORT_KINDS)[number];

export const COLOR_CHOICES = ['auto', 'always', 'never'] as const;
export type ColorChoice = (typeof COLOR_CHOICES)[number];

export const FORMATS = FORMAT_NAMES;
export type Format = (typeof FORMATS)[number];

/** Every option of every command, parsed. Absent ones have the value of `NO_OPTIONS`. */
export interface Options {
  readonly help: boolean;
  readonly version: boolean;
  readonly format: Format | undefined;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly color: ColorChoice;
  readonly noPager: boolean;
  readonly plain: boolean;
  readonly theme: ThemeName | undefined;
  readonly on: readonly string[];
  readonly user: string | undefined;
  readonly ca: string | undefined;
  readonly route: ConfiguredRoute | undefined;
  readonly insecure: boolean;
  readonly timeoutMs: number | undefined;
  readonly concurrency: number | undefined;
  readonly tokenStdin: boolean;
  readonly passwordStdin: boolean;
  readonly passphraseStdin: boolean;
  readonly readOnly: boolean;
  readonly columns: readonly string[] | undefined;
  readonly sort: readonly string[] | undefined;
  readonly filter: string | undefined;
  readonly fold: boolean;
  readonly drift: boolean;
  /** Read again so often. */
  readonly watchMs: number | undefined;
  readonly yes: boolean;
  readonly dryRun: boolean;
  readonly asCurl: boolean;
  readonly allow: Allowed;
  readonly where: string | undefined;
  /** Records that are meant on these devices alone. */
  readonly only: readonly OnlyOn[];
  readonly canary: number;
  readonly batch: number | undefined;
  readonly pauseMs: number;
  readonly maxFailures: { readonly kind: 'count' | 'percent'; readonly limit: number } | undefined;
  readonly replan: boolean;
  readonly confirmMs: number | undefined;
  readonly shard: Shard | undefined;
  /** From 0, as Kubernetes counts. */
  readonly shardIndex: number | undefined;
  readonly shardTotal: number | undefined;
  readonly result: string | undefined;
  readonly plan: string | undefined;
  readonly keepGoing: boolean;
  /** Between two rounds of the command `watch`. */
  readonly intervalMs: number | undefined;
  readonly output: string | undefined;
  readonly expiresMs: number | undefined;
  readonly resource: string;
  /** `--map`, as typed: `COLUMN=FIELD`. */
  readonly map: readonly string[];
  /** The field that tells which record a row of a file is about. */
  readonly key: string | undefined;
  readonly prune: boolean;
  readonly overwrite: boolean;
  readonly perDevice: boolean;
  readonly outputDir: string | undefined;
  readonly rest: boolean;
  readonly as: ReportKind | undefined;
  readonly fingerprint: string | undefined;
  /** A file with the fingerprints of many devices. */
  readonly fingerprints: string | undefined;
  readonly check: boolean;
  readonly token: boolean;
  readonly to: 'keychain' | 'vault' | undefined;
  readonly raw: boolean;
  readonly firstPage: boolean;
  readonly groups: readonly string[];
  readonly from: SourceKind | undefined;
  readonly ansible: boolean;
  readonly config: boolean;
  readonly host: string | undefined;
  readonly profile: string | undefined;
  readonly devices: number | undefined;
  readonly users: number | undefined;
  readonly latencyMs: number | undefined;
  readonly seed: number | undefined;
  readonly port: number | undefined;
  readonly faults: readonly string[];
  readonly envelope: string | undefined;
  readonly paging: string | undefined;
  readonly quirks: readonly string[];
}

export const NO_OPTIONS: Options = {
  help: false,
  version: false,
  format: undefined,
  quiet: false,
  verbose: false,
  color: 'auto',
  noPager: false,
  plain: false,
  theme: undefined,
  on: [],
  user: undefined,
  ca: undefined,
  route: undefined,
  insecure: false,
  timeoutMs: undefined,
  concurrency: undefined,
  tokenStdin: false,
  passwordStdin: false,
  passphraseStdin: false,
  readOnly: false,
  columns: undefined,
  sort: undefined,
  filter: undefined,
  fold: false,
  drift: false,
  watchMs: undefined,
  yes: false,
  dryRun: false,
  asCurl: false,
  allow: new Set(),
  where: undefined,
  only: [],
  canary: 0,
  batch: undefined,
  pauseMs: 0,
  maxFailures: undefined,
  replan: false,
  confirmMs: undefined,
  shard: undefined,
  shardIndex: undefined,
  shardTotal: undefined,
  result: undefined,
  plan: undefined,
  keepGoing: false,
  intervalMs: undefined,
  output: undefined,
  expiresMs: undefined,
  resource: 'user',
  map: [],
  key: undefined,
  prune: false,
  overwrite: false,
  perDevice: false,
  outputDir: undefined,
  rest: false,
  as: undefined,
  fingerprint: undefined,
  fingerprints: undefined,
  check: false,
  token: false,
  to: undefined,
  raw: false,
  firstPage: false,
  groups: [],
  from: undefined,
  ansible: false,
  config: false,
  host: undefined,
  profile: undefined,
  devices: undefined,
  users: undefined,
  latencyMs: undefined,
  seed: undefined,
  port: undefined,
  faults: [],
  envelope: undefined,
  paging: undefined,
  quirks: [],
};

/** A record by its KEY, and the devices that it is meant on. */
export interface OnlyOn {
  readonly devices: readonly string[];
  readonly key: string;
}

/** Which commands an option belongs to: `general` ones are understood everywhere. */
export type OptionGroup =
  | 'general'
  | 'devices'
  | 'table'
  | 'watch'
  | 'write'
  | 'where'
  | 'only'
  | 'curl'
  | 'trust'
  | 'trust-list'
  | 'login'
  | 'raw'
  | 'pages'
  | 'device'
  | 'source'
  | 'ansible'
  | 'info'
  | 'simulator'
  | 'profile'
  | 'roll-out'
  | 'plan'
  | 'output'
  | 'export'
  | 'import'
  | 'confirm'
  | 'apply'
  | 'merge'
  | 'script'
  | 'interval'
  | 'change-set'
  | 'retry'
  | 'report';

export interface OptionSpec {
  readonly name: string;
  readonly short?: string;
  /** The placeholder of its value; an option without one is a switch. */
  readonly value?: string;
  /** Its value may be left out, and is only taken behind `=`. */
  readonly isValueOptional?: boolean;
  readonly summary: string;
  readonly group: OptionGroup;
  /** The values to choose from, for completion and the error. */
  readonly choices?: readonly string[];
  /** Takes the value into `options`; throws a `UsageError` for one that it does not understand. */
  readonly set: (options: Options, text: string) => Options;
}
