import { maskedLine, maskedText, maskedWords } from './hide-secrets.ts';
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
import {
  Arguments,
  parseCompleteLine,
  quoteLine,
  type Word,
  wordsOfArgv,
} from '../../text/words.ts';
import { allowMeaning } from '../../change/allow.ts';
import { oneLine } from '../../text/one-line.ts';
import { attempt, RefusedError, UsageError } from '../../errors.ts';
import { editDistance, suggest } from '../../text/suggest.ts';
import {
  type Format,
  GENERAL,
  type Given,
  isFormatElsewhere,
  type OptionKey,
  OPTIONS,
} from './options.ts';
import { visible } from '../../text/visible.ts';
import { type Option, toggle } from './option.ts';

/**
 * As `bind`. What words of other tools mean is loaded only for a line that is wrong without it, or that may be one of
 * them although it is right: `user export` is a search, too.
 */
export async function understand(words: readonly Word[], grammar: Grammar): Promise<Invocation> {
  if (grammar.guesses === undefined) {
    const plain = attempt(UsageError, () => bind(words, grammar));
    if (plain !== undefined && plain.isDoubtful !== true) return plain;
  }
  const guesses = grammar.guesses ?? (await import('./tried-words.ts'));
  return bind(words, { ...grammar, guesses });
}

/** Finds command, verb, arguments and options in the words of a line. Throws a `UsageError`. */
export function bind(words: readonly Word[], grammar: Grammar): Invocation {
  const expansion = grammar.expand?.(words);
  if (expansion === undefined) return bindWords(words, grammar);
  const { name, line, program, isForeign } = expansion;
  try {
    const { plain, given } = separate(expansion.words, grammar);
    // A saved line means the same every time: nothing in it is guessed.
    const invocation =
      program === undefined
        ? bindWords(expansion.words, { ...grammar, guess: undefined })
        : bindTo(program, { words: expansion.words, grammar }, plain, given);
    const { command } = invocation;
    const takesForeign =
      command.section === 'Records' || ['get', 'post', 'delete'].includes(command.name);
    if (isForeign && !takesForeign)
      throw new RefusedError(`"${command.name}" accepts no value of a record: nothing was run`);
    return { ...invocation, isAlias: true };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    // A suggestion replaces a word of the line of the alias, which was not typed.
    throw new UsageError(`${error.message} (${name} is the alias of: ${oneLine(line)})`, {
      column: error.column,
      cause: error,
    });
  }
}

/** A line and what may stand in it. */
interface Line {
  readonly words: readonly Word[];
  readonly grammar: Grammar;
  /** No command is named: `devsh --help`. */
  readonly isEmpty?: boolean;
}

/** The command of a line. `mistake`: it may be none. `isDoubtful`: it may be a word of another tool. */
interface Found {
  readonly command: CommandSpec;
  readonly mistake?: UsageError;
  readonly isDoubtful?: boolean;
}

function bindWords(typed: readonly Word[], grammar: Grammar): Invocation {
  const { commands } = grammar;
  const words = withAccounts(typed, commands);
  const { plain, given } = separate(words, grammar, likelyFlags(words, commands));
  const [first, ...others] = plain;
  const wanted = given.some(({ option }) => option.key === 'version') ? 'version' : 'help';
  const [name] = others;
  const asked = first?.text === 'resource' && name && grammar.resourceNamed?.(name);
  const rest = asked ? others.slice(1) : areAddresses(plain) ? plain : others;
  const line = { words, grammar, isEmpty: first === undefined };
  const found: Found = asked
    ? { command: asked }
    : first === undefined
      ? { command: mustHave(commands, wanted) }
      : areAddresses(plain)
        ? { command: mustHave(commands, 'connect') }
        : findCommand(first, others, line);
  try {
    const invocation = bindTo(found.command, line, rest, given);
    // A resource that may not exist has no help.
    if (invocation.given.help === true && found.mistake !== undefined) throw found.mistake;
    return found.isDoubtful === true ? { ...invocation, isDoubtful: true } : invocation;
  } catch (error) {
    if (error instanceof UsageError && found.mistake !== undefined) throw found.mistake;
    throw error;
  }
}

const HOST =
  /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:]+\]|localhost)(?::\d+)?$|^[\da-f]*(?::[\da-f]*){2,}$/i;

