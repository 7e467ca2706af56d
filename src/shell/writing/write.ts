import type { Change } from '../../change/change.ts';
import { doubtfulFields } from '../../change/doubts.ts';
import { impostorTexts } from '../../change/guard.ts';
import { type RequestedChanges } from '../../change/read-and-plan.ts';
import type { KeptRotations } from '../../change/rotation.ts';
import { type Plan, stepCount } from '../../change/plan.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import type { WriteCall } from '../command.ts';
import {
  type AccountConsent,
  confirmPlan,
  guard,
  othersWithRecord,
  reasonFor,
  refuseReadOnly,
} from './consent.ts';
import { planFleet } from './plan-fleet.ts';
import { type ContinuedRun, executeRun } from './execute.ts';
import { type Output, warning } from '../output.ts';
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
