import type { Allowed } from './allow.ts';
import type { Profile } from '../device/profile.ts';
import type { DeviceRecord, DeviceRef } from '../device/record.ts';

/** What one change is planned from: a device, and what it holds now. */
export interface PlanContext {
  readonly device: DeviceRef;
  readonly profile: Profile;
  readonly records: readonly DeviceRecord[];
  readonly resource: string;
  readonly keyField: string;
  /** Which refusals do not count. */
  readonly allow: Allowed;
}
