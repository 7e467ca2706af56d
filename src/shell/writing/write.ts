import type { Change } from '../../change/change.ts';
import { doubtfulFields, refuseDoubtfulFilters, refuseUnknownFields } from '../../change/doubts.ts';
import {
  type Plan,
  stepCount,
  type DevicePlan,
  isOwing,
  type KeyReading,
  NotPossibleError,
  notCoveredBy,
  notCoveredText,
  recordName,
} from '../../change/plan.ts';
import { type RequestedChanges, readAndPlan } from '../../change/read-and-plan.ts';
import type { StepResult } from '../../change/verdict.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import type { WriteCall, Call } from '../command.ts';
import { textOf } from '../../output/sentences.ts';
import { type Output, warning, awaiting } from '../output.ts';
import {
  type AccountConsent,
  confirmPlan,
  guard,
  othersWithRecord,
  reasonFor,
  refuseOwnAccountWord,
  refuseReadOnly,
  chooseSome,
} from './consent.ts';
import { executeRun } from './execute.ts';
import { DoubtError } from '../../change/gate.ts';
import { CancelledError, RefusedError, UsageError } from '../../errors.ts';
import { profileOf } from '../access/access.ts';
import type { Services } from '../services.ts';
import { grouped } from '../../device/record.ts';
import { someOf } from '../../text/one-line.ts';
import { visible } from '../../text/visible.ts';
import { quoteWord } from '../../text/words.ts';
import { fanOut } from '../../fleet/fan-out.ts';
import type { Consent, Mark } from '../../change/identity.ts';

/** What a command wants to write, where, and what allows it. Every command that writes makes one (docs/writing.md). */
export interface WriteIntent {
  readonly sessions: readonly DeviceSession[];
  /** The changes for each device. */
  readonly wanted: (session: DeviceSession) => RequestedChanges;
  /**
   * `fresh`: this line names the records. `older`: an earlier line named them, and the gate decides which they are now.
   * `way back`: devsh undoes its own run without a question, with the permissions of that run.
   */
  readonly age: 'fresh' | 'older' | 'way back';
  /** The default depends on the age. A lockout is fresh, but never allows a write to the account in use. */
  readonly accounts?: AccountConsent;
  /** Completes the plan before it is shown, or throws to refuse it. Returns undefined if nothing is to be done. */
  readonly review?: (plan: Plan) => Review | AsyncReview;
}

type Review = Generator<Output, ReviewedPlan | undefined>;
type AsyncReview = AsyncGenerator<Output, ReviewedPlan | undefined>;

interface ReviewedPlan {
  readonly plan: Plan;
  /** Texts of the question, besides the plan. */
  readonly details?: readonly string[];
  /** If true, a plan that changes nothing and had no failure is only shown, and makes no run. */
  readonly needsChange?: boolean;
}

const CONSENT = { fresh: 'this line', older: 'a fresh line', 'way back': 'its run' } as const;

/**
 * The one way to write: read and plan, ask the gate, guard, show, ask; then journal, read again, send, read back and
 * report. With `--dry-run` it ends after the plan.
 */
export async function* write(call: WriteCall, intent: WriteIntent): AsyncGenerator<Output> {
  const { sessions, wanted, age, accounts = CONSENT[age], review } = intent;
  refuseReadOnly(call);
  if (accounts === 'a fresh line') refuseOwnAccountWord(call);
  const planning = age === 'fresh' ? planFleet : planOlder;
  const planned = await withUnsettled(
    call.shell.services,
    sessions,
    yield* planning(call, sessions, wanted),
  );
  const reviewed = review === undefined ? { plan: planned } : yield* review(planned);
  if (reviewed === undefined) return;
  const { plan, details = [], needsChange = false } = reviewed;
  const { dryRun, yes } = call.options;
  if (needsChange && isIdle(plan)) {
    yield { kind: 'plan', plan, dryRun: true };
    return;
  }
  yield { kind: 'plan', plan, dryRun, isAgreed: yes };
  const doubts = [...doubtfulFields(plan), ...othersWithRecord(call, plan, sessions)];
  if (call.io.ask === undefined || yes || dryRun) {
    for (const text of doubts) yield warning(text);
  }
  const allowed = await guard(call, plan, sessions, accounts);
  if (dryRun) return;
  const reason = stepCount(plan) === 0 ? plan.reason : await reasonFor(call, plan.reason);
  const secrets = isRotation(plan)
    ? await (await import('./kept-rotations.ts')).prepareRotations(call, plan, sessions)
    : undefined;
  for (const text of secrets?.details ?? []) yield warning(text);
  await confirmPlan(call, plan, [...doubts, ...details, ...(secrets?.details ?? [])]);
  const rotations = await secrets?.keep();
  yield* executeRun(call, { plan: { ...plan, reason }, sessions, allowed, rotations });
}

