import { isEqual } from './equality.ts';
import {
  isMask,
  holdsMask,
  isSecretField,
  maskedForm,
  maskedPath,
  maskedRecord,
  maskedValue,
} from './sensitive-fields.ts';
import { nullWord, pairsOf } from './form-values.ts';
import { encoded, namedBy, withinParent, writePath } from './record-path.ts';
import { namesRecord } from './address.ts';
import { RefusedError, UsageError } from '../errors.ts';
import {
  bookkeepingFields,
  fieldFacts,
  fieldsWith,
  idFieldOf,
  isSingle,
  keyFieldOf,
  managedFields,
  NO_ID,
  placeField,
  type Profile,
  updateFacts,
  type WriteFacts,
  takesId,
} from './profile.ts';
import {
  type DeviceRecord,
  formText,
  isNested,
  isValueList,
  isValueObject,
  jsonText,
  UNREADABLE,
  type Value,
  valueAt,
  valueText,
} from './record.ts';
import { MASK } from '../text/one-line.ts';
import { textOf } from '../output/sentences.ts';
import type { HttpRequest } from './exchange.ts';

export type FormPairs = readonly (readonly [field: string, text: string])[];

/** One write, ready to be shown, stored and sent. It has at most one body. */
export interface WriteRequest {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** From the root of the device, percent-encoded. */
  readonly path: string;
  readonly form?: FormPairs | undefined;
  readonly json?: DeviceRecord | undefined;
  readonly ifMatch?: string;
  readonly ifAbsent?: true;
  /** The part of the path that is a secret, because it names the record. */
  readonly secretName?: string | undefined;
}

/** The path of a request with another text in the place of the secret that names the record. */
export function pathWithout(
  secretName: string | undefined,
  path: string,
  instead: () => string,
): string {
  if (secretName === undefined) return path;
  return path.replace(PATH_PART, (part) => (part === encoded(secretName) ? instead() : part));
}

/** A segment of a path, or a name or value in its query. */
const PATH_PART = /[^/?&=]+/g;

export function maskedRequest({ form, json, secretName, ...request }: WriteRequest): WriteRequest {
  return {
    ...request,
    path: maskedPath(pathWithout(secretName, request.path, () => MASK)),
    ...(form && { form: maskedForm(form) }),
    ...(json && { json: maskedRecord(json) }),
  };
}

/** Fields with text that was not UTF-8 when it was read: their bytes are not known. */
export function damagedFields({ form = [], json = {} }: WriteRequest): string[] {
  const fields = [...form, ...Object.entries(json)];
  return fields.flatMap(([field, value]) => (valueText(value).includes(UNREADABLE) ? field : []));
}

/** A masked request cannot be sent. */
export function isMaskedRequest({ path, form, json }: WriteRequest): boolean {
  return (
    path.match(PATH_PART)?.some(isMask) === true ||
    form?.some(([, text]) => isMask(text)) === true ||
    (json !== undefined && holdsMask(json))
  );
}

/** The body of a form. Throws UsageError for text that UTF-8 cannot encode. */
export function encodeForm(form: FormPairs): string {
  for (const [field, text] of form) {
    if (/\p{Surrogate}/u.test(field + text)) {
      throw new UsageError({ code: 'half-character', field }, { field });
    }
  }
  return new URLSearchParams(form.map(([...pair]) => pair)).toString();
}

/** The posted string "has to include all the fields": a form sends these empty, JSON leaves them out. */
export function emptyFields(profile: Profile, resource: string, fields: DeviceRecord): string[] {
  if (!hasAllFields(profile)) return [];
  return fieldsWith(profile, resource, 'needed').filter(
    (field) => !profile.idFields.includes(field) && !Object.hasOwn(fields, field),
  );
}

/** Whether a new record is sent as a form of all its fields. */
export function hasAllFields({ create }: Profile): boolean {
  return create.encoding === 'form' && create.record === 'whole';
}

