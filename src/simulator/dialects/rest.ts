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
import { findNamedView } from './named.ts';
import { readBody, storeRecord } from './read-body.ts';
import { type ResourceTable, resourcesOf, tableOf, titleOf } from './resources.ts';
import { rootView, singleView } from './single.ts';

/** The profiles `drf` and `generic-rest`: collections and records, one method per action. */
export function findRestView(site: Site, sent: string): View | undefined {
  const { traits, quirks } = site.dialect;
  const named =
    quirks.has('documents') || quirks.has('domains') ? findNamedView(site, sent) : undefined;
  if (named !== undefined) return named;
  const path = decodedPath(sent);
  if (path === '/api/' || (path === '/api' && !traits.endsWithSlash)) {
    return rootView(site, resourcesOf(site.dialect));
  }
  // The framework's pattern for an id: no slash, no dot.
  const pattern = traits.endsWithSlash
    ? /^\/api\/([a-z]+)\/(?:([^/.]+)\/)?(?:(password|token)\/)?$/
    : /^\/api\/([a-z]+)(?:\/([^/.]+))?(?:\/(password|token))?$/;
  const [, name, id, action] = pattern.exec(path) ?? [];
  const target = tableOf(site, name ?? '');
  if (target === undefined) return undefined;
  if (action !== undefined) {
    const isOpen = name === 'user' && id !== undefined && site.dialect.quirks.has('logins');
    return isOpen ? loginView(target, id, action) : undefined;
  }
  if (target.resource.key === undefined) return id === undefined ? singleView(target) : undefined;
  return id === undefined ? listView(target) : itemView(target, id);
}

/** `/api/user/<id>/password/` wants the old password; `/api/user/<id>/token/` makes a token. */
function loginView({ site, table }: ResourceTable, id: string, action: string): View {
  return {
    title: 'User Login',
    allow: ['POST', 'OPTIONS'],
    respond(request) {
      const user = findRecord(site.dialect, table, id);
      if (user === undefined) return refusal(404, 'No User matches the given query.');
      if (action === 'token') {
        return { status: 200, value: { data: { key: site.store.newToken(user.uuid) } } };
      }
      const body = readBody(site.dialect, request, [], true);
      if ('refused' in body) return body.refused;
      const { old_password: old, new_password: password, again_password: again } = body.input;
      if (typeof password !== 'string' || password !== again) {
        return { status: 400, value: { again_password: ['The two passwords differ.'] } };
      }
      if (!site.store.hasPassword(user.uuid, String(old))) {
        return { status: 400, value: { old_password: ['Wrong password.'] } };
      }
      site.store.setPassword(user.uuid, password);
      return { status: 204 };
    },
  };
}

function listView(target: ResourceTable): View {
  return {
    title: `${titleOf(target.resource)} List`,
    allow: ['GET', 'POST', 'HEAD', 'OPTIONS'],
    actions: () => ({ POST: described(target) }),
    respond: (request) =>
      request.method === 'POST' ? create(target, request) : listOutcome(target, request),
  };
}

function itemView(target: ResourceTable, id: string): View {
  const { site, resource, table } = target;
  const { quirks } = site.dialect;
  const methods = quirks.has('put-replaces') ? ['PUT'] : ['PUT', 'PATCH'];
  const changes = quirks.has('post-updates') ? [] : methods;
  return {
    title: `${titleOf(resource)} Instance`,
    allow: ['GET', ...changes, 'DELETE', 'HEAD', 'OPTIONS'],
    actions: () => ({ PUT: described(target) }),
    respond: (request) => {
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
          return change(target, record, request);
        default:
          return { status: 200, value: shownRecord(site.dialect, table, record) };
      }
    },
  };
}

/** A sent id is ignored, unless POST also updates. */
function create(target: ResourceTable, request: ApiRequest): Outcome {
  const { table } = target;
  const { dialect } = target.site;
  const body = readBody(dialect, request, target.resource.fields, false);
  if ('refused' in body) return body.refused;
  const { input } = body;
  const id = input[idField(dialect) ?? ''];
  const isId = typeof id === 'string' || typeof id === 'number';
  const existing = isId ? findRecord(dialect, table, String(id)) : undefined;
  if (existing !== undefined && dialect.quirks.has('post-updates')) {
    return change(target, existing, request);
  }
  const sameKey = dialect.quirks.has('update-creates') ? existing : undefined;
  const stored = storeRecord(target, { input, isPartial: false, sameKey });
  if ('refused' in stored) return stored.refused;
  return { status: 201, value: shownRecord(dialect, table, stored.record) };
}

/** PATCH takes changes; other methods need all required fields, and a form without a boolean means false. */
function change(target: ResourceTable, before: StoredRecord, request: ApiRequest): Outcome {
  const { dialect } = target.site;
  const isPartial = request.method === 'PATCH';
  const body = readBody(dialect, request, target.resource.fields, isPartial);
  if ('refused' in body) return body.refused;
  const stored = storeRecord(target, { input: body.input, before, isPartial });
  if ('refused' in stored) return stored.refused;
  const { password } = body.input;
  if (
    dialect.quirks.has('logins') &&
    target.resource.name === 'user' &&
    typeof password === 'string'
  ) {
    target.site.store.setPassword(before.uuid, password);
  }
  return { status: 200, value: shownRecord(dialect, target.table, stored.record) };
}

function described({ site, resource }: ResourceTable): Readonly<Record<string, unknown>> {
  const field = idField(site.dialect) ?? 'id';
  const type = field === 'uuid' ? 'string' : 'integer';
  const label = field === 'uuid' ? 'Uuid' : 'ID';
  const id = { type, required: false, read_only: true, label };
  return { [field]: id, ...metadata(resource.fields) };
}
