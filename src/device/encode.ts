import { RefusedError, UsageError } from '../errors.ts';
import { jsonText } from './json-text.ts';
import { collectionPath, idFieldOf, isResourceName, type Profile } from './profile.ts';
import type { DeviceRecord, Value } from './record.ts';
import { isSecretField } from './secret-fields.ts';
import { isValueList } from './value-text.ts';

/** The pairs of a form in the order in which they are sent; a field may occur more than once. */
export type FormPairs = readonly (readonly [field: string, text: string])[];

/** One write, ready to be shown, kept and sent as it is. */
export interface WriteRequest {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path from the root of the device, percent-encoded. */
  readonly path: string;
  readonly form?: FormPairs;
}

/** How a value is spelled in a form: nothing for `null`, `true` and `false`, JSON for what nests. */
export function formText(value: Value): string {
  if (value === null) return '';
  return typeof value === 'object' ? jsonText(value) : String(value);
}

/** The body of a form. Throws UsageError for text that has no UTF-8 form. */
export function encodeForm(form: FormPairs): string {
  for (const [field, text] of form) {
    if (/\p{Surrogate}/u.test(field + text)) {
      throw new UsageError(
        `${field}: the value holds half a character (an unpaired surrogate) and cannot be sent`,
      );
    }
  }
  return new URLSearchParams(
    form.map(([field, text]): [string, string] => [field, text]),
  ).toString();
}

/**
 * A new record: the text for "no id", the documented fields (empty where not given), then the others.
 * Throws RefusedError when an id is given: posted, it would overwrite the record that has it.
 */
export function createRequest(
  profile: Profile,
  resource: string,
  fields: DeviceRecord,
): WriteRequest {
  const path = checkedCollection(profile, resource);
  const documented = profile.resources[resource]?.fields ?? [];
  const idField = idFieldOf(profile, fields);
  if (idField !== undefined && formText(fields[idField] ?? null) !== profile.noId) {
    throw new RefusedError(
      `a new ${resource} gets its ${idField} from the device: leave it out, or use "${resource} set"`,
    );
  }
  const idFields = documented.filter((field) => profile.idFields.includes(field));
  const rest = Object.keys(fields).filter(
    (field) => !documented.includes(field) && !profile.idFields.includes(field),
  );
  const form = [
    ...idFields.map((field) => [field, profile.noId] as const),
    ...documented
      .filter((field) => !idFields.includes(field))
      .flatMap((field) => pairsOf(field, fields[field] ?? '')),
    ...rest.flatMap((field) => pairsOf(field, fields[field] ?? '')),
  ];
  return { method: 'POST', path, form };
}

/**
 * A changed record: its id and all its fields, because what a form leaves out may be emptied. Left
 * out are `null` and nested values, and secrets, which a device shows masked or hashed; each is sent
 * when the user asked for it. Throws RefusedError for a record without a usable id.
 */
export function updateRequest(
  profile: Profile,
  resource: string,
  before: DeviceRecord,
  changes: DeviceRecord,
): WriteRequest {
  const path = checkedCollection(profile, resource);
  const { field: idField, id } = checkedId(profile, resource, before);
  if (Object.hasOwn(changes, idField) && formText(changes[idField] ?? null) !== id) {
    throw new RefusedError(`the ${idField} of a ${resource} cannot be changed`);
  }
  const documented = profile.resources[resource]?.fields ?? [];
  const fields = new Set([...documented, ...Object.keys(before), ...Object.keys(changes)]);
  fields.delete(idField);
  const form: (readonly [string, string])[] = [[idField, id]];
  for (const field of fields) {
    if (Object.hasOwn(changes, field)) form.push(...pairsOf(field, changes[field] ?? null));
    else if (Object.hasOwn(before, field)) {
      const value = before[field] ?? null;
      if (value === null && documented.includes(field)) form.push([field, '']);
      else if (isKept(field, value)) form.push(...pairsOf(field, value));
    }
  }
  return { method: 'POST', path, form };
}

