import { pluralOf } from '../text/one-line.ts';
import { refuseSingle } from '../device/encode.ts';
import {
  idFieldOf,
  idOf,
  isSingle,
  keyFieldOf,
  ignoredFields,
  describedFields,
} from '../device/profile.ts';
import { type DeviceRecord, isNested, isTimeStamp, valueText } from '../device/record.ts';
import { shownKey, isComparable, isMask } from '../device/sensitive-fields.ts';
import { DevshError, DriftError, RefusedError } from '../errors.ts';
import { nearHint } from '../text/suggest.ts';
import { FilterCheck } from '../fleet/filter-check.ts';
import { parseChoice } from '../fleet/filter.ts';
import { recordsWhere, type Change } from './change.ts';
import { isStored } from '../device/equality.ts';
import { differencesOf, isUnknown } from './compare.ts';
import { driftError } from './gate.ts';
import { keyOf } from './identity.ts';
import { whose } from './pairing.ts';
import type { DevicePlan, KeyReading } from './plan.ts';
import { keyOfChange, NotPossibleError, recordName } from './plan.ts';
import type { StepResult } from './verdict.ts';
import type { Step } from './step.ts';
import {
  foundFor,
  arrivedStep,
  purposeOf,
  type Delete,
  planAdd,
  type PlanContext,
  planDelete,
  type Planned,
  planRotation,
  planSet,
  type SetChange,
  withPlace,
} from './plan-step.ts';
import { type Note, textOf } from '../output/sentences.ts';

/** Plans one change on one device from its current records. Pure: reads and sends nothing. */
export function planDevice(
  about: Pick<PlanContext, 'device' | 'profile'> & Partial<PlanContext>,
  wanted: Change,
  records: readonly DeviceRecord[],
): DevicePlan {
  const { device, profile } = about;
  const { resource } = wanted;
  const keyField = keyFieldOf(profile, resource, records);
  const context = { ...about, records, resource, keyField };
  checkKey(context, wanted);
  const change =
    wanted.action === 'add' ? { ...wanted, fields: withPlace(context, wanted.fields) } : wanted;
  const key =
    change.action === 'add' ? shownKey(keyField, change.fields[keyField]) : keyOfChange(change);
  const planned = possible(
    { device, resource, key, action: change.action },
    () => planOf(context, change),
    [NotPossibleError],
  );
  return {
    device,
    steps: planned.filter((one): one is Step => !('verdict' in one)),
    settled: planned.filter((one) => 'verdict' in one),
    keyReadings: keyReadingOf(context, change),
    total: { [resource]: records.length },
  };
}

/** What is planned, or a failed result for an error of these kinds. An add that devsh refuses stops its whole device. */
function possible(
  result: Omit<StepResult, 'verdict'>,
  plan: () => readonly Planned[],
  kinds: readonly (abstract new (...args: never[]) => DevshError)[],
): readonly Planned[] {
  try {
    return plan();
  } catch (error) {
    if (!(error instanceof DevshError) || !kinds.some((kind) => error instanceof kind)) throw error;
    return [{ ...result, verdict: 'failed', error }];
  }
}

function planOf(context: PlanContext, change: Change): readonly Planned[] {
  const { device, resource } = context;
  const key = change.action === 'add' ? '' : keyOfChange(change);
  if (isMask(key) && !isComparable(key)) {
    const secret = { code: 'not-planned', is: 'secret-key', resource } as const;
    throw new NotPossibleError(device, 'not-found', secret);
  }
  const found = foundFor(context, change);
  if (found !== undefined && 'verdict' in found) return [found];
  const arrived = arrivedStep(context, change);
  if (arrived !== undefined) return [arrived];
  if (change.action !== 'add') return planEach(context, change, found);
  const planned = planAdd(context, change, found);
  // A record that may be there is not made again.
  if (!('verdict' in planned)) refuseDoubtful(context, planned.key);
  return [planned];
}

function refuseDoubtful({ device, resource, doubt }: PlanContext, key: string): void {
  if (doubt === undefined) return;
  const name = recordName({ resource, key });
  const what = { code: 'not-planned', is: 'doubtful', name, doubt: textOf(doubt) } as const;
  throw new NotPossibleError(device, 'not-known', what);
}

