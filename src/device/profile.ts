import { rememberedFor } from '../text/remember.ts';
import type {
  ConfiguredList,
  ConfiguredProfile,
  ConfiguredResource,
  ConfiguredWrite,
  FieldFacts,
} from './profile-schema.ts';
import { type DeviceRecord, type Value, valueAt, valueText } from './record.ts';
import { attempt } from '../errors.ts';
import { inCode } from '../text/yaml-names.ts';

/** The source of a fact: the API document, convention, this device, or the user. */
export type Origin = 'documented' | 'assumed' | 'observed' | 'configured';

export const WRITES = ['create', 'update', 'remove'] as const;
export type WriteName = (typeof WRITES)[number];

/** Facts that a file may omit but a profile always has. */
type Known<Facts, Names extends keyof Facts> = Facts & Required<Pick<Facts, Names>>;

export type ResourceProfile = Known<ConfiguredResource, 'keyField' | 'fields'>;

export function fieldsWith(
  { resources }: Profile,
  resource: string,
  quality: keyof FieldFacts,
): readonly string[] {
  const fields = Object.entries(resources[resource]?.fields ?? {});
  return fields.flatMap(([field, known]) => (known[quality] === true ? field : []));
}

export function fieldFacts({ resources }: Profile, resource: string, field: string): FieldFacts {
  return valueAt(resources[resource]?.fields, field) ?? {};
}

/** Whether the device itself has described its fields. */
export function isDescribed({ resources }: Profile, resource: string): boolean {
  const fields = Object.values(resources[resource]?.fields ?? {});
  return fields.some(({ type, isStated }) => type !== undefined && isStated !== true);
}

/** Whether a field takes only certain values, none of them empty. */
export function isChoiceField({ choice, choices }: FieldFacts): boolean {
  return choice === true || choices !== undefined;
}

/** What says that the device takes values of a field; what was seen of it does not. */
const INPUT = [
  ...['type', 'choices', 'nullable', 'readOnly', 'createOnly', 'writeOnly'],
  ...['secret', 'harmless', 'rights'],
] as readonly (keyof FieldFacts)[];

export function isWritable(known: FieldFacts): boolean {
  return known.readOnly !== true && INPUT.some((fact) => known[fact] !== undefined);
}

export type WriteFacts = Known<
  ConfiguredWrite,
  'method' | 'path' | 'encoding' | 'constants' | 'selector' | 'record'
>;

export type ListFacts = Known<ConfiguredList, 'path' | 'paging'>;

/** How one family of devices speaks: data only. */
export interface Profile extends Omit<
  Known<ConfiguredProfile, 'basePath' | 'endsWithSlash' | 'idFields'>,
  'extends' | 'resources' | 'list' | WriteName
> {
  readonly name: string;
  readonly resources: Readonly<Partial<Record<string, ResourceProfile>>>;
  readonly list: ListFacts;
  readonly create: WriteFacts;
  readonly update: WriteFacts;
  readonly remove: WriteFacts;
  /** Facts of its file that have no effect any more. */
  readonly ignored?: readonly string[];
  /** The origins by the name of a fact (`update.method`, `update`). */
  readonly origins: Readonly<Partial<Record<string, Origin>>>;
}

/** A fact by its name in the code: `update.method`, `resources.user.keyField`, `resources.user.fields.lang`. */
export type Fact = readonly [fact: string, value: unknown];

/** A fact of a group: the name of the group, and its own. Any other object is a value. */
const OF_GROUP =
  /^(resources\.[^.]+(?:\.(?:fields|list|update|rotate|rotateToken))?|list|create|update|remove|revision|auth(?:\.login)?)\.(.+)$/;
/** Groups that are configured as soon as one of their facts is. */
const WHOLE = /(?:^|\.)(?:create|update|remove|revision|auth|login|rotate|rotateToken)$/;

/** The facts in a group, under the names of a file or of the code. */
export function* factsOf(group: object, above = ''): Generator<Fact> {
  // Names of resources and fields are those of the device.
  const isGiven = /^resources\.(?:[^.]+\.fields\.)?$/.test(above);
  for (const [name, value] of Object.entries(group) as [string, unknown][]) {
    const fact = above + (isGiven ? name : inCode(name));
    const isGroup = fact === 'resources' || OF_GROUP.exec(`${fact}.x`)?.[1] === fact;
    if (isGroup && typeof value === 'object' && value !== null) yield* factsOf(value, `${fact}.`);
    else if (value !== undefined) yield [fact, value];
  }
}

