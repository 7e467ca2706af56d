import { omittedFields } from '../device/encode.ts';
import { omission } from '../device/form-values.ts';
import {
  fieldFacts,
  fieldsWith,
  hasPositionalIds,
  hiddenFields,
  ownAddress,
  managedFields,
  placeField,
  type Profile,
  takesId,
  updateFacts,
  withResource,
} from '../device/profile.ts';
import {
  type DeviceRecord,
  grouped,
  isNested,
  isTimeStamp,
  isValueList,
  type Value,
  valueAt,
  valueText,
} from '../device/record.ts';
import { isMask, isSecretField, maskedValue } from '../device/sensitive-fields.ts';
import { type Note, textOf } from '../output/sentences.ts';
import { MASK, someOf } from '../text/one-line.ts';
import { isEqual } from '../device/equality.ts';
import { type DevicePlan, recordName } from './plan.ts';
import { lacksPassword } from './account-harm.ts';
import { type StepEnd, withNotes } from './verdict.ts';
import type { Known } from './typed-fields.ts';
import { type Dependents, type Effects, isErasedByOmission, type Step } from './step.ts';

/**
 * The fields that a change would erase because its body omits them, as far as that is known.
 *
 * @param isTyped its body has these fields and no others
 */
export function erasedFields(
  { profile, resource, records }: Known,
  before: DeviceRecord,
  changes: DeviceRecord,
  isTyped = false,
): Pick<Effects, 'erases' | 'mayErase'> {
  const facts = updateFacts(profile, resource);
  const update = { ...facts, record: 'changes' } as const;
  const sending = isTyped ? withResource(profile, resource, { update }) : profile;
  const omitted = omission(profile, resource, facts);
  if (omitted === 'kept') return {};
  // Where secrets are sent back as they are shown, a password that is not shown is one of them.
  const isSentBack = fieldsWith(profile, resource, 'sentBack').length > 0;
  const hidden = hiddenFields(records, profile, resource).filter(
    (field) => !(isSentBack && isSecretField(field)),
  );
  const lacking = [
    ...omittedFields(sending, resource, before, changes),
    ...hidden.filter((field) => !Object.hasOwn(changes, field)),
  ];
  const untold = fieldsWith(profile, resource, 'untold');
  // A secret that is shown as null may be there: null is not sent back over it.
  const masked = Object.keys(before).filter(
    (field) => before[field] === null && isSecretField(field),
  );
  const unshown = untold.filter((field) => !Object.hasOwn(before, field));
  const doubtful = [...unshown, ...masked].filter((field) => !Object.hasOwn(changes, field));
  const isErased = isErasedByOmission(profile, resource);
  const mayErase = isErased ? doubtful : [...lacking, ...doubtful];
  return {
    ...(isErased && lacking.length > 0 && { erases: lacking }),
    ...((omitted === undefined || mayErase.length > 0) && { mayErase }),
  };
}

/** Why a step is refused: the device would erase what its body omits, or store what it cannot say otherwise. */
export function lossReason(step: Step): Note | undefined {
  const { key, resource, request, effects } = step;
  const { erases = [], unsayable = [] } = effects;
  const { method } = request;
  if (unsayable.length > 0) {
    const is = unsayable.some((one) => one.startsWith('null of')) ? 'no-null' : 'cannot-say';
    return { code: 'loss', is, method, name: recordName(step), what: unsayable.join(', ') };
  }
  if (erases.length === 0) return undefined;
  return { code: 'loss', is: 'replaces', method, resource, key, fields: erases.join(', ') };
}

