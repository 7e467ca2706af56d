import { documentedProfile } from '../../device/built-in-profiles.ts';
import { keyFieldOf } from '../../device/profile.ts';
import {
  commandNamed,
  type CommandSpec,
  defaultVerb,
  namedVerbs,
  verbNamed,
  type VerbSpec,
} from '../command.ts';
import { suggest } from '../../text/suggest.ts';
import { type OptionKey, OPTIONS, TABLE } from './options.ts';

/* Finds what a wrong line may mean: puts its words into the order of the grammar, and replaces synonyms by names. */

type Words = readonly string[];

/** An address, a host with a domain, a group, or the address of a page. */
const TARGET = /^(?:https:\/\/[^/]+\/?|@\w[\w-]*|(?:[\w-]+\.){2,}[\w-]+(?:[:/]\d+)?)$/;

const PAGE = /^https:\/\/(?:[^@/]*@)?([^/]+)(\/.+)$/;

/** Options that people type as a verb: `user diff`, `user count lang`. */
const SHOWING: readonly OptionKey[] = [...TABLE, 'watchMs'];

/** The command that reads a file, by its ending. */
const READERS: Readonly<Record<string, string>> = {
  csv: 'import',
  json: 'import',
  yaml: 'plan',
  yml: 'plan',
  devsh: 'run',
};

/** The lines that these words may mean, the most likely first. The caller checks whether a line parses. */
export function meantLines(words: Words, commands: readonly CommandSpec[]): Generator<Words> {
  return new Meanings(commands).of(words);
}

class Meanings {
  readonly #commands: readonly CommandSpec[];
  /** The noun `user`. Its verbs stand for those of every noun, and a line without a noun means it. */
  readonly #user: CommandSpec | undefined;

  constructor(commands: readonly CommandSpec[]) {
    this.#commands = commands;
    this.#user = commandNamed(commands, 'user');
  }

  *of(words: Words): Generator<Words> {
    const [first = '', ...rest] = words;
    const pages = words.map((word) => PAGE.exec(word));
    const [, host] = pages.find((page) => page !== null) ?? [];
    if (host !== undefined) {
      const paths = words.map((word, at) => pages[at]?.[2] ?? word);
      for (const line of [paths, ...this.of(paths)]) yield [...line, '--on', host];
      return;
    }
    const noun = this.#noun(first);
    if (noun !== undefined) {
      if (noun.name !== first) yield [noun.name, ...rest];
      yield* this.#behindNoun(noun, rest);
    } else if (TARGET.test(first)) {
      const target = first.replace(/^https:\/\/|\/$/g, '');
      yield rest.length === 0 ? ['connect', target] : [...rest, '--on', target];
    } else {
      yield* this.#unknown(first, rest);
    }
  }