/** Addresses alone mean "connect": no command has such a name. */
function areAddresses(words: readonly Word[]): boolean {
  return words.length > 0 && words.every(({ text }) => HOST.test(text));
}

/** `admin@10.0.0.5`, as ssh takes it: the account of `connect`. */
function withAccounts(words: readonly Word[], commands: readonly CommandSpec[]): readonly Word[] {
  const [first] = words;
  const isConnect = first?.text === 'connect' || first?.text === 'login';
  if (!isConnect && commandNamed(commands, first?.text) !== undefined) return words;
  const parts = words.map((word) => ({ word, match: /^([^@\s=/:]+)@([^@\s]+)$/.exec(word.text) }));
  const named = parts.filter(({ match }) => match !== null);
  if (named.length === 0 || !(isConnect || parts[0]?.match)) return words;
  const accounts = new Set(named.map(({ match }) => match?.[1] ?? ''));
  const [account = ''] = accounts;
  const [one] = named;
  if (one === undefined || accounts.size > 1) {
    throw new UsageError('one line has one account: connect to these devices in two lines', {
      column: named[1]?.word.start,
    });
  }
  const { start, end } = one.word;
  const said = ['--user', account].map((text) => ({ text, start, end }));
  const hosts = parts.map(({ word, match }) => ({ ...word, text: match?.[2] ?? word.text }));
  const connect = isConnect ? [] : [{ text: 'connect', start: 0, end: 0 }];
  return [...connect, ...said, ...hosts];
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
  line: Line,
  rest: readonly Word[],
  options: readonly GivenOption[],
): Invocation {
  const { words, isEmpty } = line;
  const { verb, operands, isDoubtful } = findVerb(command, rest, line);
  const own: readonly OptionKey[] = [...GENERAL, ...verb.options];
  let given: Given = {};
  for (const [at, one] of options.entries()) {
    const { option, start } = one;
    // `devsh --help` asks for all commands, not for the help of `help`.
    if (isEmpty === true && option.key === 'help') continue;
    if (!own.includes(option.key)) {
      throw optionMistake(line, one, option.flag, {
        says: isEmpty
          ? `--${option.flag} stands behind a command`
          : `${title(command, verb)} has no option --${option.flag}`,
        otherwise: isEmpty ? '' : `; see "help ${title(command, verb)}"`,
      });
    }
    if (option.key === 'output' && isFormatElsewhere(one.text)) {
      throw optionMistake(line, { start, column: one.valueStart }, 'o', {
        says: `${title(command, verb)} writes to a file, and one of this name is ./${one.text}`,
        otherwise: '',
      });
    }
    if (option === FORCE) {
      const { forced } = verb;
      const here =
        forced === undefined
          ? 'a refusal names the --allow that overrides it'
          : `here use --allow ${forced} (${allowMeaning(forced)})`;
      throw new UsageError(`--force is ambiguous; ${here}`, {
        column: start,
        suggestions: forced === undefined ? [] : [`--allow ${forced}`],
      });
    }
    refuseTwice(one, options.slice(0, at), words);
    given = take(given, one);
  }
  const bound = given.help === true ? new Map() : bindArguments(command, verb, operands, line);
  const columns = new Map(options.map(({ option, valueStart }) => [option.key, valueStart]));
  const args = new Arguments(bound, endOf(words), columns);
  const isImplied = rest.length === 0 && verb.name !== '';
  const found = { command, verb, args, given, line: maskedLine(words), isImplied };
  return isDoubtful ? { ...found, isDoubtful } : found;
}

/** Throws a `UsageError` for a value that would silently replace one of the same line; that of an alias it may. */
function refuseTwice(
  { option, text, start: column }: GivenOption,
  earlier: readonly GivenOption[],
  words: readonly Word[],
): void {
  const { key, flag, placeholder = '', isRepeatable } = option;
  const isSaved = ({ start }: GivenOption): boolean =>
    words.some((word) => word.isSaved === true && word.start === start);
  const before = earlier.find((one) => one.option.key === key && !isSaved(one));
  if (before === undefined || placeholder === '' || isRepeatable === true) return;
  const other = before.option.flag;
  if (other !== flag) {
    throw new UsageError(`--${other} and --${flag} exclude each other: leave one out`, { column });
  }
  const separator = placeholder === 'FILTER' ? ' ' : placeholder === 'FIELDS' ? ',' : undefined;
  const joined = quoteLine([maskedText([before.text, text].join(separator))]);
  const instead = separator === undefined ? 'leave one out' : `write --${flag} ${joined}`;
  throw new UsageError(`--${flag} was given twice: ${instead}`, { column });
}

