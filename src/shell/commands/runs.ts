import type { Run } from '../../change/journal.ts';
import { DevshError, expectedError, NotFoundError, UsageError } from '../../errors.ts';
import { type ArgSpec, type Call, command, type CommandSpec, later, verb } from '../command.ts';
import { CHANGE, DEVICES, WRITE } from '../grammar/options.ts';
import { info, table } from '../output.ts';

const LATEST: ArgSpec = {
  name: 'RUN',
  summary: 'the id of a run (default: the latest)',
  complete: (scope) => scope.runs.map((text) => ({ text })),
};

export const runs: CommandSpec = {
  name: 'runs',
  synonyms: ['log'],
  summary: 'List the runs, the newest first',
  section: 'Change sets',
  verbs: [
    verb({
      name: '',
      summary: 'List the runs, the newest first',
      options: ['on'],
      changes: 'nothing',
      details: 'With --on only the runs whose plan has one of these devices.',
      examples: ['runs', 'runs --on fw3'],
      async *run(call) {
        const { shell } = call;
        const isNamed = await call.namedByOn();
        const { withContinued } = await import('../../change/continued-run.ts');
        const { outcomeTexts, stateText } = await import('../../change/run-results.ts');
        const { loadRun } = await import('../writing/stored-runs.ts');
        const ids = await shell.services.runs.ids();
        const later: Run[] = [];
        const rows = [];
        for (const id of ids) {
          const own = await loadRun(shell.services, id).catch(expectedError);
          if (own instanceof DevshError) {
            // A journal that cannot be read must not hide the others.
            rows.push({ run: id, state: 'unreadable' });
            yield { kind: 'error', error: own };
            continue;
          }
          const run = withContinued(own, later);
          later.unshift(own);
          if (!run.plan.devices.some(({ device }) => isNamed(device))) continue;
          rows.push({
            run: run.run,
            at: run.at,
            by: run.by,
            devices: run.plan.devices.length,
            state: stateText(run),
            verdicts: outcomeTexts(run),
            command: run.command,
            ...(run.reason !== undefined && { reason: run.reason }),
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
            ...(rows.some((row) => 'reason' in row) ? ['reason'] : []),
          ],
          rows,
        );
      },
    }),
    verb({
      name: 'show',
      summary: 'Show the plan and the verdicts of a run',
      args: [LATEST],
      changes: 'nothing',
      examples: ['runs show', 'runs show 20261121-093041-k3qd7m'],
      async *run(call) {
        const { resultsOf, stateText } = await import('../../change/run-results.ts');
        const { summaryOf } = await import('../writing/summary.ts');
        const { zonedTime } = await import('../../text/time.ts');
        const run = await namedRun(call);
        const began = `began ${zonedTime(run.at)} by ${run.by}`;
        yield info(`run ${run.run}, ${began}: ${run.command} (${stateText(run)})`);
        if (run.plan.of) yield info(`it continues run ${run.plan.of.run}`);
        if (run.reason !== undefined) yield info(`reason: ${run.reason}`);
        for (const result of resultsOf(run)) {
          yield { kind: 'result', run: run.run, result, isPast: true };
        }
        yield summaryOf(run);
      },
    }),
    verb({
      name: 'merge',
      summary: 'Merge the results of the shards of a plan, or of one plan for each shard',
      args: [
        {
          name: 'FILE',
          summary: 'a result of "apply PLANFILE --shard I/N --result FILE"',
          isRequired: true,
          isRest: true,
        },
      ],
      options: ['plans', 'output'],
      changes: 'nothing',
      details:
        'Each device of the plans appears exactly once. A device that is in no file is "unknown", and the exit\n' +
        'code is then 3. Of two attempts on a device the later counts; if the earlier one had finished the\n' +
        'device, devsh refuses: leave one file out.',
      examples: [
        'runs merge results/*.jsonl --plan monday.plan',
        'runs merge results/*.jsonl --plan 1.plan --plan 2.plan -o report.md',
      ],
      run: later(async () => (await import('../writing/run-report.ts')).mergeRuns),
    }),
  ],
};

export const run = command({
  name: 'run',
  brief: 'Run the lines of a file',
  section: 'Shell',
  summary: 'Run the lines of a file, or of standard input for "-"; stop at the first failure',
  args: [
    { name: 'FILE', summary: 'a file with one command per line, or -', isRequired: true },
    { name: 'NAME=VALUE', summary: 'the value of ${NAME} in the file', isRest: true },
  ],
  options: [...DEVICES, 'profile', ...WRITE, 'keepGoing'],
  details:
    'The lines are those of the prompt; # starts a comment, a backslash at the end continues the line.\n' +
    '--yes, --dry-run and --on apply to all of them. Without --yes a write that needs a confirmation ends\n' +
    'the script with 6. devsh checks all lines before it runs the first.\n' +
    '\n' +
    '${NAME} is the value given after the file, else DEVSH_VAR_NAME of the environment; ${NAME:-text} is\n' +
    'text if there is neither. A value is always one word or a part of one, and never an option. In\n' +
    "'…' and after a backslash ${ is literal.\n" +
    '\n' +
    'The exit code is that of the failed line. With --keep-going, or between the lines "set +e" and\n' +
    '"set -e", the next lines run anyway; the exit code is then 3, or the common one of all lines.',
  examples: [
    'run change.devsh --yes',
    'run - < change.devsh',
    'run leaver.devsh USER=bob --on @lab',
  ],
  run: later(async () => (await import('../script.ts')).runScript),
});

export const resume = command({
  name: 'resume',
  synonyms: ['retry'],
  brief: 'Continue what is pending',
  section: 'Change sets',
  summary: 'Continue what runs left to do; never repeat what is done',
  args: [
    { ...LATEST, summary: 'the id of a run, as "pending" lists it (default: all)', isRest: true },
  ],
  options: [...CHANGE, 'wait', 'also'],
  forced: 'drift',
  details:
    'devsh reads the devices, plans anew what is pending on the selected ones (without a selection: on all),\n' +
    'shows it, asks, and does what each run left in a new run that names it, interrupted runs first. A step\n' +
    'without a verdict is settled by reading. With RUN only these runs, and their failed steps, too.\n' +
    '\n' +
    'Each change goes to the record that the run meant, and to no other: if a record was renamed, replaced or\n' +
    'shows another person, or nothing shows whose it is, devsh asks; in scripts --also DEVICE=KEY answers, with\n' +
    'the key that the record has now. Values that somebody has changed since are drift, and stay without\n' +
    '--allow drift. What is asked about and not answered stays pending. A secret is not kept: it is asked for.',
  examples: ['resume 20261121-093041-k3qd7m --on fw11', 'resume --wait', 'resume --also fw11=bob'],
  run: later(async () => (await import('../writing/resume.ts')).resume),
});

export const undo = command({
  name: 'undo',
  synonyms: ['rollback', 'revert'],
  brief: 'Undo a run',
  section: 'Change sets',
  summary: 'Undo a run with a new plan from its before-images',
  args: [{ ...LATEST, summary: 'the id of a run (default: the newest of this terminal)' }],
  options: [...CHANGE, 'also'],
  forced: 'drift',
  details:
    'Without RUN it means the newest run of this terminal on the selected devices, and only these devices.\n' +
    'Your own run from another terminal needs its id or a confirmation; --yes alone is refused. A run of\n' +
    'another user needs its id. devsh names the run with its line and time.\n' +
    'Undo deletes what the run added, restores what it changed, and adds what it deleted. The plan names what\n' +
    'it cannot restore: a note names new ids, dates and counters; lost secrets and other content make the\n' +
    'verdict "differs". What changed since stays ("drift") without --allow drift. devsh adds a deleted user\n' +
    'without a password as disabled, if the device has a field for that; otherwise it asks, and --yes alone is\n' +
    'refused without --allow loss. An undo is itself a run. A run that was continued is undone as a whole.',
  examples: ['undo', 'undo 20261121-093041-k3qd7m --dry-run'],
  run: later(async () => (await import('../writing/undo.ts')).undoRun),
});

/** The named run, or else the latest one. */
async function namedRun(call: Call): Promise<Run> {
  const { services } = call.shell;
  const [latest] = await services.runs.ids();
  const id = call.args.optional('RUN') ?? latest;
  if (id === undefined) throw new NotFoundError('there is no run yet');
  const { wholeRun } = await import('../writing/stored-runs.ts');
  return wholeRun(services, id);
}

export const report = command({
  name: 'report',
  brief: 'Report what a run did, or all of an incident',
  section: 'Change sets',
  summary:
    'Report what a run did: who, when, what, before and after, verdicts; or all since a time',
  args: [LATEST],
  options: ['output', 'since', 'until'],
  changes: 'nothing',
  details:
    'In Markdown, or with --json as data. Neither contains secrets.\n' +
    '\n' +
    '--since writes the record of an incident (Markdown or JSON): all runs of that time, what was owed and\n' +
    'what became of it, changes that no run of this devsh made, how often each device was read, and how far\n' +
    'its clock was off when it was read. No device is asked. If a journal or the history of a device cannot\n' +
    'be read, or a device was not read in that time, the document says so, and the exit code is 3.',
  examples: [
    'report',
    'report 20261121-093041-k3qd7m -o report.md',
    'report --since 03:00 -o incident.md',
    'report --since "yesterday 22:00" --until 04:00 --json',
  ],
  async *run(call) {
    const { since, until } = call.options;
    if (since === undefined && until !== undefined) throw new UsageError('--until needs --since');
    if (since === undefined) {
      const { runReport, writeReport } = await import('../writing/run-report.ts');
      yield* writeReport(call, runReport(await namedRun(call)));
      return;
    }
    const { incidentReport } = await import('../past/incident.ts');
    yield* incidentReport(call);
  },
});

const loadPending = () => import('../writing/pending.ts');

const listPending = command({
  name: 'pending',
  synonyms: ['todo'],
  brief: 'What runs still have to do',
  section: 'Change sets',
  summary: 'List what runs still have to do, whatever the cause',
  args: [],
  options: ['on', 'long'],
  changes: 'nothing',
  details:
    'One row for each record and device: a run was interrupted or did not reach it, the device did not answer,\n' +
    'refused the login or has no trusted certificate, an answer was lost, or a question had no answer. A device\n' +
    'that refuses a change has answered: that is not pending, and "resume RUN" tries it again. A filter is\n' +
    'resolved when its run is planned, from the devices that were read. Nothing expires; a later change to the\n' +
    'same record replaces it, undoing the run cancels it, and so does a device that leaves the inventory.',
  examples: ['pending', 'pending --on @berlin', 'resume --wait'],
  run: later(async () => (await loadPending()).listPending),
});

export const pending: CommandSpec = {
  ...listPending,
  verbs: [
    ...listPending.verbs,
    verb({
      name: 'drop',
      summary: 'Give up what a run still has to do; nothing is sent',
      args: [
        {
          ...LATEST,
          name: 'ID',
          isRequired: true,
          summary: 'the id of the run, as "pending" lists it',
        },
      ],
      options: ['on', 'reason'],
      examples: ['pending drop 20261121-093041-k3qd7m --on fw11 --reason "scrapped"'],
      run: later(async () => (await loadPending()).dropPending),
    }),
  ],
};