/** A profile with these facts. No origin replaces `configured`. */
export function profileWith(base: Profile, facts: Iterable<Fact>, origin?: Origin): Profile {
  const origins = { ...base.origins };
  const copies = new Map<string, Record<string, unknown>>([['', { ...base, origins }]]);
  const groupAt = (place: string): Record<string, unknown> => {
    const known = copies.get(place);
    if (known !== undefined) return known;
    const [, above = '', name = place] = /^(.*)\.([^.]+)$/.exec(place) ?? [];
    const parent = groupAt(above);
    const copy =
      above === 'resources' ? { ...resourceOf(base, name) } : { ...(parent[name] ?? {}) };
    parent[name] = copy;
    copies.set(place, copy);
    return copy;
  };
  for (const [fact, value] of facts) {
    const [, place = '', name = fact] = OF_GROUP.exec(fact) ?? [];
    groupAt(place)[name] = value;
    if (origin === undefined || origins[fact] === 'configured') continue;
    origins[fact] = origin;
    if (origin !== 'configured' || !WHOLE.test(place)) continue;
    origins[place] = origin;
    if (place === 'auth.login') origins['auth'] = origin;
  }
  return groupAt('') as Profile & Record<string, unknown>;
}

export function resourceOf({ resources }: Profile, resource: string): ResourceProfile {
  const keyField = resource === 'user' ? 'username' : 'name';
  return resources[resource] ?? { keyField, fields: {} };
}

/** The fields that a device has, as its profile says. */
export function describedFields(profile: Profile, resource: string): readonly string[] {
  return Object.keys(profile.resources[resource]?.fields ?? {});
}

/** The same, and those that records show. */
export function knownFields(
  profile: Profile,
  resource: string,
  records: readonly DeviceRecord[],
): Set<string> {
  const fields = new Set(describedFields(profile, resource));
  for (const record of records) for (const field in record) fields.add(field);
  return fields;
}

export function withResource(
  profile: Profile,
  resource: string,
  facts: Partial<ResourceProfile>,
): Profile {
  const known = { ...resourceOf(profile, resource), ...facts };
  return { ...profile, resources: { ...profile.resources, [resource]: known } };
}

/** `DELETE /api/login`, or the path alone. */
export function logoutParts(logout: string): { method: 'POST' | 'DELETE' | 'GET'; path: string } {
  const [, method, path = ''] = /^(?:(POST|DELETE|GET) )?(.*)$/.exec(logout) ?? [];
  return { method: (method ?? 'POST') as 'POST' | 'DELETE' | 'GET', path };
}

/** The resource whose records log in. */
export function accountsOf({ accounts = 'user' }: Profile): string {
  return accounts;
}

/** Common natural keys, for resources unknown to the profile. */
const KEY_FIELDS = ['username', 'name'];

/** If no record has the profile's field, the first likely field that they have. Empty for a single object. */
export function keyFieldOf(
  profile: Profile,
  resource: string,
  records: readonly DeviceRecord[] = [],
): string {
  if (isSingle(profile, resource)) return '';
  const place = placeField(profile, resource);
  if (place !== undefined) return place;
  const known = profile.resources[resource]?.keyField;
  const candidates = [...(known === undefined ? [] : [known]), ...KEY_FIELDS, ...profile.idFields];
  const present = candidates.find((field) =>
    records.some((record) => Object.hasOwn(record, field)),
  );
  return present ?? known ?? 'name';
}

/** The field `domain/name` that devsh adds to the records of a sub-resource as their natural key: `example.org/www`. */
export function placeField({ resources }: Profile, resource: string): string | undefined {
  const { parent, keyField } = resources[resource] ?? {};
  return parent === undefined ? undefined : `${parent}/${keyField ?? ''}`;
}

/** Whether a delete may concern records of other resources. */
export function hasDependents({ resources }: Profile): boolean {
  return Object.keys(resources).length > 1;
}

/** Whether a resource is one object without a list. */
export function isSingle(profile: Profile, resource: string): boolean {
  return profile.resources[resource]?.single === true;
}

