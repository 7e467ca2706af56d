import type { Run, StepState } from '../../change/journal.ts';
import { type DevicePlan, EmptyJournalError, type Plan, stepCount } from '../../change/plan.ts';
import { pendingResult, resultsOf } from '../../change/run-results.ts';
import { NotFoundError, RefusedError } from '../../errors.ts';
import { someOf } from '../../text/one-line.ts';
import type { RunFile } from '../../settings/run-files.ts';
import type { Call, WriteCall } from '../command.ts';
import { checkOwner, selectedDevices, newestRun, runText } from './newest-run.ts';
import { executeRun, refuseMaskedSteps } from './execute.ts';
import { confirmPlan, guard, planFleet } from './write.ts';
import { type Output, info, warning } from '../output.ts';
import { keepResult, loadRun, summaryOf } from './kept-runs.ts';

/** Left alone this time, whatever its state. */
const NOT_NOW = 'not now';

const WAITING: StepState = { kind: 'waiting' };

/** Which part of a run is to be gone on with. */
interface Part {
  /** How each step is to be seen. */
  readonly stateFor: (state: StepState) => StepState | typeof NOT_NOW;
  /** Also the devices that could not be read when the run was planned: they are planned now. */
  readonly replans: boolean;
}

/** What was not reached or is in doubt. */
const UNFINISHED: Part = {
  replans: false,
  stateFor: (state) => (isInDoubt(state) ? sentBefore(state) : state),
};

/** What failed and what is in doubt; with `rest` also what was never reached. */
function failedPart(rest: boolean): Part {
  return {
    replans: true,
    stateFor: (state) => {
      if (state.kind === 'waiting') return rest ? state : NOT_NOW;
      if (state.kind === 'sent') return state;
      if (isInDoubt(state)) return sentBefore(state);
      const { verdict } = state.result;
      if (verdict === 'skipped' && rest) return WAITING;
      return verdict === 'failed' || verdict === 'no effect' ? WAITING : state;
    },
  };
}

/** `resume`: goes on with what was not reached or is in doubt. */
export async function* resume(call: WriteCall): AsyncGenerator<Output> {
  try {
    yield* goOnWith(call, UNFINISHED, (run) => `"resume ${run}" goes on with it`);
  } catch (error) {
    if (!(error instanceof EmptyJournalError)) throw error;
    // It ended before its first line was written: there is nothing to go on with.
    yield info(error.message);
  }
}

/** `retry`: sends again what failed. */
export async function* retry(call: WriteCall & Call<'rest'>): AsyncGenerator<Output> {
  yield* goOnWith(call, failedPart(call.options.rest), (run) => `"retry ${run}" tries it again`);
}

/** Of the run that was named, else of the newest one of the selected devices, and on these alone. */
async function* goOnWith(
  call: WriteCall,
  part: Part,
  byId: (run: string) => string,
): AsyncGenerator<Output> {
  const { services } = call.shell;
  const id = call.args.optional('RUN');
  if (id !== undefined) {
    yield* resumeRun(call, id, part);
    return;
  }
  const { addresses, text } = await selectedDevices(call);
  const plannedDevices = ({ plan }: Run) => plan.devices.map(({ device }) => device);
  const found = await newestRun(services, addresses, plannedDevices, new Set(), (error) => {
    throw error;
  });
  if (found === undefined) {
    throw new NotFoundError(
      addresses === undefined ? 'there is no run yet' : `there is no run of ${text}`,
    );
  }
  yield* checkOwner(call, found, (run) => [`the newest run of ${text}`, byId(run)]);
  if (found.owner !== 'session') yield info(runText(found.run, found.owner));
  yield* resumeRun(call, found.run.run, part, addresses);
}

/** Tries again what failed in a run and sends what was never reached. */
export function retryRest(call: WriteCall, id: string): AsyncGenerator<Output> {
  return resumeRun(call, id, failedPart(true));
}

/**
 * Carries on with a run from its journal.
 *
 * @param only the addresses of the devices that are meant
 */
async function* resumeRun(
  call: WriteCall,
  id: string,
  part: Part,
  only?: ReadonlySet<string>,
): AsyncGenerator<Output> {
  const { services } = call.shell;
  if (!(await loadRun(services, id)).isPlanned) {
    throw new RefusedError(`run ${id} ended before anything was sent: repeat its command`);
  }
  if (call.isReadOnly) throw new RefusedError('read-only: nothing was sent');
  const file = await services.runs.resume(id);
  try {
    // Read under its lock: until just now another devsh may have been carrying it out.
    const run = await loadRun(services, id);
    const devices = run.plan.devices.filter(({ device }) => only?.has(device.address) !== false);
    yield* goOn(call, { ...run, plan: { ...run.plan, devices } }, file, part);
  } finally {
    await file.close();
  }
}

