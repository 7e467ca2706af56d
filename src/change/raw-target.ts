import type { WriteRequest } from '../device/encode.ts';
import { jsonIn } from '../device/json.ts';
import {
  accountsOf,
  collectionPath,
  idOf,
  isSingle,
  keyFieldOf,
  knownFields,
  listPath,
  type Profile,
  updateFacts,
  NO_ID,
} from '../device/profile.ts';
import {
  type DeviceRecord,
  formText,
  frequencies,
  grouped,
  isNested,
  isValueList,
  jsonText,
  type Value,
  valueAt,
  valueText,
} from '../device/record.ts';
import { isStored } from '../device/equality.ts';
import { RefusedError } from '../errors.ts';
import { namesByQuery } from '../device/record-path.ts';
import { maskedPath } from '../device/sensitive-fields.ts';
import { pluralOf, someOf } from '../text/one-line.ts';
import { visible } from '../text/visible.ts';
import { type AccountList, bareName, foldedLook, textsOf } from './account-harm.ts';
import type { Change } from './change.ts';
import { canonicalId, isKeyOf, keyOf, percentDecoded } from './identity.ts';
import type { Note } from '../output/sentences.ts';

/** What a raw request means on one device, as far as its words and a complete list of records tell. */
export interface RawTarget {
  /** The records that it names; a new one if it creates a record. */
  readonly changes: readonly Change[];
  /** Why it is unknown what the request does to them. Each change is then a delete: the guards expect the worst. */
  readonly unknown?: Note | string | undefined;
}

/** The nearest collection of a path. */
export interface RawCollection {
  readonly resource: string;
  /** The decoded segments below it. */
  readonly below: readonly string[];
  /** Whether the profile has this resource at this path; false if only a word of the path names it. */
  readonly isOwn: boolean;
  /** The name of the parent of a sub-resource in the path. */
  readonly parent?: string | undefined;
}

