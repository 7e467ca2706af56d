import { RejectedError } from '../device/errors.ts';
import { originOfWrite } from '../device/observation.ts';
import type { WriteName } from '../device/profile.ts';
import type { Profile } from '../device/profile.ts';
import type { DeviceRef } from '../device/record.ts';
import type { Step } from './plan.ts';
import type { Action, StepEnd } from './verdict.ts';

/** Which kind of write each action is, as profiles call them. */
export const WRITE_OF: Readonly<Record<Action, WriteName>> = {
  add: 'create',
  set: 'update',
  delete: 'remove',
};

const WAY_OF: Readonly<Record<Action, string>> = {
  add: 'adding',
  set: 'changing',
  delete: 'deleting',
};

/** Where an assumed way to write did not work, how to say which one does. */
export function withAdvice(
  device: DeviceRef,
  profile: Profile,
  { action, resource }: Step,
  end: StepEnd,
): StepEnd {
  const write = WRITE_OF[action];
  const { verdict, error } = end;
  const isUnknownPath = error instanceof RejectedError && [404, 405].includes(error.status);
  const hasFailed = verdict === 'no effect' || (verdict === 'failed' && isUnknownPath);
  if (!hasFailed || originOfWrite(profile, write, resource) !== 'assumed') return end;
  const advice = `this way of ${WAY_OF[action]} is assumed; another one is stated with "profile set ${device.name} ${write}.path=…"`;
  return { ...end, note: [end.note, advice].filter((text) => text !== undefined).join('; ') };
}
