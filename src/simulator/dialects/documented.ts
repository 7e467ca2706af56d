import { readUserForm } from '../user-form.ts';
import {
  CONTENT_TYPES,
  decodedPath,
  refusal,
  type ApiRequest,
  type Outcome,
  type Site,
  type View,
} from '../view.ts';
import { listOutcome } from './envelope.ts';
import { shownObject } from './identity.ts';
import { RESOURCES } from './resources.ts';
import { singleView } from './single.ts';

/** The API document, and beyond it GET and DELETE of one user and one object, the system. */
export function findDocumentedView(site: Site, sent: string): View | undefined {
  const path = decodedPath(sent);
  const [user, system] = RESOURCES.documented;
  if (user === undefined) return undefined;
  const object = site.store.table(system?.name ?? '');
  // As with the framework's router, what is no collection is not listed at the root.
  if (system !== undefined && object !== undefined && path === `/api/${system.name}/`) {
    return singleView(site, system, object);
  }
  if (path === '/api/') {
    return {
      title: 'Api Root',
      allow: ['GET', 'HEAD', 'OPTIONS'],
      isReadOnly: true,
      answer: ({ host }) => ({ status: 200, value: { user: `https://${host}/api/user/` } }),
    };
  }
  if (path === '/api/user/') {
    return {
      title: 'User List',
      allow: ['GET', 'POST', 'HEAD', 'OPTIONS'],
      answer: (request) =>
        request.method === 'POST' ? write(site, request) : listOutcome(site, user, request),
    };
  }
  // The framework's pattern for an id: no slash, no dot.
  const uuid = /^\/api\/user\/([^/.]+)\/$/.exec(path)?.[1]?.toLowerCase();
  if (uuid === undefined) return undefined;
  return {
    title: 'User Instance',
    allow: ['GET', 'DELETE', 'HEAD', 'OPTIONS'],
    answer: (request) => {
      if (request.method === 'DELETE') {
        return site.store.delete(uuid) ? { status: 204 } : noSuchUser();
      }
      const held = site.store.get(uuid);
      return held === undefined
        ? noSuchUser()
        : { status: 200, value: shownObject(site.dialect, held) };
    },
  };
}

/** `POST /api/user/`: the uuid `null` creates, a known one updates. */
function write({ store, dialect }: Site, request: ApiRequest): Outcome {
  const type = request.contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  // An empty body has no type to object to; its fields are missing.
  if (type !== CONTENT_TYPES.form && request.body !== '') {
    const sent = request.contentType ?? '';
    return refusal(415, `Unsupported media type "${sent}" in request.`);
  }
  const form = readUserForm(request.body, store);
  switch (form.kind) {
    case 'create':
      return { status: 201, value: store.create(form.fields) };
    case 'update': {
      if (!dialect.quirks.has('update-creates')) {
        return { status: 200, value: store.replace(form.user) };
      }
      const { first_name, lastname, username, lang } = form.user;
      return { status: 201, value: store.create({ first_name, lastname, username, lang }) };
    }
    case 'unknown-uuid':
      return noSuchUser();
    case 'invalid':
      return { status: 400, value: form.errors };
  }
}

function noSuchUser(): Outcome {
  return refusal(404, 'No User matches the given query.');
}
