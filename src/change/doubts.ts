import {
  type DeviceRecord,
  type DeviceRef,
  grouped,
  isValueList,
  type Value,
  valueAt,
  valueText,
} from '../device/record.ts';
import {
  isRightsField,
  isSecretField,
  isSecretName,
  isStatusField,
} from '../device/sensitive-fields.ts';
import { mapInTurns } from '../fleet/fan-out.ts';
import { UsageError } from '../errors.ts';
import { type Note, textOf } from '../output/sentences.ts';
import { noRecord } from '../text/one-line.ts';
import { nearHint } from '../text/suggest.ts';
import { quoteAssignment, quoteWord } from '../text/words.ts';
import type { Change } from './change.ts';
import { unsentFor } from './gate.ts';
import { type ChangedPart, changedParts } from './compare.ts';
import { asBoolean, isStored } from '../device/equality.ts';
import type { Assumption, DevicePlan, FieldReading, LookAlike, Plan } from './plan.ts';
import {
  collectionPath,
  idFieldOf,
  isNamedByKey,
  itemPath,
  keyFieldOf,
  knownFields,
  originOfWrite,
  type Profile,
  resourceOf,
  writeFactsOf,
  type WriteName,
} from '../device/profile.ts';
import { lookOf } from '../text/visible.ts';
import { RejectedError } from '../device/errors.ts';
import { type Action, type StepEnd, withNotes } from './verdict.ts';
import type { Step } from './step.ts';

/** Warns of fields of unknown type, privileges left out, and changed fields that the record lacks. */
export function doubtfulFields({ devices }: Pick<Plan, 'devices'>): Note[] {
  const doubts = new Map<string, Note>();
  for (const step of devices.flatMap(({ steps }) => steps)) {
    const { action, before, asked } = step;
    const { untyped = [], leftOut = [] } = step.effects;
    for (const field of leftOut) doubts.set(field, { code: 'plan-remark', is: 'left-out', field });
    for (const field of untyped) doubts.set(field, { code: 'plan-remark', is: 'untyped', field });
    if (before === undefined || action === 'delete') continue;
    const parts = Object.entries(asked).flatMap(([field, value]) =>
      changedParts(field, valueAt(before, field), value),
    );
    for (const { field, before: held } of parts) {
      if (held !== undefined || isSecretField(field)) continue;
      const hint = nearHint(field, Object.keys(before));
      doubts.set(field, { code: 'plan-remark', is: 'new-field', field, hint });
    }
  }
  return [...doubts.values()];
}

/**
 * The fields that changes name, and whether the device has them, by its records and its profile. Returns nothing for
 * records without fields, and for changes that devsh repeats: nobody typed their field names.
 */
export function fieldReadings(
  profile: Profile,
  resource: string,
  changes: readonly Change[],
  records: readonly DeviceRecord[],
): FieldReading[] {
  if (records.length === 0) return [];
  const named = changes.flatMap((change) =>
    change.action === 'delete' || change.isExact || change.meant !== undefined
      ? []
      : Object.keys(change.fields),
  );
  const { keyField, parent = keyField } = resourceOf(profile, resource);
  const shown = knownFields(profile, resource, records).add(keyField).add(parent);
  const has = (field: string): boolean => shown.has(field) || profile.idFields.includes(field);
  return [...new Set(named)].flatMap((field): FieldReading[] => {
    if (isSecretName(field)) return [];
    // A name with dots may be a part of a field.
    if (has(field) || [...field.matchAll(/\./g)].some(({ index }) => has(field.slice(0, index))))
      return [{ resource, field }];
    return [{ resource, field, others: [...shown] }];
  });
}

/** Throws a `UsageError` for a field that none of the devices that were read has. */
export function refuseUnknownFields(devices: readonly DevicePlan[]): void {
  const readings = devices.flatMap(({ device, fieldReadings: own = [] }) =>
    own.map((one) => ({ ...one, device })),
  );
  const kinds = grouped(readings, ({ resource, field }) => `${resource} ${field}`);
  const [unknown] = kinds.values().find((all) => all.every(({ others }) => others)) ?? [];
  if (unknown === undefined) return;
  const { device, resource, field, others = [] } = unknown;
  const unread = devices.flatMap((one) => (one.error === undefined ? [] : [one.device]));
  const name = `resources.${resource}.fields.${field.replace(/\..*/s, '')}`;
  const fact = { device: quoteWord(device.name), fact: quoteAssignment(name, 'string') };
  const what = textOf({ code: 'no-such-field', field, fields: others, none: noRecord(unread) });
  throw new UsageError({ code: 'plan-remark', is: 'unknown-field', what, ...fact }, { field });
}

/** Throws a `UsageError` for a filter that finds nothing and cannot be right on any device; all must have been read. */
export function refuseDoubtfulFilters(devices: readonly DevicePlan[]): void {
  if (devices.some(({ error }) => error !== undefined)) return;
  const doubtful = devices.flatMap(({ settled }) => settled.filter(({ doubt }) => doubt));
  const [first] = doubtful;
  const ofFilter = doubtful.filter(({ key }) => key === first?.key);
  if (first?.doubt && ofFilter.length >= devices.length)
    throw new UsageError(unsentFor(first.doubt));
}

/** The steps whose way to write is neither stated nor proven by a read-back. */
export function assumptionsOf(profile: Profile, steps: readonly Step[]): readonly Assumption[] {
  const assumed = steps.filter(
    ({ action, resource, purpose }) =>
      purpose?.kind !== 'typed' && originOfWrite(profile, WRITE_OF[action], resource) === 'assumed',
  );
  const kinds = grouped(assumed, ({ action, resource }) => `${action} ${resource}`);
  return [...kinds.values()].map(([step]) => {
    const { action, resource } = step;
    return { action, resource, way: wayOf(profile, step) };
  });
}