const ORIGIN = 'https://device.invalid';
/** A field that says what a request does. */
const ACTION = /^_?(?:action|method|op|operation|cmd|command|verb|do)$/i;
const DELETES = /^(?:del|rem|destroy|drop|purge)/i;
const SEPARATORS = /[\s,;:/\\='"()[\]{}|&?]+/;

/** The nearest collection of the path that is known as a resource. */
export function collectionIn(
  profile: Profile,
  { method, path }: Pick<WriteRequest, 'method' | 'path'>,
): RawCollection | undefined {
  const segments = pathNames(path);
  const names = segments.map(resourceName);
  const { resources, offers = [] } = profile;
  const known = [...new Set([...Object.keys(resources), ...offers, accountsOf(profile)])];
  const own = known.flatMap((resource) => {
    const paths = [
      ...[listPath, collectionPath].map((of) => of(profile, resource)),
      collectionPath({ ...profile, resources: {} }, pluralOf(resource)),
    ];
    return paths.flatMap((path) => {
      const template =
        path
          .split('?')[0]
          ?.split('/')
          .filter((part) => part !== '') ?? [];
      const isAt = template.every(
        (part, index) => part === '{parent}' || part.toLowerCase() === names[index],
      );
      const parent = segments[template.indexOf('{parent}')];
      const below = segments.slice(template.length);
      return isAt ? [{ resource, below, isOwn: true, parent }] : [];
    });
  });
  const [nearest] = own.toSorted((one, other) => one.below.length - other.below.length);
  const isNamed = (one: string, word: string): boolean =>
    [one, pluralOf(one)].some((text) => text.toLowerCase() === word);
  const places = names.flatMap((name, index) =>
    known.some((one) => isNamed(one, name)) ? [index] : [],
  );
  const place =
    places.findLast((index) => index < names.length - 1) ??
    (method === 'DELETE' ? undefined : places[0]);
  // What follows the collection is a record, whatever its name.
  const isNearest = place === undefined || place <= names.length - (nearest?.below.length ?? 0);
  if (nearest !== undefined && isNearest) return nearest;
  const resource = known.find((one) => isNamed(one, names[place ?? -1] ?? ''));
  if (place === undefined || resource === undefined) return undefined;
  return { resource, below: segments.slice(place + 1), isOwn: false };
}

/**
 * A request of typed fields in the encoding of the device's own POSTs. Throws a `RefusedError` where these differ: nobody
 * knows then what the device would read.
 */
export function encodedFor(profile: Profile, request: WriteRequest): WriteRequest {
  if (request.form === undefined) return request;
  const { resource = accountsOf(profile) } = collectionIn(profile, request) ?? {};
  const { create, remove } = profile;
  const posts = [create, updateFacts(profile, resource), remove].filter(
    ({ method }) => method === 'POST',
  );
  const [first = create, ...others] = posts;
  if (others.some(({ encoding }) => encoding !== first.encoding)) {
    const path = maskedPath(request.path);
    throw new RefusedError({ code: 'not-sent', is: 'encoding', path });
  }
  if (first.encoding === 'form') return request;
  return { ...request, form: undefined, json: fieldsOf(request) };
}

/** Pure. `records`: the complete list of the collection. */
export function rawTarget(
  request: WriteRequest,
  profile: Profile,
  collection: RawCollection,
  records: readonly DeviceRecord[],
): RawTarget {
  const { resource } = collection;
  const keyField = keyFieldOf(profile, resource, records);
  const about = { profile, resource, keyField, records };
  const typed = request;
  const { inPath, strong, weak } = recordsNamed(about, request, collection);
  const matches = [...new Set([...strong, ...weak])];
  const [record] = matches;
  // Another text of a record, such as its first name, does not name it.
  const isNamed =
    record !== undefined &&
    rawWords(profile, request).some((word) =>
      isKeyOf(record, [keyField, ...profile.idFields], word),
    );
  const isKnown =
    collection.isOwn &&
    collection.below.length === (inPath.length > 0 ? 1 : 0) &&
    (request.method !== 'DELETE' || inPath.length > 0 || namesByQuery(profile, request.path)) &&
    isPlain(about, request);
  const fields = ownFields(about, fieldsOf(request), record);
  if (isKnown && isSingle(profile, resource)) {
    const target = { kind: 'key', key: '' } as const;
    return { changes: [{ action: 'set', resource, target, fields, typed }] };
  }
  if (isKnown && isNamed && matches.length === 1 && strong.length === 1) {
    const target = targetOf(about, record);
    if (isDelete(request)) return { changes: [{ action: 'delete', resource, target, typed }] };
    if (Object.keys(fields).length > 0) {
      return { changes: [{ action: 'set', resource, target, fields, typed }] };
    }
  }
  const isNew = isKnown && matches.length === 0 && !isDelete(request);
  if (isNew && valueText(fields[keyField]) !== '') {
    return { changes: [{ action: 'add', resource, fields, typed }] };
  }
  const named = matches.map((one) => visible(keyOf(profile, keyField, one)));
  const whom = named.length === 0 ? `no ${resource}` : someOf(named);
  const changes = matches.map((one): Change => {
    return { action: 'delete', resource, target: targetOf(about, one), typed };
  });
  const { method, path } = request;
  const unknown = {
    code: 'not-sent',
    is: 'unknown',
    method,
    path: maskedPath(path),
    whom,
  } as const;
  return { changes, unknown };
}

/** All words of a request that the device may take for the name of a record, even of an unknown list. */
export function rawWords(profile: Profile, request: WriteRequest): string[] {
  const base = pathNames(profile.basePath);
  const { below } = collectionIn(profile, request) ?? {
    below: pathNames(request.path).filter((segment) => !base.includes(segment)),
  };
  const { searchParams } = new URL(request.path, ORIGIN);
  return [...below, ...[...searchParams, ...pairsOf(request)].flat()].flatMap(wordsIn);
}

/** All words of a record that may name it. */
export function wordsOf(record: DeviceRecord): string[] {
  return pairsOf({ json: record }).flatMap(([, text]) => wordsIn(text));
}

export function isDelete(request: WriteRequest): boolean {
  return (
    request.method === 'DELETE' || actionsOf(request).some(([, text]) => DELETES.test(text.trim()))
  );
}

/** The decoded parts of a path that are not empty. */
export function pathNames(path: string): string[] {
  const { pathname } = new URL(path, ORIGIN);
  return percentDecoded(pathname)
    .split(/[/\\]/)
    .map((part) => part.trim())
    .filter((part) => part !== '' && part !== '*');
}

/** `User(7)` and `user;v=1` are both the resource `user`. */
function resourceName(segment: string): string {
  return segment.replace(/[;(].*$/s, '').toLowerCase();
}

function pairsOf({
  form = [],
  json = {},
}: Pick<WriteRequest, 'form' | 'json'>): [string, string][] {
  const values = Object.entries(json).map(([field, value]): [string, string] => [
    field,
    isNested(value) ? jsonText(value) : formText(value),
  ]);
  return [...form.map(([field, text]): [string, string] => [field, text]), ...values];
}

/** The fields of a request; the value of a repeated field is a list. */
function fieldsOf({ form = [], json = {} }: WriteRequest): DeviceRecord {
  const lists = [...grouped(form, ([field]) => field)].map(([field, pairs]): [string, Value] => {
    const texts = pairs.map(([, text]) => text);
    return [field, texts.length === 1 ? (texts[0] ?? '') : texts];
  });
  return Object.fromEntries([...lists, ...Object.entries(json)]);
}

function actionsOf(request: WriteRequest): [string, string][] {
  const query = [...new URL(request.path, ORIGIN).searchParams];
  return [...query, ...pairsOf(request)].filter(([field]) => ACTION.test(field));
}

/** The text itself, its parts if it is a list, and the texts and names inside JSON, at any depth. */
function wordsIn(text: string): string[] {
  const plain = percentDecoded(text);
  const json = /["[{]/.test(plain) ? textsIn(jsonIn(plain) ?? null) : [];
  return [plain, ...json.flatMap(wordsIn), ...plain.split(SEPARATORS)].filter((one) => one !== '');
}

function textsIn(value: Value): string[] {
  if (!isNested(value)) return [valueText(value)];
  if (isValueList(value)) return value.flatMap(textsIn);
  return Object.entries(value).flatMap(([name, inner]) => [name, ...textsIn(inner)]);
}

/** Whether the request says nothing of what it does, besides naming records and fields. */
function isPlain(about: AccountList, request: WriteRequest): boolean {
  const { profile, resource } = about;
  const hasQuery = new URL(request.path, ORIGIN).search !== '';
  if (request.method === 'DELETE') return !hasQuery || namesByQuery(profile, request.path);
  const stated = [profile.create, updateFacts(profile, resource), profile.remove];
  const isStated = ([field, text]: readonly [string, string]): boolean =>
    stated.some(({ constants }) => isStored(valueAt(constants, field), text));
  return (
    !hasQuery &&
    (isDelete(request)
      ? pairsOf(request).every(([field]) => ACTION.test(field) || isName(about, field))
      : actionsOf(request).every(isStated))
  );
}

function isName({ profile, keyField }: AccountList, field: string): boolean {
  return field === keyField || profile.idFields.includes(field);
}

/** The fields of the body that are those of the record: without what only names it or the action. */
function ownFields(
  { profile, resource }: AccountList,
  fields: DeviceRecord,
  record: DeviceRecord | undefined,
): DeviceRecord {
  const constants = [profile.create, updateFacts(profile, resource)].map((one) => one.constants);
  return Object.fromEntries(
    Object.entries(fields).filter(([field, value]) => {
      if (constants.some((one) => isStored(valueAt(one, field), value))) return false;
      if (!profile.idFields.includes(field)) return true;
      const text = valueText(value);
      const held = valueText(record?.[field]);
      return text !== '' && text !== NO_ID && canonicalId(text) !== canonicalId(held);
    }),
  );
}

function targetOf({ profile, keyField }: AccountList, record: DeviceRecord) {
  const id = idOf(profile, record);
  const key = id ?? valueText(record[keyField]);
  return { kind: 'key', key, by: id === undefined ? 'name' : 'id' } as const;
}

/** `strong`: named by the path, or by a field that names records; `weak`: by any other word. */
function recordsNamed(about: AccountList, request: WriteRequest, { below, parent }: RawCollection) {
  const { profile, resource, records } = about;
  const shown = knownFields(profile, resource, records);
  const find = finder(about);
  const words =
    parent === undefined ? below.flatMap(wordsIn) : below.map((word) => `${parent}/${word}`);
  const inPath = [...words, ...words.map(bareName)].flatMap(find);
  const strong = new Set(inPath);
  const weak = new Set<DeviceRecord>();
  const query = [...new URL(request.path, ORIGIN).searchParams];
  for (const [field, text] of [...query, ...pairsOf(request)]) {
    const isShown = shown.has(/^[^.[]*/.exec(field)?.[0] ?? field);
    const names = isName(about, field);
    if (isShown && !names && !isDelete(request)) continue;
    const found = [...wordsIn(text), ...(isShown || names ? [] : wordsIn(field))].flatMap(find);
    for (const record of found) (names ? strong : weak).add(record);
  }
  return { inPath, strong: [...strong], weak: [...weak] };
}

/** Finds the records with an id, or with a text that no other record has, in any spelling of the device. */
function finder({ profile, keyField, records }: AccountList) {
  const counts = frequencies(records.flatMap((record) => textsOf(record).map(([, text]) => text)));
  const shared = new Set(counts.flatMap(([text, count]) => (count > 1 ? [text] : [])));
  const names = records.flatMap((record) => {
    const ids = [
      idOf(profile, record),
      ...profile.idFields.map((field) => valueText(record[field])),
    ];
    const own = textsOf(record).flatMap(([, text]) => (shared.has(text) ? [] : [text]));
    return [...ids, valueText(record[keyField]), ...own].flatMap((name) =>
      name === undefined || name === '' ? [] : [{ name: canonicalId(name), record }],
    );
  });
  const exact = grouped(names, ({ name }) => name);
  const folded = grouped(names, ({ name }) => foldedLook(name));
  return (word: string): readonly DeviceRecord[] => {
    const id = canonicalId(word);
    if (id === '' || id === NO_ID) return [];
    const found = exact.get(id) ?? folded.get(foldedLook(id)) ?? [];
    return found.map(({ record }) => record);
  };
}
