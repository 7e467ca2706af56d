import { documentedProfile } from '../../device/built-in-profiles.ts';
import { keyFieldOf } from '../../device/profile.ts';
import { isSecretName } from '../../device/sensitive-fields.ts';
import { FORMAT_NAMES } from '../../text/choices.ts';
import { quoteLine, quoteWord } from '../../text/words.ts';
import { KUBECTL_OUTPUT } from './options.ts';
import { LINES, TRIED_OPTIONS, VERBS } from './first-guesses.ts';

/** The nouns of the grammar and their verbs, as far as a guess needs them. */
export interface Nouns {
  /** The verbs of a noun; undefined if it is none. */
  verbsOf(noun: string): readonly string[] | undefined;
  /** Whether a word is a resource, with the verbs of users. */
  isResource(noun: string): boolean;
}

function meaningOf(word: string): (typeof VERBS)[number] | undefined {
  return VERBS.find(({ verb, synonyms }) => verb === word || synonyms.split(' ').includes(word));
}

/** The words that people try for a line: `rm`, `remove` for `user delete KEY`. */
export function synonymsOf(line: string): string[] {
  const words = line.split(' ');
  return [
    ...VERBS.filter(({ verb }) => ` ${line} `.includes(` ${verb} `) && words.length > 1).flatMap(
      ({ synonyms }) => synonyms.split(' '),
    ),
    ...LINES.filter(([, meant]) => meant === line || meant === `${line} …`)
      .map(([typed]) => typed.replace(/ …$/, ''))
      .filter((typed) => /^[a-z|-]+$/.test(typed))
      .flatMap((typed) => typed.split('|')),
  ];
}

/** Whether a noun of the table may be a resource of a device all the same: `hosts`, `settings list`. */
export function mayBeResource(first: string, second: string | undefined): boolean {
  const isVerb = second === undefined || VERBS.some(({ verb }) => verb === second);
  return (
    isVerb && /^[a-z-]{4,}$/.test(first) && first !== 'users' && meaningOf(first) === undefined
  );
}

/** The line that does here what these words, which are no command, mean elsewhere; empty: there is none. */
export function suggestedLine(words: readonly string[], nouns: Nouns): string | undefined {
  const row = rowFor(words, nouns);
  if (row !== undefined) return reworded(row, words, nouns);
  const [first = '', second = '', ...rest] = words;
  const meaning = meaningOf(first);
  if (meaning === undefined) return undefined;
  // `add device fw1`, `list runs`: the noun comes first.
  const noun = [second, second.replace(/s$/, '')].find((word) => nouns.verbsOf(word) !== undefined);
  if (noun === undefined || noun === 'user') {
    return lineOf('user', meaning, noun === undefined ? words.slice(1) : rest) ?? '';
  }
  const [verb = ''] = meaning.verb.split(' ');
  if (nouns.verbsOf(noun)?.includes(verb) === true) return lineOf(noun, meaning, rest);
  const other = suggestedVerbLine(noun, [first, ...rest], nouns);
  return other ?? (verb === 'list' ? quoteLine([second, ...rest]) : undefined);
}

/** The same for whole lines alone, with a verb or an option that stands elsewhere here: `ssh -l admin 10.0.0.5`. */
export function suggestedWhole(words: readonly string[], nouns: Nouns): string | undefined {
  const row = rowFor(words, nouns);
  return row?.rest.length === 0 ? reworded(row, words, nouns) : undefined;
}

/** The same for words behind the name of a command that are no verb of it: `user rm bob`. */
export function suggestedVerbLine(
  command: string,
  words: readonly string[],
  nouns: Nouns,
): string | undefined {
  const [first = '', ...rest] = words;
  const aliased = command === 'alias' ? aliasLine(first, rest) : undefined;
  if (aliased !== undefined) return aliased;
  const row = rowFor([command, ...words], nouns);
  if (row !== undefined) return reworded(row, [command, ...words], nouns);
  const names = nouns.verbsOf(command) ?? [];
  const meaning = meaningOf(first);
  if (meaning === undefined) return undefined;
  const [verb = ''] = meaning.verb.split(' ');
  if (names.includes(verb)) {
    const usage = `${command} ${meaning.verb} ${meaning.needs}`;
    return lineOf(command, meaning, rest) ?? usage;
  }
  const other = meaning.synonyms.split(' ').find((word) => names.includes(word));
  if (other !== undefined) return `${command} ${other} ${quoteLine(rest)}`.trim();
  return verb === 'show' && names.includes('list') ? `${command} list` : undefined;
}