/** A single object has no key and cannot be deleted; of several records one must be named. */
function checkKey({ profile, resource }: PlanContext, change: Change): void {
  const { action } = change;
  const key = action === 'set' && change.target.kind === 'key' ? change.target.key : '';
  if (action !== 'set' || key !== '') refuseSingle(profile, resource);
  const isOpen = action === 'set' && change.target.kind === 'key' && key === '';
  if (!isOpen || isSingle(profile, resource)) return;
  throw new RefusedError({ code: 'not-planned', is: 'many', many: pluralOf(resource) });
}

/** Plans one selected record. A record that needs no request has not drifted. */
function planRecord(
  context: PlanContext,
  record: DeviceRecord,
  change: SetChange | Delete,
): Planned {
  if (change.action === 'delete') {
    return driftFrom(context, change, record) ?? planDelete(context, record, change);
  }
  if (change.rotation !== undefined) return planRotation(context, record, change.rotation);
  const planned = planSet(context, record, change);
  return 'verdict' in planned ? planned : (driftFrom(context, change, record) ?? planned);
}

/** For `user delete lang=de` and `bob,carol`: what a word is that looks like no key here; undefined if it may be one. */
function mistakenKey(
  { device, profile, records, keyField }: PlanContext,
  key: string,
): Note | undefined {
  const mistake = { code: 'not-planned', key } as const;
  if (key === device.name) return { ...mistake, is: 'device-key' };
  if (/^all$|\*/.test(key)) return { ...mistake, is: 'key-of-all' };
  const looks = (pattern: RegExp): boolean =>
    pattern.test(key) && !records.some((record) => pattern.test(valueText(record[keyField])));
  const isNamed = [keyField, ...profile.idFields].some((field) => key.startsWith(`${field}=`));
  if (!isNamed && looks(/^[\p{L}_][\p{L}\p{N}_.-]*!?[=~]./u))
    return { ...mistake, is: 'filter-key' };
  if (!looks(/^[^\s,]+(?:,[^\s,]+)+$/)) return undefined;
  return { ...mistake, is: 'joined-keys', keys: key.replaceAll(',', ' ') };
}

/** What becomes of a change whose record the device does not have. */
function planMissing(context: PlanContext, change: SetChange | Delete): StepResult {
  const { device, profile, records, resource, keyField } = context;
  const { action, target } = change;
  const key = keyOfChange(change);
  const found = { code: 'not-planned', resource, key } as const;
  const unchanged = (note: Note): StepResult => ({
    ...{ device, resource, key, action },
    verdict: 'unchanged',
    notes: [note],
  });
  if (target.kind === 'where') {
    const check = new FilterCheck(parseChoice(target.filter));
    check.add(records, 0, describedFields(profile, resource));
    const doubt = check.doubt();
    const why = doubt === undefined ? '' : `: ${textOf(doubt)}`;
    return { ...unchanged({ ...found, is: 'unmatched', why }), doubt };
  }
  const failed = (what: Note): NotPossibleError => new NotPossibleError(device, 'not-found', what);
  if (lackNames(context)) throw failed({ ...found, is: 'nameless', many: pluralOf(resource) });
  const purpose = purposeOf(change);
  if (purpose?.kind === 'undo') return unchanged({ ...found, is: 'unlisted' });
  if (action === 'set' && change.isOptional === true)
    return unchanged({ ...found, is: 'absent', hint: '' });
  const mistake = mistakenKey(context, key);
  const names = records.map((record) => shownKey(keyField, record[keyField]));
  const hint = nearHint(key, names) || textOf(mistake ?? '');
  const isMistaken = mistake !== undefined && purpose === undefined && change.meant === undefined;
  if (action === 'set' || isMistaken) throw failed({ ...found, is: 'unknown', hint });
  return unchanged({ ...found, is: 'absent', hint });
}