  *#unknown(first: string, rest: Words): Generator<Words> {
    const [second = '', ...others] = rest;
    const about = this.#noun(second);
    const isReading = /^(?:list|show)$/.test(this.#group(first)[0] ?? '');
    if (about !== undefined) {
      // `get users`
      if (isReading && others.length === 0) yield [about.name];
      yield* this.#verb(about, first, others);
      yield* this.#option(about, first, others);
    } else if (isReading && this.#isLine(rest)) {
      // `show pending`
      yield rest;
    }
    const isCommand = commandNamed(this.#commands, first) !== undefined;
    if (!isCommand)
      for (const name of this.#named(first))
        yield this.#withNoun(name, about, about ? others : rest);
    const reader = readerOf(first);
    if (reader !== undefined) yield [reader, first, ...rest];
    if (this.#user !== undefined && about === undefined) {
      yield* this.#verb(this.#user, userVerb(first, this.#user), rest);
      yield* this.#option(this.#user, first, rest);
    }
    // A word in front of a line, as in `sudo user list`, `telnet 10.0.0.5` or `load users.csv`. In front of a verb it
    // may name a resource: `interface delete` is no `user delete`.
    const isResource = this.#user !== undefined && verbNamed(this.#user, second) !== undefined;
    const isWrapper =
      !isCommand && !isResource && this.#group(first).length === 1 && first !== 'no';
    const isBegin = about !== undefined || TARGET.test(second) || readerOf(second) !== undefined;
    const isLine = this.#isLine([second.toLowerCase(), ...others]);
    if (isWrapper && isLine) yield rest;
    if (isWrapper && (isBegin || isLine)) yield* this.of(rest);
  }

  /** The lines behind a noun: for `user rm bob`, `user lock bob`, `runs last`. */
  *#behindNoun(noun: CommandSpec, words: Words): Generator<Words> {
    const [first = '', ...rest] = words;
    const isKnown = this.#group(first).length > 1;
    if (rest.length === 0 && /^(?:list|show)$/.test(this.#group(first)[0] ?? '')) yield [noun.name];
    yield* this.#verb(noun, first, rest);
    yield* this.#option(noun, first, rest);
    for (const name of this.#named(first)) yield this.#withNoun(name, noun, rest);
    const reader = readerOf(first);
    if (reader !== undefined) yield this.#withNoun([reader], noun, words);
    // Guesses the only verb that takes these words. It never guesses a verb that removes, or after a misspelled verb.
    const takesWords = (defaultVerb(noun)?.args.length ?? 0) > 0;
    const verbs = namedVerbs(noun).map(({ name }) => name);
    if (takesWords || isKnown || suggest(first, verbs).length > 0) return;
    const harmless = namedVerbs(noun).filter(
      ({ name, changes }) => changes === 'nothing' || name === 'set',
    );
    for (const { name } of harmless) yield [noun.name, name, ...words];
  }

  /** The command with verbs that has this name, its plural (`users`) or this synonym. */
  #noun(word: string): CommandSpec | undefined {
    const nouns = this.#commands.filter((one) => namedVerbs(one).length > 0);
    return (
      commandNamed(nouns, word) ??
      commandNamed(nouns, word.replace(/s$/, '')) ??
      nouns.find(({ synonyms = [] }) => synonyms.includes(word))
    );
  }

  /** Whether these words begin as a line: with a command, or with a noun and its verb. */
  #isLine([first, second]: Words): boolean {
    const command = commandNamed(this.#commands, first);
    if (command === undefined) return false;
    return namedVerbs(command).length === 0 || verbNamed(command, second) !== undefined;
  }

  /** The name of a verb of users with its synonyms. */
  #group(word: string): Words {
    const groups = (this.#user?.verbs ?? []).map(({ name, synonyms = [] }) => [name, ...synonyms]);
    return groups.find((group) => group.includes(word)) ?? [word];
  }

  *#verb(noun: CommandSpec, word: string, rest: Words): Generator<Words> {
    const group = this.#group(word);
    const means = ({ name, synonyms = [] }: VerbSpec): boolean =>
      group.includes(name) || synonyms.some((one) => group.includes(one));
    const [key, ...others] = rest;
    for (const verb of namedVerbs(noun).filter(means)) {
      const { name } = verb;
      const isWrong =
        verb.args.at(-1)?.name === 'FIELD=VALUE' && others.at(-1)?.includes('=') === false;
      if (isWrong) continue;
      // `get users lang=de`
      if (name === 'show' && key?.includes('=') === true) yield [noun.name, 'list', ...rest];
      const isNamed = name !== 'add' || noun !== this.#user || key?.includes('=') === true;
      const named = `${keyFieldOf(documentedProfile, 'user')}=${key ?? 'NAME'}`;
      yield isNamed
        ? withPlaceholders([noun.name, name, ...rest], verb, rest.length)
        : [noun.name, name, named, ...others];
    }
  }

  /** Replaces a word by an option of the default verb of the noun. */
  *#option(noun: CommandSpec, word: string, rest: Words): Generator<Words> {
    const verb = defaultVerb(noun);
    const option = OPTIONS.find(
      ({ key, flag, synonyms = [] }) =>
        SHOWING.includes(key) &&
        verb?.options.includes(key) === true &&
        (flag === word || synonyms.includes(word)),
    );
    if (verb === undefined || option === undefined) return;
    const { flag, placeholder, isValueOptional } = option;
    const words = rest[0] === verb.name ? rest.slice(1) : rest;
    if (placeholder !== undefined && !isValueOptional) {
      const [value = placeholder.split(/[^A-Z]/)[0]?.replace(/S$/, '') ?? '', ...others] = words;
      yield [noun.name, verb.name, ...others, `--${flag}`, value];
    } else if (words.length === 0 || words !== rest) {
      yield [noun.name, verb.name, ...words, `--${flag}`];
    }
  }

  /** The line of a command that takes a noun: `export user`, `help user`. `lockout` takes none. */
  #withNoun(name: Words, noun: CommandSpec | undefined, rest: Words): Words {
    const command = commandNamed(this.#commands, name[0]);
    const verb = command && (verbNamed(command, name[1]) ?? defaultVerb(command));
    const at = verb?.args.findIndex((arg) => /^(?:RESOURCE|COMMAND)$/.test(arg.name)) ?? -1;
    const words = noun === undefined || at < 0 ? rest : rest.toSpliced(at, 0, noun.name);
    // `reset password bob`
    const others = words[0] === name[1] ? words.slice(1) : words;
    return verb === undefined
      ? [...name, ...others]
      : withPlaceholders([...name, ...others], verb, others.length);
  }

  /** The commands of this name or synonym: `lock` is `lockout`, `passwd` is `rotate password`. */
  #named(typed: string): Words[] {
    const word = typed.toLowerCase();
    const isNamed = ({ name, section }: CommandSpec): boolean =>
      name === word && (section !== 'Raw API' || word !== typed);
    return this.#commands.flatMap((command) =>
      command.verbs
        .filter(
          ({ name, synonyms = [] }) =>
            command !== this.#user &&
            ((name === '' && isNamed(command)) || synonyms.includes(word)),
        )
        .map(({ name }) => (name === '' ? [command.name] : [command.name, name])),
    );
  }
}

function readerOf(word: string): string | undefined {
  const [, ending = ''] = /\.(\w+)$/.exec(word) ?? [];
  return Object.hasOwn(READERS, ending) ? READERS[ending] : undefined;
}

/** Adds the names of the arguments that the line still needs: `apply FILE`. */
function withPlaceholders(line: Words, { args }: VerbSpec, given: number): Words {
  const missing = args.slice(given).filter(({ isRequired }) => isRequired === true);
  return [...line, ...missing.map(({ name }) => name)];
}

/** The verb in a word such as `useradd`, `deluser` or `usermod`. */
function userVerb(word: string, user: CommandSpec): string {
  const verb = word.replace(/^user(?=.)|(?<=.)user$/, '');
  if (verb === word || verb.length < 3) return word;
  const names = namedVerbs(user).flatMap(({ name, synonyms = [] }) => [name, ...synonyms]);
  return names.find((name) => name.startsWith(verb)) ?? word;
}

/** The words that people try for a line: `rm`, `remove` for `user delete`. */
export function synonymsOf(line: string, commands: readonly CommandSpec[]): Words {
  const [first, ...rest] = line.split(' ');
  const command = commandNamed(commands, first);
  const verb = command?.verbs.find(({ name }) => name === '' || name === rest[0]);
  const switches = OPTIONS.filter(({ flag }) => rest.includes(`--${flag}`));
  return [...(verb?.synonyms ?? []), ...switches.flatMap(({ synonyms = [] }) => synonyms)];
}