/** As in a shell: alias NAME = LINE, or alias NAME='LINE'. */
function aliasLine(first: string, rest: readonly string[]): string | undefined {
  const [, name = first, line] = /^([^=]+)=(.+)$/s.exec(first) ?? [];
  if (line !== undefined) return `alias set ${quoteLine([name, line])}`;
  if (rest.length === 1 && rest[0]?.includes(' ') === true) {
    return `alias set ${quoteLine([first, ...rest])}`;
  }
  if (rest[0] !== '=') return undefined;
  return `alias set ${quoteLine([first, quoteLine(rest.slice(1))])}`;
}

interface Fit {
  readonly line: string;
  /** What the words in capitals stand for. */
  readonly values: ReadonlyMap<string, string>;
  readonly rest: readonly string[];
}

function rowFor(words: readonly string[], nouns: Nouns): Fit | undefined {
  for (const [typed, line] of LINES) {
    const parts = typed.split(' ');
    const hasRest = parts.at(-1) === '…';
    const heads = hasRest ? parts.slice(0, -1) : parts;
    if (words.length < heads.length || (!hasRest && words.length > heads.length)) continue;
    const values = new Map<string, string>();
    const fits = heads.every((part, at) =>
      (part === '|' ? [part] : part.split('|')).some((one) =>
        wordFits(one, words[at] ?? '', values, nouns),
      ),
    );
    if (fits) return { line, values, rest: words.slice(heads.length) };
  }
  return undefined;
}

/** What only some words can stand for. */
const SHAPES: Readonly<Record<string, (word: string, nouns: Nouns) => boolean>> = {
  '/PATH': (word) => word.startsWith('/'),
  '@GROUP': (word) => /^@\w/.test(word),
  ADDRESS: (word) => /^[\w-]+(?:\.[\w-]+)+(?:\/\d+|:\d+)?$/.test(word),
  FORMAT: (word) => FORMAT_NAMES.some((format) => format === word),
  KEY: (word) => !word.includes('='),
  NAME: (word) => meaningOf(word) === undefined,
  NUMBERED: (word) => /^[\w-]*\d[\w.:-]*$/.test(word),
  RESOURCE: (word, nouns) => nouns.isResource(word),
  VERB: (word) => meaningOf(word) !== undefined,
};

const METHODS: readonly string[] = ['GET', 'POST', 'DELETE'];

/** Whether a word is what a part of a row says; keeps what a part in capitals stands for. */
function wordFits(part: string, word: string, values: Map<string, string>, nouns: Nouns): boolean {
  if (part.startsWith('https://')) {
    const [, host, path] = /^https:\/\/([^/]+)(?:\/(.*))?$/.exec(word) ?? [];
    if (host === undefined || part.includes('/PATH') !== (path !== undefined)) return false;
    values.set('HOST', host).set('PATH', path ?? '');
    return true;
  }
  // `FILE.csv`, `group=NAME`
  const [, start = '', name, end = ''] = /^([a-z]+=)?\/?(@?[A-Z]+)(\.\w+)?$/.exec(part) ?? [];
  if (name === undefined || METHODS.includes(name)) return part === word;
  if (!word.startsWith(start) || !word.endsWith(end)) return false;
  if (SHAPES[part]?.(word, nouns) === false) return false;
  values.set(name, word.slice(start.length));
  return true;
}

function reworded({ line, values, rest }: Fit, words: readonly string[], nouns: Nouns): string {
  const texts = line.split(' ').flatMap((part) => {
    if (part === '…') return rest.map(quoteWord);
    if (part === '/PATH') return quoteWord(`/${values.get('PATH') ?? ''}`);
    if (part === 'DEVICE,OTHER')
      return `${values.get('DEVICE') ?? ''},${values.get('OTHER') ?? ''}`;
    const [, field = '', name = part] = /^(\w+=)([A-Z]+)$/.exec(part) ?? [];
    const value = values.get(name);
    return value === undefined ? part : quoteWord(`${field}${value}`);
  });
  if (line === '…') return suggestedLine(rest, nouns) ?? quoteLine(rest);
  const verb = values.get('VERB');
  if (verb !== undefined) {
    const known = nouns.verbsOf('user')?.includes(verb);
    const meant = known ? undefined : suggestedVerbLine('user', words.slice(1), nouns);
    if (meant !== undefined) return meant;
  }
  return texts.join(' ');
}

