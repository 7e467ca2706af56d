import {
  type ApiRequest,
  CONTENT_TYPES,
  decodedPath,
  type Outcome,
  refusal,
  type View,
} from '../view.ts';
import { type ResourceTable, shownRecords, type Site, tableOf } from './dialect.ts';
import { mediaType, type Problems, readFields, replaceRecord, unsupported } from './read-body.ts';
import { rootView, singleView } from './single.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The documented API, and beyond it GET and DELETE of one user, and the single object `system`. */
export function findDocumentedView(site: Site, sent: string): View | undefined {
  const path = decodedPath(sent);
  const target = tableOf(site, 'user');
  if (target === undefined) return undefined;
  const { table: users } = target;
  const system = tableOf(site, 'system');
  // The framework's router lists only collections at the root.
  if (system !== undefined && path === '/api/system/') return singleView(system);
  if (path === '/api/') return rootView(site, [target.resource]);
  if (path === '/api/user/') {
    return {
      title: 'User List',
      allow: ['GET', 'POST', 'HEAD', 'OPTIONS'],
      respond: (request) =>
        request.method === 'POST'
          ? write(target, request)
          : { status: 200, value: shownRecords(target) },
    };
  }
  // The framework's pattern for an id: no slash, no dot.
  const uuid = /^\/api\/user\/([^/.]+)\/$/.exec(path)?.[1]?.toLowerCase();
  if (uuid === undefined) return undefined;
  return {
    title: 'User Instance',
    allow: ['GET', 'DELETE', 'HEAD', 'OPTIONS'],
    respond: (request) => {
      if (request.method === 'DELETE') return users.delete(uuid) ? { status: 204 } : noSuchUser();
      const current = users.get(uuid);
      return current === undefined
        ? noSuchUser()
        : { status: 200, value: site.dialect.shown(target, current) };
    },
  };
}

/** The uuid `null` creates, a known one updates. All five fields are required, other ones are ignored. */
function write(target: ResourceTable, request: ApiRequest): Outcome {
  const { site, resource, table: users } = target;
  const { store, dialect } = site;
  // An empty body needs no type; its fields are missing.
  const isForm = request.body === '' || mediaType(request) === CONTENT_TYPES.form;
  if (!isForm) return unsupported(request);
  // The last of a repeated field wins, like in Django.
  const form: Partial<Record<string, string>> = Object.fromEntries(
    new URLSearchParams(request.body),
  );
  const uuid = form['uuid']?.trim() ?? '';
  const isNew = uuid === 'null';
  const current = users.get(uuid.toLowerCase());
  if (!isNew && UUID.test(uuid) && current === undefined) return noSuchUser();

  const read = readFields(resource.fields, form, {
    isPartial: false,
    replaces: false,
    trims: true,
  });
  const wrong = form['uuid'] === undefined ? 'This field is required.' : 'Must be a valid UUID.';
  const errors: Record<string, Problems> = {
    ...(!isNew && current === undefined && { uuid: [wrong] }),
    ...('problems' in read && read.problems),
  };
  const sameName = store.named(form['username']?.trim() ?? '');
  if (
    errors['username'] === undefined &&
    sameName !== undefined &&
    sameName.uuid !== current?.uuid
  ) {
    errors['username'] = ['A user with that username already exists.'];
  }
  if ('problems' in read || Object.keys(errors).length > 0) return { status: 400, value: errors };
  const record =
    current === undefined
      ? store.insert(users, read.value)
      : replaceRecord(users, current, read.value);
  return { status: current === undefined ? 201 : 200, value: dialect.shown(target, record) };
}

function noSuchUser(): Outcome {
  return refusal(404, 'No User matches the given query.');
}
