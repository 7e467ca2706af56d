import { setTimeout as sleep } from 'node:timers/promises';
import { MAX_THROTTLES, RejectedError } from '../device/errors.ts';
import { idOf, type Profile, listFacts } from '../device/profile.ts';
import { type DeviceRecord, type Value, valueAt, valueText } from '../device/record.ts';
import { disablingValue, isSecretField } from '../device/sensitive-fields.ts';
import type { DevshError } from '../errors.ts';
import { DriftError, expectedError } from '../errors.ts';
import type { Access } from '../fleet/access.ts';
import type { DeviceSession } from '../fleet/device-session.ts';
import { type Absence, absenceOf, readOwnPath } from '../fleet/absence.ts';
import { foldedText } from './compare.ts';
import { findRecord, whose } from './pairing.ts';
import type { ApplyJournal, PendingStep } from './journal.ts';
import { type Evidence, evidenceOf, isAllAsBefore, judge } from './judge.ts';
import { learnFromWrite, movedId, refusedFields, Watch, withoutRefused } from './observe.ts';
import { type DevicePlan, recordName } from './plan.ts';
import { type StepEnd, withNotes } from './verdict.ts';
import { askedWaitMs, isExpiredSession, isRefusal, type RequestOutcome, send } from './send.ts';
import type { Step } from './step.ts';
import { textOf } from '../output/sentences.ts';

/** Delays before each further read while a change does not show yet. */
export const SETTLE_DELAYS_MS = [200, 800, 2_000];
/** A device that has ignored a write gets only this many of the delays. */
const DELAYS_IF_IGNORED = 2;

export interface DeviceWork {
  readonly devicePlan: DevicePlan;
  readonly session: DeviceSession;
  readonly access: Access;
  readonly journal: ApplyJournal;
  readonly settleDelaysMs: readonly number[];
  /** If aborted, sent requests are still read back, but no throttled request is sent again. */
  readonly signal: AbortSignal;
}

export interface Ended {
  readonly end: StepEnd;
  /** The records read back; absent if that failed. */
  readonly after?: readonly DeviceRecord[];
}

interface Sent extends Ended {
  /** Reading back proves that nothing has changed, whatever the response. */
  readonly isAsBefore: boolean;
}

/**
 * Runs one step: journals, sends, reads back, judges. A request is sent again in three cases, and only if reading back
 * proves that nothing has changed: after a 429, when the device asks for it; once after its session has ended; and without
 * the fields that the device refuses to take. Expected failures are a result, not thrown.
 *
 * @param before the records of the resource just before
 * @param isMoved whether its record has moved since the plan
 */
export async function runStep(
  work: DeviceWork,
  { step: planned, ref }: Pick<PendingStep, 'step' | 'ref'>,
  before: readonly DeviceRecord[],
  isMoved = false,
): Promise<Ended> {
  const { session, journal, signal } = work;
  let hasRenewed = false;
  let step = planned;
  const leftOut: string[] = [];
  for (let sent = 1; ; sent += 1) {
    await journal.sending(ref, isMoved || step !== planned ? step : undefined);
    try {
      const sentOnce = await send(work, step);
      const outcome = hasRenewed ? { ...sentOnce, isRepeated: true } : sentOnce;
      const isExpired = isExpiredSession(outcome);
      const asksAgain = sent <= MAX_THROTTLES && !(isExpired && hasRenewed);
      const waitMs = asksAgain ? (isExpired ? 0 : askedWaitMs(outcome)) : undefined;
      hasRenewed ||= isExpired;
      if (waitMs !== undefined) await pause(waitMs, signal);
      const ended = await readBack(work, step, outcome, before);
      const refused = refusedFields(step, outcome);
      const isOver = (waitMs === undefined && refused.length === 0) || signal.aborted;
      if (isOver || !ended.isAsBefore) {
        return withResponse(step, outcome, ended, leftOut);
      }
      if (refused.length > 0) {
        session.facts.setFields(step.resource, refused, { readOnly: true });
        const open = refused.find((field) => isDisabling(field, valueAt(step.asked, field)));
        if (open !== undefined) {
          const why = { code: 'seen', is: 'not-closed', field: open } as const;
          return withResponse(step, outcome, { ...ended, end: withNotes(ended.end, why) }, leftOut);
        }
        step = withoutRefused(session.profile, step, refused);
        leftOut.push(...refused);
        sent = 0;
      }
    } catch (error) {
      return { end: { verdict: 'failed', error: expectedError(error) } };
    }
  }
}

function isDisabling(field: string, value: Value | undefined): boolean {
  return value !== undefined && disablingValue(field, value) === value;
}

/** The end of a step; that of a request that the user typed has the response, too. */
function withResponse(
  { purpose }: Step,
  outcome: RequestOutcome,
  { end: judged, after }: Ended,
  leftOut: readonly string[],
): Ended {
  const fields = leftOut.join(', ');
  const end = withNotes(
    judged,
    fields === '' ? undefined : { code: 'seen', is: 'left-out', fields },
  );
  const { status, body } = outcome.kind === 'accepted' ? outcome : {};
  const isShown = purpose?.kind === 'typed' && status !== undefined && body !== undefined;
  return { end: isShown ? { ...end, response: { status, body } } : end, ...(after && { after }) };
}

