import type { StoredRecord } from '../store.ts';
import {
  decodedPath,
  refusal,
  type ApiRequest,
  type Outcome,
  type Site,
  type View,
} from '../view.ts';
import { listOutcome } from './envelope.ts';
import { findRecord, idField, metadata, shownRecord } from './identity.ts';
import { readBody, storeRecord } from './read-body.ts';
import { type Place, placeOf, RESOURCES, titleOf } from './resources.ts';
import { singleView } from './single.ts';

/** The profiles `drf` and `generic-rest`: collections and records, one method per action. */
export function findRestView(site: Site, sent: string): View | undefined {
  const { traits } = site.dialect;
  const path = decodedPath(sent);
  if (path === '/api/' || (path === '/api' && !traits.endsWithSlash)) return rootView(site);
  // The framework's pattern for an id: no slash, no dot.
  const pattern = traits.endsWithSlash
    ? /^\/api\/([a-z]+)\/(?:([^/.]+)\/)?$/
    : /^\/api\/([a-z]+)(?:\/([^/.]+))?$/;
  const [, name, id] = pattern.exec(path) ?? [];
  const place = placeOf(site, name ?? '');
  if (place === undefined) return undefined;
  if (place.resource.key === undefined) return id === undefined ? singleView(place) : undefined;
  return id === undefined ? listView(place) : itemView(place, id);
}

function rootView({ dialect }: Site): View {
  const slash = dialect.traits.endsWithSlash ? '/' : '';
  return {
    title: 'Api Root',
    allow: ['GET', 'HEAD', 'OPTIONS'],
    isReadOnly: true,
    answer: ({ host }) => {
      const links = RESOURCES[dialect.profile].map(({ name }) => [
        name,
        `https://${host}/api/${name}${slash}`,
      ]);
      return { status: 200, value: Object.fromEntries(links) as unknown };
    },
  };
}

function listView(place: Place): View {
  return {
    title: `${titleOf(place.resource)} List`,
    allow: ['GET', 'POST', 'HEAD', 'OPTIONS'],
    actions: () => ({ POST: described(place) }),
    answer: (request) =>
      request.method === 'POST' ? create(place, request) : listOutcome(place, request),
  };
}

function itemView(place: Place, id: string): View {
  const { site, resource, table } = place;
  const { quirks } = site.dialect;
  const methods = quirks.has('put-replaces') ? ['PUT'] : ['PUT', 'PATCH'];
  const changes = quirks.has('post-updates') ? [] : methods;
  return {
    title: `${titleOf(resource)} Instance`,
    allow: ['GET', ...changes, 'DELETE', 'HEAD', 'OPTIONS'],
    actions: () => ({ PUT: described(place) }),
    answer: (request) => {
      const record = findRecord(site.dialect, table, id);
      if (record === undefined) {
        return refusal(404, `No ${titleOf(resource)} matches the given query.`);
      }
      switch (request.method) {
        case 'DELETE':
          table.delete(record.uuid);
          return { status: 204 };
        case 'PUT':
        case 'PATCH':
          return change(place, record, request);
        default:
          return { status: 200, value: shownRecord(site.dialect, table, record) };
      }
    },
  };
}

/** A sent id is ignored, unless POST also updates. */
function create(place: Place, request: ApiRequest): Outcome {
  const { table } = place;
  const { dialect } = place.site;
  const body = readBody(dialect, request, place.resource.fields, false);
  if ('refused' in body) return body.refused;
  const { input } = body;
  const id = input[idField(dialect) ?? ''];
  const isId = typeof id === 'string' || typeof id === 'number';
  const known = isId ? findRecord(dialect, table, String(id)) : undefined;
  if (known !== undefined && dialect.quirks.has('post-updates')) {
    return change(place, known, request);
  }
  const namesake = dialect.quirks.has('update-creates') ? known : undefined;
  const stored = storeRecord(place, { input, isPartial: false, namesake });
  if ('refused' in stored) return stored.refused;
  return { status: 201, value: shownRecord(dialect, table, stored.record) };
}

/** PATCH takes changes; other methods need all required fields, and a form without a boolean means false. */
function change(place: Place, before: StoredRecord, request: ApiRequest): Outcome {
  const { dialect } = place.site;
  const isPartial = request.method === 'PATCH';
  const body = readBody(dialect, request, place.resource.fields, isPartial);
  if ('refused' in body) return body.refused;
  const stored = storeRecord(place, { input: body.input, before, isPartial });
  if ('refused' in stored) return stored.refused;
  return { status: 200, value: shownRecord(dialect, place.table, stored.record) };
}

function described({ site, resource }: Place): Readonly<Record<string, unknown>> {
  const field = idField(site.dialect) ?? 'id';
  const type = field === 'uuid' ? 'string' : 'integer';
  const label = field === 'uuid' ? 'Uuid' : 'ID';
  const id = { type, required: false, read_only: true, label };
  return { [field]: id, ...metadata(resource.fields) };
}
