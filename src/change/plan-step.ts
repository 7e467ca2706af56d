import { damagedFields } from '../device/encode.ts';
import type { Profile } from '../device/profile.ts';
import { fieldFacts, placeField, resourceOf, updateFacts } from '../device/profile.ts';
import { type DeviceRecord, type DeviceRef, valueText, withoutFields } from '../device/record.ts';
import { isSecretField, shownKey } from '../device/sensitive-fields.ts';
import { CancelledError, RefusedError, UsageError } from '../errors.ts';
import { type Note, textOf } from '../output/sentences.ts';
import { someOf } from '../text/one-line.ts';
import { suggest } from '../text/suggest.ts';
import type { Allowed } from './allow.ts';
import type { Add, Change } from './change.ts';
import { checkFields, type Known, typedFields } from './typed-fields.ts';
import { unsayable } from '../device/form-values.ts';
import { comparisonFor, differencesOf, differencesOfNew } from './compare.ts';
import { fillMissing } from './fill-missing.ts';
import { keyOf } from './identity.ts';
import { consentTo, DoubtError, driftError, mayAct, unsentFor } from './gate.ts';
import { whose } from './pairing.ts';
import { erasedFields, lostByDelete, notRestored, restorable } from './data-loss.ts';
import { NotPossibleError } from './plan.ts';
import { evidenceOf, isAllAsBefore, judge } from './judge.ts';
import type { RequestOutcome } from './send.ts';
import { unreadFields, unreadNotes } from './unread-fields.ts';
import { isStored } from '../device/equality.ts';
import { passwordRequest, tokenRequest } from '../device/rotation-request.ts';
import { resultFor, type StepEnd, type StepResult, withNotes } from './verdict.ts';
import {
  endsAccess,
  isErasedByOmission,
  type Purpose,
  type Rotation,
  type Step,
  withRequest,
} from './step.ts';

export interface PlanContext extends Known {
  readonly device: DeviceRef;
  readonly keyField: string;
  readonly allow?: Allowed | undefined;
  /** Why the record that the list does not show is not known to be absent. */
  readonly doubt?: Note | undefined;
  /** The device has shown effects late. */
  readonly isLate?: boolean | undefined;
}

function unlessEmpty<Item>(items: readonly Item[]): readonly Item[] | undefined {
  return items.length === 0 ? undefined : items;
}

export type Planned = Step | StepResult;
export type SetChange = Change & { readonly action: 'set' };
export type Delete = Change & { readonly action: 'delete' };

