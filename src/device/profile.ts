import type { ListResponses, SeenOfResource, WriteName } from './facts-schema.ts';
import type {
  ConfiguredList,
  ConfiguredProfile,
  ConfiguredResource,
  ConfiguredWrite,
} from './profile-schema.ts';
import { type DeviceRecord, valueText } from './record.ts';

/** Where devsh knows a fact from: the API document, convention, this very device, or the user. */
export type Origin = 'documented' | 'assumed' | 'observed' | 'configured';

export const WRITES = ['create', 'update', 'remove'] as const satisfies readonly WriteName[];

/** Facts that a file may leave out, and a profile always has. */
type Known<Facts, Names extends keyof Facts> = Facts & Required<Pick<Facts, Names>>;

/** What is known about one resource (`user`, `interface`): said in a file, or seen. */
export interface ResourceProfile
  extends
    Known<ConfiguredResource, 'keyField' | 'fields' | 'choiceFields'>,
    Omit<SeenOfResource, keyof ConfiguredResource> {
  /** How it is changed, where that is known of this resource alone. */
  readonly update?: WriteFacts;
}

/** One kind of write: create, update or delete. */
export type WriteFacts = Known<
  ConfiguredWrite,
  'method' | 'path' | 'encoding' | 'constants' | 'selector' | 'record'
>;

/** How all records of a resource are read. */
export type ListFacts = Known<ConfiguredList, 'path' | 'paging'>;

/** How many connections a device takes at the same time. */
export type Connections = 'one' | 'several';

/** How one family of devices speaks: data only. */
export interface Profile extends Omit<
  Known<ConfiguredProfile, 'basePath' | 'endsWithSlash' | 'idFields' | 'noId'>,
  'extends' | 'resources' | 'list' | WriteName
> {
  readonly name: string;
  /** How lists were seen to be answered. */
  readonly answers?: ListResponses;
  readonly resources: Readonly<Partial<Record<string, ResourceProfile>>>;
  /** What the device says that it has; absent when it has not been asked. */
  readonly offers?: readonly string[];
  readonly list: ListFacts;
  readonly create: WriteFacts;
  readonly update: WriteFacts;
  readonly remove: WriteFacts;
  /** By the name of a fact (`update.method`, `update`): where devsh knows it from. */
  readonly origins: Readonly<Partial<Record<string, Origin>>>;
}

/** What is known of a resource, or as little as holds for any. */
export function resourceOf({ resources }: Profile, resource: string): ResourceProfile {
  const keyField = resource === 'user' ? 'username' : 'name';
  return resources[resource] ?? { keyField, fields: [], choiceFields: [] };
}

/** A profile with more facts of one resource. */
export function withResource(
  profile: Profile,
  resource: string,
  facts: Partial<ResourceProfile>,
): Profile {
  const known = { ...resourceOf(profile, resource), ...facts };
  return { ...profile, resources: { ...profile.resources, [resource]: known } };
}

/** Natural keys in use, for resources that the profile does not know. */
const KEY_FIELDS = ['username', 'name'];

/**
 * The field that people call a record by. When records are given and none has the profile's field,
 * it is the first likely one that they do have. Empty for a single object, which nothing names.
 */
export function keyFieldOf(
  profile: Profile,
  resource: string,
  records: readonly DeviceRecord[] = [],
): string {
  if (isSingle(profile, resource)) return '';
  const known = profile.resources[resource]?.keyField;
  const candidates = [...(known === undefined ? [] : [known]), ...KEY_FIELDS, ...profile.idFields];
  const held = candidates.find((field) => records.some((record) => hasOwn(record, field)));
  return held ?? known ?? 'name';
}

/** Whether a resource is one object: it is shown and changed, but there is no second one. */
export function isSingle(profile: Profile, resource: string): boolean {
  return profile.resources[resource]?.single === true;
}

/** The same where somebody said so; what was only observed shows anew in each answer. */
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

/** Whether a list leaves fields out that the record itself has. */
export function isSummary({ resources, list }: Profile, resource: string): boolean {
  return list.summary ?? resources[resource]?.summary ?? false;
}

/** How a record is changed. A single object has no other path than its own, and needs no selector. */
export function updateFacts(profile: Profile, resource: string): WriteFacts {
  const own = profile.resources[resource]?.update;
  if (own !== undefined || !isSingle(profile, resource)) return own ?? profile.update;
  return { ...profile.update, path: '{collection}', selector: 'none' };
}

/** The field that holds the record's id; undefined when it has none, or `noId` kept as it was sent. */
export function idFieldOf(profile: Profile, record: DeviceRecord): string | undefined {
  return profile.idFields.find((field) => {
    const value = hasOwn(record, field) ? record[field] : undefined;
    return (
      (typeof value === 'string' && value !== '' && value !== profile.noId) ||
      typeof value === 'number' ||
      typeof value === 'bigint'
    );
  });
}

