import { valueText } from '../device/value-text.ts';
import { applyPlan } from '../change/apply.ts';
import type { Change } from '../change/change.ts';
import { guardOwnAccount } from '../change/guard.ts';
import { newRunId, planDevice, stepCount, type DevicePlan, type Plan } from '../change/plan.ts';
import type { StepResult, Verdict } from '../change/verdict.ts';
import { documentedProfile } from '../device/profile.ts';
import { CancelledError, RefusedError, type DevshError } from '../errors.ts';
import type { Member } from '../fleet/member.ts';
import type { Call } from './call.ts';
import type { Output } from './output.ts';

/**
 * The one way to write: read, plan, show, guard, ask, send in turn, read back, report.
 * All changes are about the same resource.
 */
export async function* write(call: Call, changes: readonly Change[]): AsyncGenerator<Output> {
  const [first] = changes;
  if (first === undefined) return;
  if (call.isReadOnly) throw new RefusedError('read-only: nothing was sent');
  const members = await call.members();

  const plan: Plan = {
    run: newRunId(call.session.services.now()),
    devices: yield* planFleet(call, members, first.resource, changes),
  };
  yield { kind: 'plan', plan, dryRun: call.options.dryRun };
  if (!call.options.force) {
    const accounts = new Map(members.map(({ ref, account }) => [ref.name, account]));
    guardOwnAccount(plan, (name) => accounts.get(name));
  }
  if (call.options.dryRun) return;
  await confirm(call, plan);

  const counts: Partial<Record<Verdict, number>> = {};
  const report = (result: StepResult): Output => {
    counts[result.verdict] = (counts[result.verdict] ?? 0) + 1;
    return { kind: 'result', run: plan.run, result };
  };
  for (const devicePlan of plan.devices) {
    for (const result of endedBefore(devicePlan, changes)) yield report(result);
  }
  const total = stepCount(plan);
  let done = 0;
  for await (const result of applyPlan(plan, byName(members), {
    access: call.access,
    width: call.writeWidth,
    signal: call.io.signal,
  })) {
    done += 1;
    yield report(result);
    const text = `${result.action} ${result.resource} ${result.key}: ${result.verdict} on ${result.device.name}`;
    yield { kind: 'progress', done, total, text };
  }
  yield { kind: 'summary', run: plan.run, counts };
  if (call.io.signal.aborted)
    throw new CancelledError('cancelled: the steps marked "skipped" were not sent');
}

/** Reads every device and computes its part of the plan, in the order of the selection. */
async function* planFleet(
  call: Call,
  members: readonly Member[],
  resource: string,
  changes: readonly Change[],
): AsyncGenerator<Output, DevicePlan[]> {
  const plans = new Map<Member, DevicePlan>();
  const writable = members.filter((member) => {
    if (member.entry.readOnly !== true) return true;
    const error = new RefusedError(
      `${member.ref.name}: read-only in the inventory; nothing was sent`,
    );
    plans.set(member, notPlanned(member, error));
    return false;
  });
  const { access } = call;
  const { signal } = call.io;
  const reads = call.session.fleet.read(writable, resource, {
    access,
    signal,
    width: call.readWidth,
  });
  for await (const read of reads) {
    if (!read.ok) {
      plans.set(read.member, notPlanned(read.member, read.error));
    } else {
      const parts = changes.map((change) =>
        planDevice(read.member.ref, documentedProfile, change, read.records),
      );
      plans.set(read.member, {
        device: read.member.ref,
        steps: parts.flatMap(({ steps }) => steps),
        settled: parts.flatMap(({ settled }) => settled),
      });
    }
    const text = `reading ${resource}s of ${members.length} devices`;
    yield { kind: 'progress', done: plans.size, total: members.length, text };
  }
  if (signal.aborted) throw new CancelledError('cancelled: nothing was sent');
  return members.flatMap((member) => plans.get(member) ?? []);
}

function notPlanned(member: Member, error: DevshError): DevicePlan {
  return { device: member.ref, steps: [], settled: [], error };
}

/** Results that need no request: settled while planning, or the device could not be read. */
function endedBefore(devicePlan: DevicePlan, changes: readonly Change[]): readonly StepResult[] {
  const { device, error } = devicePlan;
  if (error === undefined) return devicePlan.settled;
  return changes.map((change) => ({
    device,
    resource: change.resource,
    key: keyOf(change),
    action: change.action,
    verdict: 'failed',
    error,
  }));
}

function keyOf(change: Change): string {
  if (change.action === 'add') return valueText(change.fields['username']);
  return change.target.kind === 'key' ? change.target.key : change.target.filter;
}

/** Asks in proportion: `y` for one step, the number of steps for more. Throws when it is not confirmed. */
async function confirm(call: Call, plan: Plan): Promise<void> {
  const count = stepCount(plan);
  if (count === 0 || call.options.yes) return;
  if (call.io.ask === undefined) {
    throw new RefusedError(
      'not confirmed: say --yes to do it without a question; nothing was sent',
    );
  }
  const devices = plan.devices.filter(({ steps }) => steps.length > 0);
  const deletes = devices.flatMap(({ steps }) => steps).filter(({ action }) => action === 'delete');
  const [step] = devices.flatMap(({ steps }) => steps);
  const details = [
    ...(deletes.length > 0
      ? ['Deleting is for good: the password, token and uuid of a user do not come back.']
      : []),
    ...(deletes.length > 0 && devices.length > 1
      ? [`Devices: ${devices.map(({ device }) => device.name).join(', ')}`]
      : []),
  ];
  const expected = count === 1 ? 'y' : String(count);
  const text =
    count === 1 && step !== undefined
      ? `${step.action} ${step.resource} ${step.key} on ${devices[0]?.device.name ?? ''}? Type y to do it:`
      : `${count} steps on ${devices.length === 1 ? (devices[0]?.device.name ?? '') : `${devices.length} devices`}. Type ${expected} to do them:`;
  const answer = await call.io.ask({ kind: 'confirm', text, details, expected });
  if (answer !== expected) throw new RefusedError('not confirmed: nothing was sent');
}

function byName(members: readonly Member[]): ReadonlyMap<string, Member> {
  return new Map(members.map((member) => [member.ref.name, member]));
}
