import { DEVICES, WRITE } from '../grammar/options.ts';
import { verb, type CommandSpec, later } from '../command.ts';
import { showRun } from './runs.ts';

export const run: CommandSpec = {
  name: 'run',
  summary: 'Run the lines of a file',
  section: 'Shell',
  defaultVerb: '',
  verbs: [
    showRun,
    verb({
      name: '',
      summary:
        'Run the lines of a file, or of standard input for "-"; stops at the first that fails',
      args: [
        { name: 'FILE', summary: 'a file with one command per line, or -', isRequired: true },
        { name: 'NAME=VALUE', summary: 'what ${NAME} stands for in the file', isRest: true },
      ],
      options: [...DEVICES, 'profile', ...WRITE, 'keepGoing'],
      details:
        'The lines are those of the prompt; # begins a comment, a backslash at the end goes on in the next\n' +
        'line. --yes, --dry-run and --on hold for all of them. Without --yes a write that needs a confirmation\n' +
        'ends the script with 6. All lines are checked before the first is run.\n' +
        '\n' +
        '${NAME} stands for the value behind the file, else for that of DEVSH_VAR_NAME in the environment,\n' +
        '${NAME:-text} for text when there is none. A value is one word, or a part of one, whatever is in it,\n' +
        "and never an option; in '…' and behind a backslash ${ is as it stands.\n" +
        '\n' +
        'The exit code is that of the line that failed. With --keep-going, or from a line "set +e" on until\n' +
        '"set -e", the lines behind it are run, too; the exit code is then 3, or what all lines ended with.',
      examples: [
        'run change.devsh --yes',
        'run - < change.devsh',
        'run leaver.devsh USER=bob --on @berlin --yes',
      ],
      run: later(async () => (await import('../script.ts')).runScript),
    }),
  ],
};
