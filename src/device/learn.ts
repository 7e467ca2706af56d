import { RefusedError } from '../errors.ts';
import type { Device } from './device.ts';
import { RejectedError } from './errors.ts';
import type { Answer } from './exchange.ts';
import { parseJson, JsonFailure } from './json.ts';
import type { FieldFacts, Learned, LearnedResource } from './learned-schema.ts';
import { isNoAnswer, lookAtAnswers } from './learned.ts';
import { pagingText } from './paging.ts';
import {
  collectionPath,
  idOf,
  isNamedByKey,
  isResourceName,
  keyFieldOf,
  withResource,
  type Profile,
} from './profile.ts';
import { writePath } from './record-path.ts';
import type { DeviceRecord, Value } from './record.ts';
import { isValueObject, isValueList, valueText } from './value-text.ts';

/**
 * Looks at what a device says of itself, without writing: `GET /api/`, `OPTIONS` on the list and on one
 * record. What it refuses to say is left out. Throws when cancelled, and when the certificate is not
 * that of the device (any more): nobody answers then who could say something of it.
 */
export async function learn(
  device: Device,
  resource: string,
  records: readonly DeviceRecord[],
  now: Date,
  signal?: AbortSignal,
): Promise<Learned> {
  const { profile } = device;
  const root = await ask(device, 'GET', profile.basePath, signal);
  const collection = await ask(device, 'OPTIONS', collectionPath(profile, resource), signal);
  const example =
    device.listing(resource)?.single === true ? undefined : exampleOf(device, resource, records);
  const one = example && (await lookAtOne(device, resource, example, signal));
  const path = example && pathOf(profileFor(profile, resource, one?.namedBy), resource, example);
  const item = path === undefined ? undefined : await ask(device, 'OPTIONS', path, signal);
  const answers = await lookAtAnswers(device, resource, signal);
  const resources = root === undefined ? undefined : resourcesIn(root);
  return {
    at: now.toISOString(),
    ...(resources !== undefined && { resources }),
    ...(Object.keys(answers).length > 0 && { answers }),
    byResource: {
      [resource]: {
        ...(records.length > 0 && { sawRecords: true }),
        ...listFacts(device, resource),
        ...one,
        ...resourceFacts(collection, item),
      },
    },
  };
}

/** Only what it says of the fields of a resource: what a delete takes for good. */
export async function learnFields(
  device: Device,
  resource: string,
  now: Date,
  signal?: AbortSignal,
): Promise<Learned> {
  const path = collectionPath(device.profile, resource);
  const said = objectIn(await ask(device, 'OPTIONS', path, signal));
  const fields = said && fieldsIn(said);
  return { at: now.toISOString(), byResource: fields ? { [resource]: { fields } } : {} };
}

/** Whether nothing is left to learn: an empty list said nothing of the records that came later. */
export function isLearned(
  known: LearnedResource | undefined,
  records: readonly DeviceRecord[],
): boolean {
  return known !== undefined && (known.sawRecords === true || records.length === 0);
}

/** Whether the fields are all that was learned. */
export function areFieldsLearned(known: LearnedResource | undefined): boolean {
  return known?.fields !== undefined && known.envelope === undefined;
}

/** A record that paths name without doubt: one with a slash in it may be looked for elsewhere. */
function exampleOf(
  { profile }: Device,
  resource: string,
  records: readonly DeviceRecord[],
): DeviceRecord | undefined {
  const keyField = keyFieldOf(profile, resource, records);
  const isPlain = (name: string | undefined): boolean => !/[/\\]/.test(name ?? '');
  return records.find(
    (record) => isPlain(idOf(profile, record)) && isPlain(valueText(record[keyField])),
  );
}

/** Where one record is; undefined when nothing names it. */
function pathOf(profile: Profile, resource: string, record: DeviceRecord): string | undefined {
  try {
    return writePath(profile, { path: '{item}' }, resource, record);
  } catch (error) {
    if (error instanceof RefusedError) return undefined;
    throw error;
  }
}

/** A profile as it is when paths name the records of a resource in this way. */
function profileFor(profile: Profile, resource: string, namedBy: 'key' | undefined): Profile {
  if (namedBy === undefined) return profile;
  return withResource(profile, resource, { namedBy });
}

