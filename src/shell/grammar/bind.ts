import { maskedLine, maskedWords } from './hide-secrets.ts';
import {
  type ArgSpec,
  commandNamed,
  defaultVerb,
  namedVerbs,
  verbNamed,
  type CommandSpec,
  type Grammar,
  type Invocation,
  type VerbSpec,
} from '../command.ts';
import { Arguments, type Word } from '../../text/words.ts';
import { allowMeaning } from '../../change/allow.ts';
import { oneLine } from '../../text/one-line.ts';
import { RefusedError, UsageError } from '../../errors.ts';
import { editDistance, suggest } from '../../text/suggest.ts';
import { type Format, GENERAL, type Given, type OptionKey, OPTIONS } from './options.ts';
import {
  insteadOfOption,
  refuseFormatAsFile,
  suggestedLine,
  suggestedVerbLine,
  TWINS,
} from './tried-words.ts';
import { visible } from '../../text/visible.ts';
import { type Option, toggle } from './option.ts';

/** Finds command, verb, arguments and options in the words of a line. Throws a `UsageError`. */
export function bind(words: readonly Word[], grammar: Grammar): Invocation {
  const expansion = grammar.expand?.(words);
  if (expansion === undefined) return bindWords(words, grammar);
  const { name, line, program, isForeign, asks } = expansion;
  try {
    const { plain, given } = separate(expansion.words);
    // A saved line means the same every time: nothing in it is guessed.
    const invocation =
      program === undefined
        ? bindWords(expansion.words, { ...grammar, guess: undefined })
        : bindTo(program, expansion.words, plain, given, false);
    const { command } = invocation;
    const takesForeign =
      command.section === 'Records' || ['get', 'post', 'delete'].includes(command.name);
    if (isForeign && !takesForeign)
      throw new RefusedError(`"${command.name}" accepts no value of a record: nothing was run`);
    return { ...invocation, isAlias: true, asks };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    // A suggestion replaces a word of the line of the alias, which was not typed.
    throw new UsageError(`${error.message} (${name} is the alias of: ${oneLine(line)})`, {
      column: error.column,
      cause: error,
    });
  }
}

function bindWords(words: readonly Word[], grammar: Grammar): Invocation {
  const { commands } = grammar;
  const { plain, given } = separate(words, likelyFlags(words, commands));
  const [first, ...others] = plain;
  const wanted = given.some(({ option }) => option.key === 'version') ? 'version' : 'help';
  const [name] = others;
  const asked = first?.text === 'resource' && name && grammar.resourceNamed?.(name);
  const rest = asked ? others.slice(1) : areAddresses(plain) ? plain : others;
  const found: { command: CommandSpec; mistake?: UsageError } = asked
    ? { command: asked }
    : first === undefined
      ? { command: mustHave(commands, wanted) }
      : areAddresses(plain)
        ? { command: mustHave(commands, 'connect') }
        : findCommand(first, others, grammar);
  try {
    const invocation = bindTo(found.command, words, rest, given, first === undefined);
    // A resource that may not exist has no help.
    if (invocation.given.help === true && found.mistake !== undefined) throw found.mistake;
    return invocation;
  } catch (error) {
    if (error instanceof UsageError && found.mistake !== undefined) throw found.mistake;
    throw error;
  }
}

/** Addresses alone mean "connect": no command has such a name. */
function areAddresses(words: readonly Word[]): boolean {
  const host =
    /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:]+\]|localhost)(?::\d+)?$|^[\da-f]*(?::[\da-f]*){2,}$/i;
  return words.length > 0 && words.every(({ text }) => host.test(text));
}

/** The options of the command that these words seem to name; all if they name none. */
function likelyFlags(words: readonly Word[], commands: readonly CommandSpec[]): string[] {
  const [first, second] = words.filter(({ text }) => !text.startsWith('-'));
  const command = commandNamed(commands, first?.text);
  const verb = command && (verbNamed(command, second?.text) ?? defaultVerb(command));
  return flagsOf(verb === undefined ? undefined : [...GENERAL, ...verb.options]);
}

