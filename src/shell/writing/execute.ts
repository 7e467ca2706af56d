import type { FieldFacts } from '../../device/profile-schema.ts';
import { redact } from '../../device/sensitive-fields.ts';
import type { NewFact } from '../../device/facts.ts';
import { type Profile, updateFacts } from '../../device/profile.ts';
import { type DeviceRef, grouped } from '../../device/record.ts';
import { isGood, type StepResult, type Verdict } from '../../change/verdict.ts';
import {
  type DevicePlan,
  isOwed,
  notCoveredBy,
  type Plan,
  stepCount,
  unplannedResults,
} from '../../change/plan.ts';
import { aOrAn, someOf } from '../../text/one-line.ts';
import type { Allowed } from '../../change/allow.ts';
import { applyPlan } from '../../change/apply.ts';
import type { KeptRotations } from '../../change/rotation.ts';
import { type JournalEntry, journalIn, journalLine, openingLines } from '../../change/journal.ts';
import { CancelledError, DevshError } from '../../errors.ts';
import { withoutAsking } from '../../fleet/access.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import type { RunFile } from '../../settings/run-files.ts';
import type { WriteCall } from '../command.ts';
import { awaitingText, type Output, warning, info } from '../output.ts';

interface Execution {
  readonly plan: Plan;
  readonly sessions: readonly DeviceSession[];
  readonly allowed: Allowed;
  /** The secrets that were chosen for a rotation. */
  readonly chosen?: KeptRotations | undefined;
}

/** Journals, sends, reads back and reports a confirmed plan. */
export async function* executeRun(call: WriteCall, execution: Execution): AsyncGenerator<Output> {
  const { plan, sessions } = execution;
  const { services } = call.shell;
  const { run, part } = plan;
  const first = plan.of?.run ?? run;
  const at = (): string => services.now().toISOString();
  // Imported only for a shard: other runs write no result file.
  const { writeResult } = part ? await import('./stored-runs.ts') : {};
  const rotations = await rotationsFor(call, execution);
  const file = await services.runs.create(run);
  const news: Output[] = [];
  const unsubscribe = sessions.map(({ facts, ref }) =>
    facts.onNew((known) => {
      news.push(...known.flatMap((one) => newsOutput(ref, one, facts.profile)));
    }),
  );
  for (const { facts } of sessions) facts.source = `run ${run}`;
  try {
    await file.append(openingLines(headOf(call, plan, at()), plan.devices));
    if (part) await writeResult?.(services, first, part, false);
    const tally = new Tally(plan);
    for (const { settled } of plan.devices) for (const result of settled) yield tally.add(result);
    for (const unplanned of plan.devices.flatMap(unplannedResults)) {
      yield tally.add(unplanned, false);
    }
    yield tally.progress();
    for await (const event of applyPlan(...appliedBy(call, execution, { file, rotations }))) {
      yield* news.splice(0);
      if (event.kind === 'stopped') {
        tally.hasStopped = true;
        // The error at the end says that it was cancelled.
        if (!call.io.signal.aborted) yield warning(`stopped: ${event.reason}`);
        continue;
      }
      const { device, response } = event.result;
      yield tally.add(event.result);
      if (response !== undefined) yield { kind: 'answer', device, ...response, isJudged: true };
      yield tally.progress(event.result);
    }
    yield* news.splice(0);
    await file.append(journalLine({ kind: 'end', at: at() }));
    yield* summary(plan, tally);
    if (call.io.signal.aborted) {
      const { skipped = 0 } = tally.counts;
      const left =
        skipped === 0
          ? 'no step was left'
          : tally.isUnsent
            ? 'nothing was sent'
            : 'the steps marked "skipped" were not sent';
      throw new CancelledError(`cancelled: ${left}`);
    }
  } finally {
    for (const stop of unsubscribe) stop();
    for (const { facts } of sessions) facts.source = undefined;
    await file.close();
    if (part) await writeResult?.(services, first, part, true);
  }
}

async function rotationsFor(
  call: WriteCall,
  { plan, chosen }: Execution,
): Promise<KeptRotations | undefined> {
  const isRotation = plan.devices.some(({ steps }) =>
    steps.some(({ purpose }) => purpose?.kind === 'rotate'),
  );
  if (chosen !== undefined || !isRotation) return chosen;
  return (await import('./kept-rotations.ts')).keptRotations(call, plan);
}

