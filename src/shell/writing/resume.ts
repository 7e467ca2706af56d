import { History } from '../../history/history.ts';
import { firstOf, type Pending, pendingIn, traceOf, withLater } from '../../change/pending.ts';
import { type DevicePlan, recordName } from '../../change/plan.ts';
import type { RequestedChanges } from '../../change/read-and-plan.ts';
import { resultsOf } from '../../change/run-results.ts';
import { pause } from '../../change/run-step.ts';
import { CancelledError, DevshError, RefusedError, UsageError } from '../../errors.ts';
import { textOf } from '../../output/sentences.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { someOf } from '../../text/one-line.ts';
import { visible } from '../../text/visible.ts';
import type { Call, WriteCall } from '../command.ts';
import { type ErrorOutput, info, type Output, warning } from '../output.ts';
import { devicesNow } from './device-now.ts';
import { type Left, olderChanges, withStray, type Work } from './older-changes.ts';
import {
  byRun,
  closedText,
  nothingPending,
  selectedPending,
  unreadableWarning,
} from './pending.ts';
import {
  continuing,
  laterRuns,
  loadRun,
  readableRun,
  wholeRun,
  writeResult,
} from './stored-runs.ts';
import { summaryOf } from './summary.ts';
import { type AccountConsent, refuseOwnAccountWord, refuseReadOnly } from './consent.ts';
import { write, type WriteIntent } from './write.ts';
import { type About, isAbout } from '../../change/verdict.ts';

type ResumeCall = WriteCall & Call<'wait' | 'also'>;

/** `resume`: continues what runs left to do, run by run, each in a new run. */
export async function* resume(call: ResumeCall): AsyncGenerator<Output> {
  refuseReadOnly(call);
  refuseOwnAccountWord(call);
  const { dryRun, wait } = call.options;
  if (wait && dryRun) {
    throw new UsageError('--dry-run sends nothing: leave out --wait');
  }
  // Throws if devices are connected and none is selected.
  if (call.shell.fleet.connected.length > 0) await call.sessions();
  const named = call.args.all('RUN');
  for (const id of named) await refuseUnsent(call, id);
  const accounts = 'a fresh line';
  const resuming: Resuming = { named, accounts, tried: new Set(), secrets: new Map() };
  let told = '';
  for (let attempt = 0; ; attempt += 1) {
    const absent = yield* resumeRound(call, resuming, attempt === 0);
    if (!wait || absent.length === 0) {
      yield* absent;
      return;
    }
    const waiting = `still pending, not reached: ${someOf(absent.map(({ device }) => device?.name ?? ''))}`;
    if (waiting !== told)
      yield info(`${waiting}; devsh tries again until they answer (Ctrl-C ends)`);
    told = waiting;
    const seconds = nextPause(attempt);
    const text = `${waiting}; next try in ${Math.ceil(seconds)} s`;
    yield { kind: 'progress', done: 0, total: 0, text };
    await pause(seconds * 1000, call.io.signal);
    if (call.io.signal.aborted) throw new CancelledError(`cancelled: ${waiting}`);
  }
}

/** Continues the run of a result file, and repeats its failed steps. */
export async function* resumeShard(call: WriteCall, id: string): AsyncGenerator<Output> {
  const accounts = 'this line';
  const resuming: Resuming = { named: [id], accounts, tried: new Set(), secrets: new Map() };
  const { services } = call.shell;
  const runs = [id, ...(await continuing(services, id)).map(({ run }) => run)];
  for (const one of runs) yield* yield* continueRun(call, one, resuming);
  if (resuming.tried.size > 0) return;
  // The exit code of a shard that is applied again comes from the verdicts of its run.
  const run = await wholeRun(services, id);
  yield info(`run ${id} has nothing left to do`);
  for (const result of resultsOf(run)) yield { kind: 'result', run: id, result };
  yield summaryOf(run);
}

/** The state that all rounds share. */
interface Resuming {
  readonly named: readonly string[];
  readonly accounts: AccountConsent;
  /** The names of changes that a device has answered: they are not tried again. */
  readonly tried: Set<string>;
  readonly secrets: Map<string, string>;
}

function nameOf({ run, device, resource, key, action, index }: Pending): string {
  return JSON.stringify([run.run, device.address, resource, key, action, index]);
}

/** Throws a `RefusedError` for a run that ended before its plan was confirmed, with the line to repeat. */
async function refuseUnsent({ shell: { services } }: Call, id: string): Promise<void> {
  const run = await readableRun(services, id);
  if (run instanceof DevshError) throw run;
  if (run?.isPlanned === true) return;
  const line = run === undefined ? 'the line that you typed' : `its line: ${run.command}`;
  throw new RefusedError(`run ${id} sent nothing before it ended: repeat ${line}`);
}

/** Returns the devices that could not be reached. */
async function* resumeRound(
  call: ResumeCall,
  resuming: Resuming,
  isFirst: boolean,
): AsyncGenerator<Output, readonly ErrorOutput[]> {
  const { named, tried } = resuming;
  const found = await selectedPending(call, named);
  const open = found.open.filter((one) => !tried.has(nameOf(one)));
  if (isFirst) yield* unreadableWarning(found);
  const runs = [...new Set([...named, ...byRun(open)])];
  if (runs.length === 0 && isFirst) yield info(nothingPending(call));
  const absent: ErrorOutput[] = [];
  for (const id of runs) {
    const own = found.open.some(({ run }) => run.run === id || firstOf(run) === id);
    if (isFirst && named.length > 0 && !own && closedText(found, id) !== '') {
      throw new RefusedError(`nothing of run ${id} is pending${closedText(found, id)}`);
    }
    absent.push(...(yield* continueRun(call, id, resuming, open)));
  }
  return absent;
}

