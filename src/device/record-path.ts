import { pluralOf } from '../text/one-line.ts';
import { RefusedError, UsageError } from '../errors.ts';
import {
  type DeviceRecord,
  formText,
  isNested,
  isValueList,
  nestedValue,
  type Value,
  valueText,
  withoutFields,
} from './record.ts';
import { namesRecord, PLACEHOLDER, placeholdersIn } from './address.ts';
import { maskedPath } from './sensitive-fields.ts';
import {
  collectionPath,
  idFieldOf,
  isNamedByKey,
  isPathId,
  isResourceName,
  itemPath,
  keyFieldOf,
  listPath,
  ownAddress,
  placeField,
  type Profile,
  resourceOf,
  type WriteFacts,
} from './profile.ts';

export function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll("'", '%27');
}

/** Rejects ids that a device may read as "none" or a server as a path to the collection. */
function isUsableId(id: string): boolean {
  if (id.trim() === '' || /^(?:null|undefined|none)$/i.test(id.trim())) return false;
  if (/[\p{Cc}\p{Surrogate}]/u.test(id)) return false;
  // Some servers decode once more before they resolve the path.
  const decoded = id
    .replace(/%2e/gi, '.')
    .replace(/%2f|%5c/gi, '/')
    .replaceAll('\\', '/');
  // Some servers ignore `;x` after a name, and read `*` as every name.
  const names = decoded.split('/').map((segment) => segment.replace(/;.*$/s, '').trim());
  return !names.some((name) => ['', '.', '..', '*'].includes(name));
}

/** The field by which a write names its record, with its text. */
export interface Named {
  readonly field: string;
  readonly text: string;
}

export function nameInPath(profile: Profile, resource: string, record: DeviceRecord): string {
  return checkedId(profile, resource, record).text;
}

/** A profile in which a sub-resource is an ordinary one, below the parent of this name. */
export function withinNamed(profile: Profile, resource: string, parent: string): Profile {
  const { parent: _parent, ...facts } = resourceOf(profile, resource);
  checkedName('name', parent, _parent ?? resource);
  const path = facts.path?.replaceAll('{parent}', () => encoded(parent));
  const own = { ...facts, ...(path !== undefined && { path }) };
  return { ...profile, resources: { ...profile.resources, [resource]: own } };
}

/** A record of a sub-resource as the device has it, with the profile of its place. Others are unchanged. */
export function withinParent(
  profile: Profile,
  resource: string,
  record: DeviceRecord,
): { readonly profile: Profile; readonly record: DeviceRecord } {
  const field = placeField(profile, resource);
  if (field === undefined) return { profile, record };
  const place = valueText(record[field]);
  const key = valueText(record[resourceOf(profile, resource).keyField]);
  if (key === '' || !place.endsWith(`/${key}`)) {
    throw new RefusedError({ code: 'placeless-record', resource, field });
  }
  const own = withoutFields(record, [field]);
  const parent = place.slice(0, -key.length - 1);
  return { profile: withinNamed(profile, resource, parent), record: own };
}

/** Undefined if its path uses other fields. Throws RefusedError if the field is missing or ambiguous. */
export function namedBy(
  profile: Profile,
  facts: WriteFacts,
  resource: string,
  record: DeviceRecord,
): Named | undefined {
  const names = placeholdersIn(facts.path);
  if (facts.selector === 'key' || names.includes('key')) {
    const field = keyFieldOf(profile, resource, [record]);
    return checkedName(field, record[field], resource);
  }
  const isById = facts.selector === 'id' || names.includes('item') || names.includes('id');
  // A path without a placeholder cannot name the record, so the id must.
  if (!isById && namesRecord(facts.path)) return undefined;
  return checkedId(profile, resource, record, facts.selector !== 'id');
}

