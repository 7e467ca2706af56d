import { isResourceName } from '../../device/profile.ts';
import { DevshError, StoppedError, UsageError } from '../../errors.ts';
import { bind, type Grammar } from '../grammar/bind.ts';
import type { Call } from '../call.ts';
import { resourceCommand } from '../commands/resource.ts';
import { ExitCode } from '../exit-code.ts';
import { helpOn } from '../help/help.ts';
import type { Output } from '../output.ts';
import type { Word } from '../grammar/parse.ts';
import { isDryRunnable } from '../grammar/reading-verbs.ts';
import { placeOf, scriptLines, wordsOf, type ScriptLine } from './script-lines.ts';
import { Variables } from './script-variables.ts';

/** A line of a script that was understood. */
interface Step {
  readonly line: ScriptLine;
  readonly words: readonly Word[];
  /** `set -e`: stop at the next line that fails; `set +e`: go on. Absent: a command. */
  readonly stops?: boolean;
}

type ScriptCall = Call<'dryRun' | 'keepGoing'>;

/** `run FILE`: every line is understood before the first one is run. */
export async function* runScript(call: ScriptCall): AsyncGenerator<Output> {
  const file = call.args.required('FILE');
  const given = call.args.words('NAME=VALUE');
  const variables = new Variables(given, (name) => call.session.services.environment(name));
  const steps = checked(await call.readText(file), file, variables, call.grammar);
  variables.refuseUnused(given);
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
      const told = located(error, file, step.line, variables);
      if (stops || isCancelled()) throw told;
      exitCode.addError(error);
      yield { kind: 'error', error: told };
    }
    codes.add(exitCode.value);
    if (exitCode.value !== 0) failed.push(placeOf(step.line).line);
  }
  if (failed.length > 0) throw notAll(failed, codes);
}

/** The lines, each understood; those that only a device could explain are left for later. */
function checked(text: string, file: string, variables: Variables, grammar: Grammar): Step[] {
  let isConnected = false;
  const { commands, resourceNamed } = grammar;
  // Without guesses: what a script means is known before its first line is run.
  const later: Grammar = {
    commands,
    ...(resourceNamed && { resourceNamed }),
    resourceFor: (name, next, isLikeCommand) =>
      grammar.resourceFor(name, next, isLikeCommand) ??
      (isConnected && !isLikeCommand && isResourceName(name) ? resourceCommand(name) : undefined),
  };
  return scriptLines(text).flatMap((line): Step[] => {
    try {
      const words = wordsOf(line, variables.valueOf);
      if (words.length === 0) return [];
      const [first, second] = words.map((word) => word.text);
      if (first === 'set' && words.length === 2 && (second === '-e' || second === '+e')) {
        return [{ line, words, stops: second === '-e' }];
      }
      const { command, verb } = bind(words, later);
      if (command.name === 'run' && verb.name === '') {
        throw new UsageError('a script cannot run another script', { column: words[0]?.start });
      }
      if (command.name === 'connect') isConnected = true;
      return [{ line, words }];
    } catch (error) {
      throw error instanceof DevshError ? located(error, file, line, variables) : error;
    }
  });
}

async function* runStep(
  call: ScriptCall,
  { words }: Step,
  variables: Variables,
): AsyncGenerator<Output> {
  const invocation = bind(words, call.grammar);
  const { command, verb, given, line } = invocation;
  yield { kind: 'checkpoint', format: given.format };
  if (given.help === true) {
    yield { kind: 'text', name: 'help', text: helpOn(command, verb) };
  } else if (call.options.dryRun && !isDryRunnable(invocation)) {
    yield {
      kind: 'message',
      level: 'info',
      text: variables.hidden(`not run (--dry-run): ${line}`),
    };
  } else {
    yield* verb.run(call.nested(invocation));
  }
}

/** The error with its place in the script: `FILE:LINE:COLUMN`, where it points into the line. */
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

/** The code that all lines share, else 3: a part of them failed. */
function notAll(failed: readonly number[], codes: ReadonlySet<number>): StoppedError {
  const [only] = codes;
  const exitCode = codes.size === 1 && only !== undefined ? only : 3;
  const lines = failed.length === 1 ? 'line' : 'lines';
  return new StoppedError(exitCode, `${lines} ${failed.join(', ')} failed`);
}
