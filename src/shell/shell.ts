import { Call, commandNamed, type CommandSpec, type Grammar, type Invocation } from './command.ts';
import { attempt, DevshError, UsageError } from '../errors.ts';
import { isResourceName } from '../device/profile.ts';
import { oneLine } from '../text/one-line.ts';
import { expandAlias } from './grammar/aliases.ts';
import { bind, formatAsked } from './grammar/bind.ts';
import { COMMANDS } from './commands/index.ts';
import { guessedResource, resourceCommand } from './commands/resource.ts';
import { resourceNames } from './commands/profile.ts';
import { complete, type Completion, fileCandidates } from './completion/complete.ts';
import { type FindableLine, findableLines } from './findable.ts';
import type { ShellSession, ShellIo } from './session.ts';
import type { ColorChoice, Format, OptionKey } from './grammar/options.ts';
import { message, type Output } from './output.ts';
import { parseCompleteLine, parseLine, quoteLine, type Word, wordsOfArgv } from '../text/words.ts';
import type { ThemeName } from '../text/choices.ts';

/** The single entry for prompt, argv and scripts: `parse` understands a line, `evaluate` executes it. */
export class Shell {
  readonly shell: ShellSession;

  readonly #grammar: Grammar = {
    commands: COMMANDS,
    resourceFor: (name, next, isLikeCommand) => {
      const known = this.#resources().find((command) => command.name === name);
      if (known !== undefined) return known;
      if (!isResourceName(name)) return undefined;
      const command = resourceCommand(name);
      const hasVerb = command.verbs.some((verb) => verb.name === next);
      const isMeant = hasVerb && !isLikeCommand;
      return isMeant || this.shell.services.profiles.knowsResource(name) ? command : undefined;
    },
    expand: (words) => {
      const { settings, env } = this.shell.services;
      const aliases = settings.get('aliases');
      const isHidden = (name: string): boolean => this.#hides(name);
      return aliases && expandAlias(words, aliases, { env, isHidden });
    },
    resourceNamed: ({ text, start }) => {
      if (isResourceName(text)) return resourceCommand(text);
      throw new UsageError(`"${oneLine(text)}" is not the name of a resource`, { column: start });
    },
    guess: (name, mistake) => (isResourceName(name) ? guessedResource(name, mistake) : undefined),
  };

  constructor(shell: ShellSession) {
    this.shell = shell;
  }

  /** Throws a `UsageError` with the column of the wrong word. */
  parse(line: string | readonly Word[]): Invocation {
    const words = typeof line === 'string' ? parseCompleteLine(line) : line;
    return bind(words, this.#grammar);
  }

  /** The format that a line asks for, even if the rest of it is invalid. */
  formatOf(line: string | readonly Word[]): Format | undefined {
    return formatAsked(typeof line === 'string' ? parseLine(line).words : line);
  }

  /** Executes a line. The error of one device is an output; an error that ends the command is thrown. */
  async *evaluate(line: string | Invocation, io: ShellIo): AsyncGenerator<Output> {
    const invocation = typeof line === 'string' ? this.parse(line) : line;
    const { given } = invocation;
    if (given.help === true) {
      const { helpOutput } = await import('./help/help.ts');
      yield helpOutput(invocation);
      return;
    }
    if (given.tokenStdin === true && given.passwordStdin === true) {
      throw new UsageError(
        '--token-stdin and --password-stdin cannot both read standard input: leave one out',
      );
    }
    if (io.isBeside !== true) this.shell.gate.forgetRefusals();
    const call = new Call<OptionKey>(invocation, this.shell, io, this.#grammar);
    const { notices } = this.shell.services;
    try {
      const { fields } = call.options;
      if (fields === undefined) {
        yield* invocation.verb.run(call);
      } else {
        const { choosing } = await import('./choose-fields.ts');
        yield* choosing(fields, invocation.verb, () => invocation.verb.run(call));
      }
    } catch (error) {
      if (error instanceof DevshError) notices.markShown(error.message);
      throw error;
    } finally {
      for (const problem of call.hasAccess ? call.access.problems : []) notices.add(problem);
      for (const { level, text } of notices.take())
        yield { ...message(level, text), isAside: true };
    }
    if (!call.hasAccess || call.access.typed.size === 0) return;
    const { offerToSave } = await import('./access/logins.ts');
    yield* offerToSave(call);
  }

  /** Proposals for the word at the cursor; never touches the network. */
  complete(line: string, cursor: number): Promise<Completion> {
    const { fleet, services } = this.shell;
    const sources = { fleet, services, files: fileCandidates };
    return complete(line, cursor, [...COMMANDS, ...this.#resources()], sources);
  }

  /** Whether a command or a resource has this name. Adds a notice, because an alias of the same name never runs. */
  #hides(name: string): boolean {
    const isCommand = commandNamed(COMMANDS, name) !== undefined;
    const { notices, profiles } = this.shell.services;
    const isResource = (): boolean =>
      (isResourceName(name) && profiles.knowsResource(name)) ||
      this.#resources().some((command) => command.name === name);
    if (!isCommand && !isResource()) return false;
    const what = isCommand ? 'a command' : 'a resource here';
    notices.add(`${name} is ${what}, so your alias ${name} does not run: give it another name`);
    return true;
  }

  /** All that can be looked up by name; never touches the network. */
  findable(): Promise<readonly FindableLine[]> {
    const { fleet, services } = this.shell;
    return findableLines({ fleet, services }, [...COMMANDS, ...this.#resources()]);
  }

  /** The resources besides users that the devices of this session have, as far as known. */
  #resources(): CommandSpec[] {
    return resourceNames(this.shell.fleet)
      .filter((name) => !COMMANDS.some((command) => command.name === name))
      .map(resourceCommand);
  }
}

/** The start of a shell: the first line to run, and the options of the shell itself. */
export interface Opening {
  readonly line: string;
  readonly isPlain: boolean;
  readonly isDemo: boolean;
  readonly color: ColorChoice;
  readonly theme: ThemeName | undefined;
}

/** Returns undefined if argv is a single command. */
export function openingOf(shell: Shell, argv: readonly string[]): Opening | undefined {
  const invocation = attempt(DevshError, () => shell.parse(wordsOfArgv(argv)));
  // A mistake is reported when the line runs.
  if (invocation === undefined) return undefined;
  const { command, given } = invocation;
  const isShell = ['connect', 'demo'].includes(command.name) || isEmpty(argv);
  if (!isShell || given.help || given.version || given.format !== undefined) return undefined;
  return {
    line: isEmpty(argv) ? '' : quoteLine(argv),
    isPlain: given.plain === true,
    isDemo: command.name === 'demo',
    color: given.color ?? 'auto',
    theme: given.theme,
  };
}

/** Whether a line has only options: `devsh`, `devsh --plain`. */
function isEmpty(argv: readonly string[]): boolean {
  return argv.every(
    (word, at) =>
      ['--plain', '--no-color', '--theme', '--color'].includes(word) ||
      /^--(?:theme|color)=/.test(word) ||
      ['--theme', '--color'].includes(argv[at - 1] ?? ''),
  );
}
