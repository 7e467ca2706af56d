import { THEME_NAMES, type ThemeName } from '../theme-names.ts';
import { UsageError } from '../errors.ts';
import type { ConfiguredRoute } from '../device/route/choose-route.ts';
import {
  FORMATS,
  REPORT_KINDS,
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

export function themeOf(text: string): ThemeName {
  const theme = THEME_NAMES.find((name) => name === text);
  if (theme !== undefined) return theme;
  throw new UsageError(`there is no theme "${text}"; the themes are ${THEME_NAMES.join(', ')}`);
}

/** `5`, `10%`. */
export function failuresOf(text: string): { kind: 'count' | 'percent'; limit: number } {
  return text.endsWith('%')
    ? { kind: 'percent', limit: numberOf(text.slice(0, -1), 0, 100) }
    : { kind: 'count', limit: integerOf(text, 0, 1_000_000) };
}

/** A device is reached by one way only. */
export function withRoute(options: Options, route: ConfiguredRoute): Options {
  if (options.route !== undefined) throw new UsageError('one --proxy or one --jump, not both');
  return { ...options, route };
}

export function numberOf(text: string, least: number, most: number): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= least && value <= most)) {
    throw new UsageError(`"${text}" is not a number from ${least} to ${most}`);
  }
  return value;
}

export function integerOf(text: string, least: number, most: number): number {
  const value = numberOf(text, least, most);
  if (!Number.isInteger(value)) throw new UsageError(`"${text}" is not a whole number`);
  return value;
}

export function namesOf(text: string): string[] {
  const names = text.split(/[\s,]+/).filter((name) => name !== '');
  if (names.length === 0) throw new UsageError('no field is named');
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
  throw new UsageError(`"${text}" is neither keychain nor vault`);
}
