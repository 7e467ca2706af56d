import type * as Zod from 'zod';
import { asBoolean } from '../device/equality.ts';
import { FORMAT_NAMES, THEME_NAMES } from '../text/choices.ts';

/** The parts of zod that rows use: passing all of zod would bundle all of it. */
export type Z = Pick<typeof Zod, Part>;
type Part =
  | 'array'
  | 'boolean'
  | 'enum'
  | 'int'
  | 'json'
  | 'literal'
  | 'record'
  | 'strictObject'
  | 'string'
  | 'union';

export interface Setting {
  /** Checked only if something is set: loading zod takes start-up time. */
  readonly schema: (z: Z) => Zod.ZodType;
  readonly summary: string;
  /** The value if nothing is set. */
  readonly default?: unknown;
  /** The default in words, if the code that uses the setting decides. */
  readonly otherwise?: string;
  /** An option of the same name overrides it. */
  readonly hasOption?: true;
  /** The variable that overrides it. */
  readonly variable?: {
    readonly name: string;
    /** Absent: documented with another variable. */
    readonly meaning?: string;
    /** Converts the text for the schema; absent: unchanged. */
    readonly read?: (text: string) => unknown;
  };
  /** What a project file may set; true: any value. It may be foreign: it must run, trust and allow nothing. */
  readonly inProject?: true | ((z: Z) => Zod.ZodType);
}

const nonEmpty = (z: Z) => z.string().min(1);
const flag = (z: Z) => z.boolean();
const onlyTrue = (z: Z) => z.literal(true, 'only true is allowed here');
const shown = (z: Z) =>
  z.string().regex(/^\P{C}{1,100}$/u, 'a short text without control characters');

/** Every setting, in the order of `config list`. */
export const SETTINGS = {
  timeoutMs: {
    schema: (z: Z) => z.int().min(1).max(3_600_000),
    inProject: true,
    summary: 'How long a response may take, as --timeout',
    otherwise: '10000',
    hasOption: true,
    variable: {
      name: 'DEVSH_TIMEOUT',
      meaning: 'as --timeout, in seconds',
      read: (seconds) => Number(seconds) * 1000,
    },
  },
  concurrency: {
    schema: (z: Z) => z.int().min(1).max(1_000),
    inProject: true,
    summary: 'How many devices at a time',
    otherwise: 'reads adapt from 128, writes 1',
    hasOption: true,
    variable: { name: 'DEVSH_CONCURRENCY', meaning: 'as --concurrency', read: Number },
  },
  on: {
    schema: nonEmpty,
    inProject: true,
    summary: 'The devices of a line that names none',
    otherwise: 'the connected devices',
    hasOption: true,
    variable: { name: 'DEVSH_ON', meaning: 'the devices of a line that names none' },
  },
  format: {
    schema: (z: Z) => z.enum(FORMAT_NAMES),
    inProject: true,
    summary: 'The format of data, unless the line names one',
    otherwise: 'table',
    hasOption: true,
    variable: { name: 'DEVSH_FORMAT', meaning: 'as --format, but not at the prompt' },
  },
  readOnly: {
    schema: flag,
    inProject: onlyTrue,
    summary: 'Refuse every write',
    otherwise: 'false',
    hasOption: true,
    variable: {
      name: 'DEVSH_READ_ONLY',
      meaning: '1: refuse every write',
      read: (text) => asBoolean(text) ?? text,
    },
  },
  requireReason: {
    schema: flag,
    inProject: onlyTrue,
    summary: 'Whether every write needs a reason: `--reason`, else asked for',
    default: false,
  },
  inventory: {
    schema: nonEmpty,
    summary: 'The path of the inventory',
    otherwise: 'devices.yaml',
    variable: { name: 'DEVSH_INVENTORY', meaning: 'the path of the inventory' },
  },
  historySize: {
    schema: (z: Z) => z.int().min(0).max(1_000_000),
    summary: 'The number of history lines to keep',
  },
  saveCredentials: {
    schema: (z: Z) => z.enum(['ask', 'never']),
    summary: 'Whether devsh asks to keep a typed login, or never keeps one',
    default: 'ask',
  },
  rememberKeys: { schema: flag, summary: 'Keep keys of records, for completion', default: true },
  historyDays: {
    schema: (z: Z) => z.int().min(0).max(36_500),
    summary: 'How many days devsh keeps what it reads, for `changes`; 0: it keeps nothing',
    default: 90,
  },
  historyMegabytes: {
    schema: (z: Z) => z.int().min(1).max(1_000_000),
    summary: 'How much of that it keeps for all devices, in megabytes',
    default: 200,
  },
  historyValues: {
    schema: (z: Z) => z.enum(['all', 'harmless']),
    summary: '`harmless`: keep only values of keys, harmless and public fields, of others digests',
    default: 'all',
  },
  theme: {
    schema: (z: Z) => z.enum(THEME_NAMES),
    summary: 'The theme of the full screen',
    otherwise: 'fits the terminal',
    hasOption: true,
    variable: { name: 'DEVSH_THEME', meaning: 'as --theme' },
  },
  reduceMotion: { schema: flag, summary: 'Changes on the full screen do not fade', default: false },
  detailsBeside: { schema: flag, summary: 'Details stand beside the table', default: true },
  watchAbsent: { schema: flag, summary: 'The screen says when a device is back', default: true },
  bell: { schema: flag, summary: 'Ring when a run of more than 10 s has ended', default: true },
  completeWhileTyping: { schema: flag, summary: 'Propose words without Tab', default: true },
  columns: {
    schema: (z: Z) => z.record(z.string(), z.array(z.string()).readonly()),
    summary: 'By profile and resource (`drf/user`): the fields that a list shows on the screen',
  },
  aliases: {
    schema: (z: Z) => {
      const alias = z.strictObject({
        run: nonEmpty(z),
        key: nonEmpty(z).optional(),
        place: z.enum(['table', 'details', 'devices', 'runs', 'drift', 'resources']).optional(),
        label: shown(z).optional(),
        seconds: z.int().min(1).max(3_600).optional(),
        // Older files have these. They are kept, and such an alias does not run.
        when: z.json().optional(),
        prompts: z.json().optional(),
        reads: z.json().optional(),
      });
      return z.record(z.string(), z.union([nonEmpty(z), alias]));
    },
    summary: 'Lines and `!` programs to run by one word or key; see `alias`',
  },
} as const satisfies Record<string, Setting>;

type Table = typeof SETTINGS;
export type SettingName = keyof Table;
type Value<Name extends SettingName> = Zod.infer<ReturnType<Table[Name]['schema']>>;
type Defaulted = {
  [Name in SettingName]: Table[Name] extends { readonly default: unknown } ? Name : never;
}[SettingName];

/** The effective settings; the code that uses an absent one decides. */
export type SettingsValues = { readonly [Name in Defaulted]: Value<Name> } & {
  readonly [Name in Exclude<SettingName, Defaulted>]?: Value<Name> | undefined;
};

export type Aliases = Value<'aliases'>;
/** An alias with all that belongs to it: its key, and where that applies. */
export type Alias = Exclude<Aliases[string], string>;

/** The same rows as a list. */
export const SETTING_ROWS = Object.entries<Setting>(SETTINGS) as readonly (readonly [
  SettingName,
  Setting,
])[];