/** The same if configured; an observed value shows again in each response. */
export function configuredSingle(
  { resources, origins }: Profile,
  resource: string,
): boolean | undefined {
  const isObserved = origins[`resources.${resource}.single`] === 'observed';
  return isObserved ? undefined : resources[resource]?.single;
}

/** Whether the path of a record ends with its natural key. */
export function isNamedByKey({ resources, idFields }: Profile, resource: string): boolean {
  return idFields.length === 0 || resources[resource]?.namedBy === 'key';
}

export function listFacts({ resources, list }: Profile, resource: string): ListFacts {
  return { ...list, ...resources[resource]?.list };
}

export function detailPath(profile: Profile, resource: string): string {
  const { detail = '{item}' } = listFacts(profile, resource);
  return detail === 'none' ? '{item}' : detail;
}

/** Whether a list leaves out fields that the record itself has. */
export function isSummary(profile: Profile, resource: string): boolean {
  return listFacts(profile, resource).summary ?? false;
}

/** How a record is changed. A single object is changed at its only path, without a selector. */
export function updateFacts(profile: Profile, resource: string): WriteFacts {
  const own = profile.resources[resource]?.update;
  const single = isSingle(profile, resource)
    ? ({ path: '{collection}', selector: 'none' } as const)
    : {};
  return { ...profile.update, ...single, ...own };
}

/** The id of a new record in the documented POST. */
export const NO_ID = 'null';

/** The field with the record's id; undefined if it has none, or stores `NO_ID` literally. */
export function idFieldOf(profile: Profile, record: DeviceRecord): string | undefined {
  return profile.idFields.find((field) => {
    const value = valueAt(record, field);
    const isPlain = ['string', 'number', 'bigint'].includes(typeof value);
    return isPlain && value !== '' && value !== NO_ID;
  });
}

/** Whether the device takes the id of a new record from its user, and no add can be a change of another one. */
export function takesId(profile: Profile, resource: string, field: string): boolean {
  const { create } = profile;
  const update = updateFacts(profile, resource);
  const isOneWay = create.method === update.method && create.path === update.path;
  return isWritable(fieldFacts(profile, resource, field)) && !isOneWay;
}

/** The record's id as text, otherwise the last segment of its own address, if any. */
export function idOf(profile: Profile, record: DeviceRecord): string | undefined {
  const field = idFieldOf(profile, record);
  if (field !== undefined) return valueText(record[field]);
  return profile.idFields.length === 0 ? undefined : ownAddress(record, profile.basePath)?.id;
}

/** The path of a resource: `/api/user/`. The resource must be a plain name. */
export function collectionPath(profile: Profile, resource: string): string {
  const own = profile.resources[resource]?.path;
  if (own !== undefined) return own;
  return `${profile.basePath}${resource}${profile.endsWithSlash ? '/' : ''}`;
}

export function itemPath(profile: Profile, resource: string, id: string): string {
  // A configured path may end differently from those below the base path.
  const own = profile.resources[resource]?.path;
  const end = (own?.endsWith('/') ?? profile.endsWithSlash) ? '/' : '';
  const collection = collectionPath(profile, resource).replace(/\/$/, '');
  return `${collection}/${encodeURIComponent(id)}${end}`;
}

export function listPath(profile: Profile, resource: string): string {
  return listFacts(profile, resource)
    .path.replace('{collection}', () => collectionPath(profile, resource))
    .replace('{resource}', () => resource);
}

export function listRequest(
  profile: Profile,
  resource: string,
  path = listPath(profile, resource),
) {
  const { post: json } = listFacts(profile, resource);
  // A redirect of a POST is not followed.
  return json === undefined
    ? ({ method: 'GET', path } as const)
    : ({ method: 'POST', path, json, isQuery: true } as const);
}

/** Whether a record counts as gone, although its device still shows it. */
export function isDeleted({ resources }: Profile, resource: string, record: DeviceRecord): boolean {
  const marks = Object.entries(resources[resource]?.deletedAs ?? {});
  return (
    marks.length > 0 && marks.every(([field, text]) => valueText(valueAt(record, field)) === text)
  );
}

export function isResourceName(resource: string): boolean {
  return /^[A-Za-z0-9][\w-]{0,63}$/.test(resource);
}

