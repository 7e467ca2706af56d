import type { Value } from '../../device/record.ts';
import { UsageError, attempt } from '../../errors.ts';
import { someOf } from '../../text/one-line.ts';
import {
  asList,
  asObject,
  asText,
  type Findings,
  type FoundDevice,
  type JsonObject,
} from './source.ts';

const DEVICES = '/api/dcim/devices/';
/** Page size unless the URL has one; NetBox's default is 50. */
const PAGE_SIZE = '250';

export interface NetBoxUrl {
  /** `host` or `host:port`. */
  readonly address: string;
  /** Path and query of the first page. */
  readonly path: string;
}

/**
 * Reads `https://netbox`, `https://netbox/dcim/devices/?site=x` as in the browser, or the URL of the API.
 * Adds `status=active` unless the query has a status. Throws a UsageError.
 */
export function parseNetBoxUrl(text: string): NetBoxUrl {
  const url = attempt(TypeError, () => new URL(text));
  if (url === undefined) {
    throw new UsageError(
      'this is not a URL: write https://netbox.example/api/dcim/devices/?site=x',
    );
  }
  if (url.protocol !== 'https:') {
    throw new UsageError('NetBox needs https://: over http:// others could read the token');
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError(
      'the URL must not contain a login: give the token with NETBOX_TOKEN, --token-stdin or "login"',
    );
  }
  const query = url.searchParams;
  const secret = [...query.keys()].find((name) => /token|key|password/i.test(name));
  if (secret !== undefined) {
    throw new UsageError(`the URL must not contain a secret: remove "${secret}"`);
  }
  if (!query.has('status')) query.set('status', 'active');
  if (!query.has('limit')) query.set('limit', PAGE_SIZE);
  return { address: url.host, path: `${apiPath(url.pathname)}?${query.toString()}` };
}

function apiPath(path: string): string {
  if (path === '/') return DEVICES;
  const ended = path.endsWith('/') ? path : `${path}/`;
  if (ended.includes('/api/')) return ended;
  // As in the browser, with an optional prefix before the path.
  const [, prefix, page] = /^(.*?)(\/(?:dcim|virtualization)\/[^/]+\/)$/.exec(ended) ?? [];
  if (page !== undefined) return `${prefix ?? ''}/api${page}`;
  throw new UsageError(`${path} is not the list of devices; in NetBox it is ${DEVICES}`);
}

export interface NetBoxPage {
  readonly records: readonly JsonObject[];
  readonly next: string | undefined;
}

/** `next` may name another host (often behind a proxy): only its query is used, with this `path`. */
export function readNetBoxPage(data: Value, path: string, where: string): NetBoxPage {
  const page = asObject(data);
  const results = page?.['results'];
  if (page === undefined || !Array.isArray(results)) {
    throw new UsageError(`${where} did not return a list of NetBox ("results" is missing)`);
  }
  const records = asList(results as Value)
    .map(asObject)
    .filter((record) => record !== undefined);
  const next = asText(page['next']);
  if (next === undefined) return { records, next: undefined };
  const [place = ''] = path.split('?', 1);
  try {
    const { pathname, search } = new URL(next, 'https://netbox.invalid');
    if (pathname !== place) throw new UsageError(`${where}: its next page is at another path`);
    return { records, next: `${place}${search}` };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${where}: its next page has an invalid URL`);
  }
}

/** Site, role, tenant and tags become groups (`site-berlin`). */
export function netBoxDevices(records: readonly JsonObject[], where: string): Findings {
  const reachable = records.filter((record) => addressOf(record) !== undefined);
  const others = records.filter((record) => addressOf(record) === undefined);
  return {
    devices: reachable.map((record): FoundDevice => {
      const id = asText(record['id']) ?? '?';
      return {
        name: asText(record['name']) ?? '',
        address: addressOf(record) ?? '',
        groups: groupsOf(record),
        settings: {},
        place: `${where}: device ${id}`,
      };
    }),
    groups: [],
    remarks:
      others.length === 0
        ? []
        : [`${others.length} without a primary address: ${someOf(others.map(labelOf))}`],
  };
}

function labelOf(record: JsonObject): string {
  return asText(record['name']) ?? `device ${asText(record['id']) ?? '?'}`;
}

/** `10.0.0.5/24` -> `10.0.0.5`. */
function addressOf(record: JsonObject): string | undefined {
  const written = ['primary_ip4', 'primary_ip6', 'primary_ip'].flatMap(
    (key) => asText(asObject(record[key])?.['address']) ?? [],
  );
  return written[0]?.replace(/\/\d+$/, '');
}

function groupsOf(record: JsonObject): string[] {
  const one = (kind: string, key: string): string[] => {
    const slug = asText(asObject(record[key])?.['slug']);
    return slug === undefined ? [] : [`${kind}-${slug}`];
  };
  const tags = asList(record['tags']).flatMap((tag) => asText(asObject(tag)?.['slug']) ?? []);
  const role = one('role', 'role');
  return [
    ...one('site', 'site'),
    // NetBox before 3.6 calls the role of a device device_role.
    ...(role.length > 0 ? role : one('role', 'device_role')),
    ...one('tenant', 'tenant'),
    ...tags.map((slug) => `tag-${slug}`),
  ];
}