function appliedBy(
  call: WriteCall,
  { plan, sessions, allowed }: Execution,
  { file, rotations }: { readonly file: RunFile; readonly rotations: KeptRotations | undefined },
): Parameters<typeof applyPlan> {
  const { access, io, options, shell } = call;
  const { canary = 0, batch, pauseMs = 0, maxFailures } = options;
  const devices = sessions.map((session) => ({ session, access }));
  return [
    plan,
    devices,
    {
      allowed,
      rotations,
      width: call.writeWidth,
      rollOut: { canary, batch, pauseMs, maxFailures },
      signal: io.signal,
      control: io.control,
      journal: journalIn(file, () => shell.services.now()),
      exclusive: (ref, work) => exclusively(call, ref, work),
      afterCanary: (canaryPlans) => checkCanary(call, canaryPlans, sessions, plan),
    },
  ];
}

/** Runs `work` while no other devsh writes to this device. */
export function exclusively<T>(
  { access, io, shell }: WriteCall,
  { name, address }: DeviceRef,
  work: () => Promise<T>,
): Promise<T> {
  const begun = (): Promise<T> => {
    io.onDevice?.(name);
    return work();
  };
  return shell.services.exclusive(address, begun, {
    signal: io.signal,
    onWait: (holder) => access.notice?.(`waiting for ${holder}, which writes to ${name}`),
  });
}

/** What the run came to, and how it goes on. */
async function* summary(plan: Plan, tally: Tally): AsyncGenerator<Output> {
  const { run } = plan;
  for (const { device, error, changes = [] } of plan.devices) {
    if (error === undefined && changes.length > 0) tally.pending.add(device.name);
  }
  const unresolved =
    tally.pending.size === 0
      ? []
      : (await import('../../change/pending.ts')).unresolvedFilters(plan.devices);
  for (const { device } of unresolved) tally.pending.delete(device.name);
  const { counts } = tally;
  const { skipped = 0, unknown = 0, failed = 0 } = counts;
  const pending = [...tally.pending];
  yield { kind: 'summary', run, counts, notCovered: notCoveredBy(plan), pending };
  for (const { device, filter } of unresolved) {
    yield warning(
      `devsh could not read ${device.name}, and "${filter}" matches nothing elsewhere: nothing is pending; repeat the line with --on ${device.name}`,
    );
  }
  const hasFailures = failed > tally.rejected + tally.pendingSteps && stepCount(plan) > 1;
  const again = 'tries the failed steps again';
  // What a file wants of a device depends on the records there, which no journal has.
  const ways = grouped(pending, (name) => {
    const { error, changes = [] } = plan.devices.find(({ device }) => device.name === name) ?? {};
    const isByLine = error !== undefined && changes.length === 0;
    if (isByLine) return 'repeat the line there later';
    return `"resume ${run}" continues${hasFailures ? `, and ${again}` : ''}`;
  });
  // The summary names them all.
  for (const [way, names] of ways) {
    yield info(`pending${ways.size > 1 ? ` on ${someOf(names)}` : ''}: ${way}`);
  }
  if (pending.length === 0 && unknown + skipped > 0 && tally.hasStopped) {
    yield info(`continue with "resume ${run}"`);
  } else if (hasFailures && ![...ways.keys()].some((way) => way.endsWith(again))) {
    yield info(`"resume ${run}" ${again}`);
  }
}

class Tally {
  readonly counts: Partial<Record<Verdict, number>> = {};
  readonly #run: string;
  readonly #isResumed: boolean;
  #total = 0;
  /** The number of steps that have not ended, by device name. */
  readonly #left = new Map<string, number>();
  readonly #startedAt = performance.now();
  /** The names of devices on which something is still to be done, and how many steps did not reach theirs. */
  readonly pending = new Set<string>();
  pendingSteps = 0;
  readonly #drifted = new Set<string>();
  #ended = 0;
  #bad = 0;
  /** Steps that failed because the device rejects a value: a retry would fail again. */
  rejected = 0;
  /** Before it reached all steps. */
  hasStopped = false;

  constructor({ run, devices, of }: Plan) {
    this.#run = run;
    this.#isResumed = of !== undefined;
    for (const { device, steps } of devices) {
      if (steps.length > 0) this.#left.set(device.name, steps.length);
      this.#total += steps.length;
    }
  }

