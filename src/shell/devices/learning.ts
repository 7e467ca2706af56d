import { areFieldsLearned, isLearned, learn, learnFields } from '../../device/learn.ts';
import { withAllLearned } from '../../device/learned.ts';
import type { Learned } from '../../device/learned-schema.ts';
import { DevshError } from '../../errors.ts';
import type { Member } from '../../fleet/member.ts';
import type { Call } from '../call.ts';

/**
 * Learns of a resource of a device, without writing, and keeps it: `once`, and again when records come
 * where there were none; `again` in any case; `fields` only these, and what an empty list had left open. Resolves to
 * what is known then.
 */
export async function learnMember(
  call: Call,
  member: Member,
  resource: string,
  what: 'once' | 'again' | 'fields' = 'once',
): Promise<Learned | undefined> {
  const { services } = call.session;
  const { profiles } = services;
  const { entry, ref } = member;
  const known = await profiles.learned(ref.address);
  const held = known?.byResource[resource];
  const records = member.seen(resource) ?? [];
  const isDone = isLearned(held, records) || (what === 'fields' && areFieldsLearned(held));
  if (what !== 'again' && isDone) return known;
  const fresh = await member.use(call.access, (device) =>
    what === 'fields' && held === undefined
      ? learnFields(device, resource, services.now(), call.io.signal)
      : learn(device, resource, records, services.now(), call.io.signal),
  );
  const learned = await profiles.updateLearned(ref.address, (held) => ({
    ...held,
    ...fresh,
    byResource: { ...held?.byResource, ...fresh.byResource },
  }));
  member.learned(withAllLearned(await profiles.profile(entry.profile ?? 'documented'), learned));
  return learned;
}

/** The same for all that answered, where it must not get in the way: what goes wrong leaves a fact less. */
export async function learnAllQuietly(
  call: Call,
  members: readonly Member[],
  resource: string,
): Promise<void> {
  const ready = members.filter(({ state }) => state.kind === 'ready');
  const results = await Promise.allSettled(
    ready.map((member) => learnMember(call, member, resource)),
  );
  for (const result of results) {
    if (result.status === 'rejected' && !(result.reason instanceof DevshError)) throw result.reason;
  }
}
