import { withKeys } from '../../change/debts.ts';
import type { Run, StepState } from '../../change/journal.ts';
import { type DevicePlan, EmptyJournalError, type Plan } from '../../change/plan.ts';
import { pendingResult, resultsOf, stateText } from '../../change/run-results.ts';
import type { DeviceRef } from '../../device/record.ts';
import { NotFoundError, RefusedError } from '../../errors.ts';
import { someOf } from '../../text/one-line.ts';
import type { RunFile } from '../../settings/run-files.ts';
import type { Call, WriteCall } from '../command.ts';
import { checkOwner, selectedDevices, newestRun, runText } from './newest-run.ts';
import { executeRun, refuseMaskedSteps } from './execute.ts';
import { confirmPlan, guard, planFleet, reasonFor } from './write.ts';
import { type Output, info, warning } from '../output.ts';
import { writeResult, loadRun, refuseOwnAccount, summaryOf } from './stored-runs.ts';

/** A step that this command does not touch. */
const NOT_INCLUDED = 'not included';

const WAITING: StepState = { kind: 'waiting' };

interface Scope {
  /** The state from which a step is resumed. */
  readonly stateFor: (state: StepState) => StepState | typeof NOT_INCLUDED;
  /** Whether to plan the devices that could not be read at first. */
  readonly replans: boolean;
}

const UNFINISHED: Scope = {
  replans: false,
  stateFor: (state) => (isUnconfirmed(state) ? sentBefore(state) : state),
};

/** Steps that failed or are unconfirmed; with `rest` also those not reached. */
function failedScope(rest: boolean): Scope {
  return {
    replans: true,
    stateFor: (state) => {
      if (state.kind === 'waiting') return rest ? state : NOT_INCLUDED;
      if (state.kind === 'sent') return state;
      if (isUnconfirmed(state)) return sentBefore(state);
      const { verdict } = state.result;
      if (verdict === 'skipped' && rest) return WAITING;
      return verdict === 'failed' || verdict === 'no effect' ? WAITING : state;
    },
  };
}

/** `resume`: continues with the steps that were not reached or are unconfirmed. */
export async function* resume(call: WriteCall): AsyncGenerator<Output> {
  try {
    yield* resumeSelected(call, UNFINISHED, (run) => `"resume ${run}" continues it`);
    if (call.args.optional('RUN') === undefined) yield* otherUnfinished(call);
  } catch (error) {
    if (!(error instanceof EmptyJournalError)) throw error;
    // The run ended within its first line: there is nothing to resume.
    yield info(error.message);
  }
}

/** Names the newest run of the selected devices that is still unfinished: it may be older, or of another terminal. */
async function* otherUnfinished(call: WriteCall): AsyncGenerator<Output> {
  const { addresses } = await selectedDevices(call);
  const found = await newestRun(call.shell.services, addresses, (run) =>
    stateText(run) === 'unfinished' ? plannedDevices(run) : [],
  );
  if (found === undefined) return;
  const { run, owner } = found;
  yield info(`unfinished: ${runText(run, owner)}; "resume ${run.run}" continues it`);
}

function plannedDevices({ plan }: Run): DeviceRef[] {
  return plan.devices.map(({ device }) => device);
}

export async function* retry(call: WriteCall & Call<'rest'>): AsyncGenerator<Output> {
  yield* resumeSelected(
    call,
    failedScope(call.options.rest),
    (run) => `"retry ${run}" sends its failed steps again`,
  );
}

/** Resumes the named run, else the newest one of the selected devices, on these devices only. */
async function* resumeSelected(
  call: WriteCall,
  scope: Scope,
  byId: (run: string) => string,
): AsyncGenerator<Output> {
  const { services } = call.shell;
  const id = call.args.optional('RUN');
  if (id !== undefined) {
    yield* resumeRun(call, id, scope);
    return;
  }
  const { addresses, text } = await selectedDevices(call);
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
  yield* resumeRun(call, found.run.run, scope, addresses);
}

export function retryRest(call: WriteCall, id: string): AsyncGenerator<Output> {
  return resumeRun(call, id, failedScope(true));
}

/** Resumes a run from its journal; `only`: the addresses of the selected devices. */
async function* resumeRun(
  call: WriteCall,
  id: string,
  scope: Scope,
  only?: ReadonlySet<string>,
): AsyncGenerator<Output> {
  const { services } = call.shell;
  if (!(await loadRun(services, id)).isPlanned) {
    throw new RefusedError(`run ${id} ended before it sent anything: repeat its command`);
  }
  if (call.isReadOnly) throw new RefusedError('read-only: nothing was sent');
  const file = await services.runs.resume(id);
  try {
    // Read again under its lock: another process may have been running it until now.
    const run = await loadRun(services, id);
    await refuseOwnAccount(call, run);
    const all = run.plan.devices;
    const devices = all
      .filter(({ device }) => only?.has(device.address) !== false)
      .map((one) =>
        one.error === undefined ? one : { ...one, changes: withKeys(all, one.changes) },
      );
    const names = someOf(devices.map(({ device }) => device.name));
    const where = devices.length < run.plan.devices.length ? ` on ${names}` : '';
    yield* runRemaining(call, { ...run, plan: { ...run.plan, devices } }, file, scope, where);
  } finally {
    await file.close();
  }
}