/** The record's id as text, else what its own address ends with; undefined when it has neither. */
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

/** The path of one record: `/api/user/<id>/`. */
export function itemPath(profile: Profile, resource: string, id: string): string {
  // A path of its own may end in another way than those below the base path.
  const own = profile.resources[resource]?.path;
  const end = (own?.endsWith('/') ?? profile.endsWithSlash) ? '/' : '';
  const collection = collectionPath(profile, resource).replace(/\/$/, '');
  return `${collection}/${encodeURIComponent(id)}${end}`;
}

/** Where all records of a resource are read: `/api/user/`. */
export function listPath(profile: Profile, resource: string): string {
  return profile.list.path
    .replace('{collection}', () => collectionPath(profile, resource))
    .replace('{resource}', () => resource);
}

/** Whether a resource can be part of a path as it stands. */
export function isResourceName(resource: string): boolean {
  return /^[A-Za-z0-9][\w-]{0,63}$/.test(resource);
}

function hasOwn(record: DeviceRecord, field: string): boolean {
  return Object.prototype.hasOwnProperty.call(record, field);
}

/** Fields in which a record may name its own address, as hyperlinked serializers do instead of an id. */
const ADDRESS_FIELDS = ['url', 'href', 'self', '@odata.id'];

/** A record's address on its device: the path of the records, and what names it there. */
interface OwnAddress {
  readonly field: string;
  /** Without a slash at the end. */
  readonly collection: string;
  readonly id: string;
}

/** The address of a record; undefined when it names none below the base path. */
export function ownAddress(record: DeviceRecord, basePath: string): OwnAddress | undefined {
  for (const field of ADDRESS_FIELDS) {
    const value = Object.hasOwn(record, field) ? record[field] : undefined;
    if (typeof value !== 'string' || !URL.canParse(value, 'https://device.invalid')) continue;
    const { pathname, search } = new URL(value, 'https://device.invalid');
    const [, collection = '', last = ''] = /^(.+)\/([^/]+)\/?$/.exec(pathname) ?? [];
    const id = decoded(last);
    const isBelow = `${collection}/`.startsWith(basePath) && `${collection}/` !== basePath;
    if (id !== undefined && isBelow && search === '') return { field, collection, id };
  }
  return undefined;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** How a resource is written in one of the three ways. */
export function waysOf(profile: Profile, write: WriteName, resource: string): WriteFacts {
  return write === 'update' ? updateFacts(profile, resource) : profile[write];
}

/** Where devsh knows from how a resource is written. */
export function originOfWrite(profile: Profile, write: WriteName, resource: string): Origin {
  const isOwn = write === 'update' && waysOf(profile, write, resource) !== profile.update;
  const own = profile.origins[`resources.${resource}.${write}`];
  return own ?? (isOwn ? 'observed' : (profile.origins[write] ?? 'assumed'));
}

/** Whether an id is only the place of a record among the others. */
export function hasPositionalIds(profile: Profile): boolean {
  return profile.ids === 'positional';
}

/** Fields that change by themselves: counters, uptimes. */
function volatileFields(profile: Profile, resource: string): readonly string[] {
  return profile.resources[resource]?.volatile ?? [];
}

/** Fields in which the device keeps book of a record: its state, its address, links to others. */
export function bookkeepingFields(profile: Profile, resource: string): readonly string[] {
  return profile.resources[resource]?.bookkeeping ?? [];
}

/** Fields that are the device's own affair: they change by themselves, and nobody sets them back. */
export function ownFields(profile: Profile, resource: string): readonly string[] {
  return [...volatileFields(profile, resource), ...bookkeepingFields(profile, resource)];
}

/** Fields that tell nothing when they are another time something else. */
export function uncomparedFields(profile: Profile, resource: string): readonly string[] {
  const ids = hasPositionalIds(profile) ? profile.idFields : [];
  return [...ids, ...ownFields(profile, resource)];
}

type Found = { readonly profile: Profile; readonly resource: string; readonly fields: string[] };

/** By reading: many changes are planned from one. */
const found = new WeakMap<readonly DeviceRecord[], Found>();

/**
 * Fields that a device has and shows of none of these records, as far as anybody has told: the profile,
 * OPTIONS, an earlier reading or an own write.
 */
export function hiddenFields(
  profile: Profile,
  resource: string,
  records: readonly DeviceRecord[],
): readonly string[] {
  const known = found.get(records);
  if (known?.profile === profile && known.resource === resource) return known.fields;
  const { hidden = [], shown = [], fields = [], details = {} } = profile.resources[resource] ?? {};
  const told = Object.keys(details).filter((field) => details[field]?.readOnly === false);
  const unshown = [...new Set([...hidden, ...shown, ...fields, ...told])].filter(
    (field) =>
      !profile.idFields.includes(field) && !records.some((record) => Object.hasOwn(record, field)),
  );
  found.set(records, { profile, resource, fields: unshown });
  return unshown;
}
