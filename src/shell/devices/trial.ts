import type { Change } from '../../change/change.ts';
import { WRITE_OF } from '../../change/doubts.ts';
import { planDevice } from '../../change/plan-device.ts';
import { encodeForm, maskedRequest } from '../../device/encode.ts';
import {
  detailsOf,
  type FieldDetails,
  idFieldOf,
  ignoredFields,
  isNamedByKey,
  isSingle,
  keyFieldOf,
  type Origin,
  originOfWrite,
  type Profile,
  resourceOf,
} from '../../device/profile.ts';
import {
  type DeviceRecord,
  type DeviceRef,
  jsonText,
  type Value,
  valueAt,
  valueText,
} from '../../device/record.ts';
import {
  isInternalField,
  isPrivilegeField,
  isSecretField,
  maskedPath,
} from '../../device/sensitive-fields.ts';
import { fieldShape } from '../../device/typed-value.ts';
import { DevshError, RefusedError } from '../../errors.ts';
import { describe, originOf } from './learning.ts';

/** One thing that devsh understood of a device, and the origin of the fact behind it. */
export type Finding = Readonly<{ about: string; finding: string; origin: Origin }>;

/** The records of a resource as they were read with a profile. */
export interface Trial {
  readonly device: DeviceRef;
  readonly profile: Profile;
  readonly resource: string;
  readonly records: readonly DeviceRecord[];
}

/** The id, the key and the fields of the records. @param listed the same as the list shows them */
export function findingsOf(
  { profile, resource, records }: Trial,
  listed: readonly DeviceRecord[],
): Finding[] {
  const origin = (fact: string): Origin => originOf(profile, fact);
  const keyField = keyFieldOf(profile, resource, records);
  const [idField] = records.flatMap((record) => idFieldOf(profile, record) ?? []);
  const { fields = [], details = {}, fieldFacts = {} } = profile.resources[resource] ?? {};
  const names = [...records.flatMap(Object.keys), ...fields, ...Object.keys(details)];
  const id = idField === undefined ? 'none' : spreadOf(idField, records);
  const byKey = isNamedByKey(profile, resource) ? '; paths end with the key' : '';
  const idFinding: Finding = { about: 'id', finding: id + byKey, origin: origin('idFields') };
  const isStated = resourceOf(profile, resource).keyField === keyField;
  const keyFinding: Finding = {
    about: 'key',
    finding: spreadOf(keyField, records),
    origin: isStated ? origin(`resources.${resource}.keyField`) : 'observed',
  };
  return [
    ...(isSingle(profile, resource) ? [] : [idFinding, keyFinding]),
    ...[...new Set(names)].map((field): Finding => {
      const known = detailsOf(profile, resource, field);
      const { kind } = fieldShape(
        known,
        records.map((record) => valueAt(record, field)),
      );
      const shown = records.filter((record) => Object.hasOwn(record, field)).length;
      const isListed = listed.some((record) => Object.hasOwn(record, field));
      const notes = [
        describe({
          required: false,
          readOnly: false,
          ...known,
          type: kind === 'unknown' ? 'type unknown' : kind,
        }),
        isSecretField(field) ? 'secret' : [],
        shown === 0 ? 'in no record' : isListed ? [] : 'not in the list',
      ];
      const stated = Object.hasOwn(fieldFacts, field) ? 'fieldFacts' : 'fields';
      const isSeen = stated === 'fields' && (shown > 0 || Object.hasOwn(details, field));
      const from = isSeen ? 'observed' : origin(`resources.${resource}.${stated}`);
      return { about: `field ${field}`, finding: notes.flat().join(', '), origin: from };
    }),
  ];
}

/** `username, unique in all 12`. */
function spreadOf(field: string, records: readonly DeviceRecord[]): string {
  const texts = records.map((record) => valueText(record[field])).filter((text) => text !== '');
  if (records.length === 1) return `${field}, in the only record`;
  const all = texts.length === records.length ? 'all' : `${texts.length} of`;
  const isUnique = new Set(texts).size === texts.length;
  return `${field}, ${isUnique ? '' : 'not '}unique in ${all} ${records.length}`;
}

