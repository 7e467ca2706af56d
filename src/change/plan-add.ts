import { createRequest } from '../device/encode.ts';
import type { DeviceRecord } from '../device/record.ts';
import { valueText } from '../device/value-text.ts';
import { RefusedError, UsageError } from '../errors.ts';
import { suggest } from '../suggest.ts';
import type { Change } from './change.ts';
import { differencesOfNew } from './compare.ts';
import { fillMissing } from './fill-missing.ts';
import { lostWith, restorable } from './losses.ts';
import { objectionTo } from './objection.ts';
import type { PlanContext } from './plan-context.ts';
import { RecordIndex } from './record-index.ts';
import type { DevicePlan, Step } from './plan.ts';
import { typedFields } from './typed-fields.ts';
import type { StepResult } from './verdict.ts';

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
