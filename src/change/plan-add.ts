import { createRequest } from '../device/encode.ts';
import { type DeviceRecord, type DeviceRef, valueAt } from '../device/record.ts';
import { valueText } from '../device/value-text.ts';
import { RefusedError, UsageError } from '../errors.ts';
import { suggest } from '../text/suggest.ts';
import type { Change } from './change.ts';
import { differencesOfNew } from './compare.ts';
import { fillMissing } from './fill-missing.ts';
import { lostWith, restorable } from './losses.ts';
import { RecordIndex } from './find-record.ts';
import { type DevicePlan, NotPossibleError, type Step } from './plan.ts';
import { typedFields } from './typed-fields.ts';
import type { StepResult } from './verdict.ts';
import { type Allowed, allowHint } from './allow.ts';
import type { Profile } from '../device/profile.ts';
import type { FieldFacts } from '../device/facts-schema.ts';
import { checkFields, checkValue } from './check-fields.ts';

/** A record that is there already settles it, the same or not: nothing is sent then. */
export function planAdd(
  context: PlanContext,
  change: Change & { readonly action: 'add' },
): DevicePlan {
  const { device, profile, records, resource, keyField } = context;
  const back = change.lost && restorable(profile, resource, { ...change.fields, ...change.lost });
  const { fields, untyped } = change.isExact
    ? { fields: back?.fields ?? change.fields, untyped: [] }
    : typedFields(context, change.fields, {
        ...(change.asJson && { asJson: change.asJson }),
        isJson: profile.create.encoding === 'json',
      });
  const wanted = fields[keyField];
  if (wanted === undefined || wanted === '') {
    throw new UsageError(
      `${resource} add needs ${keyField}=…${hintAt(keyField, context, change.fields)}`,
      { field: keyField },
    );
  }
  const key = valueText(wanted);
  const result = { device, resource, key, action: 'add' as const };
  const [twin] = RecordIndex.of(records).holding(keyField, wanted);
  if (twin !== undefined) {
    const differences = differencesOfNew(fields, twin);
    const settled: StepResult =
      differences.length === 0
        ? { ...result, verdict: 'unchanged', record: twin, note: 'exists already' }
        : {
            ...result,
            verdict: 'differs',
            record: twin,
            differences: differences.map(({ sent, ...one }) => ({ ...one, wanted: sent })),
            note: `exists already with other fields; "${resource} set" changes it`,
          };
    return { device, steps: [], settled: [settled] };
  }
  const { values, filled, needed, leftOut } = fillMissing(context, fields);
  const after = { ...values, ...fields };
  if (needed.length > 0) {
    const said = needed.map((field) => `${field}=…`).join(' ');
    const error = new RefusedError(
      `a new ${resource} needs ${needed.join(', ')}, which may give rights and is never filled in: say ${said}; nothing was sent`,
    );
    return { device, steps: [], settled: [{ ...result, verdict: 'failed', error }] };
  }
  const objection = objectionTo(context, change, after);
  if (objection !== undefined) {
    return { device, steps: [], settled: [{ ...result, verdict: 'failed', error: objection }] };
  }
  const request = createRequest(profile, resource, after);
  const step: Step = {
    action: 'add',
    resource,
    key,
    keyField,
    request,
    after,
    asked: fields,
    filled,
    ...(leftOut.length > 0 && { leftOut }),
    ...(untyped.length > 0 && { untyped }),
    ...(back && { lost: lostWith(context, { ...change.fields, ...back.lost }) }),
  };
  return { device, steps: [step], settled: [] };
}

/** `; did you mean that by "usrname"?`: a name that is nearly right, and no field of any record. */
function hintAt(keyField: string, { records }: PlanContext, fields: DeviceRecord): string {
  const meant = Object.keys(fields).find(
    (name) =>
      name !== keyField &&
      suggest(name, [keyField]).length > 0 &&
      !records.some((record) => Object.hasOwn(record, name)),
  );
  return meant === undefined ? '' : `; did you mean that by "${meant}"?`;
}

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