/** The fields in the types of the device, and those of a restored record that do not come back. */
function fieldsOf(context: PlanContext, change: Add | SetChange, before?: DeviceRecord) {
  const { profile, resource } = context;
  // The user gives the secrets of a restored record: no journal and no history has them.
  const isGiven = (field: string): boolean =>
    change.lost !== undefined &&
    (isSecretField(field) || fieldFacts(profile, resource, field).writeOnly === true);
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
export function planAdd(context: PlanContext, change: Add, found?: Records): Planned {
  const { device, profile, resource, keyField } = context;
  const { back, fields, untyped } = fieldsOf(context, change);
  const keyValue = fields[keyField];
  if (keyValue === undefined || keyValue === '') {
    const unknown = Object.keys(change.fields).filter(
      (name) => name !== keyField && !context.records.some((record) => Object.hasOwn(record, name)),
    );
    const [field] = suggest(keyField, unknown);
    const hint =
      field === undefined ? '' : textOf({ code: 'not-planned', is: 'mistyped-key', field });
    throw keyless(resource, `${keyField}=…`, keyField, hint);
  }
  const key = shownKey(keyField, keyValue);
  const result = { device, resource, key, action: 'add' as const };
  const [existing] = found ?? whose(context, { keys: [keyValue] }).byKey;
  if (existing !== undefined) {
    const isSame = comparisonFor(profile, resource, profile.create, back !== undefined);
    const differences =
      back === undefined
        ? differencesOfNew(fields, existing, isSame)
        : differencesOf(fields, existing, isSame);
    if (differences.length === 0) {
      const note = { code: 'not-planned', is: 'exists' } as const;
      return { ...result, verdict: 'unchanged', record: existing, notes: [note] };
    }
    return {
      ...result,
      verdict: 'differs',
      record: existing,
      differences: differences.map(({ sent, ...one }) => ({ ...one, wanted: sent })),
      notes: [{ code: 'not-planned', is: 'exists-otherwise', resource }],
    };
  }
  const { values, filled, needed, leftOut } = change.typed
    ? { values: {}, filled: {}, needed: [], leftOut: [] }
    : fillMissing(context, fields);
  const after = { ...values, ...fields };
  if (needed.length > 0) {
    const given = needed.map((field) => `${field}=…`).join(' ');
    const error = new RefusedError({ code: 'not-planned', is: 'needs', resource, given });
    return { ...result, verdict: 'failed', error };
  }
  refuseInvalid(context, change, after);
  const lost =
    back &&
    withoutFields(lostByDelete(context, { ...back.fields, ...back.lost }), Object.keys(fields));
  const step = {
    ...{ action: 'add' as const, resource, key, keyField, purpose: purposeOf(change) },
    ...{ after, asked: fields },
    effects: { filled, leftOut: unlessEmpty(leftOut), untyped, takes: change.takes, lost },
  };
  return withUnsayable(
    withRequest(profile, step, change.typed),
    change.typed ? [] : unsayable(profile, resource, profile.create, { fields: after }),
  );
}

export function purposeOf(change: Change): Purpose | undefined {
  if (change.typed) return { kind: 'typed' };
  if (change.action === 'delete' || change.purpose) return change.purpose;
  return change.lost && { kind: 'restore' };
}

/** Adds what the encoding cannot say to the effects of a step, also bytes that are not UTF-8. */
function withUnsayable(step: Step, texts: readonly string[]): Step {
  const damaged = damagedFields(step.request).map((field) =>
    textOf({ code: 'cannot-say', is: 'bytes', field }),
  );
  const all = unlessEmpty([...texts, ...damaged]);
  return { ...step, effects: { ...step.effects, unsayable: all } };
}

function keyless(resource: string, fields: string, field: string, hint = ''): UsageError {
  return new UsageError({ code: 'not-planned', is: 'no-key', resource, fields, hint }, { field });
}

/** The record `example.org/www` of a sub-resource is given as `domain=example.org name=www`. */
export function withPlace({ profile, resource }: PlanContext, fields: DeviceRecord): DeviceRecord {
  const { parent, keyField } = resourceOf(profile, resource);
  const place = placeField(profile, resource);
  if (parent === undefined || place === undefined || Object.hasOwn(fields, place)) return fields;
  const [above, key] = [valueText(fields[parent]), valueText(fields[keyField])];
  if (above === '' || key === '') {
    const field = above === '' ? parent : keyField;
    throw keyless(resource, `${parent}=… and ${keyField}=…`, field);
  }
  return { [place]: `${above}/${key}`, ...withoutFields(fields, [parent]) };
}

export function planSet(context: PlanContext, before: DeviceRecord, change: SetChange): Planned {
  const { device, profile, resource, keyField } = context;
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
    const names = lost.map(({ field }) => field).join(', ');
    const note = { code: 'loss', is: 'unrestorable', fields: names } as const;
    return { ...unchanged, verdict: 'differs', differences: lost, notes: [note] };
  }
  refuseInvalid(context, change, fields);
  const rest = withoutFields(before, removes);
  const renamed = fields[keyField];
  if (
    renamed !== undefined &&
    whose(context, { keys: [renamed] }).byKey.some((other) => other !== before)
  ) {
    const name = `${keyField} ${shownKey(keyField, renamed)}`;
    const doubt = textOf({ code: 'not-planned', is: 'taken', resource });
    const what = { code: 'not-planned', is: 'doubtful', name, doubt } as const;
    throw new NotPossibleError(device, 'taken', what, { [keyField]: [doubt] });
  }
  const isTyped = change.typed !== undefined;
  const erased = erasedFields(context, isRemoving ? rest : before, fields, isTyped);
  const step = {
    ...{ action: 'set' as const, resource, key, keyField, purpose: purposeOf(change) },
    ...{ before, after: { ...rest, ...fields }, asked: fields, removes: unlessEmpty(removes) },
    effects: { untyped, lost: back?.lost, ...erased },
  };
  return withUnsayable(withRequest(profile, step, change.typed), [
    ...(isTyped ? [] : unsayable(profile, resource, facts, { before, fields })),
    ...(isRemoving
      ? []
      : removes.map((field) => textOf({ code: 'cannot-say', is: 'absence', field }))),
  ]);
}

/** The request is masked: its secret is chosen later and read from where it is kept. */
export function planRotation(
  context: PlanContext,
  before: DeviceRecord,
  { kind, isSent }: Rotation,
): Step {
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
    purpose: { kind: 'rotate', rotation: { kind, old, answer, isSent } },
    before,
    after: { ...before, ...fields },
    asked: fields,
    effects: isAction ? {} : erasedFields(context, before, fields),
  };
}

export function planDelete(context: PlanContext, before: DeviceRecord, change: Delete): Planned {
  const { profile, resource, keyField } = context;
  const purpose = purposeOf(change);
  const isBack = purpose?.kind === 'undo' || endsAccess(purpose);
  const same = whose(context, { keys: [before[keyField] ?? null] }).byKey;
  const step = {
    ...{ action: 'delete' as const, resource, key: keyOf(profile, keyField, before), keyField },
    ...{ purpose, before, asked: {} },
    effects: { lost: isBack ? undefined : lostByDelete(context, before) },
    meant: same.length > 1 ? { isKeyShared: true as const } : undefined,
  };
  return withRequest(profile, step, change.typed);
}

