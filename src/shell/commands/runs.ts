import type { Run, StepState } from '../../change/journal.ts';
import { countsOf, pendingResult, resultsOf, stateText } from '../../change/run-results.ts';
import { RefusedError } from '../../errors.ts';
import type { Call } from '../call.ts';
import { conduct, refuseMaskedSteps } from '../conduct.ts';
import { confirmPlan } from '../confirm.ts';
import type { Output } from '../output.ts';
import { latestRun, loadRun } from '../run-store.ts';
import { takeBack } from '../take-back.ts';
import type { ArgSpec, CommandSpec, VerbSpec } from '../spec.ts';

const RUN: ArgSpec = {
  name: 'RUN',
  summary: 'the id of a run, as "runs" lists it',
  isRequired: true,
  complete: (scope) => scope.runs.map((text) => ({ text })),
};

/** The same, where the latest run is meant when none is named. */
export const LATEST: ArgSpec = {
  ...RUN,
  isRequired: false,
  summary: 'the id of a run; the latest one when none is given',
};

export const runs: CommandSpec = {
  name: 'runs',
  summary: 'List the runs, the newest first',
  section: 'Change sets',
  verbs: [
    {
      name: '',
      summary: 'List the runs, the newest first',
      args: [],
      options: [],
      async *run({ session }) {
        const ids = await session.services.runs.ids();
        const rows = [];
        for (const id of ids) {
          const run = await loadRun(session.services, id);
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
        yield {
          kind: 'table',
          name: 'runs',
          columns: [
            { key: 'run', title: 'RUN' },
            { key: 'at', title: 'BEGAN' },
            { key: 'by', title: 'BY' },
            { key: 'devices', title: 'DEVICES' },
            { key: 'state', title: 'STATE' },
            { key: 'verdicts', title: 'VERDICTS' },
            { key: 'command', title: 'COMMAND' },
          ],
          rows,
        };
      },
    },
  ],
};

/** `run show ID`: beside `run FILE`. */
export const showRun: VerbSpec = {
  name: 'show',
  summary: 'Show the plan and the verdicts of a run',
  args: [LATEST],
  options: [],
  examples: ['run show', 'run show 20261121-093041-k3qd'],
  async *run(call) {
    const run = await namedRun(call);
    const text = `run ${run.run}, began ${run.at} by ${run.by}: ${run.command} (${stateText(run)})`;
    yield { kind: 'message', level: 'info', text };
    for (const result of resultsOf(run)) {
      yield { kind: 'result', run: run.run, result, isPast: true };
    }
    yield { kind: 'summary', run: run.run, counts: countsOf(run) };
  },
};

export const resume: CommandSpec = {
  name: 'resume',
  summary: 'Go on with a run that was interrupted',
  section: 'Change sets',
  verbs: [
    {
      name: '',
      summary: 'Go on with a run that was interrupted; what is done is not repeated',
      args: [LATEST],
      options: ['devices', 'write', 'roll-out'],
      details: 'A step that was sent without a verdict is settled by reading first.',
      examples: ['resume', 'resume 20261121-093041-k3qd'],
      run: (call) =>
        takeUp(call, (state) =>
          state.kind === 'ended' && state.result.verdict === 'unknown' ? sentBefore(state) : state,
        ),
    },
  ],
};

export const retry: CommandSpec = {
  name: 'retry',
  summary: 'Try again what failed in a run',
  section: 'Change sets',
  verbs: [
    {
      name: '',
      summary: 'Try again the steps of a run that failed; --rest also those never reached',
      args: [LATEST],
      options: ['devices', 'write', 'roll-out', 'retry'],
      examples: ['retry', 'retry 20261121-093041-k3qd --rest'],
      run: (call) =>
        takeUp(call, (state) => {
          if (state.kind === 'waiting') return call.options.rest ? state : NOT_NOW;
          if (state.kind === 'sent') return state;
          const { verdict } = state.result;
          if (verdict === 'unknown') return sentBefore(state);
          return verdict === 'failed' || verdict === 'no effect' ? WAITING : state;
        }),
    },
  ],
};

export const undo: CommandSpec = {
  name: 'undo',
  summary: 'Take a run back',
  section: 'Change sets',
  verbs: [
    {
      name: '',
      summary: 'Take a run back: a new plan from what the records were before',
      args: [LATEST],
      options: ['devices', 'write', 'roll-out'],
      details:
        'What was added is deleted, what was changed is set back, what was deleted is added again. The\n' +
        'password, token and uuid of a deleted user do not come back. The undo is a run itself.',
      examples: ['undo', 'undo 20261121-093041-k3qd --dry-run'],
      async *run(call) {
        yield* takeBack(call, await namedRun(call));
      },
    },
  ],
};

const WAITING: StepState = { kind: 'waiting' };

/** Looks like a step that has ended, so that it is left alone this time. */
const NOT_NOW = 'not now';

/** Its request may have arrived: it is settled by reading before it is sent again. */
function sentBefore({ at }: { at: string }): StepState {
  return { kind: 'sent', at };
}

/** Carries on with a run from its journal; `stateFor` says how each step is to be seen. */
async function* takeUp(
  call: Call,
  stateFor: (state: StepState) => StepState | typeof NOT_NOW,
): AsyncGenerator<Output> {
  const run = await namedRun(call);
  if (!run.isPlanned) {
    throw new RefusedError(`run ${run.run} ended before anything was sent: repeat its command`);
  }
  if (call.isReadOnly) throw new RefusedError('read-only: nothing was sent');
  const isLeft = (name: string, index: number): boolean => {
    const state = stateFor(run.states.get(name)?.[index] ?? WAITING);
    return state !== NOT_NOW && state.kind !== 'ended';
  };
  const left = {
    ...run.plan,
    devices: run.plan.devices.map((device) => ({
      ...device,
      settled: [],
      steps: device.steps.filter((_step, index) => isLeft(device.device.name, index)),
    })),
  };
  const devices = left.devices.filter(({ steps }) => steps.length > 0);
  if (devices.length === 0) {
    yield { kind: 'message', level: 'info', text: `run ${run.run} has nothing left to do` };
    for (const result of resultsOf(run)) yield { kind: 'result', run: run.run, result };
    yield { kind: 'summary', run: run.run, counts: countsOf(run) };
    return;
  }
  const plan = { ...left, devices };
  refuseMaskedSteps(plan);
  yield { kind: 'plan', plan, dryRun: call.options.dryRun };
  if (call.options.dryRun) return;
  await confirmPlan(call, plan);
  // The steps keep their places in the plan: the journal knows them by these.
  const whole = { ...run.plan, devices: run.plan.devices.map((one) => ({ ...one, settled: [] })) };
  const members = await call.membersAt(devices.map(({ device }) => device));
  yield* conduct(call, {
    plan: {
      ...whole,
      devices: whole.devices.filter(({ device }) =>
        devices.some((one) => one.device.name === device.name),
      ),
    },
    members,
    stateOf: (name, index) => {
      const state = run.states.get(name)?.[index] ?? WAITING;
      const seen = stateFor(state);
      return seen === NOT_NOW
        ? { kind: 'ended', at: run.at, result: pendingResult(run, name, index) }
        : seen;
    },
  });
}

/** The run that was named, or else the latest one. */
export async function namedRun(call: Call): Promise<Run> {
  const id = call.args.optional('RUN');
  const { services } = call.session;
  return id === undefined ? latestRun(services) : loadRun(services, id);
}
