import { type DevicePlan, NotPossibleError, recordName, type Step } from './plan.ts';
import { deleteRequest, refuseSingle, updateRequest } from '../device/encode.ts';
import { uncomparedFields } from '../device/observation.ts';
import { idOf, isSingle, keyFieldOf, updateFacts, type Profile } from '../device/profile.ts';
import type { DeviceRecord, DeviceRef } from '../device/record.ts';
import { isTimeStamp, valueText } from '../device/value-text.ts';
import { DriftError, RefusedError } from '../errors.ts';
import { suggest } from '../text/suggest.ts';
import { allowHint, type Allowed } from './allow.ts';
import { pickWhere, type Change, type Target } from './change.ts';
import { differencesOf, isMasked, isSameValue } from './compare.ts';
import { erasedBy, lossesIn, lostWith, restorable } from './losses.ts';
import { objectionTo, planAdd, type PlanContext } from './plan-add.ts';
import { RecordIndex } from './find-record.ts';
import { typedFields } from './typed-fields.ts';
import type { StepResult } from './verdict.ts';

/**
 * Computes what one change means on one device, from the records that it holds now. Pure: reads and
 * sends nothing.
 */
export function planDevice(
  device: DeviceRef,
  profile: Profile,
  change: Change,
  records: readonly DeviceRecord[],
  allow: Allowed = new Set(),
): DevicePlan {
  const { resource } = change;
  const keyField = keyFieldOf(profile, resource, records);
  const context = { device, profile, records, resource, keyField, allow };
  const plan = planChange(context, change);
  return { ...plan, total: { [resource]: records.length } };
}

function planChange(context: PlanContext, change: Change): DevicePlan {
  refuseKeyed(context, change);
  switch (change.action) {
    case 'add':
      return planAdd(context, change);
    case 'set':
      return planEach(context, 'set', change.target, (record) => {
        const planned = planSet(context, record, change);
        if ('verdict' in planned) return planned;
        return driftFrom(context, 'set', change.expected, record) ?? planned;
      });
    case 'delete':
      return planEach(
        context,
        'delete',
        change.target,
        (record) =>
          driftFrom(context, 'delete', change.expected, record) ??
          planDelete(context, record, change),
        change.isUndo,
      );
  }
}

/** A single object has no key and stays; where there are several records one must be named. */
function refuseKeyed({ profile, resource }: PlanContext, change: Change): void {
  if (change.action !== 'set') {
    refuseSingle(profile, resource);
  } else if (change.target.kind === 'key') {
    const isNamed = change.target.key !== '';
    if (!isNamed && !isSingle(profile, resource)) {
      throw new RefusedError(`there are many ${resource}s here: say which one is meant`);
    }
    if (isNamed && isSingle(profile, resource)) {
      throw new RefusedError(
        `${resource} is one object and has no key: say "${resource} set field=value"`,
      );
    }
  }
}

type Planned = Step | StepResult;

/** A record that somebody has changed since it was last seen is not to be changed unseen. */
function driftFrom(
  { device, profile, resource, keyField }: PlanContext,
  action: 'set' | 'delete',
  expected: DeviceRecord | undefined,
  record: DeviceRecord,
): StepResult | undefined {
  if (expected === undefined) return undefined;
  const ignored = uncomparedFields(profile, resource);
  const differences = differencesOf(expected, record).filter(
    ({ field, held }) =>
      !isMasked(expected, field) && !isTimeStamp(held) && !ignored.includes(field),
  );
  if (differences.length === 0) return undefined;
  const key = valueText(record[keyField] ?? idOf(profile, record));
  const fields = differences.map(({ field }) => field).join(', ');
  const error = new DriftError(
    `${device.name}: ${recordName({ resource, key })} was changed by somebody else since (${fields}); ${allowHint('drift')}`,
  );
  return {
    device,
    resource,
    key,
    action,
    verdict: 'drift',
    record,
    differences: differences.map(({ sent, ...one }) => ({ ...one, was: sent })),
    error,
  };
}

function planSet(
  context: PlanContext,
  before: DeviceRecord,
  change: Change & { readonly action: 'set' },
): Planned {
  const { device, profile, records, resource, keyField } = context;
  const back = change.lost && restorable(profile, resource, { ...change.fields, ...change.lost });
  const { fields, untyped } = change.isExact
    ? { fields: back?.fields ?? change.fields, untyped: [] }
    : typedFields(context, change.fields, {
        before,
        ...(change.asJson && { asJson: change.asJson }),
        isJson: updateFacts(profile, resource).encoding === 'json',
      });
  const key = valueText(before[keyField] ?? idOf(profile, before));
  const result = { device, resource, key, action: 'set' as const };
  const differences = differencesOf(fields, before);
  if (differences.length === 0) {
    const unchanged: StepResult = { ...result, verdict: 'unchanged', record: before };
    const lost = back === undefined ? [] : lossesIn(back.lost, before);
    if (lost.length === 0) return unchanged;
    const note = `cannot be set back: ${lost.map(({ field }) => field).join(', ')}`;
    return { ...unchanged, verdict: 'differs', differences: lost, note };
  }
  const objection = objectionTo(context, change, fields);
  if (objection !== undefined) {
    return { ...result, verdict: 'failed', record: before, error: objection };
  }
  const renamed = fields[keyField];
  if (
    renamed !== undefined &&
    RecordIndex.of(records)
      .holding(keyField, renamed)
      .some((other) => other !== before)
  ) {
    const error = new NotPossibleError(
      device,
      'taken',
      `${keyField} ${valueText(renamed)} is taken by another ${resource}`,
      { [keyField]: [`taken by another ${resource}`] },
    );
    return { ...result, verdict: 'failed', record: before, error };
  }
  const request = updateRequest(profile, resource, before, fields);
  return {
    action: 'set',
    resource,
    key,
    keyField,
    request,
    before,
    after: { ...before, ...fields },
    asked: fields,
    filled: {},
    ...(untyped.length > 0 && { untyped }),
    ...(back && { lost: back.lost }),
    ...erasedBy(context, before, fields),
  };
}