function lineOf(
  resource: string,
  { verb, needs }: (typeof VERBS)[number],
  words: readonly string[],
): string | undefined {
  const [key, ...rest] = words;
  // `add group berlin`, `set timeout 5`: these are no fields.
  if (
    resource === 'user' &&
    ['add', 'set'].includes(verb) &&
    rest.some((word) => !word.includes('='))
  )
    return undefined;
  if (verb === 'add' && resource === 'user' && key?.includes('=') !== true) {
    const named = `${keyFieldOf(documentedProfile, resource)}=${key ?? 'NAME'}`;
    return `${resource} add ${quoteLine([named, ...rest])}`;
  }
  if (verb === 'list' && key === 'where' && rest.length > 0)
    return `${resource} list ${quoteLine(rest)}`;
  const time = verb === 'restore' && key !== undefined ? ' --at TIME' : '';
  return `${resource} ${verb} ${key === undefined ? needs : quoteLine(words)}${time}`.trim();
}

/** What stands here for an option of another tool. */
export interface OptionInstead {
  readonly why: string;
  /** What replaces it in the line, and how many words; undefined if nothing fits every line. */
  readonly words?: readonly string[];
  readonly count: number;
}

/**
 * What `-k` or `--cacert=FILE` means here; undefined for unknown options.
 *
 * @param name without dashes; `typed` is its word, `next` the one behind it, `verb` the second word of the line
 */
export function insteadOfOption(
  name: string,
  typed: string,
  next: string | undefined,
  verb?: string,
): OptionInstead | undefined {
  const dashed = name.length === 1 ? `-${name}` : `--${name}`;
  const [, joined = typed.startsWith('-o') ? typed.slice(2) || undefined : undefined] =
    /^--[^=]+=([^]*)$/.exec(typed) ?? [];
  const value = joined ?? next;
  const wanted = dashed === '--output' ? '-o' : dashed;
  const row = TRIED_OPTIONS.find(([tried]) => {
    const [flags = '', kind] = tried.split(' ');
    if (!flags.split('|').includes(wanted)) return false;
    if (kind === 'FORMAT') return FORMAT_NAMES.some((format) => format === value);
    if (kind === 'PORT') return /^\d{1,5}$/.test(value ?? '');
    return kind !== 'KUBECTL' || KUBECTL_OUTPUT.test(value ?? '');
  });
  if (row === undefined) {
    const sets = meaningOf(verb ?? '');
    const isList = sets?.verb === 'list';
    const isWrite = sets?.needs.includes('FIELD=VALUE') === true && /^[a-z][\w-]+$/.test(name);
    if (!(isWrite || isList) || value === undefined || isSecretName(name)) return undefined;
    const why = 'fields need no option: username=bob lang=de';
    const count = joined === undefined ? 2 : 1;
    // The name of a new record may be missing its field, too; `--schedule 03:00` is no field.
    const field = name.replaceAll('-', '_');
    const { fields = [] } = documentedProfile.resources['user'] ?? {};
    const isKnown = fields.includes(field);
    if (isList && !isKnown) return undefined;
    if (sets.verb === 'add' || !isKnown) return { why, count };
    return { why, words: [`${field}=${value}`], count };
  }
  const [tried, instead, why] = row;
  const takesValue = tried.includes(' ');
  // `-la` are two options.
  const isSeveral = /^-[^-]./.test(typed) && joined === undefined;
  if (instead === '' || isSeveral || (takesValue && value === undefined)) return { why, count: 1 };
  // What follows a colon is a password: curl -u admin:secret.
  const shown = instead.startsWith('--user') ? value?.replace(/:.*/s, '') : value;
  const texts = instead.split(' ').map((part) => part.replace(/VALUE|FORMAT/, () => shown ?? ''));
  return { why, words: texts, count: takesValue && joined === undefined ? 2 : 1 };
}