/** The fields that can be written again, and those that cannot: secrets, ids, fields set by the device. */
export function restorable(
  profile: Profile,
  resource: string,
  record: DeviceRecord,
): { readonly fields: DeviceRecord; readonly lost: DeviceRecord } {
  const place = placeField(profile, resource);
  const managed = managedFields(profile, resource).filter((field) => field !== place);
  const own = [...managed, ownAddress(record, profile.basePath)?.field];
  const fields: [string, Value][] = [];
  const lost: [string, Value][] = [];
  for (const [field, value] of Object.entries(record)) {
    if (own.includes(field)) continue;
    const isId = profile.idFields.includes(field);
    if (isId && hasPositionalIds(profile)) continue;
    const isLostId = isId && !takesId(profile, resource, field);
    const { readOnly, writeOnly } = fieldFacts(profile, resource, field);
    const isSetByDevice = writeOnly ?? readOnly ?? isTimeStamp(value);
    const masked = maskedValue(field, value);
    const kept = withoutMasks(masked);
    if (isLostId || isSetByDevice || isSecretField(field) || kept === undefined) {
      if (valueText(value) !== '') lost.push([field, isMask(value) ? MASK : value]);
    } else {
      fields.push([field, kept]);
      lost.push(...maskedParts(field, masked));
    }
  }
  return { fields: Object.fromEntries(fields), lost: Object.fromEntries(lost) };
}

/** What is lost with a deleted record, including fields that the device does not show. */
export function lostByDelete(
  { profile, resource, records }: Known,
  record: DeviceRecord,
): DeviceRecord {
  const untold = fieldsWith(profile, resource, 'untold');
  // What the profile states and does not call hidden is shown where it has a value.
  const isShown = (field: string): boolean => {
    const {
      writeOnly = false,
      hidden = false,
      needed = false,
    } = fieldFacts(profile, resource, field);
    const isStated = profile.origins[`resources.${resource}.fields.${field}`] === 'configured';
    return isStated && !writeOnly && !hidden && !needed;
  };
  const unknown = [...hiddenFields(records, profile, resource), ...untold].filter(
    (field) => !Object.hasOwn(record, field) && !isShown(field),
  );
  const { lost } = restorable(profile, resource, record);
  return { ...Object.fromEntries(unknown.map((field) => [field, MASK])), ...lost };
}

/**
 * What a restored record does not have as before. Ids, dates and counters are the device's own: a note names
 * them. With anything else `done` becomes `differs`.
 */
export function withNotRestored(profile: Profile, step: Step, end: StepEnd): StepEnd {
  const { action, resource } = step;
  const { lost = {}, takes = [] } = step.effects;
  if (action === 'delete' || (end.verdict !== 'done' && end.verdict !== 'differs')) return end;
  const missing = notRestored(lost, end.record);
  const isOwn = ({ field, was, held }: (typeof missing)[number]): boolean =>
    profile.idFields.includes(field) ||
    isLaterTime(was, held) ||
    ((isTimeStamp(was) || typeof was === 'number') &&
      fieldFacts(profile, resource, field).readOnly === true);
  const differences = missing.filter((one) => !isOwn(one));
  const own = missing.flatMap((one) => (isOwn(one) ? [one.field] : []));
  const taken = takes.filter(({ refers }) => !refers).map(takenText);
  const names = [...differences.map(({ field }) => field), ...taken];
  const stays = takes.filter(({ refers }) => refers).map(takenText);
  const isOpen =
    action === 'add' &&
    step.purpose?.kind === 'restore' &&
    lacksPassword(profile, resource, step.asked);
  const noted = withNotes(
    end,
    { code: 'loss', is: 'not-restored', names: names.join(', ') },
    { code: 'loss', is: 'stays', names: stays.join(', ') },
    { code: 'loss', is: 'new', names: own.join(', ') },
    isOpen ? { code: 'loss', is: 'new-password' } : undefined,
  );
  if (names.length === 0) return noted;
  return {
    ...noted,
    verdict: 'differs',
    differences: [...(end.differences ?? []), ...differences],
  };
}

/** Whether the device set the time again. A person may have set a time that is gone or earlier, as an expiry date. */
function isLaterTime(was: Value, held: Value | undefined): boolean {
  return (
    isTimeStamp(was) &&
    isTimeStamp(held) &&
    Date.parse(valueText(held)) > Date.parse(valueText(was))
  );
}

/** Masked fields count as lost: they cannot be compared. */
export function notRestored(
  lost: DeviceRecord,
  held: DeviceRecord | undefined,
): { field: string; was: Value; held: Value | undefined }[] {
  return Object.entries(lost)
    .map(([field, was]) => ({ field, was, held: valueAt(held, field) }))
    .filter((one) => one.was === MASK || !isEqual(one.was, one.held));
}

