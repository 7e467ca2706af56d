import { perDeviceFields } from '../../fleet/compared.ts';
import type { Change } from '../../change/change.ts';
import { doubtfulFields, grantCounts } from '../../change/doubts.ts';
import { DoubtError } from '../../change/gate.ts';
import { AccessError, guardPlan, impostorTexts } from '../../change/guard.ts';
import { type Allowed, allowOption, isOwnAccountWord, OWN_ACCOUNT } from '../../change/allow.ts';
import { readAndPlan, type RequestedChanges } from '../../change/read-and-plan.ts';
import type { Mark } from '../../change/lockout.ts';
import type { KeptRotations } from '../../change/rotation.ts';
import {
  type DevicePlan,
  isOwing,
  type KeyReading,
  notCoveredBy,
  notCoveredText,
  type Plan,
  recordName,
  stepCount,
} from '../../change/plan.ts';
import { CancelledError, DeclinedError, RefusedError, UsageError } from '../../errors.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { profileOf } from '../access/access.ts';
import type { Call, WriteCall } from '../command.ts';
import { reason as parseReason } from '../grammar/option.ts';
import { confirm, type Labels, labelsOf, type ShellIo } from '../session.ts';
import { withPins } from './device-now.ts';
import { type ContinuedRun, executeRun } from './execute.ts';
import { awaiting, type Output, warning } from '../output.ts';
import { keyFieldOf } from '../../device/profile.ts';
import { type DeviceRecord, grouped, isNested, jsonText, valueText } from '../../device/record.ts';
import { maskedValue } from '../../device/sensitive-fields.ts';
import { named } from '../../change/account-harm.ts';
import { foldRecords } from '../../fleet/fold.ts';
import { someOf } from '../../text/one-line.ts';
import { visible } from '../../text/visible.ts';
import { quoteAssignment, quoteWord } from '../../text/words.ts';
import { fanOut } from '../../fleet/fan-out.ts';
import type { Consent } from '../../change/identity.ts';

export async function* write(call: WriteCall, changes: readonly Change[]): AsyncGenerator<Output> {
  const sessions = await call.sessions();
  yield* writeEach(call, sessions, () => changes);
}

/** The one way to write: read, plan, guard, ask, then journal, send, read back and report. */
export async function* writeEach(
  call: WriteCall,
  sessions: readonly DeviceSession[],
  changesFor: (session: DeviceSession) => RequestedChanges,
): AsyncGenerator<Output> {
  refuseReadOnly(call);
  const plan = yield* planFleet(call, sessions, changesFor);
  yield* writePlan(call, plan, sessions);
}

/** As `writePlan`; a plan that changes nothing and had no failure is only shown, and leaves no run. */
export async function* writeUnlessIdle(
  ...planned: Parameters<typeof writePlan>
): AsyncGenerator<Output> {
  const [, plan] = planned;
  const isIdle = plan.devices.every(({ settled, error }) => settled.length === 0 && !error);
  if (isIdle && stepCount(plan) === 0) yield { kind: 'plan', plan, dryRun: true };
  else yield* writePlan(...planned);
}

/**
 * Whether an account that somebody needs may be written to: as this line allows or the user answers; as the run that
 * it takes back was allowed; or, where an older intent is sent again, by a fresh line alone.
 */
export type AccountConsent = 'this line' | 'its run' | 'a fresh line';

interface Writing {
  /** What the question says beside the plan. */
  readonly details?: readonly string[];
  /** Chooses and keeps the secrets of a rotation, once it is confirmed. */
  readonly rotations?: (() => Promise<KeptRotations>) | undefined;
  /** The run that this plan continues. */
  readonly resumed?: ContinuedRun;
  readonly accounts?: AccountConsent;
}

/** From a plan to verdicts. With `--dry-run` it ends after the plan. */
export async function* writePlan(
  call: WriteCall,
  plan: Plan,
  sessions: readonly DeviceSession[],
  { details = [], rotations, resumed, accounts = 'this line' }: Writing = {},
): AsyncGenerator<Output> {
  refuseReadOnly(call);
  yield { kind: 'plan', plan, dryRun: call.options.dryRun };
  const doubts = [
    ...doubtfulFields(plan),
    ...othersWithRecord(call, plan, sessions),
    ...impostorTexts(plan, sessions),
  ];
  const isAsked = call.io.ask !== undefined && !call.options.yes && !call.options.dryRun;
  if (!isAsked) {
    for (const text of doubts) yield warning(text);
  }
  const allowed = await guard(call, plan, sessions, accounts);
  if (call.options.dryRun) return;
  const reason = stepCount(plan) === 0 ? plan.reason : await reasonFor(call, plan.reason);
  await confirmPlan(call, plan, [...doubts, ...details]);
  const kept = stepCount(plan) === 0 ? undefined : await rotations?.();
  const whole = { ...(resumed?.whole ?? plan), reason };
  yield* executeRun(call, whole, sessions, { allowed, resumed, chosen: kept });
}

