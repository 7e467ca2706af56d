import type { Run } from '../../change/journal.ts';
import { DevshError } from '../../errors.ts';
import { type ArgSpec, type Call, command, type CommandSpec, later, verb } from '../command.ts';
import { CHANGE, DEVICES, WRITE } from '../grammar/options.ts';
import { info, table } from '../output.ts';

const RUN: ArgSpec = {
  name: 'RUN',
  summary: 'the id of a run, as "runs" lists it',
  isRequired: true,
  complete: (scope) => scope.runs.map((text) => ({ text })),
};

/** As `RUN`, with the latest run as the default. */
const LATEST: ArgSpec = {
  ...RUN,
  isRequired: false,
  summary: 'the id of a run; the latest one when none is given',
};

/** The same for a command that writes to devices. */
const NEAREST: ArgSpec = {
  ...LATEST,
  summary: 'the id of a run; the newest one of this terminal when none is given',
};

const WITHOUT_RUN =
  'Without RUN it is the newest run of this terminal on the selected devices, and on these alone. A run of\n' +
  'yours from another terminal is taken after a question, never by --yes alone; one of somebody else by its\n' +
  'id.';

export const runs: CommandSpec = {
  name: 'runs',
  summary: 'List the runs, the newest first',
  section: 'Change sets',
  verbs: [
    verb({
      name: '',
      summary: 'List the runs, the newest first',
      changes: 'nothing',
      async *run({ shell }) {
        const { countsOf, stateText } = await import('../../change/run-results.ts');
        const { loadRun } = await import('../writing/stored-runs.ts');
        const ids = await shell.services.runs.ids();
        const rows = [];
        for (const id of ids) {
          let run: Run;
          try {
            run = await loadRun(shell.services, id);
          } catch (error) {
            if (!(error instanceof DevshError)) throw error;
            // A journal that cannot be read must not hide the others.
            rows.push({ run: id, state: 'unreadable' });
            yield { kind: 'error', error };
            continue;
          }
          const counts = countsOf(run);
          rows.push({
            run: run.run,
            at: run.at,
            by: run.by,
            devices: run.plan.devices.length,
            state: stateText(run),
            verdicts: Object.entries(counts).map(([verdict, count]) => `${count} ${verdict}`),
            command: run.command,
          });
        }
        yield table(
          'runs',
          [
            'run',
            { key: 'at', title: 'BEGAN', isExtra: true },
            { key: 'by', title: 'BY', isExtra: true },
            'devices',
            'state',
            'verdicts',
            'command',
          ],
          rows,
        );
      },
    }),
    verb({
      name: 'merge',
      summary: 'Put the results of the parts of a plan together, as if one devsh had applied it',
      args: [
        {
          name: 'FILE',
          summary: 'what "apply PLANFILE --shard I/N --result FILE" has written',
          isRequired: true,
          isRest: true,
        },
      ],
      options: ['plan', 'as', 'output'],
      changes: 'nothing',
      details:
        'Each device of the plan stands there exactly once. One that no file tells of is "unknown", and the\n' +
        'exit code is then 3. Of two attempts the later counts, unless the earlier had done the device: then\n' +
        'one of the files has to be left out.',
      examples: [
        'runs merge results/*.jsonl --plan monday.plan',
        'runs merge results/*.jsonl --plan monday.plan --as junit -o devsh.xml',
      ],
      run: later(async () => (await import('../writing/run-report.ts')).mergeRuns),
    }),
  ],
};

/** `run show ID`: beside `run FILE`. */
const showRun = verb({
  name: 'show',
  summary: 'Show the plan and the verdicts of a run',
  args: [LATEST],
  changes: 'nothing',
  examples: ['run show', 'run show 20261121-093041-k3qd7m'],
  async *run(call) {
    const { resultsOf, stateText } = await import('../../change/run-results.ts');
    const { summaryOf } = await import('../writing/stored-runs.ts');
    const run = await namedRun(call);
    yield info(`run ${run.run}, began ${run.at} by ${run.by}: ${run.command} (${stateText(run)})`);
    for (const result of resultsOf(run)) {
      yield { kind: 'result', run: run.run, result, isPast: true };
    }
    yield summaryOf(run);
  },
});

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

export const resume = command({
  name: 'resume',
  brief: 'Go on with a run that was interrupted',
  section: 'Change sets',
  summary: 'Go on with a run that was interrupted; what is done is not repeated',
  args: [NEAREST],
  options: [...CHANGE],
  details: `A step that was sent without a verdict is settled by reading first.\n${WITHOUT_RUN}`,
  examples: ['resume', 'resume 20261121-093041-k3qd7m'],
  run: later(async () => (await import('../writing/resume.ts')).resume),
});

export const retry = command({
  name: 'retry',
  brief: 'Try again what failed in a run',
  section: 'Change sets',
  summary: 'Try again the steps of a run that failed; --rest also those never reached',
  args: [NEAREST],
  options: [...CHANGE, 'rest'],
  details: WITHOUT_RUN,
  examples: ['retry', 'retry 20261121-093041-k3qd7m --rest'],
  run: later(async () => (await import('../writing/resume.ts')).retry),
});

export const undo = command({
  name: 'undo',
  brief: 'Take a run back',
  section: 'Change sets',
  summary: 'Take a run back: a new plan from what the records were before',
  args: [NEAREST],
  options: [...CHANGE],
  forced: 'drift',
  details:
    'Without RUN it is the newest run of this terminal that changed the selected devices; on these alone it\n' +
    'is taken back. A run of yours from another terminal is taken after a question, never by --yes alone;\n' +
    'one of somebody else by its id. Which run it is is said with its line and time.\n' +
    'What was added is deleted, what was changed is set back, what was deleted is added again. What does\n' +
    'not come back (ids, secrets, what only the device sets) is named, and the verdict is differs. What\n' +
    'somebody else has changed since is left alone (drift) without --allow drift. A user that is added\n' +
    'again without a password comes back disabled where the device has a field for it; else it is asked,\n' +
    'and refused with --yes alone (--allow loss). The undo is a run itself.',
  examples: ['undo', 'undo 20261121-093041-k3qd7m --dry-run'],
  run: later(async () => (await import('../writing/undo.ts')).undoRun),
});

/** The named run, or else the latest one. */
async function namedRun(call: Call): Promise<Run> {
  const id = call.args.optional('RUN');
  const { services } = call.shell;
  const { latestRun, loadRun } = await import('../writing/stored-runs.ts');
  return id === undefined ? latestRun(services) : loadRun(services, id);
}

export const report = command({
  name: 'report',
  brief: 'Report what a run did, to hand it in',
  section: 'Change sets',
  summary: 'Report what a run did: who, when, what, before and after, verdicts',
  args: [LATEST],
  options: ['as'],
  changes: 'nothing',
  details:
    'Markdown unless told otherwise; junit is for the test view of a CI system, curl is a bash script\n' +
    'of the same requests. Secrets are in none of them.',
  examples: [
    'report',
    'report 20261121-093041-k3qd7m --as junit > devsh.xml',
    'report --as curl > again.sh',
  ],
  async *run(call) {
    const { runReport } = await import('../writing/run-report.ts');
    yield runReport(await namedRun(call), call.options.as);
  },
});