/** A device that shows effects late may still carry out an older request. Until then an unchanged record is `unknown`. */
async function withUnsettled(
  services: Services,
  sessions: readonly DeviceSession[],
  plan: Plan,
): Promise<Plan> {
  const late = sessions.filter(({ facts }) => facts.get('effects') === 'late');
  const isOpen = ({ device, settled }: DevicePlan): boolean =>
    late.some(({ ref }) => ref.address === device.address) &&
    settled.some(({ verdict }) => verdict === 'unchanged');
  if (!plan.devices.some(isOpen)) return plan;
  const { open } = await (await import('./pending.ts')).readPending(services);
  const sent = open.filter(({ isSent }) => isSent === true);
  const settledAs = (result: StepResult): StepResult => {
    const { device, resource, key, verdict } = result;
    const request = sent.find(
      (one) =>
        one.device.address === device.address && one.resource === resource && one.key === key,
    );
    if (verdict !== 'unchanged' || request === undefined) return result;
    const { run } = request.run;
    const note = `run ${run} sent a request that may still take effect: "resume ${run}" settles it`;
    return { ...result, verdict: 'unknown', notes: [note] };
  };
  const devices = plan.devices.map((one) =>
    isOpen(one) ? { ...one, settled: one.settled.map(settledAs) } : one,
  );
  return { ...plan, devices };
}

/** Whether a run replaces secrets, also on a device that could not be read. */
function isRotation({ devices }: Plan): boolean {
  return devices.some(
    ({ steps, changes = [] }) =>
      steps.some(({ purpose }) => purpose?.kind === 'rotate') ||
      changes.some((one) => one.action === 'set' && one.rotation),
  );
}

function isIdle(plan: Plan): boolean {
  const isQuiet = plan.devices.every(({ settled, error }) => settled.length === 0 && !error);
  return isQuiet && stepCount(plan) === 0;
}

/** The refusal of an unknown resource names at most this many devices. */
const MOST_NAMED = 10;

/** Reads the devices and plans their changes. The plan has the order of the sessions. */
export async function* planFleet(
  call: Call<never, 'allow'>,
  sessions: readonly DeviceSession[],
  changesFor: (session: DeviceSession) => RequestedChanges,
): AsyncGenerator<Output, Plan> {
  const plans = new Map<DeviceSession, DevicePlan>();
  const awaited = new Set(sessions);
  const planning = {
    access: call.access,
    signal: call.io.signal,
    allow: call.options.allow ?? new Set(),
  };
  yield awaiting('planning', awaited, sessions.length);
  const planned = fanOut<DeviceSession, Output>(
    sessions,
    call.readWidth,
    async (session, emit) => {
      const plan = await readAndPlan(planning, session, changesFor(session));
      plans.set(session, plan);
      awaited.delete(session);
      emit(awaiting('planning', awaited, sessions.length));
    },
    call.io.signal,
  );
  yield* planned;
  if (call.io.signal.aborted) throw new CancelledError('cancelled: nothing was sent');
  const devices = sessions.flatMap((session) => plans.get(session) ?? []);
  await refuseUnknownResources(call, sessions, devices);
  refuseUnknownFields(devices);
  refuseDoubtfulFilters(devices);
  const run = await call.newRun();
  const known = yield* withoutUnknownKeys(call, sessions, devices);
  return { run, devices: await withPins(call.shell.services, withOneMeaning(known)) };
}

