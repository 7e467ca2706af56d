import { describedFields } from '../../device/profile.ts';
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
import { Arguments, parseCompleteLine, quoteLine, type Word } from '../../text/words.ts';
import { documentedProfile } from '../../device/built-in-profiles.ts';
import { isSecretName } from '../../device/sensitive-fields.ts';
import { allowMeaning } from '../../change/allow.ts';
import { oneLine } from '../../text/one-line.ts';
import { RefusedError, UsageError } from '../../errors.ts';
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
import { meantLines } from './meant-lines.ts';
import { type Option, toggle } from './option.ts';

/** Finds command, verb, arguments and options in the words of a line. Throws a `UsageError`. */
export function bind(words: readonly Word[], grammar: Grammar): Invocation {
  const expansion = grammar.expand?.(words);
  if (expansion === undefined) return bindWords(words, grammar);
  const { name, line, program, isForeign } = expansion;
  try {
    const { plain, given } = separate(expansion.words, grammar);
    // A saved line must mean the same every time, so devsh guesses nothing in it.
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
    // The error drops its suggestions: they would replace words of the alias, which the user did not type.
    throw new UsageError(`${error.message} (${name} is the alias of: ${oneLine(line)})`, {
      column: error.column,
      cause: error,
    });
  }
}

/** A line, with the grammar that it follows. */
interface Line {
  readonly words: readonly Word[];
  readonly grammar: Grammar;
  /** Whether the line names no command, as `devsh --help`. */
  readonly isEmpty?: boolean;
}

/** The command of a line, with the error to throw if the word turns out to be none. */
interface Found {
  readonly command: CommandSpec;
  readonly mistake?: UsageError;
}

function bindWords(typed: readonly Word[], grammar: Grammar): Invocation {
  const { commands } = grammar;
  const words = withAccounts(typed, commands);
  const { plain, given } = separate(words, grammar);
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
    return invocation;
  } catch (error) {
    if (error instanceof UsageError && found.mistake !== undefined) throw found.mistake;
    throw error;
  }
}

const HOST =
  /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:]+\]|localhost)(?::\d+)?$|^[\da-f]*(?::[\da-f]*){2,}$/i;

/** Whether a line has only addresses, which means "connect". No command has such a name. */
function areAddresses(words: readonly Word[]): boolean {
  return words.length > 0 && words.every(({ text }) => HOST.test(text));
}

/** Turns `admin@10.0.0.5`, as for ssh, into the address and the account of `connect`. */
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

function bindTo(
  command: CommandSpec,
  line: Line,
  rest: readonly Word[],
  options: readonly GivenOption[],
): Invocation {
  const { words, isEmpty } = line;
  const { verb, operands, stray } = findVerb(command, rest, line);
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
  return { command, verb, args, given, line: maskedLine(words), isImplied, stray };
}

/** Throws a `UsageError` if the line gives a value twice. A typed value may replace the value of an alias. */
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
  const { commands, resourceFor, guess } = line.grammar;
  const [next] = others;
  const command = commandNamed(commands, word.text);
  if (command !== undefined && command.section !== 'Raw API') return { command };
  if (command !== undefined) {
    // `delete user bob` and `get users` are mistakes: the verbs of the raw API take paths.
    const named = word.text === 'get' ? /^users?$|^https:/ : /^\w[^/]*$/;
    if (next === undefined || !named.test(next.text) || verbNamed(command, next.text))
      return { command };
    const meant = meantLine(line, [word, ...others]);
    if (meant === undefined) return { command };
    throw new UsageError(`"${oneLine(word.text)}" takes a path of the API, as in /api/user/`, {
      column: next.start,
      suggestions: [meant],
    });
  }
  const meant = meantLine(line, [word, ...others]);
  const names = commands.map(({ name }) => name);
  // The user may have pasted a count or a prompt, too: `100user`.
  const bare = word.text.replace(/^\W*\d+\W*/, '');
  // One letter in four may be wrong: `clear` is no `learn`.
  const isSlip = (name: string): boolean =>
    name.startsWith(word.text) ||
    editDistance(word.text, name) <= Math.max(1, word.text.length / 4);
  // In `usr lst` the next word is similar to a verb of the noun that is meant.
  const hasVerb = (name: string): boolean => {
    const verbs = namedVerbs(mustHave(commands, name)).map((verb) => verb.name);
    return next !== undefined && suggest(next.text, verbs).length > 0;
  };
  const slips = suggest(word.text, names)
    .filter(isSlip)
    .sort((a, b) => Number(hasVerb(b)) - Number(hasVerb(a)));
  const near = (names.includes(bare) ? [bare] : slips).map((name) => [
    name,
    ...maskedWords(others),
  ]);
  const suggestions =
    meant !== undefined ? [meant] : [...readyLines(line, [word, ...others], near)];
  const resource = resourceFor(word.text, next?.text, suggestions.length > 0);
  if (resource !== undefined) return { command: resource };
  const mistake = new UsageError(
    `there is no command "${oneLine(word.text)}"; "help all" lists them`,
    { column: word.start, suggestions },
  );
  const mayBe = meant === undefined && /^[a-z]/i.test(word.text);
  const guessed = mayBe && guess?.(word.text, mistake);
  if (!guessed) throw mistake;
  return { command: guessed, mistake };
}