/** Throws RefusedError unless it has the segments of its template: an id must not lead up to the collection. */
export function writePath(
  profile: Profile,
  facts: Pick<WriteFacts, 'path'>,
  resource: string,
  record: DeviceRecord,
): string {
  if (!isResourceName(resource)) throw new UsageError({ code: 'bad-resource', resource });
  const fill = (textFor: (name: string) => string): string =>
    facts.path.replace(PLACEHOLDER, (_, name: string) => {
      if (name === 'collection') return collectionPath(profile, resource);
      if (name === 'resource') return resource;
      return name === 'item' ? itemPath(profile, resource, textFor('id')) : encoded(textFor(name));
    });
  const filled = fill((name) => textOf(profile, resource, record, name));
  const shape = fill(() => 'x');
  const sent = new URL(filled, 'https://device.invalid');
  const segments = (path: string): number =>
    new URL(path, 'https://device.invalid').pathname.split('/').length;
  const isSound =
    sent.pathname + sent.search === filled &&
    !sent.pathname.includes('//') &&
    segments(filled) === segments(shape);
  if (!isSound) throw new RefusedError({ code: 'not-one-record', path: filled });
  return filled;
}

function textOf(profile: Profile, resource: string, record: DeviceRecord, name: string): string {
  if (name === 'id') return checkedId(profile, resource, record).text;
  const field = name === 'key' ? keyFieldOf(profile, resource, [record]) : name;
  return checkedName(field, nestedValue(record, field), resource).text;
}

/** @param isForPath a path may also use the natural key or the record's own address; a body may not */
function checkedId(
  profile: Profile,
  resource: string,
  record: DeviceRecord,
  isForPath = true,
): Named {
  // If the records have no ids, paths use their natural key.
  const isByKey = isForPath ? isNamedByKey(profile, resource) : profile.idFields.length === 0;
  const field = isByKey ? keyFieldOf(profile, resource, [record]) : idFieldOf(profile, record);
  if (field === undefined || (!isByKey && isForPath && isPathId(record[field]))) {
    const own = isForPath ? ownAddress(record, profile.basePath) : undefined;
    // Under another collection the id names another record.
    if (
      own !== undefined &&
      own.collection === collectionPath(profile, resource).replace(/\/$/, '')
    ) {
      return checkedName(own.field, own.id, resource);
    }
    const fields = profile.idFields.join(', ');
    throw new RefusedError({ code: 'nameless-record', resource, fields });
  }
  return checkedName(field, record[field], resource);
}

function checkedName(field: string, value: Value | undefined, resource: string): Named {
  const text = formText(value ?? null);
  if (!isUsableId(text)) {
    const shown = JSON.stringify(text.slice(0, 80));
    throw new RefusedError({ code: 'ambiguous-name', field, resource, value: shown });
  }
  return { field, text };
}

/** Returns the path with or without the trailing slash, and under the plural name. Empty if the path is configured. */
export function otherPaths(profile: Profile, resource: string): readonly string[] {
  const { origins, resources, basePath, endsWithSlash, list } = profile;
  const isConfigured = (fact: string): boolean => origins[fact] === 'configured';
  const own = resources[resource]?.path;
  const isObserved = origins[`resources.${resource}.path`] === 'observed';
  if ((own !== undefined && !isObserved) || list.path !== '{collection}') return [];
  const ends = isConfigured('endsWithSlash') ? [endsWithSlash] : [endsWithSlash, !endsWithSlash];
  const names = [...new Set([resource, pluralOf(resource)])];
  const paths = names.flatMap((name) => ends.map((end) => `${basePath}${name}${end ? '/' : ''}`));
  const tried = own ?? paths[0];
  return paths.filter((path) => path !== tried);
}

/** Where devices keep their resources, most likely first. */
const BASE_PATHS = [
  ...['/api/', '/', '/rest/', '/api/v1/', '/v1/', '/api/v2/', '/api/admin/', '/api/v1/admin/'],
  ...['/admin/', '/api/v3/', '/api/v4/'],
];

/** Where a list may be that is at none of its likely paths, with the base path. Empty if the path is configured. */
export function pathsElsewhere(profile: Profile, resource: string): ReadonlyMap<string, string> {
  if (otherPaths(profile, resource).length === 0) return new Map();
  const bases = BASE_PATHS.filter((base) => base !== profile.basePath);
  return new Map(
    bases.flatMap((basePath) => {
      const other = { ...profile, basePath };
      const paths = [collectionPath(other, resource), ...otherPaths(other, resource)];
      return paths.map((path) => [path, basePath] as const);
    }),
  );
}

/** Names of managed fields, whatever they contain: `@odata.etag`, `lang@odata.type`, `_links`. */
const BY_NAME = /^(?:@.+|.+@odata\..+|_?etag|_links)$/i;