/** The delete of a record that is gone is `unchanged`. If no device ever showed the KEY, it has `failed`. */
async function* withoutUnknownKeys(
  call: Call,
  sessions: readonly DeviceSession[],
  devices: readonly DevicePlan[],
): AsyncGenerator<Output, readonly DevicePlan[]> {
  if (devices.some(({ error }) => error !== undefined)) return devices;
  const readings = devices.flatMap(({ keyReadings = [] }) => keyReadings);
  const isNowhere = ({ by, action }: KeyReading): boolean =>
    by === undefined && action === 'delete';
  if (!readings.some(isNowhere)) return devices;
  const lost = [...grouped(readings, recordName)].flatMap(([name, all]) =>
    all.every(isNowhere) ? { ...all[0], name } : [],
  );
  const missing: typeof lost = [];
  for (const one of lost) if (!(await wasShown(sessions, one))) missing.push(one);
  if (missing.length === 0) return devices;
  const { historiesOf } = await import('../past/coverage.ts');
  const { neverHad } = await import('../past/list-changes.ts');
  const histories = yield* historiesOf(
    call,
    devices.map(({ device }) => device.name),
    -Infinity,
  );
  const mistakes = new Map(
    missing.map(({ name, resource, key }) => [name, neverHad(histories, resource, key)]),
  );
  return devices.map((plan) => ({
    ...plan,
    settled: plan.settled.map((result): StepResult => {
      const mistake = result.verdict === 'unchanged' ? mistakes.get(recordName(result)) : undefined;
      if (mistake === undefined) return result;
      const error = new NotPossibleError(plan.device, 'not-found', mistake.text + mistake.near);
      return { ...result, verdict: 'failed', notes: undefined, error };
    }),
  }));
}

/** Whether one of these devices is known to have shown this key. */
async function wasShown(
  sessions: readonly DeviceSession[],
  { resource, key }: KeyReading,
): Promise<boolean> {
  for (const session of sessions) {
    const { images } = await session.known(resource);
    if (images.some(([name]) => name === key)) return true;
  }
  return false;
}

/**
 * A key has one meaning on all devices, also on those that are read later. Throws a `RefusedError` for a word that is
 * a name on one device and an id on another, or the id of records with different names.
 */
function withOneMeaning(devices: readonly DevicePlan[]): readonly DevicePlan[] {
  // If all keys are names, none has two meanings.
  const isOpen = devices.some(
    ({ keyReadings = [], error }) =>
      error !== undefined || keyReadings.some(({ by }) => by === 'id'),
  );
  const readings = (isOpen ? devices : []).flatMap(({ device, keyReadings = [] }) =>
    keyReadings.flatMap(({ by, field, ...one }) =>
      by && field ? { ...one, by, field, device: visible(device.name) } : [],
    ),
  );
  const groups = grouped(readings, ({ resource, key }) => recordName({ resource, key }));
  for (const [name, all] of groups) {
    const meanings = [...grouped(all, ({ by, name: meant }) => `${by} ${meant ?? ''}`).values()];
    if (meanings.length < 2) continue;
    const whose = meanings.map((readings) => {
      const [{ by, field, name: meant = '' }] = readings;
      const on = someOf(readings.map(({ device }) => device));
      return `${by === 'name' ? `a ${field}` : `the ${field} of ${visible(meant)}`} on ${on}`;
    });
    const lines = meanings.map(([{ resource, action, by, field, key, name: meant = '' }]) => {
      const word = by === 'name' ? `${field}=${key}` : meant;
      return `"${resource} ${action} ${quoteWord(word)}"`;
    });
    throw new RefusedError(
      `${name} is ${whose.join(' and ')}; say which: ${lines.join(' or ')}; nothing was sent`,
    );
  }
  return devices.map((plan) => ({
    ...plan,
    keyReadings: undefined,
    fieldReadings: undefined,
    ...(plan.error && {
      changes: plan.changes?.map((change): Change => {
        if (change.action === 'add' || change.target.kind === 'where') return change;
        const { key } = change.target;
        const [known] = groups.get(recordName({ resource: change.resource, key })) ?? [];
        // `id=101` says what the word is.
        const by = change.target.by ?? known?.by ?? (/^[^=]+=/.test(key) ? undefined : 'name');
        return { ...change, target: { ...change.target, by } };
      }),
    }),
  }));
}