function flagsOf(keys?: readonly OptionKey[]): string[] {
  return OPTIONS.filter(({ key }) => keys?.includes(key) !== false).map(({ flag }) => flag);
}

function bindTo(
  command: CommandSpec,
  words: readonly Word[],
  rest: readonly Word[],
  options: readonly GivenOption[],
  isEmpty: boolean,
): Invocation {
  const { verb, operands } = findVerb(command, rest, endOf(words));
  const own: readonly OptionKey[] = [...GENERAL, ...verb.options];
  let given: Given = {};
  for (const one of options) {
    const { option, start } = one;
    // `devsh --help` asks for all commands, not for the help of `help`.
    if (isEmpty && option.key === 'help') continue;
    if (option.key === 'output') refuseFormatAsFile(one.text, one.valueStart);
    if (!own.includes(option.key)) {
      const instead = insteadOfOption(option.flag) ?? `; see "help ${title(command, verb)}"`;
      throw new UsageError(`${title(command, verb)} has no option --${option.flag}${instead}`, {
        column: start,
        suggestions: flagsOf(own).flatMap((flag) =>
          flag === TWINS[option.flag] ? [`--${flag}`] : [],
        ),
      });
    }
    if (option === FORCE) {
      const { forced = 'own-account' } = verb;
      throw new UsageError(
        `--force is ambiguous; here use --allow ${forced} (${allowMeaning(forced)})`,
        { column: start, suggestions: [`--allow ${forced}`] },
      );
    }
    given = take(given, one);
  }
  const bound =
    given.help === true ? new Map() : bindArguments(command, verb, operands, endOf(words));
  const columns = new Map(options.map(({ option, valueStart }) => [option.key, valueStart]));
  const args = new Arguments(bound, endOf(words), columns);
  return { command, verb, args, given, line: maskedLine(words) };
}

function endOf(words: readonly Word[]): number {
  const last = words.at(-1);
  return last === undefined ? 0 : last.end + 1;
}

/** The format that a line asks for, even if the line is invalid: errors are printed in it. */
export function formatAsked(words: readonly Word[]): Format | undefined {
  try {
    return separate(words).given.reduce<Given>(take, {}).format;
  } catch {
    const texts = words.map(({ text }) => text);
    return texts.includes('--json') || texts.includes('--format=json') ? 'json' : undefined;
  }
}

/** `user add`, `connect`. */
export function title(command: CommandSpec, verb: VerbSpec): string {
  return verb.name === '' ? command.name : `${command.name} ${verb.name}`;
}

function mustHave(commands: readonly CommandSpec[], name: string): CommandSpec {
  const command = commandNamed(commands, name);
  if (command === undefined) throw new Error(`no command ${name}`);
  return command;
}

function findCommand(
  word: Word,
  others: readonly Word[],
  grammar: Grammar,
): { command: CommandSpec; mistake?: UsageError } {
  const { commands, resourceFor, guess } = grammar;
  const [next] = others;
  const command = commandNamed(commands, word.text);
  if (command !== undefined && command.section !== 'Raw API') return { command };
  const meant = suggestedLine(maskedWords([word, ...others]));
  if (command !== undefined) {
    // For `delete user bob` or `get users`: the raw API takes paths.
    const named = word.text === 'get' ? /^users?$/ : /^\w[^/]*$/;
    if (meant === undefined || next === undefined || !named.test(next.text)) return { command };
    throw new UsageError(`"${oneLine(word.text)}" takes a path of the API, as in /api/user/`, {
      column: next.start,
      suggestions: [meant],
    });
  }
  const names = commands.map(({ name }) => name);
  const suggestions = meant === undefined ? suggest(word.text, names) : [meant];
  const resource = resourceFor(word.text, next?.text, suggestions.length > 0);
  if (resource !== undefined) return { command: resource };
  const mistake = new UsageError(
    `there is no command "${oneLine(word.text)}"; "help" lists them all`,
    { column: word.start, suggestions },
  );
  const guessed = meant === undefined ? guess?.(word.text, mistake) : undefined;
  if (guessed === undefined) throw mistake;
  return { command: guessed, mistake };
}

