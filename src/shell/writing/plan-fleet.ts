import { planMember, type Wanted } from '../../change/plan-member.ts';
import type { DevicePlan, Plan } from '../../change/plan.ts';
import { CancelledError } from '../../errors.ts';
import { fanOut } from '../../fleet/fan-out.ts';
import type { Member } from '../../fleet/member.ts';
import type { Call } from '../command.ts';
import { learnMember } from '../devices/learning.ts';
import type { Output } from '../output.ts';

/** Reads every device and computes what the changes mean on it; in the order of the members. */
export async function* planFleet(
  call: Call<never, 'allow'>,
  members: readonly Member[],
  wantedOf: (member: Member) => Wanted,
): AsyncGenerator<Output, Plan> {
  const plans = new Map<Member, DevicePlan>();
  const planning = {
    access: call.access,
    signal: call.io.signal,
    allow: call.options.allow ?? new Set(),
    learn: (member: Member, resource: string, what: 'once' | 'fields') =>
      learnMember(call, member, resource, what),
  };
  const planned = fanOut<Member, DevicePlan>(
    members,
    call.readWidth,
    async (member, emit) => {
      const plan = await planMember(planning, member, wantedOf(member));
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
