import { oneLine } from '../../text/one-line.ts';
import { hasUnsafe } from '../../text/visible.ts';
import { UsageError } from '../../errors.ts';
import { maskedText } from './hide-secrets.ts';

export interface Option<K extends string = string, T = unknown> {
  /** The name of its value in a verb: `call.options.KEY`. Two spellings of one option share it. */
  readonly key: K;
  readonly fallback: T;
  /** The spelling in help: `-o, --output FILE`, `--watch[=SECONDS]`, `--json`. */
  readonly label: string;
  /** The name without dashes: `output`. */
  readonly flag: string;
  readonly short: string | undefined;
  /** The name of its value in help; an option without one is a switch. */
  readonly placeholder: string | undefined;
  /** Whether the value may be omitted. It stands behind `=`, or is the next word if that matches `standsApart`. */
  readonly isValueOptional: boolean;
  readonly standsApart?: RegExp | undefined;
  readonly summary: string;
  /** Parses a value; `before` is the result of earlier ones. Throws a `UsageError` for an invalid value. */
  parse(text: string, before: T | undefined): T;
  readonly choices?: readonly string[] | undefined;
  /** Completes the value in place of the choices. */
  readonly complete?: ((scope: ValueScope) => readonly Candidate[]) | undefined;
  /** Whether the value may name a file, although its placeholder does not show this. */
  readonly takesFile?: boolean | undefined;
  /** The words of other tools for this option, without dashes. */
  readonly synonyms?: readonly string[] | undefined;
  /** Whether a line may give it again, so that completion offers it again. */
  readonly isRepeatable?: boolean | undefined;
}

export interface ValueScope {
  /** The typed part of the value, without quotes. */
  readonly typed: string;
  readonly targets: readonly Candidate[];
  /** The fields of the resource of the line, as `field=`. */
  readonly fields: (typed: string, given: readonly string[]) => readonly Candidate[];
}

type Extras = Pick<
  Option,
  'choices' | 'complete' | 'takesFile' | 'isRepeatable' | 'standsApart' | 'synonyms'
>;

/** @param text label and summary as in help, two spaces between them; the label has flag, letter and placeholder */
export function option<K extends string, T>(
  key: K,
  text: string,
  more: { fallback: T; parse: (text: string, before: T | undefined) => T } & Extras,
): Option<K, T> {
  const [label = '', summary = ''] = text.split('  ');
  const [, short, flag = '', mark, placeholder] =
    /^(?:-(\w), )?--([\w-]+)(?:(\[=| )([^\]]+)\]?)?$/.exec(label) ?? [];
  return { key, label, flag, short, placeholder, isValueOptional: mark === '[=', summary, ...more };
}

export function toggle<K extends string>(
  key: K,
  text: string,
  extras: Extras = {},
): Option<K, boolean> {
  return option(key, text, { fallback: false, parse: () => true, ...extras });
}

export function value<K extends string, T>(
  key: K,
  text: string,
  parse: (text: string, before: T | undefined) => T,
  extras: Extras = {},
): Option<K, T | undefined> {
  return option<K, T | undefined>(key, text, { fallback: undefined, parse, ...extras });
}

/** An option that a line gives once, with a text that must not be empty. */
export function textValue<K extends string>(
  key: K,
  label: string,
  extras: Extras = {},
): Option<K, string | undefined> {
  return value(key, label, filled, extras);
}

export function list<K extends string, T>(
  key: K,
  text: string,
  parse: (text: string) => T,
  extras: Extras = {},
): Option<K, readonly T[]> {
  return option<K, readonly T[]>(key, text, {
    fallback: [],
    parse: (text, before = []) => [...before, parse(text)],
    isRepeatable: true,
    ...extras,
  });
}

export function choice<K extends string, T extends string>(
  key: K,
  text: string,
  choices: readonly T[],
  extras: Extras = {},
): Option<K, T | undefined> {
  const parse = (typed: string): T => {
    const chosen = choices.find((name) => name === typed);
    if (chosen !== undefined) return chosen;
    throw new UsageError(`"${oneLine(typed)}" is not one of ${choices.join(', ')}`);
  };
  return value(key, text, parse, { ...extras, choices });
}