/** Deletes one record by its own path; never a collection. Throws RefusedError for an unusable id. */
export function deleteRequest(
  profile: Profile,
  resource: string,
  record: DeviceRecord,
): WriteRequest {
  const collection = checkedCollection(profile, resource);
  const { id } = checkedId(profile, resource, record);
  const path = profile.deletePath
    .replace('{collection}', () => collection)
    .replace('{id}', () => encodeURIComponent(id));
  assertRecordPath(path, collection);
  return { method: 'DELETE', path };
}

/** The last look before a DELETE: the path, as it will be sent, is one segment below its collection. */
function assertRecordPath(path: string, collection: string): void {
  const sent = new URL(path, 'https://device.invalid');
  const segment = sent.pathname.slice(collection.length).replace(/\/$/, '');
  const isOneRecord =
    sent.pathname === path &&
    sent.pathname.startsWith(collection) &&
    segment !== '' &&
    !segment.includes('/');
  if (!isOneRecord)
    throw new RefusedError(`${path} is not the path of one record; nothing was sent`);
}

/**
 * Refuses to delete a whole resource, however the path is spelled: `/api/user/`, `/api//user`,
 * `/api/user/x/..`. Throws RefusedError.
 */
export function assertNoCollection(profile: Profile, path: string): void {
  const base = segmentsOf(profile.basePath);
  const sent = segmentsOf(path);
  const isCollection =
    sent.length <= base.length + 1 &&
    base.every((part, index) => index >= sent.length || sent[index] === part);
  const hasDots = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:[/\\?#]|%2f|%5c|$)/i.test(path);
  if (isCollection || hasDots) {
    throw new RefusedError(
      `DELETE ${path} may delete more than one record: nothing was sent. Name one record, as in ` +
        `${profile.basePath}user/<uuid>/`,
    );
  }
}

/** The names in a path as a server may compare them. */
function segmentsOf(path: string): string[] {
  const { pathname } = new URL(path, 'https://device.invalid');
  return pathname
    .replace(/%[2-7][0-9a-f]/gi, (code) => String.fromCharCode(parseInt(code.slice(1), 16)))
    .toLowerCase()
    .split('/')
    .filter((part) => part !== '');
}

function checkedCollection(profile: Profile, resource: string): string {
  if (!isResourceName(resource)) throw new UsageError(`"${resource}" is no name of a resource`);
  return collectionPath(profile, resource);
}

function checkedId(
  profile: Profile,
  resource: string,
  record: DeviceRecord,
): { field: string; id: string } {
  const field = idFieldOf(profile, record);
  if (field === undefined) {
    throw new RefusedError(
      `this ${resource} has no id (${profile.idFields.join(', ')}): devsh cannot say which one is meant`,
    );
  }
  const id = formText(record[field] ?? null);
  if (!isUsableId(id)) {
    throw new RefusedError(
      `the ${field} of this ${resource} is ${JSON.stringify(id.slice(0, 80))}, which does not name one ` +
        `record: nothing was sent`,
    );
  }
  return { field, id };
}

/** Ids that a device may take for "none", or a server for a way up to the collection. */
function isUsableId(id: string): boolean {
  if (id.trim() === '' || /^(?:null|undefined|none)$/i.test(id.trim())) return false;
  if (/[\p{Cc}\p{Surrogate}]/u.test(id)) return false;
  // Some servers decode once more before they walk the path.
  const decoded = id
    .replace(/%2e/gi, '.')
    .replace(/%2f|%5c/gi, '/')
    .replaceAll('\\', '/');
  return !decoded.split('/').some((segment) => ['', '.', '..'].includes(segment.trim()));
}

/** Whether a value that nobody asked to change goes along in a form. */
function isKept(field: string, value: Value): boolean {
  if (value === null || isSecretField(field)) return false;
  if (isValueList(value)) return value.every((item) => typeof item !== 'object' || item === null);
  return typeof value !== 'object';
}

function pairsOf(field: string, value: Value): [field: string, text: string][] {
  if (!isValueList(value)) return [[field, formText(value)]];
  return value.map((item) => [field, formText(item)]);
}