/** Plans every selected record. If there is none, the result is known at once. */
function planEach(
  context: PlanContext,
  change: SetChange | Delete,
  found: readonly DeviceRecord[] | undefined,
): readonly Planned[] {
  const { device, profile, resource, keyField } = context;
  const { action, target } = change;
  const key = keyOfChange(change);
  const picked = found ?? pick(context, change);
  if (picked.length === 0) {
    refuseDoubtful(context, key);
    const isExpected = found !== undefined && action === 'set' && change.isOptional !== true;
    if (!isExpected) return [planMissing(context, change)];
    const gone = { code: 'not-as-meant', is: 'gone', name: recordName({ resource, key }) } as const;
    return [{ device, resource, key, action, verdict: 'drift', error: driftError(device, gone) }];
  }
  if (target.kind === 'key' && picked.length > 1) {
    if (!picked.some((record) => isStored(key, record[keyField])))
      throw sharedId(context, key, picked.length);
    const hasIds = picked.some((record) => idOf(profile, record) !== undefined);
    const is = hasIds ? 'same-key-by-id' : 'same-key';
    const same = { count: picked.length, many: pluralOf(resource), field: keyField, key };
    throw new NotPossibleError(device, 'ambiguous', { code: 'not-planned', is, ...same });
  }
  const filter = target.kind === 'where' ? target.filter : change.meant?.filter;
  return picked.flatMap((record) => {
    const about = { device, resource, key: keyOf(profile, keyField, record), action, record };
    const planned = (): readonly Planned[] => {
      const planned = planRecord(context, record, change);
      if ('verdict' in planned) return [planned];
      const id = idOf(profile, record) ?? '';
      const count = whose(context, { ids: [id] }).byId.length;
      if (count > 1) throw sharedId(context, id, count);
      return [filter === undefined ? planned : { ...planned, meant: { ...planned.meant, filter } }];
    };
    return possible(about, planned, [NotPossibleError, RefusedError]);
  });
}

/** A record whose values somebody has changed since it was last read must not be changed unseen. */
function driftFrom(
  { device, profile, resource, keyField }: PlanContext,
  change: SetChange | Delete,
  record: DeviceRecord,
): StepResult | undefined {
  const { action, expected } = change;
  if (expected === undefined) return undefined;
  const ignored = ignoredFields(profile, resource);
  const differences = differencesOf(expected, record).filter(
    ({ field, held }) =>
      !isUnknown(expected, field) && !isTimeStamp(held) && !ignored.includes(field),
  );
  if (differences.length === 0) return undefined;
  const key = keyOf(profile, keyField, record);
  const fields = differences.map(({ field }) => field).join(', ');
  const error = new DriftError(
    { code: 'not-planned', is: 'differs', name: recordName({ resource, key }), fields },
    { where: device.name },
  );
  return {
    ...{ device, resource, key, action, record, error },
    verdict: 'drift',
    differences: differences.map(({ sent, ...one }) => ({ ...one, was: sent })),
  };
}

/** Whether the profile names a natural key that all records lack or that is no text. */
function lackNames({ profile, records, resource }: PlanContext): boolean {
  const known = profile.resources[resource]?.keyField;
  if (known === undefined || records.length === 0) return false;
  return records.every((record) => {
    const value = Object.hasOwn(record, known) ? record[known] : undefined;
    return value === undefined || isNested(value);
  });
}

function sharedId({ device, resource }: PlanContext, id: string, count: number): NotPossibleError {
  const found = { many: pluralOf(resource), id, count, device: device.name };
  return new NotPossibleError(device, 'ambiguous', {
    code: 'not-planned',
    is: 'same-id',
    ...found,
  });
}

/** Finds records by natural key, and by id only if no key matches. */
function pick(context: PlanContext, { target }: SetChange | Delete): readonly DeviceRecord[] {
  const { device, profile, records, keyField } = context;
  if (target.kind === 'where') return recordsWhere(target.filter, records, device.name);
  const { key, by } = target;
  const { byKey, byId } = whose(context, { keys: [key], ids: [key] });
  if (by !== 'id' && (byKey.length > 0 || by === 'name')) return byKey;
  const [, field = '', value = ''] = /^([^=]+)=(.*)$/s.exec(key) ?? [];
  if (profile.idFields.includes(field)) return whose(context, { ids: [value] }).byId;
  return field === keyField ? whose(context, { keys: [value] }).byKey : byId;
}

/** Whether a key that may be both is a name here or an id, or nothing has it; undefined if the line says it. */
function keyReadingOf(context: PlanContext, change: Change): readonly KeyReading[] | undefined {
  if (change.action === 'add' || change.meant !== undefined) return undefined;
  const { target, action } = change;
  if (target.kind === 'where' || target.by !== undefined) return undefined;
  const { profile, resource, keyField } = context;
  const { key } = target;
  if (whose(context, { keys: [key] }).byKey.length > 0) {
    return [{ resource, action, key, by: 'name', field: keyField }];
  }
  const [record] = pick(context, change);
  if (record === undefined) return [{ resource, action, key }];
  const field = idFieldOf(profile, record) ?? 'id';
  const name = keyOf(profile, keyField, record);
  // `username=bob` is a name, too.
  return key === `${keyField}=${name}` ? [] : [{ resource, action, key, by: 'id', field, name }];
}
