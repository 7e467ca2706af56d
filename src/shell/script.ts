import type { Grammar, Invocation, Call } from './command.ts';
import { isResourceName } from '../device/profile.ts';
import { DevshError, StoppedError, UsageError } from '../errors.ts';
import { VARIABLE_PREFIX, variableIn } from './grammar/aliases.ts';
import { bind } from './grammar/bind.ts';
import { resourceCommand } from './commands/resource.ts';
import { ExitCode, info, type Output } from './output.ts';
import { parseCompleteLine, parseLine, type Word } from '../text/words.ts';
import { isSecretName, redact } from '../device/sensitive-fields.ts';
import { oneLine } from '../text/one-line.ts';
import { suggest } from '../text/suggest.ts';

interface Step {
  readonly line: ScriptLine;
  readonly words: readonly Word[];
  /** `set -e` (true): stop at the next line that fails. `set +e` (false): continue. Absent: a command. */
  readonly stops?: boolean;
}

type ScriptCall = Call<'dryRun' | 'keepGoing'>;

/** `run FILE`: parses every line before the first one runs. */
export async function* runScript(call: ScriptCall): AsyncGenerator<Output> {
  const file = call.args.required('FILE');
  const given = call.args.words('NAME=VALUE');
  const variables = new Variables(given, call.shell.services.env);
  const steps = checked(await call.readText(file), file, variables, call.grammar);
  variables.refuseUnused();
  const isCancelled = (): boolean => call.io.signal.aborted;
  let stops = !call.options.keepGoing;
  const failed: number[] = [];
  const codes = new Set<number>();
  for (const step of steps) {
    if (isCancelled()) return;
    if (step.stops !== undefined) {
      stops = step.stops;
      continue;
    }
    const exitCode = new ExitCode();
    try {
      for await (const output of runStep(call, step, variables)) {
        if (output.kind === 'quit') return;
        exitCode.add(output);
        yield output;
      }
      if (exitCode.value !== 0 && stops) throw new StoppedError(exitCode.value);
    } catch (error) {
      if (!(error instanceof DevshError)) throw error;
      const locatedError = located(error, file, step.line, variables);
      if (stops || isCancelled()) throw locatedError;
      exitCode.addError(error);
      yield { kind: 'error', error: locatedError };
    }
    codes.add(exitCode.value);
    if (exitCode.value !== 0) failed.push(placeOf(step.line).line);
  }
  if (failed.length > 0) throw notAll(failed, codes);
}

/** Parses the lines. Lines that only a device can explain are parsed when they run. */
function checked(text: string, file: string, variables: Variables, grammar: Grammar): Step[] {
  let isConnected = false;
  const later: Grammar = {
    ...grammar,
    // The meaning of a script is known before its first line runs.
    guess: undefined,
    resourceFor: (name, next, isLikeCommand) =>
      grammar.resourceFor(name, next, isLikeCommand) ??
      (isConnected && !isLikeCommand && isResourceName(name) ? resourceCommand(name) : undefined),
  };
  const steps: Step[] = [];
  for (const line of scriptLines(text)) {
    try {
      const words = parseCompleteLine(line.text, variables.valueOf);
      variables.refuseBare(line.text, words);
      if (words.length === 0) continue;
      const [first, second] = words.map((word) => word.text);
      if (first === 'set' && words.length === 2 && (second === '-e' || second === '+e')) {
        steps.push({ line, words, stops: second === '-e' });
        continue;
      }
      const { command, verb } = bind(words, later);
      if (command.name === 'run' && verb.name === '') {
        throw new UsageError('a script cannot run another script', { column: words[0]?.start });
      }
      if (command.name === 'connect') isConnected = true;
      steps.push({ line, words });
    } catch (error) {
      throw error instanceof DevshError ? located(error, file, line, variables) : error;
    }
  }
  return steps;
}

async function* runStep(
  call: ScriptCall,
  { words }: Step,
  variables: Variables,
): AsyncGenerator<Output> {
  const invocation = bind(words, call.grammar);
  const { given, line } = invocation;
  yield { kind: 'checkpoint', format: given.format };
  if (given.help === true) {
    const { helpOutput } = await import('./help/help.ts');
    yield helpOutput(invocation);
  } else if (call.options.dryRun && !isDryRunnable(invocation)) {
    yield info(variables.hidden(`not run (--dry-run): ${line}`));
  } else {
    yield* invocation.verb.run(call.nested(invocation));
  }
}

/** Whether the line changes nothing when it runs with `--dry-run`. */
function isDryRunnable({ verb, given: { output } }: Invocation): boolean {
  // The file of a plan or a report would be created or overwritten.
  if (output !== undefined && output !== '-') return false;
  return verb.options.includes('dryRun') || verb.changes !== undefined;
}

/** Adds the place in the script to the error: `FILE:LINE:COLUMN`, if it has a column. */
function located(
  error: DevshError,
  file: string,
  line: ScriptLine,
  { hidden }: Variables,
): DevshError {
  const column = error instanceof UsageError ? error.column : undefined;
  const place = placeOf(line, column);
  const where = `${file}:${place.line}${column === undefined ? '' : `:${place.column}`}`;
  if (error instanceof UsageError) {
    const { message, suggestions } = error;
    return new UsageError(hidden(`${where}: ${message}`), { suggestions, cause: error });
  }
  error.message = hidden(`${where}: ${error.message}`);
  return error;
}

