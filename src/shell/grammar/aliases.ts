import { UsageError } from '../../errors.ts';
import { oneLine } from '../../text/one-line.ts';
import { parseCompleteLine, parseLine, type Word } from '../../text/words.ts';
import type { Expansion } from '../command.ts';
import { separate } from './bind.ts';
import { hideSecrets } from './hide-secrets.ts';
import type { OptionKey } from './options.ts';

/** Lines of the user by name: what `alias set` keeps in the settings. */
export type Aliases = Readonly<Record<string, string>>;

export function aliasNamed(aliases: Aliases | undefined, name: string): string | undefined {
  return aliases !== undefined && Object.hasOwn(aliases, name) ? aliases[name] : undefined;
}

/** The prefix of environment variables that set `${NAME}` in scripts and aliases. */
export const VARIABLE_PREFIX = 'DEVSH_VAR_';

/** The parts of `${NAME}` and `${NAME:-default}`, from the text between the braces. */
export function variableIn(inner: string): { name: string; fallback: string | undefined } {
  const [, name = '', fallback] = /^([^:]*?)(?::-(.*))?$/s.exec(inner) ?? [];
  return { name, fallback };
}

const VARIABLE = /^(?:[1-9]|[A-Za-z_]\w*)$/;

/** These options apply to one line that a person has just typed. */
const NEVER_SAVED: readonly OptionKey[] = ['yes', 'allow', 'insecure'];

/** Stands for a value in a line that is only checked. */
const UNKNOWN = '\0';

/** Throws a `UsageError` for a line that must not be saved, with the column in it. */
export function checkAlias(name: string, line: string): void {
  const refuse = (problem: string, column?: number): never => {
    throw new UsageError(`alias ${oneLine(name)}: ${problem}`, { column });
  };
  if (hideSecrets(line) !== line) {
    refuse('an alias contains no secret and takes none: devsh asks for it, or finds your login');
  }
  parseCompleteLine(line);
  const { words } = parseLine(line, (inner, column) => {
    if (VARIABLE.test(variableIn(inner).name)) return UNKNOWN;
    return refuse(`"\${${oneLine(inner)}}" is no variable: use \${1} or \${NAME}`, column);
  });
  const [first] = words;
  if (first === undefined || first.text.includes(UNKNOWN)) {
    refuse('the line begins with a command');
  }
  const chosen = words.find(({ text }) => /^-[^=]*\0/.test(text));
  if (chosen !== undefined) refuse('a variable is never an option', chosen.start);
  // The typed line would show the value of a field that turns out to be a secret.
  const field = words.find(({ text }) => /^[^=~]*\0[^=~]*[=~]/.test(text));
  if (field !== undefined) refuse('a variable is never the name of a field', field.start);
  const saved = separate(words).given.find(({ option }) => NEVER_SAVED.includes(option.key));
  if (saved !== undefined) {
    refuse(`--${saved.option.flag} cannot be saved: type it after the alias`, saved.start);
  }
}

/**
 * The words with the alias at their start replaced by its line; undefined without an alias. `${1}` is the first
 * word behind the alias that is no option, `${NAME}` the word NAME=VALUE; what the line does not use follows it.
 * Throws a `UsageError` for a missing value, and for a line that must not be saved.
 *
 * @param isHidden a command or a resource of this name wins
 * @param isPartial the line is still being typed: missing values are empty
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
  const line = first && aliasNamed(aliases, first.text);
  if (first === undefined || line === undefined || isHidden(first.text)) return undefined;
  const name = first.text;
  checkAlias(name, line);
  const names: string[] = [];
  parseLine(line, (inner) => {
    names.push(variableIn(inner).name);
    return '';
  });
  const given = new Map<string, { readonly word: Word; readonly value: string }>();
  let position = 0;
  for (const word of operands) {
    const named = names.find((one) => word.text.startsWith(`${one}=`));
    const value = named === undefined ? word.text : word.text.slice(named.length + 1);
    if (named !== undefined && given.has(named)) {
      throw new UsageError(`${named} is given twice`, { column: word.start });
    }
    given.set(named ?? String((position += 1)), { word, value });
  }
  const valueOf = (inner: string): string => {
    const { name: variable, fallback } = variableIn(inner);
    const value = given.get(variable)?.value ?? env[VARIABLE_PREFIX + variable];
    if (fallback !== undefined) return value === undefined || value === '' ? fallback : value;
    if (value !== undefined || isPartial) return value ?? '';
    const example = /^\d/.test(variable) ? 'VALUE' : `${variable}=VALUE`;
    throw new UsageError(`the alias ${name} needs \${${variable}}: ${name} ${example}`, {
      column: words.at(-1)?.end,
    });
  };
  const own = parseLine(line, valueOf).words.map((word) => ({
    ...word,
    start: first.start,
    end: first.end,
  }));
  const at = words.indexOf(first);
  const used = new Set(names.map((one) => given.get(one)?.word));
  const rest = words.slice(at + 1).filter((word) => !used.has(word));
  return { name, line, words: [...words.slice(0, at), ...own, ...rest] };
}