type Records = readonly DeviceRecord[];

/**
 * The record that the change means, or none, or the result of a change that the gate stops; undefined if the line
 * itself names the record.
 */
export function foundFor(context: PlanContext, change: Change): Records | StepResult | undefined {
  const { device, profile, resource, keyField } = context;
  const { action, meant } = change;
  if (meant === undefined) return undefined;
  const writes = action === 'set' ? change.fields : {};
  const answer = mayAct({ action, resource, meant, writes }, { ...context, device: device.name });
  if (!('reason' in answer)) return 'record' in answer ? [answer.record] : [];
  const { kind, reason, record } = answer;
  const result = { device, resource, key: meant.key, action, record };
  if (kind === 'ask') {
    const error = new DoubtError(device, reason, consentTo({ profile, keyField }, meant, record));
    return { ...result, verdict: 'skipped', error };
  }
  if (action !== 'add') return { ...result, verdict: 'drift', error: driftError(device, reason) };
  const error = new NotPossibleError(device, 'taken', unsentFor(reason));
  return { ...result, verdict: 'failed', error };
}

const MOST_PROBLEMS = 10;

/** Throws an error for values that the device describes as invalid: a `UsageError` for a typed value. */
function refuseInvalid(
  { device, profile, resource, allow }: PlanContext,
  change: Add | SetChange,
  fields: DeviceRecord,
): void {
  if (change.typed || allow?.has('invalid')) return;
  const known = resourceOf(profile, resource).fields;
  const problems = [...checkFields(known, fields, change.action === 'add')];
  if (problems.length === 0) return;
  const code = { code: 'bad-value', device: device.name } as const;
  const wrong = problems.find(([, problem]) => problem.code === 'bad-value');
  if (!change.isExact && wrong !== undefined) {
    const [field, problem] = wrong;
    throw new UsageError({ ...code, is: 'typed', field, problem: textOf(problem) }, { field });
  }
  const texts = problems.map(([name, problem]) => [name, textOf(problem)] as const);
  const lines = texts.map((one) => one.join(': '));
  const named = someOf(lines, MOST_PROBLEMS);
  const issues = Object.fromEntries(texts.map(([name, text]) => [name, [text]]));
  throw new NotPossibleError(
    device,
    'invalid',
    { ...code, is: 'several', problems: named },
    issues,
  );
}

/**
 * Says what became of a change whose request may have arrived; undefined if it did not arrive.
 * Where the reading does not prove that, it is not sent again.
 */
export function arrivedStep(
  { device, profile, resource, records, doubt, isLate }: PlanContext,
  { action, sent }: Change,
): StepResult | undefined {
  if (sent === undefined) return undefined;
  const end = resolveSent(profile, sent, records);
  const late = isLate ? ({ code: 'seen', is: 'late' } as const) : undefined;
  // What a list does not show is no proof of a delete.
  const open = (action === 'delete' ? doubt : undefined) ?? (end ? undefined : (doubt ?? late));
  const about = { resource, key: sent.key, action };
  if (open === undefined) return end && resultFor(device, about, end);
  const notes = [{ code: 'seen', is: 'sent-before', reason: textOf(open) } as const];
  return resultFor(device, about, { verdict: 'unknown', notes });
}

/** Resolves a request that was sent before a crash; undefined if it had no effect at all. */
export function resolveSent(
  profile: Profile,
  step: Step,
  records: readonly DeviceRecord[],
): StepEnd | undefined {
  const lost: RequestOutcome = { kind: 'lost', error: new CancelledError('interrupted') };
  // The state before is unknown. A new record cannot have existed, or it would not have been sent.
  const before = step.action === 'add' ? [] : records;
  const seen = evidenceOf(profile, step, { before, after: records });
  const end = judge(seen, lost);
  if (isAllAsBefore(seen) || end.verdict === 'failed') return undefined;
  if (end.verdict === 'unknown') return end;
  const key = step.after?.[step.keyField] ?? null;
  if (step.action === 'add' && !isStored(key, end.record?.[step.keyField])) {
    const key = valueText(end.record?.[step.keyField]);
    return { ...end, verdict: 'unknown', notes: [{ code: 'seen', is: 'perhaps-sent', key }] };
  }
  const unread = end.record && unreadFields(profile, step, records, end.record);
  const notes = unread ? unreadNotes(unread) : [];
  return withNotes({ ...end, notes: undefined }, { code: 'seen', is: 'settled' }, ...notes);
}
