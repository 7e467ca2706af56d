import { oneLine } from '../../device/text.ts';
import { THEME_NAMES, type ThemeName } from '../../theme-names.ts';
import { SOURCE_KINDS, type SourceKind } from '../../fleet/import/source-kind.ts';
import { UsageError } from '../../errors.ts';
import type { ConfiguredRoute } from '../../device/route/choose-route.ts';
import {
  COLOR_CHOICES,
  FORMATS,
  REPORT_KINDS,
  type ColorChoice,
  type Format,
  type OnlyOn,
  type Options,
  type ReportKind,
} from './options.ts';

export function formatOf(text: string): Format {
  const format = FORMATS.find((name) => name === text);
  if (format === undefined) {
    throw new UsageError(`there is no format "${text}"; the formats are ${FORMATS.join(', ')}`);
  }
  return format;
}

export function reportKindOf(text: string): ReportKind {
  const kind = REPORT_KINDS.find((name) => name === text);
  if (kind === undefined) {
    throw new UsageError(`there is no report "${text}"; there are ${REPORT_KINDS.join(', ')}`);
  }
  return kind;
}

export function sourceKindOf(text: string): SourceKind {
  const kind = SOURCE_KINDS.find((name) => name === text);
  if (kind === undefined) {
    throw new UsageError(`there is no source "${text}"; there are ${SOURCE_KINDS.join(', ')}`);
  }
  return kind;
}

export function themeOf(text: string): ThemeName {
  const theme = THEME_NAMES.find((name) => name === text);
  if (theme !== undefined) return theme;
  throw new UsageError(`there is no theme "${text}"; the themes are ${THEME_NAMES.join(', ')}`);
}

export function colorOf(text: string): ColorChoice {
  const choice = COLOR_CHOICES.find((name) => name === text);
  if (choice !== undefined) return choice;
  throw new UsageError(`"${text}" is not one of ${COLOR_CHOICES.join(', ')}`);
}

/** `5`, `10%`. */
export function failuresOf(text: string): { kind: 'count' | 'percent'; limit: number } {
  return text.endsWith('%')
    ? { kind: 'percent', limit: numberOf(text.slice(0, -1), 0, 100) }
    : { kind: 'count', limit: integerOf(text, 0, 1_000_000) };
}

/** A device is reached by one way only. */
export function withRoute(options: Options, route: ConfiguredRoute): Options {
  if (options.route !== undefined)
    throw new UsageError('a device is reached by one way: leave out all but one --proxy or --jump');
  return { ...options, route };
}

export function numberOf(text: string, least: number, most: number): number {
  const value = /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : NaN;
  if (!(value >= least && value <= most)) {
    throw new UsageError(`"${oneLine(text)}" is not a number from ${least} to ${most}`);
  }
  return value;
}

const UNITS_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;
const UNIT_NAMES = { s: 'seconds', h: 'hours' } as const;

/** A time in milliseconds: `5` in `unit`, or with a unit of its own, as `500ms` or `2m`. Limits are in `unit`. */
export function timeMsOf(text: string, unit: 's' | 'h', least: number, most: number): number {
  const [, number, own] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
  const timeMs = Number(number ?? NaN) * UNITS_MS[(own ?? unit) as keyof typeof UNITS_MS];
  if (timeMs >= least * UNITS_MS[unit] && timeMs <= most * UNITS_MS[unit]) return timeMs;
  throw new UsageError(
    `"${oneLine(text)}" is not a time from ${least} to ${most} ${UNIT_NAMES[unit]}; ` +
      'a unit may follow, as in 500ms, 5s, 2m, 1h',
  );
}

export function integerOf(text: string, least: number, most: number): number {
  const value = numberOf(text, least, most);
  if (!Number.isInteger(value))
    throw new UsageError(`"${text}" is not a whole number from ${least} to ${most}`);
  return value;
}

export function filledOf(text: string): string {
  if (text.trim() === '')
    throw new UsageError('it is empty: give a value, or leave the option out');
  return text;
}

export function namesOf(text: string): string[] {
  const names = text.split(/[\s,]+/).filter((name) => name !== '');
  if (names.length === 0) throw new UsageError('no field is named: write them as in username,lang');
  return names;
}

/** `fw1,fw2=bob`; a key may hold anything, a device no `=`. */
export function onlyOf(text: string): OnlyOn {
  const at = text.indexOf('=');
  const devices = text.slice(0, Math.max(0, at)).split(',');
  const key = text.slice(at + 1);
  if (devices.includes('') || key === '') {
    throw new UsageError(`"${text}" is not DEVICES=KEY, as in fw1,fw2=bob`);
  }
  return { devices, key };
}

export function storeOf(text: string): 'keychain' | 'vault' {
  if (text === 'keychain' || text === 'vault') return text;
  throw new UsageError(`"${text}" is neither "keychain" nor "vault"`);
}
