import type { DeviceRecord } from '../../../src/device/record.ts';
import { type ResourceTable, type Site, tableOf } from './site.ts';
import { readBody, storeRecord } from './read-body.ts';
import { titleOf } from './resources.ts';
import {
  type ApiRequest,
  decodedPath,
  type Outcome,
  refusal,
  type View,
} from '../../../src/simulator/view.ts';

/*
 * The quirks `documents` and `domains`: records at the path of their name, percent-encoded. A PUT creates
 * or replaces the record there.
 */

type Quirk = 'documents' | 'domains';

/** `/api/user/joe`, and with `domains` `/api/domain/example.org/entry/www`. */
export function findNamedView(quirk: Quirk, site: Site, sent: string): View | undefined {
  const parts = sent.split('/').map(decodedPath);
  const [, api, name = '', first, inner, second, ...rest] = parts;
  const isSub = quirk === 'domains' && name === 'domain' && inner === 'entry';
  if (api !== 'api' || rest.length > 0 || (inner !== undefined && !isSub)) return undefined;
  const target = tableOf(site, isSub ? inner : name);
  if (target?.resource.key === undefined) return undefined;
  if (quirk === 'domains' && name !== 'domain') return undefined;
  const domain = isSub ? first : undefined;
  if (isSub && !hasDomain(site, first)) return { ...NOTHING, respond: () => missing(target) };
  const key = isSub ? second : first;
  return key === undefined ? listView(target, domain) : itemView(quirk, target, key, domain);
}

const NOTHING = { title: 'Nothing', allow: ['GET', 'POST', 'PUT', 'DELETE', 'HEAD'] };

function hasDomain(site: Site, name: string | undefined): boolean {
  return tableOf(site, 'domain')?.table.records.some((one) => one['name'] === name) === true;
}

function listView(target: ResourceTable, domain: string | undefined): View {
  return {
    title: `${titleOf(target.resource)} List`,
    allow: ['GET', 'POST', 'HEAD'],
    respond: (request) => {
      if (request.method === 'POST') return store(target, request, undefined, domain);
      const own = target.table.records.filter((one) => one['domain'] === domain);
      return {
        status: 200,
        value: own.map((one) => target.site.dialect.shown(target, one)),
      };
    },
  };
}

function itemView(
  quirk: Quirk,
  target: ResourceTable,
  key: string,
  domain: string | undefined,
): View {
  const { site, resource, table } = target;
  const { dialect } = site;
  return {
    title: `${titleOf(resource)} Instance`,
    allow: ['GET', 'PUT', 'DELETE', 'HEAD'],
    respond: (request) => {
      const record = table.records.find(
        (one) => one[resource.key ?? ''] === key && one['domain'] === domain,
      );
      const shown: DeviceRecord | undefined = record && dialect.shown(target, record);
      const [, rev] = /[?&]rev=([^&]*)/.exec(request.target) ?? [];
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      if (record === undefined && request.method !== 'PUT') return missing(target);
      if (!isRead && quirk === 'documents' && rev !== shown?.['_rev']) {
        return refusal(409, 'Document update conflict.');
      }
      if (request.method === 'PUT') return store(target, request, key, domain);
      if (isRead || record === undefined) return { status: 200, value: shown };
      table.delete(record.uuid);
      const entries = resource.name === 'domain' ? tableOf(site, 'entry')?.table : undefined;
      for (const one of entries?.records ?? []) {
        if (one['domain'] === key) entries?.delete(one.uuid);
      }
      return { status: 204 };
    },
  };
}

/** `key`: the name in the path; a new record of a POST has its own. */
function store(
  whole: ResourceTable,
  request: ApiRequest,
  key: string | undefined,
  domain: string | undefined,
): Outcome {
  const { site, resource, table } = whole;
  const body = readBody(site.dialect, request, resource.fields, false);
  if ('refused' in body) return body.refused;
  const { key: field = '', ...keyless } = resource;
  const input = key === undefined ? body.input : { ...body.input, [field]: key };
  const before = table.records.find(
    (one) => one[field] === input[field] && one['domain'] === domain,
  );
  if (before !== undefined && key === undefined) return refusal(409, 'It exists already.');
  // The name is unique within its domain, not within the table.
  const target = { site, resource: keyless, table };
  const stored = storeRecord(target, { input, before, isPartial: false });
  if ('refused' in stored) return stored.refused;
  const record = { ...stored.record, ...(domain !== undefined && { domain }) };
  table.put(record);
  const status = before === undefined ? 201 : 200;
  return { status, value: site.dialect.shown(whole, record) };
}

function missing({ resource }: ResourceTable): Outcome {
  return refusal(404, `No ${titleOf(resource)} matches the given query.`);
}