function findVerb(
  command: CommandSpec,
  words: readonly Word[],
  end: number,
): { verb: VerbSpec; operands: readonly Word[] } {
  const [first, ...rest] = words;
  const verb = verbNamed(command, first?.text);
  if (verb !== undefined) return { verb, operands: rest };
  const fallback = defaultVerb(command);
  const names = namedVerbs(command).map(({ name }) => name);
  const near = first === undefined || first.text.includes('=') ? [] : suggest(first.text, names);
  // A search word may stand here, so that only a single slip is a mistyped verb: "sato" is no "set".
  const meant =
    fallback === undefined || first === undefined
      ? near
      : near.filter((name) => name.startsWith(first.text) || editDistance(first.text, name) <= 1);
  const line = suggestedVerbLine(command.name, names, maskedWords(words));
  if (line !== undefined) meant.splice(0, meant.length, line);
  const takesWords = (fallback?.args.length ?? 0) > 0;
  const isVerbless = first === undefined || names.length === 0;
  if (fallback !== undefined && meant.length === 0 && (takesWords || isVerbless)) {
    return { verb: fallback, operands: words };
  }
  if (first === undefined) {
    throw new UsageError(`${command.name} needs a verb: ${names.join(', ')}`, { column: end });
  }
  const text = oneLine(first.text);
  const has = names.length === 0 ? '' : `; it has ${names.join(', ')}`;
  const other =
    fallback === undefined || !takesWords
      ? ''
      : fallback.name === ''
        ? `; a file of this name is ./${text}`
        : `; to search for it: ${command.name} ${fallback.name} ${text}`;
  throw new UsageError(`${command.name} has no verb "${text}"${has}${other}`, {
    column: first.start,
    suggestions: meant,
  });
}

function bindArguments(
  command: CommandSpec,
  verb: VerbSpec,
  operands: readonly Word[],
  end: number,
): Map<string, readonly Word[]> {
  const bound = new Map<string, readonly Word[]>();
  let left = operands;
  for (const arg of verb.args) {
    const taken = left.slice(0, arg.isRest === true ? undefined : 1);
    if (taken.length === 0 && arg.isRequired === true) {
      throw new UsageError(`${title(command, verb)} needs ${argLabel(arg)}: ${arg.summary}`, {
        column: end,
      });
    }
    const empty = taken.find(({ text }) => text.trim() === '');
    if (empty !== undefined && arg.mayBeEmpty !== true) {
      throw new UsageError(`${arg.name} is empty: ${arg.summary}`, { column: empty.start });
    }
    bound.set(arg.name, taken);
    left = left.slice(taken.length);
  }
  const [extra] = left;
  if (extra !== undefined) {
    throw new UsageError(
      `${title(command, verb)} takes no further word "${oneLine(extra.text)}"; usage: ${[title(command, verb), ...verb.args.map(argLabel)].join(' ')}`,
      { column: extra.start },
    );
  }
  return bound;
}

/** `KEY`, `[FILTER…]`. */
export function argLabel(arg: ArgSpec): string {
  const name = `${arg.name}${arg.isRest === true ? '…' : ''}`;
  return arg.isRequired === true ? name : `[${name}]`;
}

interface GivenOption {
  readonly option: Option<OptionKey>;
  readonly text: string;
  /** The column of its name. */
  readonly start: number;
  /** The column of its value, which may be in the same word; of its name if it has none. */
  readonly valueStart: number;
}