/** Candidates for the last item of a list in one word (`lang,user`), without those that it has. */
export function completeList(
  typed: string,
  separator: RegExp,
  candidates: (given: readonly string[]) => readonly Candidate[],
): Candidate[] {
  const [, start = ''] = new RegExp(`^(.*${separator.source})`, 's').exec(typed) ?? [];
  const given = start.split(separator).filter((item) => item !== '');
  // `--sort -field` sorts downwards.
  const sign = /^[-!]/.exec(typed.slice(start.length))?.[0] ?? '';
  return candidates(given)
    .filter(({ text }) => !given.includes(text) && !given.includes(`-${text}`))
    .map((candidate) => ({ ...candidate, text: start + sign + candidate.text }));
}

/* Parsers of values. Each throws a `UsageError` that explains the mistake. */

export function anyText(text: string): string {
  return text;
}

export function filled(text: string): string {
  if (text.trim() === '')
    throw new UsageError('the value is empty: give one, or leave the option out');
  return text;
}

const MAX_REASON = 200;

/** The reason of a write: one line, secrets masked. */
export function reason(text: string): string {
  const trimmed = filled(text).trim();
  if (hasUnsafe(trimmed)) {
    throw new UsageError('a reason is one line without control characters');
  }
  if (Array.from(trimmed).length > MAX_REASON) {
    throw new UsageError(`a reason has at most ${MAX_REASON} characters: name a ticket instead`);
  }
  return maskedText(trimmed);
}

export function names(text: string): readonly string[] {
  const words = text.split(/[\s,]+/).filter((name) => name !== '');
  if (words.length === 0)
    throw new UsageError('no field is named: write fields as in username,lang');
  return words;
}

export function integer(least: number, most: number): (text: string) => number {
  return (text) => {
    const read = numberOf(text, least, most);
    if (!Number.isInteger(read))
      throw new UsageError(`"${text}" is not a whole number from ${least} to ${most}`);
    return read;
  };
}

const UNITS_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;
const UNIT_NAMES = { s: 'seconds', h: 'hours' } as const;

/** Parses a time to milliseconds: `5` in `unit`, or with its own unit, as `500ms` or `2m`. Limits are in `unit`. */
export function timeMs(unit: 's' | 'h', least: number, most: number): (text: string) => number {
  return (text) => {
    const [, number, own] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
    const read = Number(number ?? NaN) * UNITS_MS[(own ?? unit) as keyof typeof UNITS_MS];
    if (read >= least * UNITS_MS[unit] && read <= most * UNITS_MS[unit]) return read;
    throw new UsageError(
      `"${oneLine(text)}" is not a time from ${least} to ${most} ${UNIT_NAMES[unit]}; ` +
        'write it as in 5, 500ms, 5s, 2m, 1h',
    );
  };
}

/** `5`, `10%`. */
export function failures(text: string): { kind: 'count' | 'percent'; limit: number } {
  return text.endsWith('%')
    ? { kind: 'percent', limit: numberOf(text.slice(0, -1), 0, 100) }
    : { kind: 'count', limit: integer(0, 1_000_000)(text) };
}

/** A record by its KEY, and the devices to limit it to. */
interface OnlyOn {
  readonly devices: readonly string[];
  readonly key: string;
}

/** `fw1,fw2=bob`: a key may contain any character, a device no `=`. */
export function onlyOn(text: string): OnlyOn {
  const at = text.indexOf('=');
  const devices = text.slice(0, Math.max(0, at)).split(',');
  const key = text.slice(at + 1);
  if (devices.includes('') || key === '') {
    throw new UsageError(`"${text}" is not DEVICES=KEY, as in fw1,fw2=bob`);
  }
  return { devices, key };
}

function numberOf(text: string, least: number, most: number): number {
  const read = /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : NaN;
  if (!(read >= least && read <= most)) {
    throw new UsageError(`"${oneLine(text)}" is not a number from ${least} to ${most}`);
  }
  return read;
}

export interface Candidate {
  readonly text: string;
  readonly summary?: string | undefined;
  /** More of the same word follows (`lang=`): no space is added behind it. */
  readonly continues?: boolean;
}