  /** @param isPlanned false: of a device that was not read, which is listed as not covered */
  add(result: StepResult, isPlanned = true): Output {
    this.counts[result.verdict] = (this.counts[result.verdict] ?? 0) + 1;
    if (isPlanned && !isGood(result)) this.#bad += 1;
    if (result.error?.code === 'invalid') this.rejected += 1;
    if (isOwed(result)) this.pendingSteps += 1;
    const { verdict, device } = result;
    if (verdict === 'drift') this.#drifted.add(device.name);
    // What is not sent because of drift beside it needs a new plan.
    const isLeft =
      (verdict === 'unknown' && this.#left.has(device.name)) ||
      (verdict === 'skipped' && !this.#drifted.has(device.name));
    const isStopped = verdict === 'drift' && isPlanned && this.#isResumed;
    if (isOwed(result) || isLeft || isStopped) this.pending.add(device.name);
    return { kind: 'result', run: this.#run, result };
  }

  /** Whether every step of this run was skipped. */
  get isUnsent(): boolean {
    return this.counts.skipped === this.#total;
  }

  progress(ended?: StepResult): Output {
    if (ended !== undefined) {
      this.#ended += 1;
      const { name } = ended.device;
      const rest = (this.#left.get(name) ?? 1) - 1;
      if (rest > 0) this.#left.set(name, rest);
      else this.#left.delete(name);
    }
    const left = this.#total - this.#ended;
    const seconds = Math.ceil(
      (((performance.now() - this.#startedAt) / this.#ended) * left) / 1000,
    );
    const eta = this.#ended > 0 && left > 0 && seconds >= 2 ? ` · about ${seconds} s left` : '';
    const bad = this.#bad > 0 ? ` · ${this.#bad} not as planned` : '';
    const text = awaitingText('writing', this.#left.keys(), this.#left.size) + bad + eta;
    return { kind: 'progress', done: this.#ended, total: this.#total, text };
  }
}

/** After the canary: logs in again there, then asks. Resolves to the reason to stop, if any. */
async function checkCanary(
  call: WriteCall,
  canary: readonly DevicePlan[],
  sessions: readonly DeviceSession[],
  plan: Plan,
): Promise<string | undefined> {
  const names = new Set(canary.map(({ device }) => device.name));
  const addresses = new Set(canary.map(({ device }) => device.address));
  const resource = canary[0]?.steps[0]?.resource ?? 'user';
  for (const session of sessions.filter(({ ref }) => addresses.has(ref.address))) {
    try {
      const access = withoutAsking(call.access);
      const { credential } = session;
      if (credential === undefined) await session.close();
      else await session.openWith(access, credential);
      await session.list(access, resource, call.io.signal);
    } catch (error) {
      if (!(error instanceof DevshError)) throw error;
      return `a fresh login on the canary ${session.ref.name} failed: ${error.message}`;
    }
  }
  if (call.options.yes) return undefined;
  const left = plan.devices.filter(
    ({ device, steps }) => steps.length > 0 && !names.has(device.name),
  );
  const expected = String(left.length);
  const answer = await call.io.ask?.({
    kind: 'confirm',
    text: `The canary succeeded (${[...names].join(', ')}). Type ${expected} to continue with the other ${expected} devices:`,
    expected,
  });
  return answer === expected ? undefined : 'stopped after the canary';
}

export function headOf(
  { line, shell }: WriteCall,
  { devices, run, input, part, reason, of, undoes }: Plan,
  at: string,
): JournalEntry & { readonly kind: 'run' } {
  const { operator: by, terminalSession, version } = shell.services;
  const requests = devices.flatMap(({ steps }) => steps.map(({ request }) => request));
  const command = redact(
    line,
    requests.flatMap(({ secretName = [] }) => secretName),
  );
  const opened = { run, at, command, reason, by, session: terminalSession, version };
  return { kind: 'run', ...opened, input, part, of, undoes };
}

/** The message about a new fact; none if it only confirms an assumption. */
export function newsOutput(
  { name }: DeviceRef,
  { fact, value, why = '' }: NewFact,
  profile: Profile,
): Output[] {
  const [, resource, field] =
    /^resources\.([^.]+)\.(?:update\.leftOut|fields\.(.+))$/.exec(fact) ?? [];
  if (fact === 'ids') {
    const text = `the ids of ${name} are positions in the list (${why}): devsh now finds each record by its content`;
    return [warning(text)];
  }
  if (resource === undefined || value === 'not seen') return [];
  if (field === undefined) {
    const { method } = updateFacts(profile, resource);
    const [replaces, keeps] = [
      `replaces ${resource} records on ${method}`,
      `keeps what a ${method} of ${aOrAn(resource)} leaves out`,
    ];
    return [info(`${name} ${value === 'erased' ? replaces : keeps}: observed`)];
  }
  if ((value as FieldFacts).volatile !== true) return [];
  const text = `${name}: ${field} of ${resource} changes without a write: devsh no longer compares it`;
  return [info(text)];
}
