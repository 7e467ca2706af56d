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
import { type DeviceRecord, isValueList, isValueObject, valueText } from './record.ts';
import { textOf } from '../output/sentences.ts';

interface Asking {
  readonly device: Device;
  readonly facts: DeviceFacts;
  readonly resource: string;
  readonly signal?: AbortSignal | undefined;
}

/** Sends GET and OPTIONS; without records only for the fields. Throws if cancelled, or for a wrong certificate. */
export async function learn(asking: Asking, records?: readonly DeviceRecord[]): Promise<void> {
  const { device, facts, resource } = asking;
  const { profile } = device;
  if (profile.resources[resource]?.parent !== undefined) return;
  const fact = `resources.${resource}.options` as const;
  const path = collectionPath(profile, resource);
  const source = `OPTIONS ${maskedPath(path)}`;
  const root = records && (await ask(asking, 'GET', profile.basePath));
  const collection = await ask(asking, 'OPTIONS', path);
  const { actions, parses } = objectIn(collection);
  const fields = isValueObject(actions) ? (actions['POST'] ?? actions['PUT']) : undefined;
  const described = isValueObject(fields) ? Object.entries(fields) : [];
  for (const [field, about] of described) {
    if (isValueObject(about))
      facts.set(`resources.${resource}.fields.${field}`, fieldOf(about), source);
  }
  if (records === undefined) {
    if (described.length > 0) facts.set(fact, { of: 'fields' });
    return;
  }
  const isOne = isSingle(facts.profile, resource);
  const example = isOne ? undefined : exampleOf(profile, resource, records);
  if (example !== undefined) await noteOwn(asking, example);
  const item =
    example &&
    attempt(RefusedError, () => writePath(facts.profile, { path: '{item}' }, resource, example));
  const own = item === undefined ? undefined : await ask(asking, 'OPTIONS', item);
  facts.set('offers', resourcesIn(root), `GET ${profile.basePath}`);
  const [list, record] = [allowedBy(collection), allowedBy(own)];
  const takes = isValueList(parses) && parses.filter((type) => typeof type === 'string');
  const of = records.length > 0 ? 'records' : 'empty list';
  const said = { of, ...(list && { list }), ...(record && { record }), ...(takes && { takes }) };
  facts.set(fact, said, source);
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
  { device, signal }: Asking,
  method: RawRequest['method'],
  path: string,
): Promise<Response | undefined> {
  try {
    return await device.raw({ method, path }, signal);
  } catch (error) {
    if (!isMissingFact(error)) throw error;
    return undefined;
  }
}

/** `GET /api/` of Django REST Framework maps names to URLs. */
function resourcesIn(root: Response | undefined): string[] | undefined {
  const names = Object.entries(objectIn(root)).flatMap(([name, address]) =>
    typeof address === 'string' && isResourceName(name) ? name : [],
  );
  return names.length > 0 ? names : undefined;
}

function allowedBy(response: Response | undefined): string[] | undefined {
  const allow = response?.headers['allow'];
  const isAnswer = response !== undefined && (response.status < 300 || response.status === 405);
  if (allow === undefined || !isAnswer) return undefined;
  const methods = allow.toUpperCase().match(/[A-Z]+/g) ?? [];
  return methods.length > 0 ? methods : undefined;
}

/** `{type, required, read_only, choices …}`, as `OPTIONS` says it in `actions.POST`. */
function fieldOf(about: DeviceRecord): FieldFacts {
  const { type, label, required, choices } = about;
  const limits = Object.entries(LIMITS).flatMap(([name, limit]) => {
    const value = about[name];
    // A negative length would reject every value.
    return typeof value === 'number' && (limit !== 'maxLength' || value >= 0)
      ? [[limit, value] as const]
      : [];
  });
  return {
    type: typeof type === 'string' ? type : 'field',
    required: required === true,
    readOnly: about['read_only'] === true,
    ...(typeof label === 'string' && { label }),
    ...Object.fromEntries(limits),
    ...(isValueList(choices) && {
      choices: choices.filter(isValueObject).map(({ value, display_name: shown }) => ({
        value: valueText(value),
        label: valueText(shown ?? value),
      })),
    }),
  };
}

const LIMITS = { max_length: 'maxLength', min_value: 'min', max_value: 'max' } as const;

function objectIn(response: Response | undefined): DeviceRecord {
  if (response === undefined || response.status >= 300) return {};
  const value = jsonIn(response.body);
  return isValueObject(value) ? value : {};
}

/** Whether a failed question only means one fact fewer. False for a wrong certificate: nothing more may be sent. */
function isMissingFact(error: unknown): error is DevshError {
  if (!(error instanceof DevshError) || error instanceof UntrustedError) return false;
  return error.code !== 'cancelled';
}
