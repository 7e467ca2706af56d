import { assumptionsOf } from '../change/assumptions.ts';
import type { Change } from '../change/change.ts';
import { lookAlikesOf } from '../change/look-alikes.ts';
import { mergeDevicePlans, unplanned, type DevicePlan, type Plan } from '../change/plan.ts';
import { concernedBy } from '../change/concerned.ts';
import { planDevice } from '../change/plan-device.ts';
import type { DeviceRecord } from '../device/record.ts';
import { CancelledError, DevshError, RefusedError } from '../errors.ts';
import { fanOut } from '../fleet/fan-out.ts';
import type { Member } from '../fleet/member.ts';
import type { Call } from './call.ts';
import { learnMember } from './learning.ts';
import type { Output } from './output.ts';

/** Reads every device and computes what the changes mean on it; in the order of the members. */
export async function* planFleet(
  call: Call,
  members: readonly Member[],
  changesFor: (member: Member) => readonly Change[],
): AsyncGenerator<Output, Plan> {
  const plans = new Map<Member, DevicePlan>();
  const planned = fanOut<Member, DevicePlan>(
    members,
    call.readWidth,
    async (member, emit) => {
      const plan = await planMember(call, member, changesFor(member));
      plans.set(member, plan);
      emit(plan);
    },
    call.io.signal,
  );
  for await (const { device, error } of planned) {
    const text = `planning: ${device.name} ${error === undefined ? 'was read' : 'failed'}`;
    yield { kind: 'progress', done: plans.size, total: members.length, text };
  }
  if (call.io.signal.aborted) throw new CancelledError('cancelled: nothing was sent');
  return {
    run: call.newRun(),
    devices: members.flatMap((member) => plans.get(member) ?? []),
  };
}

async function planMember(
  call: Call,
  member: Member,
  changes: readonly Change[],
): Promise<DevicePlan> {
  const { ref, entry } = member;
  try {
    if (entry.readOnly === true) {
      throw new RefusedError(`${ref.name}: read-only in the inventory; nothing was sent`);
    }
    const records = new Map<string, readonly DeviceRecord[]>();
    const parts: DevicePlan[] = [];
    for (const change of changes) {
      const { resource } = change;
      const { signal } = call.io;
      const listed = records.get(resource) ?? (await member.list(call.access, resource, signal));
      const concerned = concernedBy(member.profile, change, listed, ref.name);
      const held = await member.withDetails(call.access, resource, listed, concerned, signal);
      records.set(resource, held);
      await learnBefore(call, member, change);
      parts.push(planDevice(ref, member.profile, change, held));
    }
    const plan = mergeDevicePlans(ref, parts);
    const assumed = assumptionsOf(member.profile, plan.steps);
    const lookAlikes = lookAlikesOf(plan.steps, (resource) => records.get(resource) ?? []);
    return {
      ...plan,
      ...(member.trust?.kind === 'insecure' && { isUnchecked: true }),
      ...(assumed.length > 0 && { assumed }),
      ...(lookAlikes.length > 0 && { lookAlikes }),
    };
  } catch (error) {
    // A line that makes no sense is the user's mistake, and the same on every device.
    if (!(error instanceof DevshError) || error.code === 'usage') throw error;
    return unplanned(ref, changes, error);
  }
}

/**
 * How records are added and changed, the device itself is asked before the first write, once: what the
 * API document leaves open would otherwise be guessed. What it does not tell leaves the guess.
 */
async function learnBefore(call: Call, member: Member, change: Change): Promise<void> {
  if (change.action === 'delete' || member.profile.origins['update'] === 'configured') return;
  try {
    await learnMember(call, member, change.resource);
  } catch (error) {
    if (!(error instanceof DevshError) || error.code === 'cancelled') throw error;
  }
}