/**
 * Plans anew what a run left to do, asks, and does it in a new run. Returns the devices that could not be reached.
 *
 * @param open what may be continued; absent: all of the run
 */
async function* continueRun(
  call: WriteCall,
  id: string,
  resuming: Resuming,
  open?: readonly Pending[],
): AsyncGenerator<Output, readonly ErrorOutput[]> {
  const { services } = call.shell;
  // No other process continues it at the same time.
  const held = await services.runs.resume(id);
  try {
    const run = await loadRun(services, id);
    const isNamed = await call.namedByOn();
    const trace = traceOf(run);
    const failed = resuming.named.length > 0 ? pendingIn(trace, 'failed') : [];
    const mayContinue = new Set(open?.map(nameOf));
    const later = await laterRuns(services, id);
    const left = withLater(
      [
        ...pendingIn(trace).filter((one) => open === undefined || mayContinue.has(nameOf(one))),
        ...failed.filter((one) => isNamed(one.device) && !resuming.tried.has(nameOf(one))),
      ],
      [trace, ...later.map(traceOf)],
    );
    const items = left.flatMap(({ pending, closed }) => (closed === undefined ? pending : []));
    for (const { pending, closed } of left) {
      if (closed === undefined) continue;
      resuming.tried.add(nameOf(pending));
      const { device, action } = pending;
      yield info(`${visible(device.name)}: ${action} ${recordName(pending)}: ${textOf(closed)}`);
    }
    if (items.length === 0) {
      if (open !== undefined && resuming.tried.size === 0) {
        yield info(`run ${id} has nothing left to do`);
      }
      const { part } = run.plan;
      if (part !== undefined) await writeResult(services, firstOf(run), part, true);
      return [];
    }
    const places = await devicesNow(services, run.plan.devices);
    const parts = run.plan.devices.flatMap((own, index): Left[] => {
      const place = places[index];
      // Failed changes keep their place in the order of the line.
      const here = items
        .filter(({ device }) => device.name === own.device.name)
        .toSorted((a, b) => (a.index ?? -1) - (b.index ?? -1));
      return place === undefined || here.length === 0 ? [] : [{ own, place, items: here }];
    });
    return yield* continueOn(call, { run, later }, parts, resuming);
  } finally {
    await held.close();
  }
}

async function* continueOn(
  call: WriteCall,
  { run, later }: Pick<Work, 'run' | 'later'>,
  left: readonly Left[],
  resuming: Resuming,
): AsyncGenerator<Output, readonly ErrorOutput[]> {
  const sessions = await call.sessionsAt(left.map(({ place }) => place.ref));
  const isRotation = left.some(({ items }) =>
    items.some(({ change }) => change?.action === 'set' && change.rotation !== undefined),
  );
  if (isRotation) await (await import('./kept-rotations.ts')).findLogins(call, sessions);
  const past = new History(await call.shell.readings());
  const requested = new Map<string, RequestedChanges>();
  const stray: string[] = [];
  for (const session of sessions) {
    const one = left.find(({ place }) => place.ref.address === session.ref.address);
    if (one === undefined) continue;
    const goneAt = past.goneAt(session.ref.name, session.profile);
    const work = { call, run, later, session, goneAt, ...one, secrets: resuming.secrets };
    try {
      const changes = await olderChanges(work);
      requested.set(session.ref.address, withStray(work, changes, stray));
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      for (const item of one.items) resuming.tried.add(nameOf(item));
      yield { kind: 'error', error, device: one.own.device };
    }
  }
  const asked = sessions.filter(({ ref }) => requested.has(ref.address));
  const absent: ErrorOutput[] = [];
  const review: WriteIntent['review'] = function* (plan) {
    for (const text of new Set(stray)) yield warning(text);
    const devices: DevicePlan[] = [];
    for (const planned of plan.devices) {
      const one = left.find(({ place }) => place.ref.address === planned.device.address);
      if (one === undefined) continue;
      if (planned.error !== undefined) {
        const failure = { kind: 'error' as const, error: planned.error, device: planned.device };
        if (planned.error.code === 'unreachable') {
          absent.push(failure);
          continue;
        }
        yield failure;
      }
      for (const item of one.items) resuming.tried.add(nameOf(item));
      if (planned.error === undefined) devices.push(takenOver(one, planned));
    }
    if (devices.length === 0) return undefined;
    const of = { run: firstOf(run), command: run.command };
    // If the run is an undo, only its first run closes pending changes, not this one.
    const undoes = run.plan.undoes && { ...run.plan.undoes, on: [] };
    return { plan: { ...run.plan, run: plan.run, of, undoes, reason: run.reason, devices } };
  };
  const wanted = ({ ref }: DeviceSession): RequestedChanges => requested.get(ref.address) ?? [];
  const { accounts } = resuming;
  yield* write(call, { sessions: asked, wanted, age: 'older', accounts, review });
  return absent;
}

/** Takes over all changes but those that are still unknown: these stay pending in the run that left them. */
function takenOver({ own, items }: Left, planned: DevicePlan): DevicePlan {
  const open = planned.settled.filter(
    ({ verdict, error }) => verdict === 'unknown' || error?.code === 'not-known',
  );
  const takesOver = items.flatMap((item): About | [] => {
    const { resource, action, key } = item;
    return open.some((one) => isAbout(one, item)) ? [] : { resource, action, key };
  });
  return { ...planned, device: { ...planned.device, name: own.device.name }, takesOver };
}

/** Seconds: 5, 10, 20… up to five minutes, each up to a quarter shorter, so that machines do not try in step. */
function nextPause(attempt: number): number {
  return Math.min(300, 5 * 2 ** Math.min(attempt, 10)) * (1 - Math.random() / 4);
}