/**
 * Why the line writes: `--reason`, else `before`, else what the user answers if the setting `requireReason`
 * asks for a reason. Throws a `RefusedError` if there is none.
 *
 * @param before the reason in the plan file or the run
 */
export async function reasonFor(
  { io, options, shell }: Call<'reason'>,
  before?: string,
): Promise<string | undefined> {
  const known = options.reason ?? before;
  if (known !== undefined || !shell.services.settings.get('requireReason')) return known;
  if (io.ask === undefined) {
    throw new RefusedError('the setting requireReason needs --reason TEXT; nothing was sent');
  }
  const answer = await io.ask({ kind: 'text', text: 'Reason for this change:' });
  if (answer === undefined || answer.trim() === '') {
    throw new DeclinedError('no reason given: nothing was sent');
  }
  return parseReason(answer);
}

export function refuseReadOnly(call: WriteCall): void {
  if (call.isReadOnly && !call.options.dryRun) {
    throw new RefusedError('read-only: nothing was sent');
  }
}

/**
 * Refuses what would end the access of an account that somebody needs, or lose data. A person at a terminal may
 * answer instead: whose the token is, and which account may lose its access.
 *
 * @returns what is allowed with these answers
 */
async function guard(
  call: WriteCall,
  plan: Plan,
  sessions: readonly DeviceSession[],
  consent: AccountConsent,
): Promise<Allowed> {
  const { allow, yes, dryRun } = call.options;
  const { ask } = call.io;
  // Where nobody looks at the plan, the word has to say which account it means.
  const isNamed = ask === undefined || yes;
  let allowed: Allowed = isNamed
    ? new Set([...allow].filter((word) => word !== OWN_ACCOUNT))
    : allow;
  if (stepCount(plan) === 0) return allowed;
  for (const session of sessions) await session.ensureOpen(call.access);
  let hasNamedOwner = false;
  for (;;) {
    try {
      guardPlan(plan, sessions, allowed);
      return allowed;
    } catch (error) {
      if (!(error instanceof AccessError)) throw error;
      const { objection, word, device } = error;
      if (consent === 'its run') {
        allowed = new Set([...allowed, word]);
        continue;
      }
      if (consent === 'a fresh line' && isOwnAccountWord(word)) throw freshLineError(error);
      if (isNamed || dryRun) throw error;
      if (objection.isOwnerUnknown && !hasNamedOwner) {
        hasNamedOwner = true;
        const text = `Whose token does devsh use on ${visible(device.name)}? Its user name:`;
        const owner = await ask({ kind: 'text', text });
        if (owner === undefined) throw new DeclinedError('not confirmed: nothing was sent');
        nameOwner(sessions, owner.trim());
        continue;
      }
      const text = `${visible(device.name)}: ${objection.reason}. Type ${named(objection.account)} to do it:`;
      const answer = await ask({ kind: 'confirm', text, expected: objection.account });
      if (answer !== objection.account) throw new DeclinedError('not confirmed: nothing was sent');
      allowed = new Set([...allowed, word]);
    }
  }
}

/** Of all tokens whose owner is unknown, until devsh ends. */
function nameOwner(sessions: readonly DeviceSession[], owner: string): void {
  for (const session of sessions) {
    const { credential } = session;
    if (owner === '' || credential?.kind !== 'token' || credential.user !== undefined) continue;
    session.tokenOwner = owner;
  }
}

/** What sends an older intent again takes no word for the account in use: the line that means it now does. */
function freshLineError({ device, step, objection }: AccessError): RefusedError {
  const { resource, action, key, asked } = step;
  const fields = Object.entries(asked).map(([field, value]) =>
    isNested(value)
      ? quoteWord(`${field}:=${jsonText(maskedValue(field, value))}`)
      : quoteAssignment(field, valueText(maskedValue(field, value))),
  );
  const words = [
    ...[resource, action, ...(action === 'add' ? [] : [quoteWord(key)])],
    ...(action === 'delete' ? [] : fields),
    ...['--on', quoteWord(device.name), allowOption(OWN_ACCOUNT, objection.account)],
  ];
  return new RefusedError(
    `${device.name}: ${objection.reason}; if you mean it now: ${words.join(' ')}; nothing was sent`,
  );
}

