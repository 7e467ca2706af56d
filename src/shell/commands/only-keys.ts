import { UsageError } from '../../errors.ts';
import type { Member } from '../../fleet/member.ts';
import type { Options } from '../grammar/options.ts';

/** Whether a KEY of the line is meant on a device. */
export type IsMeant = (key: string, member: Member) => boolean;

/**
 * Every KEY is meant on every selected device, but for those that `--only` keeps to some of them. Throws
 * a `UsageError` where it names a device or a KEY that the line is not about.
 */
export function meantBy(
  { only }: Options<'only'>,
  keys: readonly string[],
  members: readonly Member[],
): IsMeant {
  if (only.length === 0) return () => true;
  const devicesByKey = new Map<string, Set<Member>>();
  for (const { key, devices } of only) {
    if (!keys.includes(key))
      throw new UsageError(`--only is about a KEY of the line, not "${key}"`);
    const named = devicesByKey.get(key) ?? new Set();
    for (const device of devices) named.add(memberNamed(device, members));
    devicesByKey.set(key, named);
  }
  return (key, member) => devicesByKey.get(key)?.has(member) !== false;
}

function memberNamed(device: string, members: readonly Member[]): Member {
  const member = members.find(({ ref }) => ref.name === device || ref.address === device);
  if (member !== undefined) return member;
  const names = members.map(({ ref }) => ref.name).join(', ');
  throw new UsageError(`--only: "${device}" is none of the selected devices (${names})`);
}