/** The line that these words may mean; undefined if none parses. */
function meantLine(line: Line, plain: readonly Word[]): string | undefined {
  const [meant] = readyLines(line, plain, meantLines(maskedWords(plain), line.grammar.commands));
  return meant;
}

/** Replaces the words of the line that are no options by each of `instead`, and yields the lines that parse. */
function* readyLines(
  { words, grammar }: Line,
  plain: readonly Word[],
  instead: Iterable<readonly string[]>,
): Generator<string> {
  const options = maskedWords(words.filter((word) => !plain.includes(word)));
  for (const others of instead) {
    const ready = readyLine(quoteLine([...others, ...options]), grammar);
    if (ready !== undefined) yield ready;
  }
}

/** Returns the line if it parses, else the line that its error suggests; undefined if there is none. */
function readyLine(text: string, grammar: Grammar): string | undefined {
  const { corrections = 2 } = grammar;
  if (corrections === 0) return undefined;
  const tried = { ...grammar, corrections: corrections - 1, guess: undefined };
  try {
    bind(parseCompleteLine(text), tried);
    return text;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const [meant, other] = error.suggestions;
    return other === undefined && meant?.includes(' ') === true ? meant : undefined;
  }
}

function findVerb(
  command: CommandSpec,
  words: readonly Word[],
  line: Line,
): { verb: VerbSpec; operands: readonly Word[]; stray?: UsageError } {
  const [first, ...rest] = words;
  const verb = verbNamed(command, first?.text);
  if (verb !== undefined) return { verb, operands: rest };
  const fallback = defaultVerb(command);
  const names = namedVerbs(command).map(({ name }) => name);
  if (fallback !== undefined && (first === undefined || names.length === 0)) {
    return { verb: fallback, operands: words };
  }
  if (first === undefined) {
    throw new UsageError(`${command.name} needs a verb: ${names.join(', ')}`, {
      column: endOf(line.words),
    });
  }
  const near = first.text.includes('=') ? [] : suggest(first.text, names);
  // The word may be a search, so only one wrong letter makes it a mistyped verb: "sato" is no "set".
  const isTypo = (name: string): boolean =>
    fallback === undefined || name.startsWith(first.text) || editDistance(first.text, name) <= 1;
  const plain = [...line.words.filter(({ text }) => text === command.name).slice(0, 1), ...words];
  const withVerbs = (verbs: readonly string[]): string[] => {
    const lines = verbs.map((name) => [command.name, name, ...maskedWords(rest)]);
    return [...readyLines(line, plain, lines)];
  };
  const meant = meantLine(line, plain);
  const suggestions = meant !== undefined ? [meant] : withVerbs(near.filter(isTypo));
  const takesWords = (fallback?.args.length ?? 0) > 0;
  const text = oneLine(first.text);
  const has = names.length === 0 ? '' : `; it has ${names.join(', ')}`;
  const instead =
    fallback === undefined || !takesWords
      ? ''
      : fallback.name === ''
        ? `; a file of this name is ./${text}`
        : `; to search for it: ${command.name} ${fallback.name} ${text}`;
  const says = `${command.name} has no verb "${text}"${has}${instead}`;
  const { start: column } = first;
  if (fallback === undefined || !takesWords || suggestions.length > 0)
    throw new UsageError(says, { column, suggestions });
  const stray = new UsageError(says, { column, suggestions: withVerbs(near) });
  return { verb: fallback, operands: words, stray };
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
  /** The column of the option name. */
  readonly start: number;
  /** The column of the value, which may be in the same word; the column of the name if there is no value. */
  readonly valueStart: number;
}

