import {
  type ApiRequest,
  CONTENT_TYPES,
  decodedPath,
  type Outcome,
  refusal,
  type Site,
  type View,
} from '../view.ts';
import { listOutcome } from './envelope.ts';
import { shownObject } from './identity.ts';
import { RESOURCES } from './resources.ts';
import { singleView } from './single.ts';
import { LANGUAGES, type Store, type User } from '../store.ts';

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

/** Texts per field, as in the body of a 400. */
type FormErrors = Readonly<Record<string, readonly string[]>>;

/** What a POST asks for. */
type UserForm =
  | { readonly kind: 'create'; readonly fields: Omit<User, 'uuid'> }
  | { readonly kind: 'update'; readonly user: User }
  | { readonly kind: 'unknown-uuid' }
  | { readonly kind: 'invalid'; readonly errors: FormErrors };

const FIELDS = ['uuid', 'first_name', 'lastname', 'username', 'lang'] as const;
const MAX_LENGTH = 150;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const USERNAME = /^[\p{L}\p{N}_.@+-]+$/u;

/** Reads a form strictly: all five fields, every wrong one named. Unknown fields are ignored. */
function readUserForm(body: string, store: Store): UserForm {
  const form = new URLSearchParams(body);
  // The last of a repeated field counts, and text is trimmed, as in Django.
  const text = (field: string): string => form.getAll(field).at(-1)?.trim() ?? '';
  const fields = {
    first_name: text('first_name'),
    lastname: text('lastname'),
    username: text('username'),
    lang: form.getAll('lang').at(-1) ?? '',
  };
  const isNew = text('uuid') === 'null';
  const uuid = text('uuid').toLowerCase();
  if (!isNew && UUID.test(uuid) && store.get(uuid) === undefined) return { kind: 'unknown-uuid' };

  const errors: Record<string, string[]> = {};
  for (const field of FIELDS) {
    const found = form.has(field)
      ? problems(field, field === 'uuid' ? text('uuid') : fields[field])
      : ['This field is required.'];
    if (found.length > 0) errors[field] = found;
  }
  const holder = store.named(fields.username);
  if (errors.username === undefined && holder !== undefined && (isNew || holder.uuid !== uuid)) {
    errors.username = ['A user with that username already exists.'];
  }
  if (Object.keys(errors).length > 0) return { kind: 'invalid', errors };
  return isNew ? { kind: 'create', fields } : { kind: 'update', user: { uuid, ...fields } };
}

function problems(field: (typeof FIELDS)[number], value: string): string[] {
  switch (field) {
    case 'uuid':
      return value === 'null' || UUID.test(value) ? [] : ['Must be a valid UUID.'];
    case 'lang':
      return LANGUAGES.some((lang) => lang === value) ? [] : [`"${value}" is not a valid choice.`];
    case 'username':
      if (value === '') return ['This field may not be blank.'];
      return USERNAME.test(value)
        ? textProblems(value)
        : [
            'Enter a valid username. This value may contain only letters, numbers, and @/./+/-/_ characters.',
            ...textProblems(value),
          ];
    case 'first_name':
    case 'lastname':
      return textProblems(value);
  }
}

function textProblems(value: string): string[] {
  return [
    ...(value.includes('\0') ? ['Null characters are not allowed.'] : []),
    ...(Array.from(value).length > MAX_LENGTH
      ? [`Ensure this field has no more than ${MAX_LENGTH} characters.`]
      : []),
  ];
}
