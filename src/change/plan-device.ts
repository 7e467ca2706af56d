import { pluralOf } from '../text/one-line.ts';
import {
  createRequest,
  damagedFields,
  deleteRequest,
  refuseSingle,
  updateRequest,
  type WriteRequest,
} from '../device/encode.ts';
import {
  type FieldDetails,
  idFieldOf,
  idOf,
  isSingle,
  keyFieldOf,
  type Profile,
  ignoredFields,
  placeField,
  resourceOf,
  updateFacts,
} from '../device/profile.ts';
import {
  type DeviceRecord,
  type DeviceRef,
  isNested,
  isTimeStamp,
  valueAt,
  valueText,
} from '../device/record.ts';
import {
  isPrivilegeField,
  isSecretField,
  shownKey,
  isComparable,
  isMask,
} from '../device/sensitive-fields.ts';
import { DriftError, RefusedError, UsageError } from '../errors.ts';
import { nearHint, suggest } from '../text/suggest.ts';
import { allowHint, type Allowed } from './allow.ts';
import { FilterCheck } from '../fleet/filter-check.ts';
import { parseChoice } from '../fleet/filter.ts';
import { recordsWhere, type Change } from './change.ts';
import { checkFields, checkValue, type Known, typedFields } from './typed-fields.ts';
import { isStored } from '../device/equality.ts';
import { unsayable } from '../device/form-values.ts';
import { comparisonFor, differencesOf, differencesOfNew, isUnknown } from './compare.ts';
import { fillMissing } from './fill-missing.ts';
import { keyOf } from './identity.ts';
import { type Answer, DoubtError, mayAct } from './gate.ts';
import { RecordIndex } from './pairing.ts';
import {
  erasedFields,
  isErasedByOmission,
  lostByDelete,
  notRestored,
  restorable,
} from './data-loss.ts';
import { type DevicePlan, type KeyReading, NotPossibleError, recordName } from './plan.ts';
import { resolveSent } from './run-step.ts';
import { passwordRequest, tokenRequest } from '../device/rotation-request.ts';
import { withoutFields } from './unread-fields.ts';
import type { StepResult } from './verdict.ts';
import type { Purpose, Rotation, Step } from './step.ts';

interface PlanContext extends Known {
  readonly device: DeviceRef;
  readonly keyField: string;
  readonly allow: Allowed;
}

/** Most steps lack most lists. */
function unlessEmpty<Item>(items: readonly Item[]): readonly Item[] | undefined {
  return items.length === 0 ? undefined : items;
}

type Planned = Step | StepResult;
type Add = Change & { readonly action: 'add' };
type SetChange = Change & { readonly action: 'set' };
type Delete = Change & { readonly action: 'delete' };

/** A device with what is known of it, and what may be done there. */
interface PlannedDevice {
  readonly device: DeviceRef;
  readonly profile: Profile;
  readonly allow?: Allowed | undefined;
}