/** Names that count only if they contain addresses, because a record may have such fields of its own. */
const BY_CONTENT = /^(?:_?self|url|uri|href|links?|resource_uri)$/i;

const MAX_SAMPLE = 50;

/** The fields that a device manages itself: state, own address, links. They are neither compared nor sent back. */
export function bookkeepingIn(records: readonly DeviceRecord[], basePath: string): string[] {
  const sample = records.slice(0, MAX_SAMPLE);
  const names = new Set<string>();
  for (const record of sample) for (const name in record) names.add(name);
  return [...names].filter(
    (name) =>
      BY_NAME.test(name) ||
      (BY_CONTENT.test(name) &&
        sample.every(
          (record) => !Object.hasOwn(record, name) || isAddress(record[name] ?? null, basePath),
        )),
  );
}

/** Whether a list contains only the addresses of its records, as in Redfish. */
export function areLinks(records: readonly DeviceRecord[], { basePath }: Profile): boolean {
  return (
    records.length > 0 &&
    records.every(
      (record) =>
        ownAddress(record, basePath) !== undefined &&
        bookkeepingIn([record], basePath).length === Object.keys(record).length,
    )
  );
}

/** Whether it is an address on the device, or contains one. */
function isAddress(value: Value, basePath: string): boolean {
  if (typeof value === 'string') {
    if (!/^(?:https?:\/)?\//i.test(value) || !URL.canParse(value, 'https://device.invalid')) {
      return false;
    }
    const { pathname } = new URL(value, 'https://device.invalid');
    return pathname.startsWith(basePath) && pathname !== basePath;
  }
  if (!isNested(value)) return false;
  const parts: readonly Value[] = isValueList(value) ? value : Object.values(value);
  return parts.length > 0 && parts.some((part) => isAddress(part, basePath));
}

/** A path and its query as they are sent. Throws UsageError for a path that leaves the device. */
export function ownPath(path: string): string {
  const origin = 'https://device.invalid';
  const url = URL.canParse(path, origin) ? new URL(path, origin) : undefined;
  // The URL parser drops line ends and tabs, which changes the path.
  if (/\p{Cc}/u.test(path) || !path.startsWith('/') || url?.origin !== origin) {
    throw new UsageError({ code: 'foreign-path', path: JSON.stringify(path.slice(0, 200)) });
  }
  return url.pathname + url.search;
}

/** Throws RefusedError for a list of the profile in any spelling, and what is above it: `/api//user`, `/api/user/x/..`. */
export function assertNoCollection(profile: Profile, path: string): void {
  const sent = segmentsOf(path);
  const lists = Object.keys(profile.resources).flatMap((resource) =>
    [collectionPath(profile, resource), listPath(profile, resource)].map(segmentsOf),
  );
  // What is above a list, such as the base path, holds all of it.
  const isList = lists.some(
    (list) =>
      (list.includes('{parent}') ? sent.length === list.length : sent.length <= list.length) &&
      sent.every((part, index) => list[index] === '{parent}' || part === list[index]),
  );
  const hasDots = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:[/\\?#]|%2f|%5c|$)/i.test(path);
  if ((isList && !namesByQuery(profile, path)) || hasDots) {
    const base = profile.basePath;
    throw new RefusedError({ code: 'may-delete-many', path: maskedPath(path), base });
  }
}

/** Whether the query names one record in the configured way. */
export function namesByQuery({ remove, origins }: Profile, path: string): boolean {
  const [place = '', query] = remove.path.split('?');
  const [sentPlace, sentQuery] = path.split('?');
  if (query === undefined || origins['remove.path'] !== 'configured') return false;
  const parameters = [...new URLSearchParams(query).keys()];
  const sent = new URLSearchParams(sentQuery);
  const isSamePlace = place.includes('{') || place === sentPlace;
  return isSamePlace && parameters.every((name) => isUsableId(sent.get(name) ?? ''));
}

function segmentsOf(path: string): string[] {
  const { pathname } = new URL(path, 'https://device.invalid');
  return (
    pathname
      .replace(/%[2-7][0-9a-f]/gi, (code) => String.fromCharCode(parseInt(code.slice(1), 16)))
      .toLowerCase()
      .split('/')
      // Some servers ignore `;x` after a name, and drop blanks and `*`.
      .map((part) => part.replace(/;.*$/s, '').trim())
      .filter((part) => part !== '' && part !== '*')
  );
}
