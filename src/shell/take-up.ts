import type { Run, StepState } from '../change/journal.ts';
import { stepCount, type Plan } from '../change/plan.ts';
import { countsOf, pendingResult, resultsOf } from '../change/run-results.ts';
import { RefusedError } from '../errors.ts';
import type { RunFile } from '../settings/run-files.ts';
import type { Call } from './call.ts';
import { conduct, refuseMaskedSteps } from './conduct.ts';
import { confirmPlan } from './confirm.ts';
import type { Output } from './output.ts';
import { loadRun } from './run-store.ts';
import { guard } from './write.ts';

/** Left alone this time, whatever its state. */
export const NOT_NOW = 'not now';

export type StateFor = (state: StepState) => StepState | typeof NOT_NOW;

const WAITING: StepState = { kind: 'waiting' };

/** Carries on with a run from its journal; `stateFor` says how each step is to be seen. */
export async function* takeUp(call: Call, id: string, stateFor: StateFor): AsyncGenerator<Output> {
  const { services } = call.session;
  refuseUnsent(await loadRun(services, id));
  if (call.isReadOnly) throw new RefusedError('read-only: nothing was sent');
  const file = await services.runs.resume(id);
  try {
    // Read under its lock: until just now another devsh may have been carrying it out.
    yield* goOn(call, await loadRun(services, id), file, stateFor);
  } finally {
    await file.close();
  }
}

async function* goOn(
  call: Call,
  run: Run,
  file: RunFile,
  stateFor: StateFor,
): AsyncGenerator<Output> {
  const seen = (name: string, index: number): ReturnType<StateFor> =>
    stateFor(run.states.get(name)?.[index] ?? WAITING);
  const left = planLeft(run, (name, index) => {
    const state = seen(name, index);
    return state !== NOT_NOW && state.kind !== 'ended';
  });
  if (stepCount(left) === 0) {
    yield { kind: 'message', level: 'info', text: `run ${run.run} has nothing left to do` };
    for (const result of resultsOf(run)) yield { kind: 'result', run: run.run, result };
    yield { kind: 'summary', run: run.run, counts: countsOf(run) };
    return;
  }
  refuseMaskedSteps(left);
  yield { kind: 'plan', plan: left, dryRun: call.options.dryRun };
  const members = await call.membersAt(left.devices.map(({ device }) => device));
  if (!call.options.force) yield* guard(call, left, members);
  if (call.options.dryRun) return;
  await confirmPlan(call, left);
  const names = new Set(left.devices.map(({ device }) => device.name));
  yield* conduct(call, {
    // The steps keep their places in the plan: the journal knows them by these.
    plan: {
      ...run.plan,
      devices: run.plan.devices
        .filter(({ device }) => names.has(device.name))
        .map((device) => ({ ...device, settled: [] })),
    },
    members,
    again: {
      file,
      stepsLeft: stepCount(left),
      stateOf: (name, index) => {
        const state = seen(name, index);
        if (state !== NOT_NOW) return state;
        return { kind: 'ended', at: run.at, result: pendingResult(run, name, index) };
      },
    },
  });
}

function planLeft(run: Run, isLeft: (name: string, index: number) => boolean): Plan {
  const devices = run.plan.devices.map((device) => ({
    ...device,
    settled: [],
    steps: device.steps.filter((_step, index) => isLeft(device.device.name, index)),
  }));
  return { ...run.plan, devices: devices.filter(({ steps }) => steps.length > 0) };
}

function refuseUnsent(run: Run): void {
  if (run.isPlanned) return;
  throw new RefusedError(`run ${run.run} ended before anything was sent: repeat its command`);
}