/** Ends the script with the exit code that all lines share, or with 3 if they differ. */
function notAll(failed: readonly number[], codes: ReadonlySet<number>): StoppedError {
  const [only] = codes;
  const exitCode = codes.size === 1 && only !== undefined ? only : 3;
  const lines = failed.length === 1 ? 'line' : 'lines';
  return new StoppedError(exitCode, `${lines} ${failed.join(', ')} failed`);
}

/** A place in a file, both counted from 1. */
interface Place {
  readonly line: number;
  readonly column: number;
}

/** One line of a script, joined with the lines that follow a backslash at its end. */
interface ScriptLine {
  readonly text: string;
  /** The start of each joined line in `text`, in UTF-16 units from 0. */
  readonly parts: readonly { readonly line: number; readonly start: number }[];
}

/** Splits a script into lines. `parseLine` skips empty lines and comments. */
export function scriptLines(text: string): readonly ScriptLine[] {
  const lines: ScriptLine[] = [];
  let open: ScriptLine | undefined;
  for (const [index, source] of text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    const before = open?.text ?? '';
    const parts = [...(open?.parts ?? []), { line: index + 1, start: before.length }];
    const joined = before + source;
    // A backslash at the end of a line escapes no character: it joins the next line.
    const isOpen = parseLine(joined).open?.column === joined.length - 1 && joined.endsWith('\\');
    if (isOpen) {
      open = { text: joined.slice(0, -1), parts };
    } else {
      lines.push({ text: joined, parts });
      open = undefined;
    }
  }
  if (open !== undefined) lines.push({ ...open, text: `${open.text}\\` });
  return lines;
}

/** Maps a column of the joined text, from 0, to its place in the file. */
export function placeOf({ parts }: ScriptLine, column = 0): Place {
  const part = parts.findLast(({ start }) => start <= column) ?? parts[0];
  return { line: part?.line ?? 1, column: column - (part?.start ?? 0) + 1 };
}

const NAME = /^[A-Za-z_]\w*$/;

/** The values of `${NAME}` in a script. Records which ones the script uses. */
export class Variables {
  readonly #given: ReadonlyMap<string, { readonly value: string; readonly column: number }>;
  readonly #env: NodeJS.ProcessEnv;
  readonly #asked = new Set<string>();
  readonly #secrets = new Set<string>();

  /** The words are `NAME=VALUE`. Throws UsageError for another form, and for a repeated name. */
  constructor(words: readonly Word[], env: NodeJS.ProcessEnv) {
    const given = new Map<string, { readonly value: string; readonly column: number }>();
    for (const { text, start: column } of words) {
      const at = text.indexOf('=');
      const name = text.slice(0, at);
      if (at < 1 || !NAME.test(name)) {
        throw new UsageError(`"${oneLine(text)}" is not NAME=VALUE`, { column });
      }
      if (given.has(name)) throw new UsageError(`${name} is given twice`, { column });
      given.set(name, { value: text.slice(at + 1), column });
    }
    this.#given = given;
    this.#env = env;
  }

  /** The value of `NAME`, or of `NAME:-default` if it is unset or empty; `column` is where it begins. */
  readonly valueOf = (inner: string, column: number): string => {
    const { name, fallback } = variableIn(inner);
    if (!NAME.test(name)) {
      throw new UsageError(
        `"\${${oneLine(inner)}}" is not a variable: write \${NAME} or \${NAME:-default}, or \\\${ for the text itself`,
        { column },
      );
    }
    this.#asked.add(name);
    const value = this.#given.get(name)?.value ?? this.#env[VARIABLE_PREFIX + name];
    if (value !== undefined && isSecretName(name)) this.#secrets.add(value);
    if (fallback !== undefined) return value === undefined || value === '' ? fallback : value;
    if (value !== undefined) return value;
    throw new UsageError(
      `\${${name}} has no value: add ${name}=… after the file, set ${VARIABLE_PREFIX}${name}, ` +
        `or write \${${name}:-default}`,
      { column, suggestions: suggest(name, [...this.#given.keys()]).map((one) => `\${${one}}`) },
    );
  };

  /** `text` without the values of variables whose name is that of a secret: `${password}`. */
  readonly hidden = (text: string): string => redact(text, [...this.#secrets]);

  /** Throws a `UsageError` for `$USER` without braces, which a shell would replace, if USER is given. */
  refuseBare(line: string, words: readonly Word[]): void {
    for (const { start, end } of words) {
      const typed = line.slice(start, end);
      const [bare, name = ''] = /(?<!\\)\$(\w+)/.exec(typed) ?? [];
      if (bare === undefined || typed.includes("'") || !this.#given.has(name)) continue;
      throw new UsageError(
        `"${bare}" is no variable: write \${${name}}, or \\${bare} for the text`,
        { column: start },
      );
    }
  }

  /** Throws a `UsageError` for a value that the script never uses, most often a typing error. */
  refuseUnused(): void {
    for (const [name, { column }] of this.#given) {
      if (this.#asked.has(name)) continue;
      const suggestions = suggest(name, [...this.#asked]).map((one) => `${one}=`);
      throw new UsageError(`the script has no \${${name}}`, { column, suggestions });
    }
  }
}