/** What add, set and delete would send, from the planner of writes. Secrets are masked. */
export function requestsOf(trial: Trial, example: DeviceRecord | undefined) {
  const { device, profile, resource, records } = trial;
  return changesOf(trial, example).map((change) => {
    const { action } = change;
    const origin = originOfWrite(profile, WRITE_OF[action], resource);
    try {
      const { steps, settled } = planDevice({ device, profile }, change, records);
      const [step] = steps;
      if (step === undefined) {
        const [{ error, note = 'no field is known that it may set' } = {}] = settled;
        throw error ?? new RefusedError(note);
      }
      const { method, form, json, ...masked } = maskedRequest(step.request);
      const path = maskedPath(masked.path);
      const request = { method, path, ...(form && { form }), ...(json && { json }) };
      const body = form === undefined ? json && jsonText(json) : encodeForm(form);
      const sends = [method, path, body].filter((part) => part !== undefined).join(' ');
      const { erases = [], mayErase } = step;
      const lost = erases.length > 0 ? `would erase ${erases.join(', ')}` : null;
      const note =
        lost ?? (mayErase ? `may erase ${mayErase.join(', ') || 'hidden fields'}` : null);
      return { action, sends, request, origin, note };
    } catch (error) {
      if (!(error instanceof DevshError)) throw error;
      return { action, sends: null, request: null, origin, note: error.message };
    }
  });
}

/** An example of each action; without a record only an add is known. */
function changesOf(
  { profile, resource, records }: Trial,
  example: DeviceRecord | undefined,
): readonly Change[] {
  const keyField = keyFieldOf(profile, resource, records);
  const { fields = [], details = {} } = profile.resources[resource] ?? {};
  const required = Object.keys(details).filter((field) => details[field]?.required === true);
  const named = [...fields, ...required]
    .filter((field) => !profile.idFields.includes(field) && details[field]?.readOnly !== true)
    .map((field) => [field, otherValue(details[field], example?.[field])]);
  const { parent, keyField: own } = resourceOf(profile, resource);
  // The own key of an example is plain: what precedes it in its place is the parent.
  const above = valueText(example?.[keyField] ?? 'example/').replace(/[^/]*$/, '');
  const place = { [keyField]: `${above}example`, [own]: 'example' };
  const keys = parent === undefined ? { [keyField]: 'example' } : place;
  const add = { ...Object.fromEntries(named), ...keys } as DeviceRecord;
  if (example === undefined) return [{ action: 'add', resource, fields: add, isExact: true }];
  const fixed = [...Object.keys(keys), ...profile.idFields, ...ignoredFields(profile, resource)];
  const free = Object.keys(example).filter((field) => {
    const { readOnly = false, createOnly = false } = details[field] ?? {};
    const isOpen = !readOnly && !createOnly && typeof example[field] !== 'object';
    const isRisky = [isPrivilegeField, isSecretField, isInternalField].some((is) => is(field));
    return isOpen && !isRisky && !fixed.includes(field);
  });
  const field = free.find((name) => typeof example[name] === 'string') ?? free[0];
  const change = field === undefined ? {} : { [field]: otherValue(details[field], example[field]) };
  const key = isSingle(profile, resource) ? '' : valueText(example[keyField]);
  const target = { kind: 'key', key } as const;
  return [
    { action: 'add', resource, fields: add, isExact: true },
    { action: 'set', resource, target, fields: change, isExact: true },
    { action: 'delete', resource, target },
  ];
}

/** A value that a device may take in place of `current`. */
function otherValue(details: FieldDetails | undefined, current: Value = null): Value {
  const choice = details?.choices?.find(({ value }) => value !== valueText(current));
  if (choice !== undefined) return choice.value;
  if (typeof current === 'object' && current !== null) return current;
  if (typeof current === 'boolean') return !current;
  return typeof current === 'number' ? current + 1 : 'example';
}