function planDelete(
  context: PlanContext,
  before: DeviceRecord,
  { isUndo }: Change & { readonly action: 'delete' },
): Planned {
  const { profile, resource, keyField } = context;
  return {
    action: 'delete',
    resource,
    key: valueText(before[keyField] ?? idOf(profile, before)),
    keyField,
    request: deleteRequest(profile, resource, before),
    before,
    asked: {},
    filled: {},
    ...(isUndo !== true && { lost: lostWith(context, before) }),
  };
}

/** Plans every record that the target picks; a device that has none is settled at once. */
function planEach(
  context: PlanContext,
  action: 'set' | 'delete',
  target: Target,
  planOne: (record: DeviceRecord) => Planned,
  isUndo = false,
): DevicePlan {
  const { device, profile, resource, keyField } = context;
  const picked = pick(context, target);
  const key = target.kind === 'key' ? target.key : target.filter;
  const result = { device, resource, key, action };
  if (picked.length === 0) {
    if (target.kind === 'key' && areNameless(context)) {
      const what = `the ${resource}s here show no name: whether "${key}" is one of them cannot be told`;
      const error = new NotPossibleError(device, 'not-found', what);
      return { device, steps: [], settled: [{ ...result, verdict: 'failed', error }] };
    }
    if (action === 'delete' || target.kind === 'where') {
      const none = isUndo ? `its list shows no such ${resource}` : `no such ${resource} here`;
      const note = target.kind === 'key' ? none : `no ${resource} matches`;
      return { device, steps: [], settled: [{ ...result, verdict: 'unchanged', note }] };
    }
    const [meant] = suggest(
      key,
      context.records.map((record) => valueText(record[keyField])),
    );
    const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
    const error = new NotPossibleError(device, 'not-found', `no ${resource} "${key}"${hint}`);
    return { device, steps: [], settled: [{ ...result, verdict: 'failed', error }] };
  }
  if (target.kind === 'key' && picked.length > 1) {
    const isByKey = picked.some((record) => isSameValue(key, record[keyField]));
    const what = isByKey
      ? `${picked.length} ${resource}s have the ${keyField} "${key}": name one by its id`
      : sharedIdText(resource, key, picked.length);
    const error = new NotPossibleError(device, 'ambiguous', what);
    return { device, steps: [], settled: [{ ...result, verdict: 'failed', error }] };
  }
  const steps: Step[] = [];
  const settled: StepResult[] = [];
  const index = RecordIndex.of(context.records);
  for (const record of picked) {
    try {
      const planned = planOne(record);
      const id = idOf(profile, record) ?? '';
      const count = index.withId(profile, id).length;
      if ('verdict' in planned) {
        settled.push(planned);
      } else if (count > 1) {
        const error = new NotPossibleError(device, 'ambiguous', sharedIdText(resource, id, count));
        settled.push({ ...result, key: planned.key, verdict: 'failed', record, error });
      } else steps.push(planned);
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      settled.push({ ...result, verdict: 'failed', record, error });
    }
  }
  return { device, steps, settled };
}

/** Whether the natural key, which the profile knows, is missing in all records or no text. */
function areNameless({ profile, records, resource }: PlanContext): boolean {
  const known = profile.resources[resource]?.keyField;
  if (known === undefined || records.length === 0) return false;
  return records.every((record) => {
    const value = Object.hasOwn(record, known) ? record[known] : undefined;
    return value === undefined || (typeof value === 'object' && value !== null);
  });
}

function sharedIdText(resource: string, id: string, count: number): string {
  return `${count} ${resource}s have the id "${id}": a request might hit another one, so nothing is sent`;
}

/** By natural key first; an id picks only when no key does. */
function pick(
  { device, profile, records, keyField }: PlanContext,
  target: Target,
): readonly DeviceRecord[] {
  if (target.kind === 'where') return pickWhere(target.filter, records, device.name);
  const index = RecordIndex.of(records);
  const byKey = index.holding(keyField, target.key);
  return byKey.length > 0 ? byKey : index.withId(profile, target.key);
}