type FieldsOf = (step: Step) => readonly string[] | undefined;

/** What the steps of a device lose, for each resource once. */
export function lossNotes({ steps }: DevicePlan): Note[] {
  const lost = (
    is: 'erases' | 'unsayable' | 'may-erase' | 'undo' | 'plan',
    fieldsOf: FieldsOf,
    isWhole = false,
  ): Note[] => {
    const concerned = steps.filter((step) => fieldsOf(step) !== undefined);
    return [...grouped(concerned, ({ resource }) => resource)].flatMap(([resource, group]) => {
      const fields = new Set(group.flatMap((step) => fieldsOf(step) ?? []));
      // An account has a password or a token, whether shown or not.
      if (isWhole && resource === 'user') fields.add(textOf({ code: 'loss', is: 'hidden' }));
      if (fields.size === 0) return [];
      return { code: 'loss', is, fields: [...fields].join(', '), resource };
    });
  };
  const lostBy =
    (wanted: Step['action']): FieldsOf =>
    ({ action, effects }) =>
      action === wanted && effects.lost ? Object.keys(effects.lost) : undefined;
  return [
    ...lost('erases', ({ effects }) => effects.erases),
    ...lost('unsayable', ({ effects }) => effects.unsayable),
    ...lost('may-erase', ({ effects }) => effects.mayErase),
    ...(steps.some(({ effects }) => effects.mayErase)
      ? [{ code: 'loss', is: 'may-erase-unshown' } as const]
      : []),
    ...takenNotes(steps),
    ...lost('undo', lostBy('delete'), true),
    ...lost('undo', overwrittenSecrets),
    ...lost('plan', lostBy('add'), true),
    ...lost('plan', lostBy('set')),
  ];
}

/** A message names at most this many records, and counts the rest. */
export const NAMED = 10;

/** What goes with the records of these steps, or refers to them, for each resource once. */
function takenNotes(steps: readonly Step[]): Note[] {
  const all = steps.flatMap(({ action, effects }) =>
    (effects.takes ?? []).map((one) => ({ ...one, action })),
  );
  const groups = grouped(all, ({ action, resource, refers }) => `${action} ${resource} ${refers}`);
  return [...groups.values()].map((group) => {
    const [{ action, resource, refers }] = group;
    // NaN if one of them could not be read.
    const sum = group.reduce((before, { count = NaN }) => before + count, 0);
    const keys = group.flatMap((one) => one.keys);
    const count = Number.isNaN(sum) ? undefined : sum;
    const names = takenText({ resource, count, keys });
    if (action === 'add') return { code: 'loss', is: refers ? 'stays' : 'stays-gone', names };
    return { code: 'loss', is: refers ? 'refers' : 'takes', names };
  });
}

function takenText({ resource, count, keys }: Dependents): string {
  if (count === undefined) return textOf({ code: 'loss', is: 'uncounted', resource });
  return `${count} of ${resource} (${someOf(keys, NAMED, count)})`;
}

/** Returns what a set overwrites and no journal keeps: secrets, and fields whose values are masked. */
function overwrittenSecrets(step: Step): readonly string[] | undefined {
  const { action, asked, before, effects } = step;
  if (action !== 'set' || effects.lost !== undefined) return undefined;
  return Object.keys(asked).filter((field) => {
    const value = valueAt(before, field);
    return isSecretField(field) || !isEqual(maskedValue(field, value), value);
  });
}

/** Undefined if nothing is left to send. */
function withoutMasks(value: Value): Value | undefined {
  if (value === MASK) return undefined;
  if (!isNested(value)) return value;
  if (isValueList(value)) return maskedParts('', value).length > 0 ? undefined : value;
  const parts = Object.entries(value).flatMap(([part, inner]) => {
    const kept = withoutMasks(inner);
    return kept === undefined ? [] : [[part, kept] as const];
  });
  return Object.fromEntries(parts);
}

function maskedParts(field: string, value: Value): [string, Value][] {
  if (value === MASK) return [[field, MASK]];
  if (!isNested(value)) return [];
  return Object.entries(value).flatMap(([part, inner]: [string, Value]) =>
    maskedParts(`${field}.${part}`, inner),
  );
}