/** `DELETE /api/user/<uuid>/`, `POST /api/user/ with action=delete and its username`. */
function wayOf(profile: Profile, { action, resource, before, keyField }: Step): string {
  const { method, path, constants, selector } = writeFactsOf(profile, WRITE_OF[action], resource);
  const key = before === undefined ? keyField : keyFieldOf(profile, resource, [before]);
  const own = (before && idFieldOf(profile, before)) ?? profile.idFields[0] ?? key;
  const id = isNamedByKey(profile, resource) ? key : own;
  const placeholders: Readonly<Record<string, string>> = {
    collection: collectionPath(profile, resource),
    item: decodeURIComponent(itemPath(profile, resource, `<${id}>`)),
    resource,
    id: `<${id}>`,
    key: `<${key}>`,
  };
  const shown = path.replace(
    /\{([^{}]+)\}/g,
    (_, name: string) => placeholders[name] ?? `<${name}>`,
  );
  const named = { id, key, none: undefined }[action === 'add' ? 'none' : selector];
  const parts = [
    ...Object.entries(constants).map(([field, value]) => `${field}=${String(value)}`),
    ...(named === undefined ? [] : [`its ${named}`]),
  ];
  return `${method} ${shown}${parts.length > 0 ? ` with ${parts.join(' and ')}` : ''}`;
}

export async function lookAlikesOf(
  steps: readonly Step[],
  recordsOf: (resource: string) => readonly DeviceRecord[],
): Promise<LookAlike[]> {
  const byLook = new Map<string, ReadonlyMap<string, readonly string[]>>();
  const found = await mapInTurns(steps, ({ action, resource, keyField, after, ...step }) => {
    const key = valueText(after?.[keyField]) || step.key;
    if (key === '') return [];
    const keys = (): string[] => recordsOf(resource).map((record) => valueText(record[keyField]));
    const looks = byLook.get(resource) ?? grouped(new Set(keys()), lookOf);
    byLook.set(resource, looks);
    const others = (looks.get(lookOf(key)) ?? []).filter((other) => other !== key);
    return others.length > 0 ? [{ action, key, others }] : [];
  });
  return found.flat();
}

export const WRITE_OF: Readonly<Record<Action, WriteName>> = {
  add: 'create',
  set: 'update',
  delete: 'remove',
};

const DEED = { add: 'adding', set: 'changing', delete: 'deleting' } as const;

/** Adds the caution of the plan, and to a failed step how to state the way to write, if that was only assumed. */
export function withAdvice(
  { name: device }: DeviceRef,
  profile: Profile,
  { action, resource, purpose }: Step,
  stepEnd: StepEnd,
): StepEnd {
  const end = withNotes(stepEnd, purpose?.kind === 'lockout' ? purpose.caution : undefined);
  const { verdict, error } = end;
  if (!(error instanceof RejectedError)) return end;
  const field = profile.idFields.find((one) => Object.hasOwn(error.issues, one));
  if (action === 'add' && field !== undefined) {
    const line = textOf({ code: 'id-line', device, resource, field });
    return withNotes(end, { code: 'plan-remark', is: 'own-id', field, line });
  }
  const write = WRITE_OF[action];
  const isUnknownPath = verdict === 'failed' && [404, 405].includes(error.status);
  const isAssumed = originOfWrite(profile, write, resource) === 'assumed';
  if (!isUnknownPath || !isAssumed || purpose?.kind === 'typed') return end;
  const way = { deed: DEED[action], device, write };
  return withNotes(end, { code: 'plan-remark', is: 'assumed-way', ...way });
}

const ADMIN = /admin|super(?:user)?|root|sudo|wheel|^\*$/i;

interface Grant {
  readonly field: string;
  readonly value: Value;
  readonly isAdmin: boolean;
}

export function grantsOf({ action, before = {}, after = {} }: Step): readonly Grant[] {
  if (action === 'delete') return [];
  return Object.keys(after)
    .flatMap((field) => changedParts(field, valueAt(before, field), valueAt(after, field)))
    .flatMap(grantOf);
}

function givesNothing(value: Value | undefined): boolean {
  return valueText(value).trim() === '' || asBoolean(value) === false;
}

function grantOf({ field, before, after = null }: ChangedPart): Grant[] {
  const isRight = field.split('.').some(isRightsField) && !isStatusField(field);
  if (!isRight || isStored(after, before)) return [];
  const held = isValueList(before) ? before : [before];
  const given = (isValueList(after) ? after : [after]).filter(
    (value) => !givesNothing(value) && !held.some((other) => covers(other, value)),
  );
  if (given.length === 0 || Number(after) < Number(before)) return [];
  const isAdmin = given.some((value) => ADMIN.test(asBoolean(value) ? field : valueText(value)));
  return [{ field, value: after, isAdmin }];
}

/** `*` covers each right, `objects/*` those below. */
function covers(held: Value | undefined, value: Value): boolean {
  const [, start] = /^(.*)\*$/.exec(valueText(held)) ?? [];
  return isStored(value, held) || (start !== undefined && valueText(value).startsWith(start));
}

/** How many records get privileges by these steps. */
export function grantCounts(steps: readonly Step[]): Note[] {
  const granted = steps.map(grantsOf).filter((grants) => grants.length > 0);
  const admins = granted.filter((grants) => grants.some(({ isAdmin }) => isAdmin)).length;
  const others = granted.length - admins;
  const counts = [
    { is: admins === 1 ? 'admin' : 'admins', count: admins },
    { is: others === 1 ? 'right' : 'rights', count: others },
  ] as const;
  return counts.flatMap((one) => (one.count === 0 ? [] : { code: 'plan-remark', ...one }));
}