/** Throws a `UsageError` for a word about the account in use on a line that sends older intents again. */
export function refuseOwnAccountWord({ options }: Call<'allow'>, verb: string): void {
  if (![...options.allow].some(isOwnAccountWord)) return;
  throw new UsageError(
    `${verb} has no --allow own-account: only a line that names the account in use itself takes it`,
  );
}

/** The plan above the question has all names. */
const MOST_NAMED = 10;

/** Only so many records are checked one by one. */
const MOST_RECORDS = 5;

/** With `--on`: a sentence on other selected devices with a record of the same name, as far as cached. */
function othersWithRecord(
  call: Call<'on'>,
  plan: Plan,
  sessions: readonly DeviceSession[],
): string[] {
  if (call.options.on.length === 0) return [];
  const addresses = new Set(sessions.map(({ ref }) => ref.address));
  const others = call.shell.fleet.selection.filter(({ ref }) => !addresses.has(ref.address));
  const steps = plan.devices.flatMap((device) => device.steps);
  const named = new Map(steps.map((step) => [recordName(step), step]));
  return [...named].slice(0, MOST_RECORDS).flatMap(([name, { resource, key, before }]) => {
    if (before === undefined) return [];
    const found = others.flatMap((session) => {
      const records = session.cached(resource) ?? [];
      const field = keyFieldOf(session.profile, resource, records);
      const record = records.find((one) => valueText(one[field]) === key);
      if (record === undefined) return [];
      return [
        { name: session.ref.name, isOther: isOther(session, resource, field, before, record) },
      ];
    });
    return [true, false].flatMap((isOther) => {
      const on = found.filter((one) => one.isOther === isOther).map((one) => one.name);
      const values = isOther ? ' with other values' : '';
      const text = `${name}: also on ${someOf(on)}${values} (the line without --on includes them)`;
      return on.length === 0 ? [] : [text];
    });
  });
}

function isOther(
  session: DeviceSession,
  resource: string,
  keyField: string,
  before: DeviceRecord,
  record: DeviceRecord,
): boolean {
  const reads = [before, record].map((one) => ({ device: { ...session.ref }, records: [one] }));
  return foldRecords(reads, keyField, perDeviceFields(session.profile, resource)).length > 1;
}

/** In the order of the sessions. */
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
  const run = await call.newRun();
  return { run, devices: await withPins(call.shell.services, withOneMeaning(devices)) };
}

/**
 * A key has one meaning on all devices, also on those that are read later. Throws a `RefusedError` for a word that is
 * a name on one device and an id on another.
 */
function withOneMeaning(devices: readonly DevicePlan[]): readonly DevicePlan[] {
  const readings = devices.flatMap(({ device, keyReadings = [] }) =>
    keyReadings.map((one) => ({ ...one, device: visible(device.name) })),
  );
  const groups = grouped(readings, ({ resource, key }) => recordName({ resource, key }));
  for (const [name, [first, ...others]] of groups) {
    const other = others.find(({ by }) => by !== first.by);
    if (other === undefined) continue;
    const [asName, asId] = first.by === 'name' ? [first, other] : [other, first];
    const onOf = (kind: KeyReading['by']): string =>
      someOf(
        readings.flatMap((one) => (one.key === first.key && one.by === kind ? one.device : [])),
      );
    const lineWith = ({ resource, action, field, key }: KeyReading): string =>
      `"${resource} ${action} ${quoteWord(`${field}=${key}`)}"`;
    throw new RefusedError(
      `${name} is a ${asName.field} on ${onOf('name')} and the ${asId.field} of another one on ${onOf('id')}; ` +
        `say which: ${lineWith(asName)} or ${lineWith(asId)}; nothing was sent`,
    );
  }
  return devices.map((plan) => ({
    ...plan,
    keyReadings: undefined,
    ...(plan.error && {
      changes: plan.changes?.map((change): Change => {
        if (change.action === 'add' || change.target.kind === 'where') return change;
        const { key } = change.target;
        const [known] = groups.get(recordName({ resource: change.resource, key })) ?? [];
        const by = change.target.by ?? known?.by ?? (isExplicit(key) ? undefined : 'name');
        return { ...change, target: { ...change.target, by } };
      }),
    }),
  }));
}