/** What reading one record at its own path shows: by what paths name it, and what lists leave out. */
async function lookAtOne(
  device: Device,
  resource: string,
  record: DeviceRecord,
  signal: AbortSignal | undefined,
): Promise<Pick<LearnedResource, 'summary' | 'namedBy'>> {
  const { profile } = device;
  const read = (known: Profile): Promise<boolean | 'not found' | undefined> =>
    isLeftOut(device, resource, record, known, signal);
  const byId = await read(profile);
  const isSaid = profile.origins[`resources.${resource}.namedBy`] === 'configured';
  const isByKey = byId === 'not found' && !isSaid && !isNamedByKey(profile, resource);
  const found = isByKey ? await read(profileFor(profile, resource, 'key')) : byId;
  if (found === 'not found' || found === undefined) return {};
  return {
    ...(profile.list.summary === undefined && { summary: found }),
    ...(isByKey && { namedBy: 'key' as const }),
  };
}

/** Links lead elsewhere: they are no fields that a list leaves out. */
const LINK = /^(?:_.*|url|href|links?)$/;

/** Whether one record has more fields than its list shows; undefined where the device does not tell. */
export async function isLeftOut(
  device: Device,
  resource: string,
  record: DeviceRecord,
  profile: Profile,
  signal: AbortSignal | undefined,
): Promise<boolean | 'not found' | undefined> {
  try {
    const [full = record] = await device.details(resource, [record], signal, profile);
    return Object.keys(full).some((field) => !Object.hasOwn(record, field) && !LINK.test(field));
  } catch (error) {
    if (!isNoAnswer(error)) throw error;
    const isUnnamed = error instanceof RefusedError;
    const isUnknown = error instanceof RejectedError && error.status === 404;
    return isUnnamed || isUnknown ? 'not found' : undefined;
  }
}

/** The answer when it is a success or says `Allow`; whatever else a device answers is no fact. */
async function ask(
  device: Device,
  method: 'GET' | 'OPTIONS',
  path: string,
  signal: AbortSignal | undefined,
): Promise<Answer | undefined> {
  try {
    const answer = await device.raw({ method, path }, signal);
    return answer.status < 300 || answer.status === 405 ? answer : undefined;
  } catch (error) {
    if (!isNoAnswer(error)) throw error;
    return undefined;
  }
}

/** How its list was last read; a list of one page says nothing of paging. */
function listFacts(device: Device, resource: string): LearnedResource {
  const listing = device.listing(resource);
  if (listing === undefined) return {};
  const { envelope, paging } = listing;
  return { envelope, ...(paging !== undefined && { paging: pagingText(paging) }) };
}

function resourceFacts(collection: Answer | undefined, item: Answer | undefined): LearnedResource {
  const said = objectIn(collection);
  const fields = said && fieldsIn(said);
  const parses = said && textsIn(said['parses']);
  const collectionAllows = allowedBy(collection);
  const itemAllows = allowedBy(item);
  return {
    ...(fields && { fields }),
    ...(parses && { parses }),
    ...(collectionAllows && { collectionAllows }),
    ...(itemAllows && { itemAllows }),
  };
}

/** `GET /api/` of Django REST Framework: names with their addresses. */
function resourcesIn(root: Answer): string[] | undefined {
  const value = objectIn(root);
  if (value === undefined) return undefined;
  const names = Object.entries(value)
    .filter(([name, address]) => typeof address === 'string' && isResourceName(name))
    .map(([name]) => name);
  return names.length > 0 ? names : undefined;
}

function allowedBy(answer: Answer | undefined): string[] | undefined {
  const allow = answer?.headers['allow'];
  if (allow === undefined) return undefined;
  const methods = allow
    .split(',')
    .map((method) => method.trim().toUpperCase())
    .filter((method) => /^[A-Z]+$/.test(method));
  return methods.length > 0 ? methods : undefined;
}

type JsonObject = Readonly<Record<string, Value>>;

/** `actions: {POST: {field: {type, required, read_only, choices …}}}` */
function fieldsIn(said: JsonObject): Record<string, FieldFacts> | undefined {
  const { actions } = said;
  const described = isValueObject(actions) ? (actions['POST'] ?? actions['PUT']) : undefined;
  if (!isValueObject(described)) return undefined;
  const fields = Object.entries(described).flatMap(([name, facts]) =>
    isValueObject(facts) ? [[name, fieldOf(facts)] as const] : [],
  );
  return fields.length > 0 ? Object.fromEntries(fields) : undefined;
}

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
    // Less than nothing is no limit, and would keep every value out.
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

function objectIn(answer: Answer | undefined): JsonObject | undefined {
  if (answer === undefined || answer.status >= 300) return undefined;
  try {
    const value = parseJson(answer.body);
    return isValueObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof JsonFailure) return undefined;
    throw error;
  }
}
