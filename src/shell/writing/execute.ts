import type { FieldFacts } from '../../device/profile-schema.ts';
import { redact } from '../../device/sensitive-fields.ts';
import type { NewFact } from '../../device/facts.ts';
import { type Profile, updateFacts } from '../../device/profile.ts';
import type { DeviceRef } from '../../device/record.ts';
import { isGood, type StepResult, type Verdict } from '../../change/verdict.ts';
import { type DevicePlan, type Plan, stepCount, unplannedResults } from '../../change/plan.ts';
import { aOrAn } from '../../text/one-line.ts';
import type { Allowed } from '../../change/allow.ts';
import { type ApplyOptions, applyPlan } from '../../change/apply.ts';
import type { KeptRotations } from '../../change/rotate-step.ts';
import { type JournalEntry, journalIn, journalLine, opening } from '../../change/journal.ts';
import { CancelledError, DevshError } from '../../errors.ts';
import { withoutAsking } from '../../fleet/access.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import type { WriteCall } from '../command.ts';
import { awaitingText, type Output, warning, info } from '../output.ts';

interface Execution {
  readonly plan: Plan;
  readonly sessions: readonly DeviceSession[];
  readonly allowed: Allowed;
  readonly rotations?: KeptRotations | undefined;
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
  const file = await services.runs.create(run);
  const entries: JournalEntry[] = [];
  const append = (...more: readonly JournalEntry[]): Promise<void> => {
    entries.push(...more);
    return file.append(more.map((entry) => journalLine(entry)).join(''));
  };
  const news: Output[] = [];
  const unsubscribe = sessions.map(({ facts, ref }) =>
    facts.onNew((known) => {
      news.push(...known.flatMap((one) => newsOutput(ref, one, facts.profile)));
    }),
  );
  for (const { facts } of sessions) facts.source = `run ${run}`;
  try {
    await append(...opening(headOf(call, plan, at()), plan.devices));
    if (part) await writeResult?.(services, first, part, false);
    const tally = new Tally(plan);
    for (const { settled } of plan.devices) for (const result of settled) yield tally.add(result);
    for (const unplanned of plan.devices.flatMap(unplannedResults)) {
      yield tally.add(unplanned, false);
    }
    yield tally.progress();
    for await (const event of applyPlan(plan, applyOptions(call, execution, append))) {
      yield* news.splice(0);
      if (event.kind === 'stopped') {
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
    await append({ kind: 'end', at: at() });
    const { counts } = tally;
    const { skipped = 0 } = counts;
    // The code of the long summary is not loaded if every device is as wanted.
    if (tally.isDone) yield { kind: 'summary', run, counts, notCovered: [], pending: [] };
    else yield* (await import('./summary.ts')).summary(entries, file.path);
    if (call.io.signal.aborted) {
      const left =
        skipped === 0
          ? 'no step was left'
          : skipped === stepCount(plan)
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

function applyOptions(
  call: WriteCall,
  { plan, sessions, allowed, rotations }: Execution,
  append: Parameters<typeof journalIn>[0],
): ApplyOptions {
  const { access, io, options, shell } = call;
  const { canary = 0, batch, pauseMs = 0, maxFailures } = options;
  return {
    ...{ sessions, access, allowed, rotations },
    width: call.writeWidth,
    rollOut: { canary, batch, pauseMs, maxFailures },
    signal: io.signal,
    control: io.control,
    journal: journalIn(append, () => shell.services.now()),
    exclusive: (ref, work) => exclusively(call, ref, work),
    afterCanary: (canaryPlans) => checkCanary(call, canaryPlans, sessions, plan),
  };
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

/** Counts the verdicts of a run, and the steps that have ended. */
class Tally {
  readonly #run: string;
  readonly #total: number;
  /** Whether a device was not read, or a change could not be planned. */
  readonly #hasMore: boolean;
  /** The number of steps that have not ended, by device name. */
  readonly #left: Map<string, number>;
  #ended = 0;
  #bad = 0;
  readonly counts: Partial<Record<Verdict, number>> = {};

  constructor(plan: Plan) {
    this.#run = plan.run;
    this.#total = stepCount(plan);
    this.#hasMore = plan.devices.some(
      ({ error, changes = [] }) => error !== undefined || changes.length > 0,
    );
    this.#left = new Map(
      plan.devices.flatMap(({ device, steps }) =>
        steps.length > 0 ? [[device.name, steps.length]] : [],
      ),
    );
  }

  /** @param isPlanned false for a device that was not read: the summary lists it as not covered */
  add(result: StepResult, isPlanned = true): Output {
    const { verdict } = result;
    this.counts[verdict] = (this.counts[verdict] ?? 0) + 1;
    if (isPlanned && !isGood(result)) this.#bad += 1;
    return { kind: 'result', run: this.#run, result };
  }

  /** Whether every device is as the run wants it. */
  get isDone(): boolean {
    return this.#bad === 0 && !this.#hasMore;
  }

  progress(ended?: StepResult): Output {
    if (ended !== undefined) {
      this.#ended += 1;
      const { name } = ended.device;
      const rest = (this.#left.get(name) ?? 1) - 1;
      if (rest > 0) this.#left.set(name, rest);
      else this.#left.delete(name);
    }
    const bad = this.#bad > 0 ? ` · ${this.#bad} not as planned` : '';
    const text = awaitingText('writing', this.#left.keys(), this.#left.size) + bad;
    return { kind: 'progress', done: this.#ended, total: this.#total, text };
  }
}

/** Logs in to the canary devices again, then asks whether to continue. Resolves to the reason to stop, if any. */
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
