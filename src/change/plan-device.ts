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
import { DriftError, RefusedError } from '../errors.ts';
import { nearHint } from '../text/suggest.ts';
import { allowHint, type Allowed } from './allow.ts';
import { FilterCheck } from '../fleet/filter-check.ts';
import { parseChoice } from '../fleet/filter.ts';
import { type Add, recordsWhere, type Change } from './change.ts';
import { isStored } from '../device/equality.ts';
import { differencesOf, isUnknown } from './compare.ts';
import { keyOf } from './identity.ts';
import { whose } from './pairing.ts';
import { type DevicePlan, type KeyReading, NotPossibleError, recordName } from './plan.ts';
import type { StepResult } from './verdict.ts';
import type { Step } from './step.ts';
import {
  answerFor,
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
  unsent,
} from './plan-step.ts';
import { textOf } from '../output/sentences.ts';

/** A device with what is known of it, and what may be done there. */
interface PlannedDevice extends Pick<PlanContext, 'device' | 'profile' | 'doubt' | 'isLate'> {
  readonly allow?: Allowed | undefined;
}

/** Plans one change on one device from its current records. Pure: reads and sends nothing. */
export function planDevice(
  { device, profile, allow = new Set(), doubt, isLate }: PlannedDevice,
  change: Change,
  records: readonly DeviceRecord[],
): DevicePlan {
  const { resource } = change;
  const keyField = keyFieldOf(profile, resource, records);
  const context = { device, profile, records, resource, keyField, allow, doubt, isLate };
  checkKey(context, change);
  const planned = change.action === 'add' ? [planNew(context, change)] : planEach(context, change);
  return {
    device,
    steps: planned.filter((one): one is Step => !('verdict' in one)),
    settled: planned.filter((one) => 'verdict' in one),
    keyReadings: keyReadingOf(context, change),
    total: { [resource]: records.length },
  };
}

/** A record that may be there is not made again. */
function planNew(context: PlanContext, change: Add): Planned {
  const { device, resource, keyField, doubt } = context;
  const planned = planAdd(context, change);
  if (doubt === undefined || 'verdict' in planned) return planned;
  const key = shownKey(keyField, change.fields[keyField]);
  const what = `${recordName({ resource, key })} is ${doubt}`;
  const error = new NotPossibleError(device, 'not-known', what);
  return { device, resource, key, action: 'add', verdict: 'failed', error };
}

/** A single object has no key and cannot be deleted; of several records one must be named. */
function checkKey({ profile, resource }: PlanContext, change: Change): void {
  if (change.action !== 'set') {
    refuseSingle(profile, resource);
  } else if (change.target.kind === 'key') {
    const isNamed = change.target.key !== '';
    if (!isNamed && !isSingle(profile, resource)) {
      throw new RefusedError(`there are many ${pluralOf(resource)} here: name one`);
    }
    if (isNamed && isSingle(profile, resource)) {
      throw new RefusedError(
        `${resource} is one object and has no key: use "${resource} set field=value"`,
      );
    }
  }
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
): string | undefined {
  if (key === device.name) return `; --on ${key} selects the device`;
  if (/^all$|\*/.test(key)) return '; --where FILTER selects several';
  const looks = (pattern: RegExp): boolean =>
    pattern.test(key) && !records.some((record) => pattern.test(valueText(record[keyField])));
  const isNamed = [keyField, ...profile.idFields].some((field) => key.startsWith(`${field}=`));
  if (!isNamed && looks(/^[\p{L}_][\p{L}\p{N}_.-]*!?[=~]./u))
    return `; --where "${key}" selects by fields`;
  return looks(/^[^\s,]+(?:,[^\s,]+)+$/)
    ? `; put blanks between keys: ${key.replaceAll(',', ' ')}`
    : undefined;
}

function keyOfTarget({ target }: SetChange | Delete): string {
  return target.kind === 'key' ? target.key : target.filter;
}

function notPossible(
  { device, resource }: PlanContext,
  change: SetChange | Delete,
  code: 'not-found' | 'not-known' | 'ambiguous',
  what: string,
): StepResult {
  const about = { device, resource, key: keyOfTarget(change), action: change.action };
  return { ...about, verdict: 'failed', error: new NotPossibleError(device, code, what) };
}