/** `id=101`: the line says what the word is. */
function isExplicit(key: string): boolean {
  return /^[^=]+=/.test(key);
}

/**
 * As `planFleet`, for an older intent: asks about each record of which only the user knows whether it is the one
 * that is meant, and plans again with what the user takes. `--also` answers beforehand.
 */
export async function* planOlder(
  call: Call<'yes' | 'dryRun', 'allow' | 'also'>,
  sessions: readonly DeviceSession[],
  changesFor: (session: DeviceSession) => RequestedChanges,
): AsyncGenerator<Output, Plan> {
  const { also = [], yes, dryRun } = call.options;
  checkMarks(also, sessions);
  const consents = new Map<string, readonly Consent[]>(
    sessions.map(({ ref }) => [
      ref.address,
      also.filter(({ device = ref.name }) => device === ref.name),
    ]),
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
    const lines = ofKey.map(({ device, error }) => `${visible(device.name)}  ${error.reason}`);
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
    if (device === undefined) {
      throw new UsageError(`--also ${key}: name the device, too: --also DEVICE=${key}`);
    }
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

/** Nothing is pending on an absent device for a resource that may be a mistyped word. */
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
    `no device is known to have the resource "${visible(unknown.resource)}": nothing was sent, and nothing is ` +
      `pending; ${notCoveredText(notCoveredBy({ devices }), MOST_NAMED)}`,
  );
}

/**
 * Asks for `y` if there is one step, else for the number of steps; names the devices if records are
 * deleted. Throws a `RefusedError` if it is not confirmed.
 */
export async function confirmPlan(
  call: Call<'yes'>,
  plan: Plan,
  warnings: readonly string[] = [],
): Promise<void> {
  const count = stepCount(plan);
  if (count === 0) return;
  const devices = plan.devices.filter(({ steps }) => steps.length > 0);
  const names = devices.map(({ device }) => device.name);
  const steps = devices.flatMap((device) => device.steps);
  const [step] = steps;
  const deletes = devices.some(({ steps }) => steps.some(({ action }) => action === 'delete'));
  const absent = notCoveredBy(plan);
  const details = [
    ...(absent.length > 0 ? [notCoveredText(absent, MOST_NAMED)] : []),
    ...(deletes && names.length > 1 ? [`Devices: ${names.join(', ')}`] : []),
    ...grantCounts(steps),
    ...warnings,
  ];
  const { texts, color } = labelsIn(call, devices);
  const label = texts.map((text) => `${text}: `).join('');
  const where = whereText(names, plan.devices.length);
  const beside = absent.length === 0 ? '' : `, ${absent.length} not covered`;
  const textFor = (expected: string): string =>
    count === 1 && step !== undefined
      ? `${label}${step.action} ${recordName(step)} on ${where}? Type ${expected} to do it:`
      : `${label}${count} steps on ${where}${beside}. Type ${expected} to do them:`;
  await confirm(call, count, textFor, { details, color });
}

/** Asks which of the lines the user wants, by number; resolves to their indexes. Throws a `DeclinedError`. */
export async function chooseSome(
  { ask }: ShellIo,
  what: string,
  lines: readonly string[],
): Promise<readonly number[]> {
  const details = lines.map((line, index) => `${index + 1}  ${line}`);
  const text = `${what} Their numbers, or Enter for none:`;
  const answer = await ask?.({ kind: 'text', text, details });
  if (answer === undefined) throw new DeclinedError('not confirmed: nothing was sent');
  const words = answer.split(/[\s,]+/).filter((word) => word !== '');
  const wrong = words.find(
    (word) => !/^\d+$/.test(word) || details[Number(word) - 1] === undefined,
  );
  if (wrong === undefined) return words.map((word) => Number(word) - 1);
  throw new DeclinedError(`"${visible(wrong)}" is not one of the numbers: nothing was sent`);
}

/** `fw1`, `fw1, 1 of 12 devices`, `10 of 12 devices`: the changed devices of all selected ones. */
function whereText(names: readonly string[], all: number): string {
  const of = names.length < all ? ` of ${all}` : '';
  const [only = ''] = names;
  if (names.length !== 1) return `${names.length}${of} devices`;
  return of === '' ? only : `${only}, 1${of} devices`;
}

function labelsIn({ shell }: Call, devices: Plan['devices']): Labels {
  const addresses = new Set(devices.map(({ device }) => device.address));
  const used = shell.fleet.known.filter(({ ref }) => addresses.has(ref.address));
  return labelsOf(used.map(({ entry }) => entry));
}
