import { DevshError, RefusedError, attempt } from '../errors.ts';
import type { Device, RawRequest } from './device.ts';
import { RejectedError, UntrustedError } from './errors.ts';
import type { Response } from './exchange.ts';
import { jsonIn } from './json.ts';
import type { DeviceFacts } from './facts.ts';
import type { FieldFacts } from './profile-schema.ts';
import {
  collectionPath,
  idOf,
  isNamedByKey,
  isResourceName,
  isSingle,
  keyFieldOf,
  resourceOf,
  withResource,
  type Profile,
} from './profile.ts';
import { writePath } from './record-path.ts';
import { maskedPath } from './sensitive-fields.ts';
import { type DeviceRecord, isValueList, isValueObject, type Value, valueText } from './record.ts';
import { textOf } from '../output/sentences.ts';

interface Asking {
  readonly device: Device;
  readonly facts: DeviceFacts;
  readonly resource: string;
  readonly signal?: AbortSignal | undefined;
}

/** Sends GET and OPTIONS; without records only for the fields. Throws if cancelled, or for a wrong certificate. */
export async function learn(asking: Asking, records?: readonly DeviceRecord[]): Promise<void> {
  const { device, facts, resource, signal } = asking;
  const { profile } = device;
  if (profile.resources[resource]?.parent !== undefined) return;
  const group = `resources.${resource}` as const;
  const root = records && (await ask(device, { method: 'GET', path: profile.basePath }, signal));
  const optionsOf = (path: string): Promise<Response | undefined> =>
    ask(device, { method: 'OPTIONS', path }, signal);
  const collection = await optionsOf(collectionPath(profile, resource));
  const description = objectIn(collection);
  const source = `OPTIONS ${maskedPath(collectionPath(profile, resource))}`;
  const hasFields = noteFields(facts, resource, description, source);
  if (records === undefined) {
    if (hasFields) facts.set(`${group}.options`, { of: 'fields' });
    return;
  }
  const isOne = isSingle(facts.profile, resource);
  const example = isOne ? undefined : exampleOf(profile, resource, records);
  if (example !== undefined) await noteOwn(asking, example);
  const path = example && pathOf(facts.profile, resource, example);
  const item = path === undefined ? undefined : await optionsOf(path);
  facts.set('offers', resourcesIn(root), `GET ${profile.basePath}`);
  const [allows, own, takes] = [
    allowedBy(collection),
    allowedBy(item),
    description && textsIn(description['parses']),
  ];
  const of = records.length > 0 ? 'records' : 'empty list';
  const said = { ...(allows && { list: allows }), ...(own && { record: own }) };
  facts.set(`${group}.options`, { of, ...said, ...(takes && { takes }) }, source);
}

function noteFields(
  facts: DeviceFacts,
  resource: string,
  { actions }: JsonObject = {},
  source: string,
): boolean {
  const described = isValueObject(actions) ? (actions['POST'] ?? actions['PUT']) : undefined;
  const fields = isValueObject(described) ? Object.entries(described) : [];
  const known = fields.filter((field): field is [string, JsonObject] => isValueObject(field[1]));
  for (const [field, about] of known) {
    facts.set(`resources.${resource}.fields.${field}`, fieldOf(about), source);
  }
  return known.length > 0;
}

/** A record with an unambiguous path: a slash in it may lead elsewhere. */
export function exampleOf(
  profile: Profile,
  resource: string,
  records: readonly DeviceRecord[],
): DeviceRecord | undefined {
  const { parent, keyField: own } = resourceOf(profile, resource);
  const keyField = parent === undefined ? keyFieldOf(profile, resource, records) : own;
  const isPlain = (name: string | undefined): boolean => !/[/\\]/.test(name ?? '');
  return records.find(
    (record) => isPlain(idOf(profile, record)) && isPlain(valueText(record[keyField])),
  );
}

/** The path of a record; undefined if it has no usable id or key. */
function pathOf(profile: Profile, resource: string, record: DeviceRecord): string | undefined {
  return attempt(RefusedError, () => writePath(profile, { path: '{item}' }, resource, record));
}

/** Links are not fields that a list leaves out. */
const LINK = /^(?:_.*|url|href|links?)$/;

export function unlistedFields(listed: DeviceRecord, full: DeviceRecord): string[] {
  return Object.keys(full).filter((field) => !Object.hasOwn(listed, field) && !LINK.test(field));
}

export interface OwnReading {
  readonly record?: DeviceRecord;
  /** Its path ends with its key, although it has an id. */
  readonly namedBy?: 'key';
  readonly error?: DevshError;
}