/** Creates a record. Throws RefusedError for an id that the device sets: the POST would overwrite that record. */
export function createRequest(
  stated: Profile,
  resource: string,
  given: DeviceRecord,
): WriteRequest {
  refuseSingle(stated, resource);
  const { profile, record: fields } = withinParent(stated, resource, given);
  const idField = idFieldOf(profile, fields);
  const isTaken = (field: string): boolean => takesId(profile, resource, field);
  const isGiven = idField !== undefined && formText(fields[idField] ?? null) !== NO_ID;
  if (isGiven && !isTaken(idField)) {
    const about = { resource, field: idField };
    const line = textOf({ code: 'id-line', device: 'DEVICE', ...about });
    throw new RefusedError({ code: 'id-of-device', line, ...about });
  }
  const documented = fieldsWith(profile, resource, 'needed');
  const empty = emptyFields(profile, resource, fields);
  const { method, selector, path: template } = profile.create;
  // Stated as `none`, the path alone names the new record.
  const isStated = selector === 'none' && profile.origins['create.selector'] === 'configured';
  const isAtPath = namesRecord(template);
  const inPath = isStated && isAtPath ? keyFieldOf(profile, resource, [fields]) : undefined;
  const body = recordOf([...documented, ...Object.keys(fields)], (field) => {
    if ((profile.idFields.includes(field) && !isTaken(field)) || field === inPath) return undefined;
    return empty.includes(field) ? '' : valueAt(fields, field);
  });
  const ids = selector === 'id' ? documented.filter((one) => profile.idFields.includes(one)) : [];
  const noId = Object.fromEntries(ids.map((field) => [field, NO_ID]));
  const path = writePath(profile, profile.create, resource, fields);
  const request = requestOf(profile, profile.create, resource, { path, selector: noId, body });
  return isAtPath && method === 'PUT' ? { ...request, ifAbsent: true } : request;
}

/** The request on the condition that the record still has its revision. Throws RefusedError if it shows none. */
function ifUnchanged(
  { revision }: Profile,
  resource: string,
  record: DeviceRecord,
  request: WriteRequest,
): WriteRequest {
  if (revision === undefined) return request;
  const { field, in: stated } = revision;
  const [place = '', parameter = field] = stated.split(':', 2);
  const value = valueAt(record, field) ?? null;
  const text = formText(value);
  if (!/^[\x21-\x7e]+$/.test(text)) {
    throw new RefusedError({ code: 'no-revision', resource, field });
  }
  switch (place) {
    case 'query': {
      const mark = request.path.includes('?') ? '&' : '?';
      return { ...request, path: `${request.path}${mark}${encoded(parameter)}=${encoded(text)}` };
    }
    case 'header':
      return { ...request, ifMatch: /^(?:W\/)?".*"$/.test(text) ? text : `"${text}"` };
    default:
      return request.form === undefined
        ? { ...request, json: { ...request.json, [parameter]: value } }
        : { ...request, form: [...request.form, [parameter, text]] };
  }
}

/** Changes a record. A whole one keeps nulls, as the device may erase what is omitted; unchanged secrets are never sent. */
export function updateRequest(
  stated: Profile,
  resource: string,
  held: DeviceRecord,
  changes: DeviceRecord,
): WriteRequest {
  const place = placeField(stated, resource);
  if (place !== undefined && Object.hasOwn(changes, place)) {
    throw new RefusedError({ code: 'fixed-field', field: place, resource });
  }
  const { profile, record: before } = withinParent(stated, resource, held);
  const facts = updateFacts(profile, resource);
  const sent = changedFields(profile, resource, before, changes);
  return writeRequest(profile, facts, resource, { before, sent, changes });
}

interface FieldsToSend {
  readonly before: DeviceRecord;
  readonly sent: DeviceRecord;
  /** What the user has set: the field that names the record must not be among it. */
  readonly changes?: DeviceRecord;
}

/** A write of these fields to one record. Throws RefusedError for a record without a usable id. */
export function writeRequest(
  profile: Profile,
  facts: WriteFacts,
  resource: string,
  { before, sent, changes = {} }: FieldsToSend,
): WriteRequest {
  const named = isSingle(profile, resource) ? undefined : namedBy(profile, facts, resource, before);
  if (
    named !== undefined &&
    Object.hasOwn(changes, named.field) &&
    formText(changes[named.field] ?? null) !== named.text
  ) {
    throw new RefusedError({ code: 'fixed-field', field: named.field, resource });
  }
  const fields = Object.entries(sent);
  const body = Object.fromEntries(fields.filter(([field]) => field !== named?.field));
  const isInBody = named !== undefined && facts.selector !== 'none';
  const selector = isInBody ? { [named.field]: inStoredType(before, named) } : {};
  const path = writePath(profile, facts, resource, before);
  const request = requestOf(profile, facts, resource, { path, selector, body });
  const isSecret = named !== undefined && maskedValue(named.field, named.text) === MASK;
  const own = isSecret ? { ...request, secretName: named.text } : request;
  return ifUnchanged(profile, resource, before, own);
}