/** Fields with a record's own URL, which hyperlinked serializers write instead of an id. */
const ADDRESS_FIELDS = ['url', 'href', 'self', '@odata.id'];
/** Fields with an id that may be such an address, as in JSON-LD: `"@id": "/api/users/7"`. */
const ID_FIELDS = ['@id', 'id', '_id', 'uri', 'resource_uri'];

export function isPathId(value: Value | undefined): boolean {
  return typeof value === 'string' && value.startsWith('/');
}

interface OwnAddress {
  readonly field: string;
  /** Without a trailing slash. */
  readonly collection: string;
  readonly id: string;
}

/** The address of a record; undefined if it has none below the base path. */
export function ownAddress(record: DeviceRecord, basePath: string): OwnAddress | undefined {
  for (const field of [...ADDRESS_FIELDS, ...ID_FIELDS]) {
    const value = valueAt(record, field);
    if (ID_FIELDS.includes(field) && !isPathId(value)) continue;
    if (typeof value !== 'string' || !URL.canParse(value, 'https://device.invalid')) continue;
    // What the URL parser resolves or drops may be the address of another record.
    if (/[\\#]|\/(?:\.|%2e){1,2}(?:\/|$)/i.test(value)) continue;
    const { pathname, search } = new URL(value, 'https://device.invalid');
    const [, collection = '', last = ''] = /^(.+)\/([^/]+)\/?$/.exec(pathname) ?? [];
    const id = attempt(URIError, () => decodeURIComponent(last));
    const isBelow = `${collection}/`.startsWith(basePath) && `${collection}/` !== basePath;
    if (id !== undefined && isBelow && search === '') return { field, collection, id };
  }
  return undefined;
}

export function writeFactsOf(profile: Profile, write: WriteName, resource: string): WriteFacts {
  return write === 'update' ? updateFacts(profile, resource) : profile[write];
}

export function originOfWrite(profile: Profile, write: WriteName, resource: string): Origin {
  const isOwn = write === 'update' && isSingle(profile, resource);
  const own = profile.origins[`resources.${resource}.${write}`];
  return own ?? (isOwn ? 'observed' : (profile.origins[write] ?? 'assumed'));
}

export function originOf({ origins }: Profile, fact: string): Origin {
  const group = fact.replace(/\.[^.]*$/, '');
  return origins[fact] ?? origins[group] ?? 'assumed';
}

/** Whether an id is only the index of a record in the list. */
export function hasPositionalIds(profile: Profile): boolean {
  return profile.ids === 'positional';
}

/** Fields managed by the device: its state, its address, links to others. */
export function bookkeepingFields(profile: Profile, resource: string): readonly string[] {
  const added = [profile.revision?.field, placeField(profile, resource)];
  const own = fieldsWith(profile, resource, 'bookkeeping');
  return [...own, ...added.filter((field) => field !== undefined)];
}

/** Fields that the device manages itself and users cannot set. */
export function managedFields(profile: Profile, resource: string): readonly string[] {
  const volatile = fieldsWith(profile, resource, 'volatile');
  return [...volatile, ...bookkeepingFields(profile, resource)];
}

/** Fields whose difference means nothing. */
export function ignoredFields(profile: Profile, resource: string): readonly string[] {
  const ids = hasPositionalIds(profile) ? profile.idFields : [];
  return [...ids, ...managedFields(profile, resource)];
}

/** Fields that none of these records shows, by the profile, OPTIONS, an earlier reading or an own write. */
export const hiddenFields = rememberedFor(
  (records: readonly DeviceRecord[], profile: Profile, resource: string): readonly string[] =>
    Object.entries(resourceOf(profile, resource).fields).flatMap(([field, known]) => {
      const { hidden, needed = false, shown = false } = known;
      const isTaken = hidden ?? (needed || shown || isWritable(known));
      const isShown =
        known.writeOnly !== true && records.some((record) => Object.hasOwn(record, field));
      return profile.idFields.includes(field) || !isTaken || isShown ? [] : field;
    }),
);

/** The fields that a summary is known to leave out; undefined if the list shows all, as far as is known. */
export function omittedByList(
  profile: Profile,
  resource: string,
  records: readonly DeviceRecord[],
): readonly string[] | undefined {
  return isSummary(profile, resource) ? hiddenFields(records, profile, resource) : undefined;
}
