import { withAllLearned } from '../../device/learned.ts';
import type { Profile } from '../../device/profile.ts';
import type { DeviceEntry } from '../../fleet/selector.ts';
import type { Services } from '../session.ts';

/** How a device speaks: its profile by configuration, with what was learned of it. */
export async function profileOf({ profiles }: Services, entry: DeviceEntry): Promise<Profile> {
  const base = await profiles.profile(entry.profile ?? 'documented');
  const learned = await profiles.learned(entry.address);
  return learned === undefined ? base : withAllLearned(base, learned);
}
