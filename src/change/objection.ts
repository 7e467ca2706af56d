import type { FieldFacts } from '../device/learned-schema.ts';
import type { DeviceRecord } from '../device/record.ts';
import { UsageError } from '../errors.ts';
import { valueAt } from '../value-at.ts';
import { allowHint } from './allow.ts';
import type { Change } from './change.ts';
import { checkFields, checkValue } from './check-fields.ts';
import { NotPossibleError } from './errors.ts';
import type { PlanContext } from './plan-context.ts';

/** So many objections of a device are named. */
const MOST_PROBLEMS = 10;

/**
 * What the device would refuse, from what it has told of its fields; it is not sent then. Throws a
 * UsageError for a value that somebody typed and the device calls wrong: no other device gets it either.
 */
export function objectionTo(
  { device, profile, resource, allow }: PlanContext,
  change: Change & { readonly action: 'add' | 'set' },
  fields: DeviceRecord,
): NotPossibleError | undefined {
  const details = profile.resources[resource]?.details;
  if (details === undefined || allow.has('invalid')) return undefined;
  const problems = Object.entries(checkFields(details, fields, change.action === 'add'));
  if (problems.length === 0) return undefined;
  const [field, problem] = change.isExact
    ? []
    : (problems.find(([name]) => isWrongValue(details, fields, name)) ?? []);
  if (field !== undefined) {
    throw new UsageError(
      `${field}: ${problem ?? ''}, says ${device.name}; nothing was sent (${allowHint('invalid')})`,
      { field },
    );
  }
  const named = problems.slice(0, MOST_PROBLEMS).map(([name, text]) => `${name}: ${text}`);
  const more = problems.length - named.length;
  const text = named.join(', ') + (more > 0 ? ` and ${more} more` : '');
  return new NotPossibleError(
    device,
    'invalid',
    `${text}; nothing was sent. If the device says otherwise by now, "learn ${device.name}" asks it again`,
    Object.fromEntries(problems.map(([name, reason]) => [name, [reason]])),
  );
}

/** Not one that is missing, or that nobody may set. */
function isWrongValue(
  details: Readonly<Record<string, FieldFacts>>,
  fields: DeviceRecord,
  name: string,
): boolean {
  const [facts, value] = [valueAt(details, name), valueAt(fields, name)];
  if (facts === undefined || value === undefined || facts.readOnly) return false;
  return checkValue(facts, value) !== undefined;
}
