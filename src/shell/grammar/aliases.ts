import { maskedValue } from '../../device/sensitive-fields.ts';
import { RefusedError, UsageError } from '../../errors.ts';
import type { Alias, Aliases } from '../../settings/settings-table.ts';
import { oneLine } from '../../text/one-line.ts';
import { hasUnsafe, shortened, visible } from '../../text/visible.ts';
import { parseCompleteLine, quoteLine, type Word } from '../../text/words.ts';
import { command, type CommandSpec, type Expansion } from '../command.ts';
import { separate } from './bind.ts';
import { hideSecrets } from './hide-secrets.ts';
import type { OptionKey } from './options.ts';

/* Aliases are names for lines, and with `!` for programs: what they may contain, and how their values are filled in. */

export type { Alias, Aliases };

export function namedAliases(aliases: Aliases = {}): (readonly [name: string, alias: Alias])[] {
  return Object.entries(aliases).map(
    ([name, alias]) => [name, typeof alias === 'string' ? { run: alias } : alias] as const,
  );
}

export function aliasNamed(aliases: Aliases | undefined, name: string): Alias | undefined {
  return new Map(namedAliases(aliases)).get(name);
}

export function isProgram({ run }: Alias): boolean {
  return run.startsWith('!');
}

/** The line or program of an alias, without secrets. `-p 443` of a program is a port, not a password. */
export function shownRun({ run }: Alias): string {
  const ported = run.startsWith('!') ? run.replace(/(?<!\S)-p(?=\s*[\d$"])/g, '-_') : run;
  return hideSecrets(ported) === ported ? run : hideSecrets(run);
}

/** The prefix of environment variables that set `${NAME}` in scripts and aliases. */
export const VARIABLE_PREFIX = 'DEVSH_VAR_';

/** The parts of `${NAME}` and `${NAME:-default}`, from the text between the braces. */
export function variableIn(inner: string): { name: string; fallback: string | undefined } {
  const [, name = '', fallback] = /^([^:]*?)(?::-(.*))?$/s.exec(inner) ?? [];
  return { name, fallback };
}

interface Placeholder {
  readonly name: string;
  readonly fallback: string | undefined;
  readonly column: number;
}

/** Stands for the placeholder of this number in a word of a template. */
const MARK = /\0(\d+)\0/g;

/** The words of an alias, with a mark for each placeholder. */
interface Template {
  readonly words: readonly Word[];
  readonly placeholders: readonly Placeholder[];
}

export function templateOf({ run }: Alias): Template {
  const placeholders: Placeholder[] = [];
  // The blank in place of `!` keeps the columns.
  const words = parseCompleteLine(run.replace(/^!/, ' '), (inner, column) => {
    placeholders.push({ ...variableIn(inner), column });
    return `\0${placeholders.length - 1}\0`;
  });
  return { words, placeholders };
}

const OF_DEVICE = ['device', 'devices', 'address'];
const OF_RECORD = ['key', 'resource', ...OF_DEVICE];
/** The placeholders that have a value at each place of the screen. Where `key` has one, `record.FIELD` has one, too. */
const AT_PLACE: Readonly<Record<NonNullable<Alias['place']>, readonly string[]>> = {
  table: OF_RECORD,
  details: OF_RECORD,
  devices: OF_DEVICE,
  runs: ['run'],
  drift: OF_RECORD,
  resources: ['resource', ...OF_DEVICE],
};

const VARIABLE = /^(?:[1-9]|[A-Za-z_]\w*|record\.\w[\w.-]*)$/;
/** Matches the placeholders whose value a device chooses. */
const FOREIGN = /^(?:key$|resource$|record\.)/;
/** Matches the placeholders whose value comes from the screen. */
export const ON_SCREEN = /^(?:key|resource|device|devices|address|run)$|^record\./;

/** Options that a person must type each time. */
const NEVER_SAVED: readonly OptionKey[] = ['yes', 'allow', 'insecure'];

/** Matches a value that no shell and no other program could interpret. */
const IN_ARGUMENT = /^(?!-)[\p{L}\p{Nd}._@:+-]+$/u;
/** Matches a variable in front of a program, as in a shell. It may have any value, which is only data there. */
const VARIABLE_WORD = /^DEVSH_\w+=/;

/** The longest argument that a program takes on every system. */
const LONGEST = 4_096;

/** Throws a `UsageError` for an alias that must not be saved or run, with the column in its text. */
export function checkAlias(name: string, alias: Alias): void {
  try {
    if (!/^[A-Za-z][\w-]*$/.test(name)) refuse('a name has only letters, digits, - and _');
    checkParts(alias);
    const template = templateOf(alias);
    checkPlaceholders(template, alias);
    const isFlag = ({ text }: Word): boolean => /^--(?:yes|allow|insecure)(?:=|$)/.test(text);
    const saved = isProgram(alias) ? template.words.find(isFlag) : undefined;
    if (saved !== undefined) refuse(`${saved.text} cannot be saved`, saved.start);
    if (!isProgram(alias)) checkLine(template);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const { message, column } = error;
    throw new UsageError(`alias ${oneLine(name)}: ${message}`, { column, cause: error });
  }
}

function refuse(problem: string, column?: number): never {
  throw new UsageError(problem, { column });
}

function checkParts(alias: Alias): void {
  const { run, key, place, seconds } = alias;
  const former = formerPartOf(alias);
  if (former !== undefined) {
    refuse(`"${former}" is no longer a part of an alias: take it out, or run a script instead`);
  }
  if (run.includes('\0')) refuse('it contains a NUL character');
  if (shownRun(alias) !== run) {
    refuse('an alias contains no secret and takes none: devsh asks for it, or finds your login');
  }
  if (!isProgram(alias) && seconds !== undefined) refuse('only a program has "seconds"');
  if ((key === undefined) !== (place === undefined)) refuse('"key" needs "place", and vice versa');
}

/** A part that devsh no longer supports. Without it the alias would do something else, so it is refused. */
export function formerPartOf(alias: Alias): string | undefined {
  return (['when', 'prompts', 'reads'] as const).find((part) => alias[part] !== undefined);
}

function checkPlaceholders({ words, placeholders }: Template, { place }: Alias): void {
  const known = place && AT_PLACE[place];
  for (const { name, fallback, column } of placeholders) {
    const refuseIt = (problem: string): never =>
      refuse(`"\${${oneLine(name)}}" ${problem}`, column);
    if (!VARIABLE.test(name)) refuseIt('is no variable: use ${1} or ${NAME}');
    const [ofRecord, field = name] = /^record\.(.*)/.exec(name) ?? [];
    // `${key}` and `${KEY}` stand for the natural key of a record.
    if (name.toLowerCase() !== 'key' && hideSecrets(`${field}=x`) !== `${field}=x`)
      refuseIt('is a secret, and an alias takes none');
    if (known?.includes(ofRecord === undefined ? name : 'key') === false) {
      const hasValue = fallback !== undefined && !ON_SCREEN.test(name);
      if (!hasValue) refuseIt('has no value at this place of the screen');
    }
  }
  const first = words.find(({ text }) => !VARIABLE_WORD.test(text));
  if (first === undefined || first.text.includes('\0')) {
    refuse('the line begins with a command or a program', first?.start);
  }
  const chosen = words.find(({ text }) => /^-[^=]*\0/.test(text));
  if (chosen !== undefined) refuse('a variable is never an option', chosen.start);
}

/** Refuses an alias in which a value could become more than a value: the name of a field, a verb, an option. */
function checkLine({ words, placeholders }: Template): void {
  // The typed line would show the value of a field that turns out to be a secret.
  const field = words.find(({ text }) => /^[^=~]*\0[^=~]*[=~]/.test(text));
  if (field !== undefined) refuse('a variable is never the name of a field', field.start);
  const { plain, given } = separate(words);
  const saved = given.find(({ option }) => NEVER_SAVED.includes(option.key));
  if (saved !== undefined) {
    refuse(`--${saved.option.flag} cannot be saved: type it after the alias`, saved.start);
  }
  const [noun] = plain;
  if (noun?.text.includes('\0') === true) refuse('a variable is never the command', noun.start);
  // A script may say --yes.
  if (noun?.text === 'run') refuse('an alias runs no script', noun.start);
  const verbs = plain.slice(1, noun?.text === 'resource' ? 3 : 2);
  for (const [index, word] of words.entries()) {
    const names = [...word.text.matchAll(MARK)].map(([, at]) => placeholders[Number(at)]?.name);
    const foreign = names.find((one) => one !== undefined && FOREIGN.test(one));
    if (foreign === undefined) continue;
    if ([words[index - 1], word].some((one) => one?.text.startsWith('-'))) {
      refuse(`"\${${foreign}}" cannot follow an option: move it forward`, word.start);
    }
    if (verbs.includes(word) && !word.text.startsWith('/')) {
      refuse(`"\${${foreign}}" is at the place of a verb: name the verb`, word.start);
    }
  }
}

/** Fills the values into the words. Throws a `RefusedError` for a value that could act as an option or a path. */
export function filledWords(
  alias: Alias,
  valueOf: (placeholder: Placeholder) => string,
  isPartial = false,
): Word[] {
  const { words, placeholders } = templateOf(alias);
  const variables = isProgram(alias) ? variablesIn(words) : [];
  return words.map((word) => ({
    ...word,
    text: word.text.replace(MARK, (_mark, index: string, at: number) => {
      const placeholder = placeholders[Number(index)];
      if (placeholder === undefined) throw new Error(`no placeholder ${index}`);
      const { name, fallback } = placeholder;
      const given = valueOf(placeholder);
      const value = given === '' ? (fallback ?? '') : given;
      const isGuarded = isProgram(alias) || ON_SCREEN.test(name);
      if (isPartial || !isGuarded || (given === '' && fallback !== undefined)) return value;
      const asWord = isProgram(alias)
        ? argumentProblem(name, value)
        : lineProblem(name, value, word.text.slice(0, at));
      const problem = valueProblem(name, value) ?? (variables.includes(word) ? undefined : asWord);
      if (problem === undefined) return value;
      const isShown = value !== '' && !problem.startsWith('is a secret');
      const shown = isShown ? ` "${visible(shortened(value, 60))}"` : '';
      throw new RefusedError(`\${${name}}${shown} ${problem}: nothing was run`);
    }),
  }));
}

function valueProblem(name: string, value: string): string | undefined {
  if (value === '') return 'has no value here';
  const field = name.replace(/^record\./, '');
  if (field !== name && maskedValue(field, value) !== value) return 'is a secret';
  if (value.length > LONGEST) return `has ${value.length} characters, more than ${LONGEST}`;
  return hasUnsafe(value) || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(value)
    ? 'contains control characters'
    : undefined;
}

/** The words in front of a program that give it variables. */
function variablesIn(words: readonly Word[]): readonly Word[] {
  const end = words.findIndex(({ text }) => !VARIABLE_WORD.test(text));
  return words.slice(0, end);
}

const AS_OPTION = 'begins with "-" and could be read as an option';

function argumentProblem(name: string, value: string): string | undefined {
  if (IN_ARGUMENT.test(value)) return undefined;
  const variable = `DEVSH_${name.replace(/\W/g, '_').toUpperCase()}`;
  return (
    `${value.startsWith('-') ? AS_OPTION : 'has more than letters, digits and . _ @ : + -'}; write ` +
    `${variable}=\${${name}} in front of the program: it gets the DEVSH_ variables, also as JSON on its standard input`
  );
}

/** Why a value cannot stand in a line: it must not make a word an assignment or an option, or change a path. */
function lineProblem(name: string, value: string, before: string): string | undefined {
  if (value.startsWith('-')) return AS_OPTION;
  const isInPath = before.startsWith('/');
  if (isInPath && (/[/?#%\\]/.test(value) || /^\.+$/.test(value))) return 'would change the path';
  return FOREIGN.test(name) && !/[=~]/.test(before) && /[=~]/.test(value)
    ? 'has "=" or "~" and could be read as an assignment or a condition'
    : undefined;
}

/**
 * Replaces an alias at the start of the words by its line or program. Returns undefined if there is no alias. `${1}` is
 * the first word behind the alias that is no option, `${NAME}` the word NAME=VALUE. Unused words follow the line.
 * Throws a `UsageError` for a missing value, and for an alias that must not run.
 *
 * @param isHidden whether a command or a resource of this name wins
 * @param isPartial true while the line is typed: missing values are empty
 */
export function expandAlias(
  words: readonly Word[],
  aliases: Aliases,
  {
    env,
    isHidden,
    isPartial = false,
  }: {
    readonly env: NodeJS.ProcessEnv;
    readonly isHidden: (name: string) => boolean;
    readonly isPartial?: boolean;
  },
): Expansion | undefined {
  if (!words.some(({ text }) => Object.hasOwn(aliases, text))) return undefined;
  const [first, ...operands] = separate(words).plain;
  const alias = first && aliasNamed(aliases, first.text);
  if (first === undefined || alias === undefined || isHidden(first.text)) return undefined;
  const name = first.text;
  checkAlias(name, alias);
  const names = templateOf(alias).placeholders.map((one) => one.name);
  const given = new Map<string, { readonly word: Word; readonly value: string }>();
  let position = 0;
  for (const word of operands) {
    const [, before = ''] = /^([^=]*)=/.exec(word.text) ?? [];
    // A value from a key of the screen never follows the line: the alias may have changed since the key was bound.
    const isNamed = names.includes(before) || (alias.place !== undefined && ON_SCREEN.test(before));
    const named = isNamed ? before : undefined;
    const value = named === undefined ? word.text : word.text.slice(named.length + 1);
    if (named !== undefined && given.has(named)) {
      throw new UsageError(`${named} is given twice`, { column: word.start });
    }
    given.set(named ?? String((position += 1)), { word, value });
  }
  const valueOf = ({ name: variable, fallback }: Placeholder): string => {
    const typed = given.get(variable);
    const value = typed?.value ?? env[VARIABLE_PREFIX + variable];
    if (value !== undefined || fallback !== undefined || isPartial) return value ?? '';
    const example = /^\d/.test(variable) ? 'VALUE' : `${variable}=VALUE`;
    throw new UsageError(`the alias ${name} needs \${${variable}}: ${name} ${example}`, {
      column: words.at(-1)?.end,
    });
  };
  const own = filledWords(alias, valueOf, isPartial).map((word) => ({
    ...word,
    start: first.start,
    end: first.end,
    isSaved: true as const,
  }));
  const at = words.indexOf(first);
  const isUsed = (name: string): boolean => names.includes(name) || !/^\d+$/.test(name);
  const used = [...given].flatMap(([one, { word }]) => (isUsed(one) ? word : []));
  const rest = words.slice(at + 1).filter((word) => !used.includes(word));
  const values = [...given.values()].map(({ value }) => value);
  const typed = [...words.slice(0, at), ...(isProgram(alias) ? [] : own), ...rest];
  return {
    name,
    line: alias.run,
    words: typed,
    program: isProgram(alias) ? programCommand(name, alias, own, values) : undefined,
    isForeign: !isProgram(alias) && names.some((one) => FOREIGN.test(one)),
  };
}

/** The command that runs a program. It has only the general options, and `--yes` because a program may write. */
function programCommand(
  name: string,
  { label = name, seconds }: Alias,
  words: readonly Word[],
  values: readonly string[],
): CommandSpec {
  const variables = variablesIn(words).map(({ text }) => text);
  const argv = words.slice(variables.length).map(({ text }) => text);
  return command({
    name,
    section: 'Shell',
    summary: `Run the program ${visible(quoteLine([...variables, ...argv]))}`,
    options: ['yes'],
    async *run(call) {
      const { runAliasProgram } = await import('../alias-run.ts');
      yield* runAliasProgram(call, { label, variables, argv, seconds, values });
    },
  });
}
