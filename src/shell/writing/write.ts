import type { Change } from '../../change/change.ts';
import { doubtfulFields } from '../../change/doubts.ts';
import { impostorTexts } from '../../change/guard.ts';
import { type Plan, stepCount } from '../../change/plan.ts';
import type { RequestedChanges } from '../../change/read-and-plan.ts';
import type { KeptRotations } from '../../change/rotation.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import type { WriteCall } from '../command.ts';
import { type Output, warning } from '../output.ts';
import {
  type AccountConsent,
  confirmPlan,
  guard,
  othersWithRecord,
  reasonFor,
  refuseOwnAccountWord,
  refuseReadOnly,
} from './consent.ts';
import { type ContinuedRun, executeRun } from './execute.ts';
import { planFleet, planOlder } from './plan-fleet.ts';

/** Who shall be written to, what, and why it may be: all that writes is one (docs/writing.md). */
export interface WriteIntent {
  readonly sessions: readonly DeviceSession[];
  /** What each device shall hold; or the plan of a file, made before. */
  readonly wanted: ((session: DeviceSession) => RequestedChanges) | Plan;
  /**
   * `fresh`: this line names the records. `older`: an earlier line did, and the gate decides whom that means by now.
   * `way back`: a run takes itself back, with the permissions that it had; nobody is asked.
   */
  readonly age: 'fresh' | 'older' | 'way back';
  /** By default as the age says; a lockout is fresh and takes no word for the account in use. */
  readonly accounts?: AccountConsent;
  /** Says what the plan means, refuses or completes it before it is shown. Undefined: nothing is to be done. */
  readonly review?: (plan: Plan) => Review | AsyncReview;
}

type Review = Generator<Output, ReviewedPlan | undefined>;
type AsyncReview = AsyncGenerator<Output, ReviewedPlan | undefined>;

interface ReviewedPlan {
  readonly plan: Plan;
  /** What the question says beside the plan. */
  readonly details?: readonly string[];
  /** A plan that changes nothing and had no failure is only shown, and leaves no run. */
  readonly needsChange?: boolean;
  /** Chooses and keeps the secrets of a rotation, once it is confirmed. */
  readonly rotations?: (() => Promise<KeptRotations>) | undefined;
  /** The run that this plan continues. */
  readonly resumed?: ContinuedRun;
}

const CONSENT = { fresh: 'this line', older: 'a fresh line', 'way back': 'its run' } as const;

/** The intent of a line with the same changes for all of its devices. */
export async function* writeChanges(
  call: WriteCall,
  changes: readonly Change[],
): AsyncGenerator<Output> {
  yield* write(call, { sessions: await call.sessions(), wanted: () => changes, age: 'fresh' });
}

/**
 * The one way to write: read and plan, ask the gate, guard, show, ask; then journal, read again, send, read back and
 * report. With `--dry-run` it ends after the plan.
 */
export async function* write(call: WriteCall, intent: WriteIntent): AsyncGenerator<Output> {
  const { sessions, age, accounts = CONSENT[age], review } = intent;
  refuseReadOnly(call);
  if (accounts === 'a fresh line') refuseOwnAccountWord(call);
  const planned = yield* planOf(call, intent);
  const reviewed = review === undefined ? { plan: planned } : yield* review(planned);
  if (reviewed === undefined) return;
  const { plan, details = [], needsChange = false, rotations, resumed } = reviewed;
  const { dryRun, yes } = call.options;
  if (needsChange && isIdle(plan)) {
    yield { kind: 'plan', plan, dryRun: true };
    return;
  }
  yield { kind: 'plan', plan, dryRun };
  const doubts = [
    ...doubtfulFields(plan),
    ...othersWithRecord(call, plan, sessions),
    ...impostorTexts(plan, sessions),
  ];
  if (call.io.ask === undefined || yes || dryRun) {
    for (const text of doubts) yield warning(text);
  }
  const allowed = await guard(call, plan, sessions, accounts);
  if (dryRun) return;
  const reason = stepCount(plan) === 0 ? plan.reason : await reasonFor(call, plan.reason);
  await confirmPlan(call, plan, [...doubts, ...details]);
  const chosen = stepCount(plan) === 0 ? undefined : await rotations?.();
  const whole = { ...(resumed?.whole ?? plan), reason };
  yield* executeRun(call, { plan: whole, sessions, allowed, resumed, chosen });
}

async function* planOf(
  call: WriteCall,
  { sessions, wanted, age }: WriteIntent,
): AsyncGenerator<Output, Plan> {
  if (typeof wanted !== 'function') return wanted;
  return yield* age === 'fresh'
    ? planFleet(call, sessions, wanted)
    : planOlder(call, sessions, wanted);
}

function isIdle(plan: Plan): boolean {
  const isQuiet = plan.devices.every(({ settled, error }) => settled.length === 0 && !error);
  return isQuiet && stepCount(plan) === 0;
}
