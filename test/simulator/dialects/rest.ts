import type { StoredRecord } from './dialect-store.ts';
import {
  decodedPath,
  refusal,
  type ApiRequest,
  type Outcome,
  type View,
} from '../../../src/simulator/view.ts';
import { type ResourceTable, shownRecords, type Site, tableOf } from './site.ts';
import { metadata } from './identity.ts';
import { readBody, storeRecord } from './read-body.ts';
import { titleOf } from './resources.ts';
import { rootView, singleView } from './single.ts';

/** The profiles `drf` and `generic-rest`: collections and records, one method per action. */
export function findRestView(site: Site, sent: string): View | undefined {
  const { traits, resources } = site.dialect;
  const path = decodedPath(sent);
  if (path === '/api/' || (path === '/api' && !traits.endsWithSlash)) {
    return rootView(site, resources);
  }
  // The framework's pattern for an id: no slash, no dot.
  const pattern = traits.endsWithSlash
    ? /^\/api\/([a-z]+)\/(?:([^/.]+)\/)?$/
    : /^\/api\/([a-z]+)(?:\/([^/.]+))?$/;
  const [, name, id] = pattern.exec(path) ?? [];
  const target = tableOf(site, name ?? '');
  if (target === undefined) return undefined;
  if (target.resource.key === undefined) return id === undefined ? singleView(target) : undefined;
  return id === undefined ? listView(target) : itemView(target, id);
}

function listView(target: ResourceTable): View {
  return {
    title: `${titleOf(target.resource)} List`,
    allow: ['GET', 'POST', 'HEAD', 'OPTIONS'],
    actions: () => ({ POST: described(target) }),
    respond: (request) =>
      request.method === 'POST'
        ? create(target, request)
        : { status: 200, value: shownRecords(target) },
  };
}

function itemView(target: ResourceTable, id: string): View {
  const { site, resource, table } = target;
  return {
    title: `${titleOf(resource)} Instance`,
    allow: ['GET', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'],
    actions: () => ({ PUT: described(target) }),
    respond: (request) => {
      const record = site.dialect.find(target, id);
      if (record === undefined) {
        return refusal(404, `No ${titleOf(resource)} matches the given query.`);
      }
      switch (request.method) {
        case 'DELETE':
          table.delete(record.uuid);
          return { status: 204 };
        case 'PUT':
        case 'PATCH':
          return change(target, record, request);
        default:
          return { status: 200, value: site.dialect.shown(target, record) };
      }
    },
  };
}

/** A sent id is ignored. */
function create(target: ResourceTable, request: ApiRequest): Outcome {
  const { dialect } = target.site;
  const body = readBody(dialect, request, target.resource.fields, false);
  if ('refused' in body) return body.refused;
  const stored = storeRecord(target, { input: body.input, isPartial: false });
  if ('refused' in stored) return stored.refused;
  return { status: 201, value: dialect.shown(target, stored.record) };
}

/** PATCH takes changes; other methods need all required fields, and a form without a boolean means false. */
function change(target: ResourceTable, before: StoredRecord, request: ApiRequest): Outcome {
  const { dialect } = target.site;
  const isPartial = request.method === 'PATCH';
  const body = readBody(dialect, request, target.resource.fields, isPartial);
  if ('refused' in body) return body.refused;
  const stored = storeRecord(target, { input: body.input, before, isPartial });
  if ('refused' in stored) return stored.refused;
  return { status: 200, value: dialect.shown(target, stored.record) };
}

function described({ site, resource }: ResourceTable): Readonly<Record<string, unknown>> {
  const field = site.dialect.traits.id ?? 'id';
  const type = field === 'uuid' ? 'string' : 'integer';
  const label = field === 'uuid' ? 'Uuid' : 'ID';
  const id = { type, required: false, read_only: true, label };
  return { [field]: id, ...metadata(resource.fields) };
}