function endOf(words: readonly Word[]): number {
  const last = words.at(-1);
  return last === undefined ? 0 : last.end + 1;
}

/** The format that a line asks for, even if the line is invalid: errors are printed in it. */
export function formatAsked(words: readonly Word[]): Format | undefined {
  try {
    return separate(words, undefined).given.reduce<Given>(take, {}).format;
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

function findCommand(word: Word, others: readonly Word[], line: Line): Found {
  const { commands, resourceFor, guess, guesses } = line.grammar;
  const [next] = others;
  const command = commandNamed(commands, word.text);
  if (command !== undefined && command.section !== 'Raw API') return { command };
  if (command !== undefined) {
    // For `delete user bob` or `get users`: the raw API takes paths.
    const named = word.text === 'get' ? /^users?$|^https:/ : /^\w[^/]*$/;
    if (next === undefined || !named.test(next.text)) return { command };
    const meant = meantLine(line, [word, ...others]);
    if (meant === undefined) return { command, isDoubtful: guesses === undefined };
    throw new UsageError(`"${oneLine(word.text)}" takes a path of the API, as in /api/user/`, {
      column: next.start,
      suggestions: [meant],
    });
  }
  const meant = meantLine(line, [word, ...others]);
  const names = commands.map(({ name }) => name);
  const near = (text: string): string[] => suggest(text, names);
  // `100user`: a count or a prompt that was pasted along.
  const bare = word.text.replace(/^\W*\d+\W*/, '');
  const suggestions =
    meant !== undefined
      ? [meant].filter(Boolean)
      : bare !== word.text && names.includes(bare)
        ? [ready(line, [word, ...others], quoteLine([bare, ...maskedWords(others)])) ?? bare]
        : near(word.text);
  const resource = resourceFor(word.text, next?.text, suggestions.length > 0);
  const isDoubtful = guesses === undefined;
  if (resource !== undefined) return { command: resource, isDoubtful };
  const mistake = new UsageError(
    `there is no command "${oneLine(word.text)}"; "help all" lists them`,
    { column: word.start, suggestions },
  );
  const mayBe = meant === undefined || guesses?.mayBeResource(word.text, next?.text) === true;
  const guessed = mayBe && /^[a-z]/i.test(word.text) && guess?.(word.text, mistake);
  if (!guessed) throw mistake;
  return { command: guessed, mistake, isDoubtful };
}

/** What another tool means by these words, as a line that is ready to run here: with the options of this one. */
function meantLine(line: Line, plain: readonly Word[]): string | undefined {
  const { guesses } = line.grammar;
  const meant = guesses?.suggestedLine(maskedWords(plain), nounsOf(line.grammar));
  return meant === undefined ? undefined : ready(line, plain, meant);
}

/** Puts the options of the line behind `text`; undefined if it would go to other devices than the line. */
function ready({ words, grammar }: Line, plain: readonly Word[], text: string): string | undefined {
  const options = words.filter((word) => !plain.includes(word));
  if (options.length === 0 || text === '') return text;
  const whole = `${text} ${quoteLine(maskedWords(options))}`;
  const { guesses } = grammar;
  if (guesses === undefined) return whole;
  // The options may be those of another tool, too.
  const none = (): undefined => undefined;
  const known = { ...guesses, suggestedLine: none, suggestedVerbLine: none, suggestedWhole: none };
  const texts = parseCompleteLine(whole).map((word) => word.text);
  const isSelection = options.some((word) => /^--on(?:=|$)/.test(word.text));
  return readyLine(texts, { ...grammar, guesses: known }) ?? (isSelection ? undefined : text);
}

function nounsOf({ commands }: Grammar) {
  return {
    verbsOf: (noun: string) => {
      const command = commandNamed(commands, noun);
      return command && namedVerbs(command).map(({ name }) => name);
    },
    isResource: (noun: string) => commandNamed(commands, noun)?.defaultVerb === 'list',
  };
}

/** Words between others, as in a sentence or in SQL. */
const JOINING = /^(?:by|to|where|sort)$/;

/** A word in the place of a verb that may be one of another tool, or a file: no value, no address. */
const LIKE_A_VERB = /^[a-z-]+$|^[^=/]+\.(?:csv|jsonl?|ya?ml)$|^[?=]$/i;

function findVerb(
  command: CommandSpec,
  words: readonly Word[],
  line: Line,
): { verb: VerbSpec; operands: readonly Word[]; isDoubtful: boolean } {
  const { guesses } = line.grammar;
  const [first, ...rest] = words;
  const verb = verbNamed(command, first?.text);
  if (verb !== undefined) {
    const joining = rest.find(({ text }) => JOINING.test(text));
    const whole = maskedWords([...line.words.slice(0, 1), ...words]);
    const meant = joining && guesses?.suggestedWhole(whole, nounsOf(line.grammar));
    if (meant === undefined) {
      const isDoubtful = joining !== undefined && guesses === undefined;
      return { verb, operands: rest, isDoubtful };
    }
    throw new UsageError(`"${joining?.text ?? ''}" is no word of "${title(command, verb)}"`, {
      column: joining?.start,
      suggestions: [ready(line, [...line.words.slice(0, 1), ...words], meant) ?? ''],
    });
  }
  const fallback = defaultVerb(command);
  const names = namedVerbs(command).map(({ name }) => name);
  const near = first === undefined || first.text.includes('=') ? [] : suggest(first.text, names);
  // A search word may stand here, so that only a single slip is a mistyped verb: "sato" is no "set".
  const meant =
    fallback === undefined || first === undefined
      ? near
      : near.filter((name) => name.startsWith(first.text) || editDistance(first.text, name) <= 1);
  const masked = maskedWords(words);
  const other = guesses?.suggestedVerbLine(command.name, masked, nounsOf(line.grammar));
  const head = line.words.filter(({ text }) => text === command.name).slice(0, 1);
  if (other !== undefined) {
    meant.splice(0, meant.length, ready(line, [...head, ...words], other) ?? '');
  } else {
    const others = masked.slice(1);
    meant.forEach((name, at) => {
      const text = quoteLine([command.name, name, ...others]);
      meant[at] = ready(line, [...head, ...words], text) ?? '';
    });
  }
  const takesWords = (fallback?.args.length ?? 0) > 0;
  const hasNoVerb = first === undefined || names.length === 0;
  if (fallback !== undefined && meant.length === 0 && (takesWords || hasNoVerb)) {
    const isDoubtful = guesses === undefined && LIKE_A_VERB.test(first?.text ?? '');
    return { verb: fallback, operands: words, isDoubtful };
  }
  if (first === undefined) {
    throw new UsageError(`${command.name} needs a verb: ${names.join(', ')}`, {
      column: endOf(line.words),
    });
  }
  const text = oneLine(first.text);
  const has = names.length === 0 ? '' : `; it has ${names.join(', ')}`;
  const instead =
    fallback === undefined || !takesWords
      ? ''
      : fallback.name === ''
        ? `; a file of this name is ./${text}`
        : `; to search for it: ${command.name} ${fallback.name} ${text}`;
  throw new UsageError(`${command.name} has no verb "${text}"${has}${instead}`, {
    column: first.start,
    suggestions: meant.filter((one) => one !== ''),
  });
}

function bindArguments(
  command: CommandSpec,
  verb: VerbSpec,
  operands: readonly Word[],
  line: Line,
): Map<string, readonly Word[]> {
  const bound = new Map<string, readonly Word[]>();
  let left = operands;
  for (const arg of verb.args) {
    const taken = left.slice(0, arg.isRest === true ? undefined : 1);
    if (taken.length === 0 && arg.isRequired === true) {
      throw new UsageError(`${title(command, verb)} needs ${argLabel(arg)}: ${arg.summary}`, {
        column: endOf(line.words),
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
    const meant = meantLine(line, [...line.words.slice(0, 1), ...operands]);
    throw new UsageError(
      `${title(command, verb)} takes no further word "${oneLine(extra.text)}"; usage: ${[title(command, verb), ...verb.args.map(argLabel)].join(' ')}`,
      { column: extra.start, suggestions: meant === undefined ? [] : [meant] },
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
  grammar?: Grammar,
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
      const option = findOption(name, word, likely, grammar && { words, grammar });
      if (option.placeholder === undefined) {
        if (value !== undefined) {
          throw new UsageError(`--${name} takes no value`, { column: word.start });
        }
        given.push({ option, text: '', start, valueStart: start });
      } else if (
        value !== undefined ||
        (option.isValueOptional && !isApart(option, words[at + 1]))
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
          throw optionMistake(grammar && { words, grammar }, word, letter, {
            says: `there is no option -${visible(letter)}`,
            otherwise: '; put -- before a word that starts with "-"',
          });
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

/** Whether the word behind an option is its optional value: `--watch 1`, `--json username,lang`. */
function isApart({ standsApart }: Option, next: Word | undefined): boolean {
  return next !== undefined && next.isValue !== true && standsApart?.test(next.text) === true;
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

/** `--force` had six meanings; each verb that writes names its word of `--allow` instead. */
const FORCE = toggle('allow', '--force  Refused: use --allow');

function findOption(
  name: string,
  word: Word,
  likely: readonly string[],
  line: Line | undefined,
): Option<OptionKey> {
  if (name === FORCE.flag) return FORCE;
  const option = OPTIONS.find(({ flag }) => flag === name);
  if (option !== undefined) return option;
  const suggestions = suggest(name, likely).map((other) => `--${other}`);
  const otherwise = suggestions.length > 0 ? '' : '; "help COMMAND" lists those of a command';
  const says = `there is no option --${oneLine(name)}`;
  throw optionMistake(line, word, name, { says, otherwise, suggestions });
}

/** A wrong option, with what another tool means by it as a line that is ready to run, if it is one. */
function optionMistake(
  line: Line | undefined,
  { start, column = start }: { readonly start: number; readonly column?: number },
  name: string,
  more: { says: string; otherwise: string; suggestions?: readonly string[] },
): UsageError {
  const { says, otherwise, suggestions = [] } = more;
  const { words = [], grammar } = line ?? {};
  const at = words.findIndex((word) => word.start <= start && start < word.end);
  const [word, next] = words.slice(at);
  const value = next?.text.startsWith('-') === false ? next.text : undefined;
  const instead = grammar?.guesses?.insteadOfOption(name, word?.text ?? '', value, words[1]?.text);
  const masked = maskedWords(words);
  const whole = grammar?.guesses?.suggestedWhole(masked, nounsOf(grammar));
  if (whole !== undefined) return new UsageError(says, { column, suggestions: [whole] });
  if (instead === undefined) {
    return new UsageError(`${says}${otherwise}`, { column, suggestions });
  }
  const replaced = instead.words && [
    ...masked.slice(0, at),
    ...instead.words,
    ...masked.slice(at + instead.count),
  ];
  // An option that stands for another one, which stands for it, must not go round in circles.
  const guesses = grammar?.guesses && { ...grammar.guesses, insteadOfOption: () => undefined };
  const meant = grammar && replaced && readyLine(replaced, { ...grammar, guesses });
  return new UsageError(`${says}; ${instead.why}`, {
    column,
    suggestions: meant === undefined ? [] : [meant],
  });
}

/** The line with an option replaced, or what it means in turn; undefined if it is wrong all the same. */
function readyLine(texts: readonly string[], grammar: Grammar): string | undefined {
  try {
    bind(wordsOfArgv(texts), grammar);
    return quoteLine(texts);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const [meant, other] = error.suggestions;
    return other === undefined && meant?.includes(' ') === true ? meant : undefined;
  }
}

/** Adds an option to the given ones. Throws a `UsageError` for an invalid value. */
export function take(given: Given, { option, text, valueStart: column }: GivenOption): Given {
  const { key, flag, choices = [] } = option;
  try {
    const parsed = { ...given, [key]: option.parse(text, given[key]) };
    // `--json=FIELDS` is a format, too.
    return key === 'fields' ? { ...parsed, format: 'json' } : parsed;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const suggestions = suggest(text, choices);
    throw new UsageError(`--${flag}: ${error.message}`, { column, suggestions });
  }
}