/** Plans one change on one device from its current records. Pure: reads and sends nothing. */
export function planDevice(
  { device, profile, allow = new Set() }: PlannedDevice,
  change: Change,
  records: readonly DeviceRecord[],
): DevicePlan {
  const { resource } = change;
  const keyField = keyFieldOf(profile, resource, records);
  const context = { device, profile, records, resource, keyField, allow };
  checkKey(context, change);
  const all = change.action === 'add' ? [planAdd(context, change)] : planEach(context, change);
  const index = change.continues?.index;
  const planned = index === undefined ? all : all.map((one) => ({ ...one, index }));
  return {
    device,
    steps: planned.filter((one): one is Step => !('verdict' in one)),
    settled: planned.filter((one) => 'verdict' in one),
    keyReadings: keyReadingOf(context, change),
    total: { [resource]: records.length },
  };
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

/** In the types of the device; and of a restored record the fields that do not come back. */
function fieldsOf(context: PlanContext, change: Add | SetChange, before?: DeviceRecord) {
  const { profile, resource } = context;
  // A secret in a restored record is given by the user: no journal and no history has one.
  const isGiven = (field: string): boolean => change.lost !== undefined && isSecretField(field);
  const entries = Object.entries(change.fields);
  const given = Object.fromEntries(entries.filter(([field]) => isGiven(field)));
  const others = Object.fromEntries(entries.filter(([field]) => !isGiven(field)));
  const back = change.lost && restorable(profile, resource, { ...others, ...change.lost });
  if (change.isExact) return { back, fields: { ...(back?.fields ?? others), ...given } };
  const { encoding } = before === undefined ? profile.create : updateFacts(profile, resource);
  const { fields, untyped } = typedFields(context, change.fields, {
    before,
    asJson: change.asJson,
    isJson: encoding === 'json',
  });
  return { back, fields, untyped: untyped.length > 0 ? untyped : undefined };
}

/** Sends nothing if the record exists already, whether or not its fields are the same. */
function planAdd(context: PlanContext, given: Add): Planned {
  const change = { ...given, fields: withPlace(context, given.fields) };
  const { device, profile, records, resource, keyField } = context;
  const { back, fields, untyped } = fieldsOf(context, change);
  const keyValue = fields[keyField];
  if (keyValue === undefined || keyValue === '') {
    throw new UsageError(
      `${resource} add needs ${keyField}=…${keyHint(keyField, context, change.fields)}`,
      { field: keyField },
    );
  }
  const key = shownKey(keyField, keyValue);
  const result = { device, resource, key, action: 'add' as const };
  const meant = answerFor(context, change);
  const arrived = meant?.kind === 'go' ? arrivedStep(context, change) : undefined;
  if (arrived !== undefined) return arrived;
  if (meant?.kind === 'ask') return unsent(context, change, meant);
  if (meant?.kind === 'drift') {
    const error = new NotPossibleError(device, 'taken', `${meant.reason}; nothing was sent`);
    return { ...result, verdict: 'failed', record: meant.record, error };
  }
  const [existing] =
    meant === undefined
      ? RecordIndex.of(records).withValue(keyField, keyValue)
      : 'record' in meant
        ? [meant.record]
        : [];
  if (existing !== undefined) {
    const isSame = comparisonFor(profile, resource, profile.create, back !== undefined);
    const differences =
      back === undefined
        ? differencesOfNew(fields, existing, isSame)
        : differencesOf(fields, existing, isSame);
    if (differences.length === 0) {
      return { ...result, verdict: 'unchanged', record: existing, note: 'exists already' };
    }
    return {
      ...result,
      verdict: 'differs',
      record: existing,
      differences: differences.map(({ sent, ...one }) => ({ ...one, wanted: sent })),
      note: `exists already with other fields; "${resource} set" changes it`,
    };
  }
  const { values, filled, needed, leftOut } = change.typed
    ? { values: {}, filled: {}, needed: [], leftOut: [] }
    : fillMissing(context, fields);
  const after = { ...values, ...fields };
  if (needed.length > 0) {
    const missing = needed.map((field) => `${field}=…`).join(' ');
    const error = new RefusedError(
      `a new ${resource} needs ${needed.join(', ')}, which ${needed.every(isPrivilegeField) ? 'may grant rights and ' : ''}is never filled in: add ${missing}; nothing was sent`,
    );
    return { ...result, verdict: 'failed', error };
  }
  const objection = objectionTo(context, change, after);
  if (objection !== undefined) return { ...result, verdict: 'failed', error: objection };
  const request = change.typed ?? createRequest(profile, resource, after);
  return {
    action: 'add',
    resource,
    key,
    keyField,
    request,
    purpose: purposeOf(change),
    after,
    asked: fields,
    filled,
    leftOut: unlessEmpty(leftOut),
    untyped,
    unsayable: unlessEmpty([
      ...(change.typed ? [] : unsayable(profile, resource, profile.create, { fields: after })),
      ...damaged(request),
    ]),
    takes: change.takes,
    lost:
      back &&
      withoutFields(lostByDelete(context, { ...back.fields, ...back.lost }), Object.keys(fields)),
  };
}

function purposeOf(change: Change): Purpose | undefined {
  if (change.typed) return { kind: 'typed' };
  if (change.action === 'delete') return change.purpose;
  return change.lost && { kind: 'restore' };
}

function damaged(request: WriteRequest): string[] {
  return damagedFields(request).map((field) => `the bytes of ${field}, which are not UTF-8`);
}

/** The record `example.org/www` of a sub-resource is given as `domain=example.org name=www`. */
function withPlace({ profile, resource }: PlanContext, fields: DeviceRecord): DeviceRecord {
  const { parent, keyField } = resourceOf(profile, resource);
  const place = placeField(profile, resource);
  if (parent === undefined || place === undefined || Object.hasOwn(fields, place)) return fields;
  const [above, key] = [valueText(fields[parent]), valueText(fields[keyField])];
  if (above === '' || key === '') {
    throw new UsageError(`${resource} add needs ${parent}=… and ${keyField}=…`, {
      field: above === '' ? parent : keyField,
    });
  }
  return { [place]: `${above}/${key}`, ...withoutFields(fields, [parent]) };
}

/** `; did you mean that by "usrname"?`: a field name close to the key field that no record has. */
function keyHint(keyField: string, { records }: PlanContext, fields: DeviceRecord): string {
  const suggestion = Object.keys(fields).find(
    (name) =>
      name !== keyField &&
      suggest(name, [keyField]).length > 0 &&
      !records.some((record) => Object.hasOwn(record, name)),
  );
  return suggestion === undefined ? '' : `; did you mean it by "${suggestion}"?`;
}

function planSet(context: PlanContext, before: DeviceRecord, change: SetChange): Planned {
  const { device, profile, records, resource, keyField } = context;
  const { back, fields, untyped } = fieldsOf(context, change, before);
  const key = keyOf(profile, keyField, before);
  const result = { device, resource, key, action: 'set' as const };
  const facts = updateFacts(profile, resource);
  const isSame = comparisonFor(profile, resource, facts, back !== undefined);
  const differences = differencesOf(fields, before, isSame);
  const removes = (change.removes ?? []).filter((field) => Object.hasOwn(before, field));
  const isRemoving = removes.length > 0 && isErasedByOmission(profile, resource);
  if (differences.length === 0 && !isRemoving) {
    const unchanged: StepResult = {
      ...result,
      verdict: 'unchanged',
      record: before,
      asked: fields,
    };
    const kept = removes.map((field) => ({ field, held: before[field] }));
    const lost = [...(back === undefined ? [] : notRestored(back.lost, before)), ...kept];
    if (lost.length === 0) return unchanged;
    const note = `cannot be restored: ${lost.map(({ field }) => field).join(', ')}`;
    return { ...unchanged, verdict: 'differs', differences: lost, note };
  }
  const objection = objectionTo(context, change, fields);
  if (objection !== undefined) {
    return { ...result, verdict: 'failed', record: before, error: objection };
  }
  const rest = withoutFields(before, removes);
  const renamed = fields[keyField];
  if (
    renamed !== undefined &&
    RecordIndex.of(records)
      .withValue(keyField, renamed)
      .some((other) => other !== before)
  ) {
    const error = new NotPossibleError(
      device,
      'taken',
      `${keyField} ${shownKey(keyField, renamed)} is taken by another ${resource}`,
      { [keyField]: [`taken by another ${resource}`] },
    );
    return { ...result, verdict: 'failed', record: before, error };
  }
  const request =
    change.typed ?? updateRequest(profile, resource, isRemoving ? rest : before, fields);
  return {
    action: 'set',
    resource,
    key,
    keyField,
    request,
    purpose: purposeOf(change),
    before,
    after: { ...rest, ...fields },
    asked: fields,
    filled: {},
    untyped,
    removes: unlessEmpty(removes),
    unsayable: unlessEmpty([
      ...(change.typed ? [] : unsayable(profile, resource, facts, { before, fields })),
      ...damaged(request),
      ...(isRemoving ? [] : removes.map((field) => `the absence of ${field}`)),
    ]),
    lost: back?.lost,
    ...erasedFields(context, isRemoving ? rest : before, fields, change.typed !== undefined),
  };
}

/** The request is masked: its secret is chosen later and read from where it is kept. */
function planRotation(context: PlanContext, before: DeviceRecord, { kind }: Rotation): Step {
  const { profile, resource, keyField } = context;
  const requestFor = kind === 'basic' ? passwordRequest : tokenRequest;
  const isAction = kind === 'token' || profile.resources[resource]?.rotate?.path !== undefined;
  const { request, fields, old, answer } = requestFor(profile, resource, before);
  return {
    action: 'set',
    resource,
    key: keyOf(profile, keyField, before),
    keyField,
    request,
    purpose: { kind: 'rotate', rotation: { kind, old, answer } },
    before,
    after: { ...before, ...fields },
    asked: fields,
    filled: {},
    ...(isAction ? {} : erasedFields(context, before, fields)),
  };
}

function planDelete(context: PlanContext, before: DeviceRecord, change: Delete): Planned {
  const { profile, resource, keyField } = context;
  const purpose = purposeOf(change);
  return {
    action: 'delete',
    resource,
    key: keyOf(profile, keyField, before),
    keyField,
    request: change.typed ?? deleteRequest(profile, resource, before),
    purpose,
    before,
    asked: {},
    filled: {},
    lost: purpose?.kind === 'undo' ? undefined : lostByDelete(context, before),
    isKeyShared:
      RecordIndex.of(context.records).withValue(keyField, before[keyField] ?? null).length > 1
        ? true
        : undefined,
  };
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

/** What becomes of a change whose record the device does not have. */
function planMissing(context: PlanContext, change: SetChange | Delete): StepResult {
  const { device, records, resource, keyField } = context;
  const { action, target } = change;
  const key = target.kind === 'key' ? target.key : target.filter;
  const result = { device, resource, key, action };
  const unchanged = (note: string): StepResult => ({ ...result, verdict: 'unchanged', note });
  if (target.kind === 'where')
    return unchanged(`no ${resource} matches${doubtOf(target.filter, context)}`);
  const failed = (what: string): StepResult => ({
    ...result,
    verdict: 'failed',
    error: new NotPossibleError(device, 'not-found', what),
  });
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
  const { device, profile, records, resource, keyField } = context;
  const { action, target } = change;
  const key = target.kind === 'key' ? target.key : target.filter;
  const result = { device, resource, key, action };
  const failed = (code: 'not-found' | 'ambiguous', what: string): StepResult => ({
    ...result,
    verdict: 'failed',
    error: new NotPossibleError(device, code, what),
  });
  if (target.kind === 'key' && isMask(key) && !isComparable(key)) {
    return [
      failed(
        'not-found',
        `the key of this ${resource} is a secret, and no digest here shows which: nothing was sent`,
      ),
    ];
  }
  const index = RecordIndex.of(records);
  const meant = answerFor(context, change);
  if (meant?.kind === 'drift' || meant?.kind === 'ask') return [unsent(context, change, meant)];
  const arrived = arrivedStep(context, change);
  if (arrived !== undefined) return [arrived];
  const picked =
    meant === undefined ? pick(context, change) : 'record' in meant ? [meant.record] : [];
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
      : sharedIdText(resource, key, picked.length);
    return [failed('ambiguous', what)];
  }
  const filter = target.kind === 'where' ? target.filter : change.meant?.filter;
  return picked.map((record) => {
    try {
      const step = planRecord(context, record, change);
      const planned = filter === undefined || 'verdict' in step ? step : { ...step, filter };
      const id = idOf(profile, record) ?? '';
      const count = index.withId(profile, id).length;
      if ('verdict' in planned || count <= 1) return planned;
      return {
        ...failed('ambiguous', sharedIdText(resource, id, count)),
        key: planned.key,
        record,
      };
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      return { ...result, verdict: 'failed', record, error };
    }
  });
}

/** What the gate says about the record that the change means; undefined if the line itself names it. */
function answerFor(
  { device, profile, records, resource, keyField }: PlanContext,
  change: Change,
): Answer | undefined {
  const { action, meant } = change;
  if (meant === undefined) return undefined;
  const writes = action === 'set' ? change.fields : {};
  return mayAct(
    { action, resource, meant, writes },
    { profile, keyField, device: device.name, records },
  );
}

/** Of a change whose request may have arrived: what the reading shows of it; undefined if nothing. */
function arrivedStep(
  { device, profile, resource, records }: PlanContext,
  { action, continues }: Change,
): StepResult | undefined {
  const { sent } = continues ?? {};
  const end = sent && resolveSent(profile, sent, records);
  return end && { device, resource, key: sent.key, action, ...end };
}

/** The result of a change that the gate stops. */
function unsent(
  { device, resource }: PlanContext,
  { action, meant }: Change,
  answer: Extract<Answer, { kind: 'drift' | 'ask' }>,
): StepResult {
  const { reason, record } = answer;
  const result = { device, resource, key: meant?.key ?? '', action, record };
  return answer.kind === 'ask'
    ? { ...result, verdict: 'skipped', error: new DoubtError(device, reason, answer.consent) }
    : {
        ...result,
        verdict: 'drift',
        error: new DriftError(`${device.name}: ${reason}; nothing was sent`),
      };
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

/** `: no record has a field "lnag"; did you mean lang?`; empty for a filter that may be right. */
function doubtOf(filter: string, { records, profile, resource }: PlanContext): string {
  const check = new FilterCheck(parseChoice(filter));
  const described = Object.keys(profile.resources[resource]?.details ?? {});
  check.add(records, 0, described);
  return check.doubt === undefined ? '' : `: ${check.doubt}`;
}

function sharedIdText(resource: string, id: string, count: number): string {
  return `${count} ${pluralOf(resource)} have the id "${id}": a request might change the wrong one, so nothing is sent`;
}

/** By natural key; by id only if no key matches. */
function pick(
  { device, profile, records, keyField }: PlanContext,
  { target }: SetChange | Delete,
): readonly DeviceRecord[] {
  if (target.kind === 'where') return recordsWhere(target.filter, records, device.name);
  const index = RecordIndex.of(records);
  const { key, by } = target;
  const named = by === 'id' ? [] : index.withValue(keyField, key);
  if (named.length > 0 || by === 'name') return named;
  const [, field = '', value = ''] = /^([^=]+)=(.*)$/s.exec(key) ?? [];
  if (profile.idFields.includes(field)) return index.withId(profile, value);
  if (field === keyField) return index.withValue(keyField, value);
  return index.withId(profile, key);
}

/** Whether a key that may be both is a name here or an id; undefined if the line says it, or nothing has it. */
function keyReadingOf(context: PlanContext, change: Change): readonly KeyReading[] | undefined {
  if (change.action === 'add' || change.meant !== undefined) return undefined;
  const { target, action } = change;
  if (target.kind === 'where' || target.by !== undefined) return undefined;
  const { profile, records, resource, keyField } = context;
  const { key } = target;
  const index = RecordIndex.of(records);
  if (index.withValue(keyField, key).length > 0) {
    return [{ resource, action, key, by: 'name', field: keyField }];
  }
  const [record] = index.withId(profile, key);
  const field = record && (idFieldOf(profile, record) ?? 'id');
  return field === undefined ? undefined : [{ resource, action, key, by: 'id', field }];
}

const MOST_PROBLEMS = 10;

/** The error for values that the device describes as invalid. Throws a `UsageError` for a typed value. */
function objectionTo(
  { device, profile, resource, allow }: PlanContext,
  change: Add | SetChange,
  fields: DeviceRecord,
): NotPossibleError | undefined {
  const details = profile.resources[resource]?.details;
  if (details === undefined || change.typed || allow.has('invalid')) return undefined;
  const problems = Object.entries(checkFields(details, fields, change.action === 'add'));
  if (problems.length === 0) return undefined;
  const [field, problem] = change.isExact
    ? []
    : (problems.find(([name]) => isWrongValue(details, fields, name)) ?? []);
  if (field !== undefined) {
    throw new UsageError(
      `${field}: ${problem ?? ''}, according to ${device.name}; nothing was sent (${allowHint('invalid')})`,
      { field },
    );
  }
  const named = problems.slice(0, MOST_PROBLEMS).map(([name, text]) => `${name}: ${text}`);
  const more = problems.length - named.length;
  const text = named.join(', ') + (more > 0 ? ` and ${more} more` : '');
  return new NotPossibleError(
    device,
    'invalid',
    `${text}; nothing was sent. If the device has changed its fields, "learn ${device.name}" reads them again`,
    Object.fromEntries(problems.map(([name, reason]) => [name, [reason]])),
  );
}

/** Whether the value itself is wrong, not missing or read-only. */
function isWrongValue(
  details: Readonly<Record<string, FieldDetails>>,
  fields: DeviceRecord,
  name: string,
): boolean {
  const [facts, value] = [valueAt(details, name), valueAt(fields, name)];
  if (facts === undefined || value === undefined || facts.readOnly) return false;
  return checkValue(facts, value) !== undefined;
}