async function* goOn(
  call: WriteCall,
  run: Run,
  file: RunFile,
  { stateFor, replans }: Part,
): AsyncGenerator<Output> {
  const { services } = call.shell;
  // A part of a plan stays as it was planned: its result has to fit.
  const isReplanned = replans && run.plan.part === undefined;
  const replanned = isReplanned ? yield* replan(call, run) : [];
  const anew = new Map(replanned.map((device) => [device.device.name, device]));
  const seen = (name: string, index: number): StepState | typeof NOT_NOW =>
    anew.has(name) ? WAITING : stateFor(run.states.get(name)?.[index] ?? WAITING);
  const whole = run.plan.devices.map(
    (device) => anew.get(device.device.name) ?? { ...device, settled: [] },
  );
  const isLeft = (name: string, index: number): boolean => {
    const state = seen(name, index);
    return state !== NOT_NOW && state.kind !== 'ended';
  };
  const devices = whole
    .map((one) => ({
      ...one,
      steps: one.steps.filter((_step, index) => isLeft(one.device.name, index)),
    }))
    .filter(
      ({ device, steps, error }) =>
        steps.length > 0 || anew.has(device.name) || error !== undefined,
    );
  const left: Plan = { ...run.plan, devices };
  if (devices.every(({ device, steps }) => steps.length === 0 && !anew.has(device.name))) {
    yield info(`run ${run.run} has nothing left to do`);
    for (const result of resultsOf(run)) yield { kind: 'result', run: run.run, result };
    yield summaryOf(run);
    const { part } = run.plan;
    if (part !== undefined) await keepResult(services, run.run, part, true);
    return;
  }
  refuseMaskedSteps(left);
  yield { kind: 'plan', plan: left, dryRun: call.options.dryRun };
  const sessions = await call.sessionsAt(devices.map(({ device }) => device));
  await guard(call, left, sessions);
  if (call.options.dryRun) return;
  await confirmPlan(call, left);
  const names = new Set(devices.map(({ device }) => device.name));
  yield* executeRun(
    call,
    // The steps keep their places in the plan: the journal knows them by these.
    { ...run.plan, devices: whole.filter(({ device }) => names.has(device.name)) },
    sessions,
    {
      file,
      replanned,
      stepsLeft: stepCount(left),
      stateOf: ({ device, index }) => {
        const state = seen(device, index);
        if (state !== NOT_NOW) return state;
        return { kind: 'ended', at: run.at, result: pendingResult(run, device, index) };
      },
    },
  );
}

/** Plans for the devices that could not be read before. */
async function* replan(call: WriteCall, run: Run): AsyncGenerator<Output, readonly DevicePlan[]> {
  const failed = run.plan.devices.filter(({ error }) => error !== undefined);
  const unread = failed.filter(({ changes = [] }) => changes.length > 0);
  // What a file would have changed shows only beside the records of the device.
  const unknown = failed.filter(({ changes = [] }) => changes.length === 0);
  if (unknown.length > 0) {
    const names = someOf(unknown.map(({ device }) => device.name));
    yield warning(
      `${names} could not be read, so that what is to change there is not known: repeat the line of the run with --on for ${unknown.length === 1 ? 'it' : 'them'} alone: ${run.command}`,
    );
  }
  const changes = new Map(unread.map((one) => [one.device.address, one.changes ?? []]));
  const sessions = await call.sessionsAt(unread.map(({ device }) => device));
  if (sessions.length === 0) return [];
  const { devices } = yield* planFleet(call, sessions, ({ ref }) => changes.get(ref.address) ?? []);
  // The run knows its devices by the names of then.
  return devices.flatMap((one) => {
    const known = unread.find(({ device }) => device.address === one.device.address);
    return known === undefined ? [] : [{ ...one, device: known.device }];
  });
}

function isInDoubt(state: StepState): state is StepState & { kind: 'ended' } {
  return state.kind === 'ended' && state.result.verdict === 'unknown';
}

/** Its request may have arrived: it is settled by reading before it is sent again. */
function sentBefore({ at }: { at: string }): StepState {
  return { kind: 'sent', at };
}
