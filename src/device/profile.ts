import type { FieldFacts } from './field-facts.ts';
import type { ListAnswers } from './learned-schema.ts';
import { ownAddress } from './own-address.ts';
import type { DeviceRecord } from './record.ts';
import { valueText } from './value-text.ts';

/** Where devsh knows a fact from: the API document, convention, this very device, or the user. */
export type Origin = 'documented' | 'assumed' | 'observed' | 'configured';

/** How further pages are asked for where no link leads to them. */
export interface PageStep {
  readonly kind: 'page' | 'offset';
  /** The query parameter with the number of the page, or of the first record. */
  readonly parameter: string;
  /** The query parameter with the number of records on a page. */
  readonly size?: string;
}

/** What is known about one resource (`user`, `interface`). */
export interface ResourceProfile {
  /** The natural key: what people call a record by. */
  readonly keyField: string;
  /** The fields that a write must fill, in the order of the document. */
  readonly fields: readonly string[];
  /** Fields that allow certain values only: left empty they are refused. */
  readonly choiceFields: readonly string[];
  /** What its records came wrapped in, and how further pages were reached, in words. */
  readonly envelope?: string;
  readonly paging?: string;
  /** How the pages after the first were asked for the last time. */
  readonly pageStep?: PageStep;
  /** Where its records are, when that is not below the base path: `/api/v2/users`. */
  readonly path?: string;
  /** One object without a list, as `/api/system/`; absent: each answer shows by its shape. */
  readonly single?: boolean;
  /** What `list.summary` says, observed of this resource. */
  readonly summary?: boolean;
  /** The methods that its list and one of its records allow, where the device has said so. */
  readonly allows?: {
    readonly collection?: readonly string[] | undefined;
    readonly item?: readonly string[] | undefined;
  };
  /** `key`: the path of a record ends with its natural key, although it has an id; absent: with its id. */
  readonly namedBy?: 'id' | 'key';
  /** How it is changed, where that is known of this resource alone. */
  readonly update?: WriteFacts;
  /** Fields that change by themselves (counters, uptimes): shown, and never compared. */
  readonly volatile?: readonly string[];
  /** Fields in which the device keeps book (`_links`, `etag`): shown, neither compared nor sent back. */
  readonly bookkeeping?: readonly string[];
  /** Fields that it takes and never shows. */
  readonly hidden?: readonly string[];
  /** Fields that each record of an earlier reading had. */
  readonly shown?: readonly string[];
  /** Secrets that are shown as they are, and sent back as held with a whole record. */
  readonly sentBack?: readonly string[];
  /** What was seen of fields that were left out; `not seen`: nothing that is shown was. */
  readonly leftOut?: 'kept' | 'erased' | 'not seen';
  /** Forms with a list as repeated fields were seen to be taken. */
  readonly lists?: 'repeated';
  /** Types, limits and choices, where the device has told them. */
  readonly details?: Readonly<Record<string, FieldFacts>>;
}

/** One kind of write: create, update or delete. */
export interface WriteFacts {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `{collection}`, `{item}` (the path of one record by id) and `{key}` are replaced. */
  readonly path: string;
  readonly encoding: 'form' | 'json';
  /** Sent with each such write, as in `action=delete`; `{resource}` is replaced. */
  readonly constants: Readonly<Record<string, string>>;
  /** A JSON body is put under this name; `{resource}` is replaced. Absent: it is the body itself. */
  readonly wrapper?: string;
  /** In the body, the fields of the record are under this name, and what names it beside them (JSON:API). */
  readonly attributes?: string;
  /** The media type of a JSON body; absent: `application/json`. */
  readonly contentType?: string;
  /** By what the body says which record is meant; a new record says `noId` for `id`. */
  readonly selector: 'id' | 'key' | 'none';
  /** What of the record the body holds: all of it, only what changes, or nothing. */
  readonly record: 'whole' | 'changes' | 'none';
  /** What becomes of the fields that a changed record leaves out; absent: not known. */
  readonly leftOut?: 'kept' | 'erased';
  /** A form has a list as its field once for each item; absent: not known. */
  readonly lists?: 'repeated';
}

/** How all records of a resource are read. */
export interface ListFacts {
  /** `{collection}` and `{resource}` are replaced. */
  readonly path: string;
  /** Where the records are in the answer, as in `data.items`; absent: they are looked for. */
  readonly items?: string;
  /** Each record has its fields under this name (JSON:API); absent: it has them itself. */
  readonly attributes?: string;
  /** `auto`: by the next link, else by the numbers that the answer shows. */
  readonly paging: 'auto' | 'none' | 'next' | 'page' | 'offset';
  /** The query parameter for the page, or for the offset; absent: as the answer names it. */
  readonly parameter?: string;
  /** The query parameter for how many records a page is to have. */
  readonly sizeParameter?: string;
  /** Its records have some of their fields only: the path of one of them has all. */
  readonly summary?: boolean;
  /** Where one record is read in full; absent: `{item}`. */
  readonly detail?: string;
  /** Lines as in `admin="root,joe"`: who is in a group, kept in the field of this name. */
  readonly groupField?: string;
}

/** How many connections a device takes at the same time. */
export type Connections = 'one' | 'several';

/** How one family of devices speaks: data only. */
export interface Profile {
  readonly name: string;
  /** In front of the resource's name; starts and ends with a slash. */
  readonly basePath: string;
  /** Whether paths end with a slash. */
  readonly endsWithSlash: boolean;
  /** The media types that requests ask for; absent: JSON before all else. */
  readonly accept?: string;
  /** Absent: `several`, until a second one is refused. */
  readonly connections?: Connections;
  /** How lists were seen to be answered. */
  readonly answers?: ListAnswers;
  readonly resources: Readonly<Partial<Record<string, ResourceProfile>>>;
  /** What the device says that it has; absent when it has not been asked. */
  readonly offers?: readonly string[];
  /** Fields that may hold the id of a record, most likely first. */
  readonly idFields: readonly string[];
  /** `positional`: an id is the place in the list, and moves when other records go; absent: `stable`. */
  readonly ids?: 'stable' | 'positional';
  /** Where a good answer to a write says what was wrong all the same, as in `results.status`. */
  readonly errorsIn?: string;
  /** What a write says for "no id yet". */
  readonly noId: string;
  readonly list: ListFacts;
  readonly create: WriteFacts;
  readonly update: WriteFacts;
  readonly remove: WriteFacts;
  /** By the name of a fact (`update.method`, `update`): where devsh knows it from. */
  readonly origins: Readonly<Partial<Record<string, Origin>>>;
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
export function saidSingle({ resources, origins }: Profile, resource: string): boolean | undefined {
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
