import type { DeviceRecord } from '../device/record.ts';
import { checkFields } from './check-fields.ts';
import { NotPossibleError } from './errors.ts';
import type { PlanContext } from './plan-context.ts';

/** So many objections of a device are named. */
const MOST_PROBLEMS = 10;

/** What the device would refuse, from what it has told of its fields; it is not sent then. */
export function objectionTo(
  { device, profile, resource }: PlanContext,
  fields: DeviceRecord,
  isNew: boolean,
): NotPossibleError | undefined {
  const details = profile.resources[resource]?.details;
  const problems = details === undefined ? [] : Object.entries(checkFields(details, fields, isNew));
  if (problems.length === 0) return undefined;
  const named = problems.slice(0, MOST_PROBLEMS).map(([field, problem]) => `${field}: ${problem}`);
  const more = problems.length - named.length;
  const text = named.join(', ') + (more > 0 ? ` and ${more} more` : '');
  return new NotPossibleError(
    device,
    'invalid',
    `${text}; nothing was sent. If the device says otherwise by now, "learn ${device.name}" asks it again`,
    Object.fromEntries(problems.map(([field, problem]) => [field, [problem]])),
  );
}
