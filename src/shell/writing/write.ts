import type { Change } from '../../change/change.ts';
import { doubtfulFields } from '../../change/doubts.ts';
import { guardPlan } from '../../change/guard.ts';
import type { Wanted } from '../../change/plan-member.ts';
import { stepCount, type Plan } from '../../change/plan.ts';
import { RefusedError } from '../../errors.ts';
import type { Member } from '../../fleet/member.ts';
import { planAsCurl } from './as-curl.ts';
import type { WriteCall } from '../call.ts';
import { conduct } from './conduct.ts';
import { confirmPlan } from './confirm.ts';
import type { Output } from '../output.ts';
import { otherHolders } from './other-holders.ts';
import { planFleet } from './plan-fleet.ts';

/** Carries out the same changes on every selected device. */
export async function* write(call: WriteCall, changes: readonly Change[]): AsyncGenerator<Output> {
  const members = await call.members();
  yield* writeEach(call, members, () => changes);
}

/**
 * The one way to write: read, plan, show, guard, ask, then journal, send, read back and report.
 *
 * @param details said before the question
 */
export async function* writeEach(
  call: WriteCall,
  members: readonly Member[],
  wantedOf: (member: Member) => Wanted,
  details: readonly string[] = [],
): AsyncGenerator<Output> {
  refuseReadOnly(call);
  const plan = yield* planFleet(call, members, wantedOf);
  yield* writePlan(call, plan, members, details);
}

/** The second half: from a plan to verdicts. With `--dry-run` it ends after the plan. */
export async function* writePlan(
  call: WriteCall,
  plan: Plan,
  members: readonly Member[],
  details: readonly string[] = [],
): AsyncGenerator<Output> {
  refuseReadOnly(call);
  yield { kind: 'plan', plan, dryRun: call.options.dryRun };
  const doubts = [...doubtfulFields(plan), ...otherHolders(call, plan, members)];
  const isPlanOnly = call.options.dryRun || call.options.asCurl;
  const isAsked = call.io.ask !== undefined && !call.options.yes && !isPlanOnly;
  if (!isAsked) {
    for (const text of doubts) yield { kind: 'message', level: 'warning', text };
  }
  await guard(call, plan, members);
  if (call.options.asCurl) {
    yield await planAsCurl(call, plan, members);
    return;
  }
  if (call.options.dryRun) return;
  await confirmPlan(call, plan, [...doubts, ...details]);
  yield* conduct(call, { plan, members });
}

export function refuseReadOnly(call: WriteCall): void {
  if (call.isReadOnly && !call.options.dryRun && !call.options.asCurl) {
    throw new RefusedError('read-only: nothing was sent');
  }
}

/** Refuses what would lock the user out. */
export async function guard(
  call: WriteCall,
  plan: Plan,
  members: readonly Member[],
): Promise<void> {
  if (stepCount(plan) === 0) return;
  for (const member of members) await member.opened(call.access);
  guardPlan(plan, members, call.options.allow);
}