/** Separates options from words. `--` ends the options. */
export function separate(
  words: readonly Word[],
  grammar?: Grammar,
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
      const option = findOption(name, word, grammar && { words, grammar });
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

/** Whether a word cannot be the value of the option before it: in `--where --yes` a value is missing. */
function isOption({ text, isValue }: Word): boolean {
  const isFlag = OPTIONS.some(({ flag }) => text.split('=')[0] === `--${flag}`);
  return isValue !== true && (text === '--' || isFlag);
}

/** `--force` had six meanings; each verb that writes names its word of `--allow` instead. */
const FORCE = toggle('allow', '--force  Refused: use --allow');

function findOption(name: string, word: Word, line: Line | undefined): Option<OptionKey> {
  if (name === FORCE.flag) return FORCE;
  const option = OPTIONS.find(({ flag }) => flag === name);
  if (option !== undefined) return option;
  const flags = OPTIONS.map(({ flag }) => flag);
  const suggestions = suggest(name, flags).map((other) => `--${other}`);
  const otherwise = '; "help COMMAND" lists those of a command';
  const says = `there is no option --${oneLine(name)}`;
  throw optionMistake(line, word, name, { says, otherwise, suggestions });
}

/** The error for a wrong option. Suggests a line that parses, or says which other way gives a secret. */
function optionMistake(
  line: Line | undefined,
  { start, column = start }: { readonly start: number; readonly column?: number },
  name: string,
  mistake: { says: string; otherwise: string; suggestions?: readonly string[] },
): UsageError {
  const { says, otherwise, suggestions = [] } = mistake;
  const { words = [], grammar } = line ?? {};
  const [, stem = name, source] = /^(.+)-(command|file)$/.exec(name) ?? [];
  if (source !== undefined && (isSecretName(stem) || stem === 'credential')) {
    const example = source === 'file' ? 'cat, /run/secrets/token' : 'pass, show, "net/{device}"';
    const instead = `devices.yaml names it, as in credential_command: [${example}]`;
    return new UsageError(`${says}; ${instead}; see "help logins"`, { column });
  }
  if (isSecretName(name) || name === 'p') {
    const instead = '"login" keeps a secret, --password-stdin and --token-stdin read it';
    return new UsageError(`${says}; no option takes a secret: ${instead}`, { column });
  }
  if (grammar === undefined) return new UsageError(says, { column });
  const masked = maskedWords(words);
  const at = words.findIndex((word) => word.start <= start && start < word.end);
  const whole = { words: [], grammar };
  const [meant] = readyLines(whole, [], insteadOfOption(masked, at, name, grammar.commands));
  if (meant !== undefined) return new UsageError(says, { column, suggestions: [meant] });
  const fitting = suggestions.filter(
    (other) => readyLine(quoteLine(masked.with(at, other)), grammar) !== undefined,
  );
  const more = fitting.length > 0 ? '' : otherwise;
  return new UsageError(`${says}${more}`, { column, suggestions: fitting });
}

/** Lines that replace a wrong option by the option of this synonym or choice, by a field, or by an argument. */
function* insteadOfOption(
  words: readonly string[],
  at: number,
  name: string,
  commands: readonly CommandSpec[],
): Generator<readonly string[]> {
  const [word = '', next] = words.slice(at);
  const [, joined] = /^--[^=]+=([^]*)$/.exec(word) ?? /^-\w(.+)$/.exec(word) ?? [];
  const value = joined ?? next;
  const before = words.slice(0, at);
  const after = words.slice(at + 1);
  const behindValue = joined === undefined ? after.slice(1) : after;
  for (const { key, flag, synonyms = [], choices = [], placeholder, isValueOptional } of OPTIONS) {
    // `--csv` is a choice of `--format`. devsh never guesses an override of a refusal (`--allow`).
    if (choices.includes(name) && key !== 'allow') yield [...before, `--${flag}`, name, ...after];
    if (!synonyms.includes(name)) continue;
    if (placeholder === undefined || isValueOptional) yield [...before, `--${flag}`, ...after];
    if (placeholder === undefined || value === undefined) continue;
    // A password may follow an account.
    const own = key === 'user' ? value.replace(/:.*/, '') : value;
    yield [...before, `--${flag}`, own, ...behindValue];
  }
  if (value === undefined) return;
  if (describedFields(documentedProfile, 'user').includes(name))
    yield [...before, `${name}=${value}`, ...behindValue];
  // `report --run k3f1`, `apply -f x.yaml`, `changes --user bob`
  const [first, second] = words;
  const command = commandNamed(commands, first);
  const verb = command && verbNamed(command, second);
  const verbs = verb === undefined ? (command?.verbs ?? []) : [verb];
  const isArgument = verbs.some(({ args }) =>
    args.some((arg) => {
      const called = arg.name.toLowerCase();
      return called.split('=')[0] === name || (name.length === 1 && called.startsWith(name));
    }),
  );
  if (isArgument || commandNamed(commands, name)?.defaultVerb === 'list')
    yield [...before, value, ...behindValue];
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