/** What becomes of a change whose record the device does not have. */
function planMissing(context: PlanContext, change: SetChange | Delete): StepResult {
  const { device, records, resource, keyField } = context;
  const { action, target } = change;
  const key = keyOfTarget(change);
  const result = { device, resource, key, action };
  const unchanged = (note: string): StepResult => ({
    ...result,
    verdict: 'unchanged',
    notes: [note],
  });
  if (target.kind === 'where') {
    const doubt = doubtOf(target.filter, context);
    const why = doubt === undefined ? '' : `: ${doubt}`;
    return { ...unchanged(`no ${resource} matches${why}`), doubt };
  }
  const failed = (what: string): StepResult => notPossible(context, change, 'not-found', what);
  if (lackNames(context))
    return failed(`the ${pluralOf(resource)} here show no name, so devsh cannot find "${key}"`);
  const purpose = purposeOf(change);
  if (purpose?.kind === 'undo') return unchanged(`the list shows no such ${resource}`);
  if (action === 'set' && change.isOptional === true) return unchanged(`no such ${resource} here`);
  const mistake = mistakenKey(context, key);
  const names = records.map((record) => shownKey(keyField, record[keyField]));
  const hint = nearHint(key, names) || (mistake ?? '');
  const isMistaken = mistake !== undefined && purpose === undefined && change.meant === undefined;
  return action === 'set' || isMistaken
    ? failed(`no ${resource} "${key}"${hint}`)
    : unchanged(`no such ${resource} here${hint}`);
}

/** Plans every selected record. If there is none, the result is known at once. */
function planEach(context: PlanContext, change: SetChange | Delete): readonly Planned[] {
  const { device, profile, resource, keyField } = context;
  const { action, target } = change;
  const key = keyOfTarget(change);
  if (target.kind === 'key' && isMask(key) && !isComparable(key)) {
    const what = `the key of this ${resource} is a secret, and no digest here shows which: nothing was sent`;
    return [notPossible(context, change, 'not-found', what)];
  }
  const meant = answerFor(context, change);
  if (meant?.kind === 'drift' || meant?.kind === 'ask') return [unsent(context, change, meant)];
  const arrived = arrivedStep(context, change);
  if (arrived !== undefined) return [arrived];
  const picked =
    meant === undefined ? pick(context, change) : 'record' in meant ? [meant.record] : [];
  if (picked.length === 0 && context.doubt !== undefined) {
    const what = `${recordName({ resource, key })} is ${context.doubt}`;
    return [notPossible(context, change, 'not-known', what)];
  }
  if (
    picked.length === 0 &&
    meant !== undefined &&
    action === 'set' &&
    change.isOptional !== true
  ) {
    const reason = `${recordName({ resource, key })} is gone`;
    return [unsent(context, change, { kind: 'drift', reason })];
  }
  if (picked.length === 0) {
    return [planMissing(context, change)];
  }
  if (target.kind === 'key' && picked.length > 1) {
    const isByKey = picked.some((record) => isStored(key, record[keyField]));
    const hasIds = picked.some((record) => idOf(profile, record) !== undefined);
    const way = hasIds ? ': name one by its id' : ', and no id tells them apart';
    const what = isByKey
      ? `${picked.length} ${pluralOf(resource)} have the ${keyField} "${key}"${way}`
      : sharedIdText(context, key, picked.length);
    return [notPossible(context, change, 'ambiguous', what)];
  }
  const filter = target.kind === 'where' ? target.filter : change.meant?.filter;
  return picked.map((record) => {
    try {
      const step = planRecord(context, record, change);
      const planned =
        filter === undefined || 'verdict' in step
          ? step
          : { ...step, meant: { ...step.meant, filter } };
      const id = idOf(profile, record) ?? '';
      const count = whose(context, { ids: [id] }).byId.length;
      if ('verdict' in planned || count <= 1) return planned;
      const shared = sharedIdText(context, id, count);
      return { ...notPossible(context, change, 'ambiguous', shared), key: planned.key, record };
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      return { device, resource, key, action, verdict: 'failed', record, error };
    }
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
  const fields = differences.map(({ field }) => field);
  const error = new DriftError(
    `${device.name}: ${recordName({ resource, key })} differs from what this change expects (${fields.join(', ')}); ${allowHint('drift')}`,
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

/** Whether the profile names a natural key that all records lack or that is no text. */
function lackNames({ profile, records, resource }: PlanContext): boolean {
  const known = profile.resources[resource]?.keyField;
  if (known === undefined || records.length === 0) return false;
  return records.every((record) => {
    const value = Object.hasOwn(record, known) ? record[known] : undefined;
    return value === undefined || isNested(value);
  });
}

/** `no record has a field "lnag"; did you mean lang?`; undefined for a filter that may be right. */
function doubtOf(filter: string, { records, profile, resource }: PlanContext): string | undefined {
  const check = new FilterCheck(parseChoice(filter));
  const described = describedFields(profile, resource);
  check.add(records, 0, described);
  const doubt = check.doubt();
  return doubt && textOf(doubt);
}

function sharedIdText({ device, resource }: PlanContext, id: string, count: number): string {
  return `${count} ${pluralOf(resource)} have the id "${id}": a request might change the wrong one, so nothing is sent; if it is no id, state that: "profile set ${device.name} id_fields=[]"`;
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