async function* runRemaining(
  call: WriteCall,
  run: Run,
  file: RunFile,
  { stateFor, replans }: Scope,
  where: string,
): AsyncGenerator<Output> {
  const { services } = call.shell;
  // A shard keeps its plan: its result must match.
  const isReplanned = replans && run.plan.part === undefined;
  const replanned = isReplanned ? yield* replan(call, run) : [];
  const replannedByName = new Map(replanned.map((device) => [device.device.name, device]));
  const stateAt = (name: string, index: number): StepState | typeof NOT_INCLUDED =>
    replannedByName.has(name) ? WAITING : stateFor(run.states.get(name)?.[index] ?? WAITING);
  const whole = run.plan.devices.map(
    (device) => replannedByName.get(device.device.name) ?? { ...device, settled: [] },
  );
  const isLeft = (name: string, index: number): boolean => {
    const state = stateAt(name, index);
    return state !== NOT_INCLUDED && state.kind !== 'ended';
  };
  const devices = whole
    .map((one) => ({
      ...one,
      steps: one.steps.filter((_step, index) => isLeft(one.device.name, index)),
    }))
    .filter(
      ({ device, steps, error }) =>
        steps.length > 0 || replannedByName.has(device.name) || error !== undefined,
    );
  const left: Plan = { ...run.plan, devices };
  if (
    devices.every(({ device, steps }) => steps.length === 0 && !replannedByName.has(device.name))
  ) {
    yield info(`run ${run.run} has nothing left to do${where}`);
    for (const result of resultsOf(run)) yield { kind: 'result', run: run.run, result };
    yield await summaryOf(run);
    const { part } = run.plan;
    if (part !== undefined) await writeResult(services, run.run, part, true);
    return;
  }
  refuseMaskedSteps(left);
  yield { kind: 'plan', plan: left, dryRun: call.options.dryRun };
  const sessions = await call.sessionsAt(devices.map(({ device }) => device));
  await guard(call, left, sessions);
  if (call.options.dryRun) return;
  const reason = await reasonFor(call, run.reason);
  await confirmPlan(call, left);
  const names = new Set(devices.map(({ device }) => device.name));
  yield* executeRun(
    call,
    // The journal identifies steps by their position: it must not change.
    { ...run.plan, reason, devices: whole.filter(({ device }) => names.has(device.name)) },
    sessions,
    {
      file,
      replanned,
      stateOf: ({ device, index }) => {
        const state = stateAt(device, index);
        if (state !== NOT_INCLUDED) return state;
        return { kind: 'ended', at: run.at, result: pendingResult(run, device, index) };
      },
    },
  );
}

async function* replan(call: WriteCall, run: Run): AsyncGenerator<Output, readonly DevicePlan[]> {
  const failed = run.plan.devices.filter(({ error }) => error !== undefined);
  const unread = failed.filter(({ changes = [] }) => changes.length > 0);
  // Changes from a file of records can only be computed from the records of the device; a filter that
  // matched nothing elsewhere would match other records by now.
  const unknown = failed.filter(({ changes = [] }) => changes.length === 0);
  if (unknown.length > 0) {
    const names = someOf(unknown.map(({ device }) => device.name));
    yield warning(
      `${names} could not be read, so devsh does not know the changes there: repeat the line of the run with --on only for ${unknown.length === 1 ? 'it' : 'them'}: ${run.command}`,
    );
  }
  const changes = new Map(unread.map((one) => [one.device.address, one.changes ?? []]));
  const sessions = await call.sessionsAt(unread.map(({ device }) => device));
  if (sessions.length === 0) return [];
  const { devices } = yield* planFleet(call, sessions, ({ ref }) => changes.get(ref.address) ?? []);
  // The run keeps the device names of its plan.
  return devices.flatMap((one) => {
    const known = unread.find(({ device }) => device.address === one.device.address);
    return known === undefined ? [] : [{ ...one, device: known.device }];
  });
}

function isUnconfirmed(state: StepState): state is StepState & { kind: 'ended' } {
  return state.kind === 'ended' && state.result.verdict === 'unknown';
}

/** The request may have arrived: the step is read before it is sent again. */
function sentBefore({ at }: { at: string }): StepState {
  return { kind: 'sent', at };
}