/** Reads a resource; the records that the plan affects, in full. It takes no signal: nothing interrupts a read-back. */
export async function readResource(
  { session, access, devicePlan }: Pick<DeviceWork, 'session' | 'access' | 'devicePlan'>,
  resource: string,
  signal?: AbortSignal,
): Promise<readonly DeviceRecord[]> {
  const listed = await session.list(access, resource, signal);
  const steps = devicePlan.steps.filter((step) => step.resource === resource);
  const concerned = (): readonly DeviceRecord[] => concernedSteps(session.profile, steps, listed);
  if (leavesOut(steps, listed)) {
    const [example] = concerned();
    if (example !== undefined) await session.learnSummary(access, resource, example);
  }
  const full = await session.withDetails(access, resource, [listed, concerned], signal);
  const hidden: DeviceRecord[] = [];
  for (const step of steps) {
    const { before, action, key } = step;
    const { hides = false } = listFacts(session.profile, resource);
    if (before === undefined || (action === 'delete' && !hides)) continue;
    if (findRecord(session.profile, step, full, before) !== undefined) continue;
    if ((await session.known(resource)).absent.has(key)) continue;
    const own = await readOwnPath({ session, access, resource, records: full, signal }, before);
    if (own.kind === 'there') hidden.push(own.record);
    if (own.kind === 'absent') session.proveAbsent(resource, key);
  }
  if (hidden.length === 0) return full;
  session.facts.set(`resources.${resource}.list.hides`, true);
  return [...full, ...hidden];
}

/** The records that the steps affect, by their before- and after-images. */
function concernedSteps(
  profile: Profile,
  steps: readonly Step[],
  records: readonly DeviceRecord[],
): readonly DeviceRecord[] {
  const images = steps.flatMap(({ before, after, keyField, resource }) =>
    [before, after].flatMap((image) => (image ? [{ image, keyField, resource }] : [])),
  );
  const concerned = new Set(
    images.flatMap(({ image, ...about }) => {
      const known = { ids: [idOf(profile, image)], keys: [image[about.keyField] ?? null] };
      const { byId, byKey } = whose({ profile, records, ...about }, known);
      return [...byId, ...byKey];
    }),
  );
  return records.filter((record) => concerned.has(record));
}

/** Whether some written field is shown by no record; false for an empty list. */
function leavesOut(steps: readonly Step[], records: readonly DeviceRecord[]): boolean {
  if (records.length === 0) return false;
  const asked = new Set(steps.flatMap((step) => Object.keys(step.asked)));
  return [...asked].some(
    (field) => !isSecretField(field) && !records.some((record) => Object.hasOwn(record, field)),
  );
}

/** Ends early when `signal` is aborted. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

async function readBack(
  work: DeviceWork,
  step: Step,
  outcome: RequestOutcome,
  before: readonly DeviceRecord[],
): Promise<Sent> {
  const { session } = work;
  const { facts } = session;
  const ignores = facts.get('effects') === 'ignored' || session.hasWaitedInVain;
  const settleDelaysMs = work.settleDelaysMs.slice(0, ignores ? DELAYS_IF_IGNORED : undefined);
  const watch = new Watch(facts, step, before);
  const answer = outcome.kind === 'accepted' ? outcome.record : undefined;
  let wasMissing = false;
  for (let attempt = 0; ; attempt += 1) {
    let after: readonly DeviceRecord[];
    try {
      after = await readResource(work, step.resource);
    } catch (error) {
      return { end: unread(outcome, expectedError(error)), isAsBefore: false };
    }
    const mayBeCounter = watch.next(after);
    // The reading may have taught something about the device.
    const { profile } = session;
    const listed = evidenceOf(profile, step, { before, after, answer });
    const delayMs = settleDelaysMs[attempt];
    if (delayMs !== undefined && (mayBeCounter || mayStillShow(listed, outcome))) {
      wasMissing ||= mayStillShow(listed, outcome);
      await sleep(delayMs);
      continue;
    }
    const own = await ownPath(work, listed, outcome, after);
    const shown = own?.kind === 'there' ? { record: own.record } : {};
    const isKnown = own !== undefined && own.kind !== 'not known';
    const byOwn = isKnown
      ? evidenceOf(profile, step, { before, after, answer, own: shown })
      : listed;
    // An undo that reads this list next would believe that the change was not carried out.
    const isLate = isKnown && listed.held !== undefined && byOwn.isAsAsked;
    if (isLate) facts.set('effects', 'late');
    const seen = isLate ? listed : byOwn;
    const judged = withLateness(session, judge(seen, outcome), outcome, wasMissing);
    const isOpen = own?.kind === 'not known' && step.action === 'add';
    const end: StepEnd =
      isOpen && judged.verdict === 'no effect'
        ? {
            ...judged,
            verdict: 'unknown',
            notes: [
              { code: 'seen', is: 'accepted' },
              { code: 'seen', is: 'open', why: textOf(own.why) },
            ],
          }
        : judged;
    if (step.action === 'delete' && end.verdict === 'done' && outcome.kind === 'accepted') {
      session.proveAbsent(step.resource, step.key);
    }
    learnFromWrite(facts, step, { before, after }, { outcome, end });
    const isAsBefore = isAllAsBefore(seen) && movedId(profile, step, before, after) === undefined;
    return { end: withConflict(work, step, outcome, end), after, isAsBefore };
  }
}

/** A missing effect is `unknown` if the device showed effects late before, or only promises one (202). Learns that. */
function withLateness(
  session: DeviceSession,
  end: StepEnd,
  outcome: RequestOutcome,
  wasMissing: boolean,
): StepEnd {
  const { status, objection } = outcome.kind === 'accepted' ? outcome : {};
  const { facts } = session;
  const isAccepted = outcome.kind === 'accepted';
  if (isAccepted && ((end.verdict === 'done' && wasMissing) || status === 202)) {
    facts.set('effects', 'late');
  }
  const isMissing = isAccepted
    ? end.verdict === 'no effect' && objection === undefined
    : end.verdict === 'failed' && !isRefusal(outcome);
  if (!isMissing) return end;
  const effects = facts.get('effects');
  // A device that showed no effect of a write may have shown it late.
  if (effects === undefined || (effects === 'ignored' && isAccepted)) {
    if (isAccepted) facts.set('effects', 'ignored');
    session.hasWaitedInVain = true;
    return end;
  }
  const answer = { code: 'seen', is: isAccepted ? 'accepted' : 'unrefused' } as const;
  return { ...end, verdict: 'unknown', notes: [answer, { code: 'seen', is: 'late' }] };
}