/** Separates options from words. `--` ends the options. */
export function separate(
  words: readonly Word[],
  likely: readonly string[] = flagsOf(),
): { plain: Word[]; given: GivenOption[] } {
  const plain: Word[] = [];
  const given: GivenOption[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at];
    if (word === undefined) break;
    const { start } = word;
    if (word.isValue === true) {
      plain.push(word);
      continue;
    }
    if (word.text === '--') return { plain: [...plain, ...words.slice(at + 1)], given };
    if (!word.text.startsWith('-') || word.text === '-') {
      plain.push(word);
    } else if (word.text.startsWith('--')) {
      const [, name = '', value] = /^--([^=]*)(?:=([^]*))?$/.exec(word.text) ?? [];
      const option = findOption(name, word, likely);
      if (option.placeholder === undefined) {
        if (value !== undefined) {
          throw new UsageError(`--${name} takes no value`, { column: word.start });
        }
        refuseFieldsOfJson(name, words[at + 1]);
        given.push({ option, text: '', start, valueStart: start });
      } else if (
        value !== undefined ||
        option.isValueOptional ||
        lacksValue(option, words[at + 1])
      ) {
        const valueStart = start + (value === undefined ? 0 : `--${name}=`.length);
        given.push({ option, text: value ?? '', start, valueStart });
      } else {
        at += 1;
        given.push({ option, start, ...valueWord(option, words[at], word) });
      }
    } else {
      for (const [index, letter] of Array.from(word.text.slice(1)).entries()) {
        const option = OPTIONS.find(({ short }) => short === letter);
        if (option === undefined) {
          throw new UsageError(
            `there is no option -${visible(letter)}${insteadOfOption(letter) ?? '; put -- before a word that starts with "-"'}`,
            { column: word.start },
          );
        }
        if (option.placeholder === undefined) {
          given.push({ option, text: '', start, valueStart: start });
          continue;
        }
        // -oFILE, or -o FILE
        const joined = word.text.slice(index + 2);
        if (joined === '') at += 1;
        const own = { text: joined, valueStart: start + index + 2 };
        const taken = joined === '' ? valueWord(option, words[at], word) : own;
        given.push({ option, start, ...taken });
        break;
      }
    }
  }
  return { plain, given };
}

/** `--json username,lang` is how gh chooses fields; here it would search for "username,lang". */
function refuseFieldsOfJson(name: string, next?: Word): void {
  if (name !== 'json' || next === undefined || !/^\w+(?:,\w+)+$/.test(next.text)) return;
  throw new UsageError('--json takes no fields: --columns FIELDS chooses them', {
    column: next.start,
    suggestions: [`--columns ${next.text}`],
  });
}

function valueWord(
  { flag, placeholder = '', choices }: Option,
  next: Word | undefined,
  option: Word,
): { text: string; valueStart: number } {
  if (next === undefined || isOption(next)) {
    const among = choices === undefined ? '' : `, one of ${choices.join(', ')}`;
    throw new UsageError(`--${flag} needs a value: --${flag} ${placeholder}${among}`, {
      column: option.end + 1,
    });
  }
  return { text: next.text, valueStart: next.start };
}

/** `--where --yes` is a missing value, not a filter; `--where=--yes` makes it explicit. */
function isOption({ text, isValue }: Word): boolean {
  const isFlag = OPTIONS.some(({ flag }) => text.split('=')[0] === `--${flag}`);
  return isValue !== true && (text === '--' || isFlag);
}

function lacksValue({ mayLackValue }: Option, next: Word | undefined): boolean {
  return mayLackValue === true && (next === undefined || isOption(next));
}

/** `--force` had six meanings; each verb that writes names its word of `--allow` instead. */
const FORCE = toggle('allow', '--force  Refused: use --allow');

function findOption(name: string, word: Word, likely: readonly string[]): Option<OptionKey> {
  if (name === FORCE.flag) return FORCE;
  const option = OPTIONS.find(({ flag }) => flag === name);
  if (option !== undefined) return option;
  const instead = insteadOfOption(name);
  const suggestions = instead ? [] : suggest(name, likely).map((other) => `--${other}`);
  const advice =
    instead ?? (suggestions.length > 0 ? '' : '; "help COMMAND" lists those of a command');
  throw new UsageError(`there is no option --${oneLine(name)}${advice}`, {
    column: word.start,
    suggestions,
  });
}

/** Adds an option to the given ones. Throws a `UsageError` for an invalid value. */
export function take(given: Given, { option, text, valueStart: column }: GivenOption): Given {
  const { key, flag, choices = [] } = option;
  try {
    return { ...given, [key]: option.parse(text, given[key]) };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const suggestions = suggest(text, choices);
    throw new UsageError(`--${flag}: ${error.message}`, { column, suggestions });
  }
}