/**
 * Plans an older intent as `planFleet` does. Asks whether a record is the one that is meant if devsh cannot know, and
 * plans again with the records that the user accepts. `--also` answers in advance.
 */
export async function* planOlder(
  call: Call<'yes' | 'dryRun', 'allow' | 'also'>,
  sessions: readonly DeviceSession[],
  changesFor: (session: DeviceSession) => RequestedChanges,
): AsyncGenerator<Output, Plan> {
  const { also = [], yes, dryRun } = call.options;
  checkMarks(also, sessions);
  const consents = new Map<string, readonly Consent[]>(
    sessions.map(({ ref }) => [ref.address, also.filter(({ device }) => device === ref.name)]),
  );
  const planned = (): AsyncGenerator<Output, Plan> =>
    planFleet(call, sessions, (session) =>
      withConsents(changesFor(session), consents.get(session.ref.address)),
    );
  const plan = yield* planned();
  const doubts = plan.devices.flatMap(({ device, settled }) =>
    settled.flatMap(({ error }) => (error instanceof DoubtError ? [{ device, error }] : [])),
  );
  if (doubts.length === 0 || call.io.ask === undefined || yes || dryRun) return plan;
  let hasAgreed = false;
  for (const [key, ofKey] of grouped(doubts, ({ error }) => error.consent.key)) {
    const lines = ofKey.map(
      ({ device, error }) => `${visible(device.name)}  ${textOf(error.reason)}`,
    );
    const chosen = await chooseSome(
      call.io,
      `Is this "${visible(key)}" the one that is meant?`,
      lines,
    );
    for (const index of chosen) {
      const { device, error } = ofKey[index] ?? ofKey[0];
      const agreed = consents.get(device.address) ?? [];
      consents.set(device.address, [...agreed, error.consent]);
      hasAgreed = true;
    }
  }
  return hasAgreed ? yield* planned() : plan;
}

/** Throws a `UsageError` for a mark that cannot answer a question of this line. */
function checkMarks(also: readonly Mark[], sessions: readonly DeviceSession[]): void {
  for (const { device, key } of also) {
    if (!sessions.some(({ ref }) => ref.name === device)) {
      throw new UsageError(`--also ${device}=${key}: nothing is asked about there`);
    }
  }
}

function withConsents(
  requested: RequestedChanges,
  also: readonly Consent[] = [],
): RequestedChanges {
  const agreed = (changes: readonly Change[]): readonly Change[] =>
    changes.map((change) =>
      change.meant === undefined ? change : { ...change, meant: { ...change.meant, also } },
    );
  if (also.length === 0) return requested;
  if (!('about' in requested)) return agreed(requested);
  return {
    ...requested,
    changes: async (readInFull) => agreed(await requested.changes(readInFull)),
  };
}

/** Throws a `RefusedError` for a resource that may be mistyped: it must not become pending on an absent device. */
async function refuseUnknownResources(
  { shell: { services } }: Call,
  sessions: readonly DeviceSession[],
  devices: readonly DevicePlan[],
): Promise<void> {
  const isShown = devices.some(({ error }) => error === undefined);
  if (isShown || !devices.some(isOwing)) return;
  const profiles = await Promise.all(sessions.map(({ entry }) => profileOf(services, entry)));
  const known = new Set(profiles.flatMap(({ resources }) => Object.keys(resources)));
  const unknown = devices
    .flatMap((plan) => plan.wanted ?? [])
    .find(({ resource }) => !known.has(resource) && !services.profiles.knowsResource(resource));
  if (unknown === undefined) return;
  throw new RefusedError(
    `devsh knows no device with the resource "${visible(unknown.resource)}": nothing was sent, and nothing is ` +
      `pending; ${notCoveredText(notCoveredBy({ devices }), MOST_NAMED)}`,
  );
}

/** Adds the pins of devices that could not be read, as far as they are known. */
async function withPins(
  services: Pick<Services, 'pins'>,
  plans: readonly DevicePlan[],
): Promise<readonly DevicePlan[]> {
  if (plans.every(({ error }) => error === undefined)) return plans;
  const pins = await services.pins();
  return plans.map((plan) =>
    plan.error === undefined || plan.pin !== undefined
      ? plan
      : { ...plan, pin: pins.get(plan.device.address)?.fingerprint },
  );
}