/** `drift` if the device refused the write because the record is no longer what was planned for. */
function withConflict(
  { session: { profile, ref } }: DeviceWork,
  step: Step,
  outcome: RequestOutcome,
  end: StepEnd,
): StepEnd {
  const { error } = outcome.kind === 'refused' ? outcome : {};
  const isConditional =
    step.request.ifAbsent === true || (profile.revision !== undefined && step.action !== 'add');
  const isConflict = error instanceof RejectedError && [409, 412].includes(error.status);
  if (!isConditional || !isConflict) return end;
  const conflict = {
    ...{ code: 'not-sent' as const, is: 'conflict' as const, name: recordName(step) },
    ...{ what: step.action === 'add' ? 'was added' : 'changed', reason: error.message },
  };
  return { ...end, verdict: 'drift', error: new DriftError(conflict, { where: ref.name }) };
}

/** Whether the change may still show: a request that was not clearly refused may still be processed. */
function mayStillShow(seen: Evidence, outcome: RequestOutcome): boolean {
  if (isRefusal(outcome) || isExpiredSession(outcome)) return false;
  const isStill = seen.isUntouched && seen.others.gone.length + seen.others.changed.length === 0;
  return isStill || (seen.held === undefined && !seen.isAsAsked);
}

/** What the own path of a record says, if the list does not tell what became of it; undefined if the list tells. */
async function ownPath(
  { session, access }: DeviceWork,
  { step, held, isUntouched }: Evidence,
  outcome: RequestOutcome,
  records: readonly DeviceRecord[],
): Promise<Absence | undefined> {
  const { resource, before, action, after: image, keyField } = step;
  const isAccepted = outcome.kind === 'accepted';
  const isListed = held !== undefined;
  const isOpen = (isAccepted && isUntouched) || (action !== 'delete' && !isListed);
  const record = before ?? (isAccepted ? outcome.record : undefined);
  if (!isOpen || (record === undefined && !isAccepted)) return undefined;
  const listed = { session, access, resource, records };
  const key = valueText(image?.[keyField]);
  const own =
    record === undefined || idOf(session.profile, record) === undefined
      ? await absenceOf(listed, (some) =>
          some.filter((one) => key !== '' && valueText(one[keyField]) === key),
        )
      : await readOwnPath(listed, record);
  const isOther =
    action === 'add' &&
    own.kind === 'there' &&
    foldedText(own.record[keyField]) !== foldedText(image?.[keyField]);
  // The id in the response is that of somebody else's record.
  if (isOther) return undefined;
  if (own.kind === 'there' && !isListed)
    session.facts.set(`resources.${resource}.list.hides`, true);
  return own.kind === 'absent' && action === 'set' && isListed ? undefined : own;
}

/** Reading back failed: only a clear refusal still shows the outcome. */
function unread(outcome: RequestOutcome, error: DevshError): StepEnd {
  const isExpired = isExpiredSession(outcome);
  if (outcome.kind === 'refused' && isRefusal(outcome)) {
    return { verdict: 'failed', error: outcome.error };
  }
  const lost = isExpired ? 'expired' : 'lost';
  const is = outcome.kind === 'accepted' ? 'accepted' : lost;
  return {
    verdict: 'unknown',
    error: outcome.kind === 'accepted' || isExpired ? error : outcome.error,
    notes: [
      { code: 'seen', is },
      { code: 'seen', is: 'unread' },
    ],
  };
}