function changedFields(
  profile: Profile,
  resource: string,
  before: DeviceRecord,
  changes: DeviceRecord,
): DeviceRecord {
  const facts = updateFacts(profile, resource);
  const documented = fieldsWith(profile, resource, 'needed');
  const word = facts.encoding === 'json' ? 'null' : nullWord(profile, resource, facts);
  const managed = bookkeepingFields(profile, resource);
  const fields = [...documented, ...Object.keys(before), ...Object.keys(changes)];
  return recordOf(fields, (field) => {
    const [changed, current] = [valueAt(changes, field), valueAt(before, field)];
    if (changed !== undefined) return withoutUnchangedSecrets(changed, current);
    if (facts.record !== 'whole' || current === undefined || managed.includes(field))
      return undefined;
    const { readOnly, writeOnly, nullable, sentBack } = fieldFacts(profile, resource, field);
    if (readOnly === true || writeOnly === true) return undefined;
    if (current === null) {
      // A secret that is shown as null may be hidden.
      const isOmitted = nullable === false || isSecretField(field);
      return isOmitted || (word === undefined && !documented.includes(field)) ? undefined : null;
    }
    if (sentBack === true) return isReplaced(field, changes) ? undefined : current;
    return isSentUnchanged(profile, resource, field, current)
      ? withoutUnchangedSecrets(current, current)
      : undefined;
  });
}

/** Whether a field is the hash of a secret that changes, as `password_hash` of `password`. */
function isReplaced(field: string, changes: DeviceRecord): boolean {
  return Object.keys(changes).some(
    (name) => field.length > name.length && field.startsWith(name) && isSecretField(name),
  );
}

function recordOf(
  fields: readonly string[],
  valueOf: (field: string) => Value | undefined,
): DeviceRecord {
  // `fromEntries` treats `__proto__` as an ordinary field.
  return Object.fromEntries(
    [...new Set(fields)].flatMap((field) => {
      const value = valueOf(field);
      return value === undefined ? [] : [[field, value]];
    }),
  );
}

/** The writable fields, and parts of nested ones, with a value that the body of a change leaves out. */
export function omittedFields(
  profile: Profile,
  resource: string,
  before: DeviceRecord,
  changes: DeviceRecord,
): string[] {
  const body = changedFields(profile, resource, before, changes);
  const ignored = [...profile.idFields, ...managedFields(profile, resource)];
  return Object.entries({ ...before, ...changes })
    .filter(
      ([field]) =>
        !ignored.includes(field) && fieldFacts(profile, resource, field).readOnly !== true,
    )
    .filter(([field]) => !isReplaced(field, changes))
    .flatMap(([field, value]) =>
      value === null
        ? lostNull(profile, resource, field, body)
        : missingIn(field, value, valueAt(body, field)),
    );
}

/** The field if its null is not sent back, and is neither refused nor said by leaving it out. */
function lostNull(profile: Profile, resource: string, field: string, body: DeviceRecord): string[] {
  const isSaid =
    fieldFacts(profile, resource, field).nullable === false ||
    isSecretField(field) ||
    nullWord(profile, resource, updateFacts(profile, resource)) === 'left_out';
  return Object.hasOwn(body, field) || isSaid ? [] : [field];
}

function missingIn(name: string, current: Value, sent: Value | undefined): string[] {
  if (valueText(current) === '' || valueText(current) === '{}') return [];
  if (sent === undefined) return [name];
  if (!isValueObject(current) || !isValueObject(sent)) return [];
  return Object.entries(current).flatMap(([part, inner]) =>
    missingIn(`${name}.${part}`, inner, valueAt(sent, part)),
  );
}

/** Deletes by its own path or a body that names it, never a collection. Throws RefusedError for an unusable id. */
export function deleteRequest(stated: Profile, resource: string, held: DeviceRecord): WriteRequest {
  refuseSingle(stated, resource);
  const { profile, record } = withinParent(stated, resource, held);
  const { path, method, selector } = profile.remove;
  const request = writeRequest(profile, profile.remove, resource, { before: record, sent: {} });
  if (!namesRecord(path) && (method === 'DELETE' || selector === 'none')) {
    throw new RefusedError({ code: 'not-one-record', path: request.path });
  }
  return request;
}

/** Throws RefusedError for a single object, which cannot be added or deleted. */
export function refuseSingle(profile: Profile, resource: string): void {
  if (isSingle(profile, resource)) throw new RefusedError({ code: 'single-object', resource });
}

interface Parts {
  readonly path: string;
  readonly selector: DeviceRecord;
  readonly body: DeviceRecord;
}