/** Reads a record at its own path, named by its id or else by its key. Throws if cancelled, or for a wrong certificate. */
async function readOwn(
  device: Device,
  profile: Profile,
  resource: string,
  record: DeviceRecord,
  signal?: AbortSignal,
): Promise<OwnReading> {
  try {
    const [full = record] = await device.details(resource, [record], signal, profile);
    return { record: full };
  } catch (error) {
    if (!isMissingFact(error)) throw error;
    const isUnknown = error instanceof RejectedError && error.status === 404;
    const isStated = profile.origins[`resources.${resource}.namedBy`] === 'configured';
    const mayHaveKey = isUnknown || error instanceof RefusedError;
    if (!mayHaveKey || isStated || isNamedByKey(profile, resource)) return { error };
    const namedBy = 'key';
    const other = withResource(profile, resource, { namedBy });
    const byKey = await readOwn(device, other, resource, record, signal);
    return byKey.record === undefined ? { error } : { ...byKey, namedBy };
  }
}

export async function noteOwn(
  { device, facts, resource, signal }: Asking,
  listed: DeviceRecord,
): Promise<OwnReading> {
  const own = await readOwn(device, facts.profile, resource, listed, signal);
  const { record, namedBy } = own;
  const source = textOf({ code: 'own-path' });
  const summary = record && unlistedFields(listed, record).length > 0;
  facts.set(`resources.${resource}.list.summary`, summary, source);
  facts.set(`resources.${resource}.namedBy`, namedBy, source);
  return own;
}

/** Undefined if the device does not respond: one fact fewer. */
async function ask(
  device: Device,
  request: RawRequest,
  signal: AbortSignal | undefined,
): Promise<Response | undefined> {
  try {
    return await device.raw(request, signal);
  } catch (error) {
    if (!isMissingFact(error)) throw error;
    return undefined;
  }
}

/** `GET /api/` of Django REST Framework maps names to URLs. */
function resourcesIn(root: Response | undefined): string[] | undefined {
  const names = Object.entries(objectIn(root) ?? {})
    .filter(([name, address]) => typeof address === 'string' && isResourceName(name))
    .map(([name]) => name);
  return names.length > 0 ? names : undefined;
}

function allowedBy(response: Response | undefined): string[] | undefined {
  const allow = response?.headers['allow'];
  const isAnswer = response !== undefined && (response.status < 300 || response.status === 405);
  if (allow === undefined || !isAnswer) return undefined;
  const methods = allow
    .split(',')
    .map((method) => method.trim().toUpperCase())
    .filter((method) => /^[A-Z]+$/.test(method));
  return methods.length > 0 ? methods : undefined;
}

type JsonObject = Readonly<Record<string, Value>>;

/** `{type, required, read_only, choices …}`, as `OPTIONS` says it in `actions.POST`. */
function fieldOf(facts: JsonObject): FieldFacts {
  const number = (name: string): number | undefined => {
    const value = facts[name];
    return typeof value === 'number' ? value : undefined;
  };
  const [maxLength, min, max] = [number('max_length'), number('min_value'), number('max_value')];
  const choices = isValueList(facts['choices'])
    ? facts['choices'].filter(isValueObject).map((choice) => ({
        value: valueText(choice['value']),
        label: valueText(choice['display_name'] ?? choice['value']),
      }))
    : undefined;
  return {
    type: typeof facts['type'] === 'string' ? facts['type'] : 'field',
    required: facts['required'] === true,
    readOnly: facts['read_only'] === true,
    ...(typeof facts['label'] === 'string' && { label: facts['label'] }),
    // A negative limit would reject every value.
    ...(maxLength !== undefined && maxLength >= 0 && { maxLength }),
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
    ...(choices !== undefined && { choices }),
  };
}

function textsIn(value: Value | undefined): string[] | undefined {
  if (!isValueList(value)) return undefined;
  return value.filter((item) => typeof item === 'string');
}

function objectIn(response: Response | undefined): JsonObject | undefined {
  if (response === undefined || response.status >= 300) return undefined;
  const value = jsonIn(response.body);
  return isValueObject(value) ? value : undefined;
}

/** Whether a failed question only means one fact fewer. False for a wrong certificate: nothing more may be sent. */
function isMissingFact(error: unknown): error is DevshError {
  if (!(error instanceof DevshError) || error instanceof UntrustedError) return false;
  return error.code !== 'cancelled';
}
