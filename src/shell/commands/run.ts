import { DevshError, StoppedError, UsageError } from '../../errors.ts';
import { bind } from '../bind.ts';
import { showRun } from './runs.ts';
import { ExitCode } from '../exit-code.ts';
import { parseCompleteLine } from '../parse.ts';
import type { CommandSpec } from '../spec.ts';

export const run: CommandSpec = {
  name: 'run',
  summary: 'Run the lines of a file',
  section: 'Shell',
  defaultVerb: '',
  verbs: [
    showRun,
    {
      name: '',
      summary:
        'Run the lines of a file, or of standard input for "-"; stops at the first that fails',
      args: [{ name: 'FILE', summary: 'a file with one command per line, or -', isRequired: true }],
      options: ['devices', 'profile', 'write'],
      details:
        'The lines are those of the prompt; # begins a comment. --yes, --dry-run and --on hold for all of\n' +
        'them. Without --yes a write that needs a confirmation ends the script with 6.',
      examples: ['run change.devsh --yes', 'run - < change.devsh'],
      async *run(call) {
        const file = call.args.required('FILE');
        const text = await call.readText(file);
        const lines = text.split(/\r?\n/);
        for (const [index, line] of lines.entries()) {
          if (call.io.signal.aborted) return;
          try {
            const words = parseCompleteLine(line);
            if (words.length === 0) continue;
            const invocation = bind(words, call.grammar);
            if (invocation.command.name === 'run') {
              throw new UsageError('a script cannot run another script', { column: 0 });
            }
            const { format } = invocation.options;
            yield { kind: 'checkpoint', ...(format !== undefined && { format }) };
            const exitCode = new ExitCode();
            for await (const output of invocation.verb.run(call.nested(invocation))) {
              if (output.kind === 'quit') return;
              exitCode.add(output);
              yield output;
            }
            if (exitCode.value !== 0) throw new StoppedError(exitCode.value);
          } catch (error) {
            throw error instanceof DevshError ? located(error, file, index + 1) : error;
          }
        }
      },
    },
  ],
};

/** The error with its place in the script, `FILE:LINE:COLUMN:`, where it points into the line of it. */
function located(error: DevshError, file: string, line: number): DevshError {
  if (!(error instanceof UsageError)) {
    error.message = `${file}:${line}: ${error.message}`;
    return error;
  }
  const { message, column, suggestions } = error;
  const place = `${file}:${line}${column === undefined ? '' : `:${column + 1}`}`;
  return new UsageError(`${place}: ${message}`, { suggestions, cause: error });
}