function requestOf(
  profile: Profile,
  facts: WriteFacts,
  resource: string,
  { path, selector, body }: Parts,
): WriteRequest {
  const { method } = facts;
  const named = (text: string): string => text.replace('{resource}', resource);
  const isForm = facts.encoding === 'form';
  const constants = Object.fromEntries(
    Object.entries(facts.constants).map(([field, value]) => [
      field,
      isForm || typeof value === 'string' ? named(String(value)) : value,
    ]),
  );
  const constantFields = { ...constants, ...selector };
  const own = Object.entries(body).filter(([field]) => !Object.hasOwn(constantFields, field));
  const [outer = '', inner] = wrappersOf(facts);
  const fields =
    inner !== undefined && own.length > 0
      ? { ...constantFields, [inner]: Object.fromEntries(own) }
      : { ...constantFields, ...body };
  if (Object.keys(fields).length === 0) return { method, path };
  if (isForm) {
    const word = nullWord(profile, resource, facts);
    const form = Object.entries(fields).flatMap(([field, value]) => pairsOf(field, value, word));
    return { method, path, form };
  }
  return { method, path, json: outer === '' ? fields : { [named(outer)]: fields } };
}

function wrappersOf({ wrapper = '' }: WriteFacts): string[] {
  return wrapper.split('.', 2);
}

function inStoredType(
  record: DeviceRecord,
  { field, text }: { field: string; text: string },
): Value {
  const current = valueAt(record, field) ?? null;
  return formText(current) === text ? current : text;
}

/** Omits unchanged secrets in a nested value, because a device shows them masked or hashed. */
function withoutUnchangedSecrets(value: Value, current: Value | undefined): Value {
  if (!isValueObject(value)) return value;
  const before = isValueObject(current) ? current : {};
  return Object.fromEntries(
    Object.entries(value).flatMap(([field, part]) => {
      const old = valueAt(before, field);
      const isUnchanged = part === old || isMask(part);
      const isOmitted = isUnchanged && (isSecretField(field) || isSecretList(part));
      return isOmitted ? [] : [[field, withoutUnchangedSecrets(part, old)]];
    }),
  );
}

/** A list is sent as a whole: with a secret in it, it is not sent. */
function isSecretList(value: Value): boolean {
  return isValueList(value) && !isEqual(maskedValue('', value), value);
}

/** Whether an unchanged value is sent: in JSON all but secrets, in a form what has a text, and known lists. */
function isSentUnchanged(profile: Profile, resource: string, field: string, value: Value): boolean {
  if (isSecretField(field) || isSecretList(value)) return false;
  if (!isNested(value)) return true;
  const { encoding, lists } = updateFacts(profile, resource);
  if (encoding === 'json') return fieldFacts(profile, resource, field).readOnly !== true;
  if (!isValueList(value) || value.some(isNested)) return false;
  return value.length < 2 || lists === 'repeated';
}

export type Body = Pick<WriteRequest, 'form' | 'json' | 'secretName'>;

export const FORM_TYPE = 'application/x-www-form-urlencoded';
export const JSON_TYPE = 'application/json';

/** The field names of the record in a request, without wrappers. */
export function fieldsSent({ create, update }: Profile, { form = [], json = {} }: Body): string[] {
  const [outer, inner] = [0, 1].map((at) =>
    [create, update].flatMap((facts) => wrappersOf(facts)[at] ?? []),
  );
  const [[name, whole] = ['', null], ...others] = Object.entries(json);
  const isWrapped =
    others.length === 0 &&
    isValueObject(whole) &&
    outer?.some((wrapper) => wrapper === name || wrapper.includes('{resource}')) === true;
  const body = isWrapped ? whole : json;
  const apart = (inner ?? []).map((part) => body[part]);
  const fields = apart.find(isNested) ?? body;
  return [...form.map(([field]) => field), ...Object.keys(fields)];
}

/** The values of secret fields: a device may repeat them in a complaint. */
export function secretsOf({ secretName, form = [], json = {} }: Body): string[] {
  return [
    ...(secretName === undefined ? [] : [secretName]),
    ...form.flatMap(([field, text]) => (isSecretField(field) ? [text] : [])),
    ...secretsIn(json),
  ];
}

function secretsIn(value: Value): string[] {
  if (!isNested(value)) return [];
  return Object.entries(value).flatMap(([field, inner]: [string, Value]) =>
    isSecretField(field) ? [formText(inner)] : secretsIn(inner),
  );
}

export function bodyOf({ form, json }: Body): HttpRequest['body'] {
  if (form !== undefined) return { type: FORM_TYPE, text: encodeForm(form) };
  return json && { type: JSON_TYPE, text: jsonText(json) };
}
