import { type Api } from './api.ts';
import { authenticate } from './authenticate.ts';
import { LANGUAGES, type Store, type User } from './store.ts';
import {
  type ApiRequest,
  CONTENT_TYPES,
  decodedPath,
  mediaType,
  type Outcome,
  refusal,
  unsupported,
  type View,
} from './view.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Letters of any script, as in Django. */
const USERNAME = /^[\p{L}\p{N}_.@+-]+$/u;
const MAX_LENGTH = 150;
const FIELDS = ['first_name', 'lastname', 'username', 'lang'] as const;

export function documentedApi(store: Store): Api {
  return {
    encodings: ['form'],
    findView: (path) => findDocumentedView(store, path),
    login: (request) => authenticate(store, request),
  };
}

/** The documented API, and beyond it GET and DELETE of one user. Undefined for an unknown path. */
export function findDocumentedView(store: Store, sent: string): View | undefined {
  const path = decodedPath(sent);
  if (path === '/api/') return ROOT;
  if (path === '/api/user/') {
    return {
      title: 'User List',
      allow: ['GET', 'POST', 'HEAD', 'OPTIONS'],
      respond: (request) =>
        request.method === 'POST'
          ? write(store, request)
          : { status: 200, value: store.users.map(shown) },
    };
  }
  // The framework's pattern for an id: no slash, no dot.
  const uuid = /^\/api\/user\/([^/.]+)\/$/.exec(path)?.[1]?.toLowerCase();
  if (uuid === undefined) return undefined;
  return {
    title: 'User Instance',
    allow: ['GET', 'DELETE', 'HEAD', 'OPTIONS'],
    respond: (request) => {
      if (request.method === 'DELETE') return store.delete(uuid) ? { status: 204 } : noSuchUser();
      const current = store.get(uuid);
      return current === undefined ? noSuchUser() : { status: 200, value: shown(current) };
    },
  };
}

const ROOT: View = {
  title: 'Api Root',
  allow: ['GET', 'HEAD', 'OPTIONS'],
  isReadOnly: true,
  respond: ({ headers: { host = '' } }) => ({
    status: 200,
    value: { user: `https://${host}/api/user/` },
  }),
};

/** In the order of the documentation. */
function shown({ uuid, ...fields }: User): User {
  return { uuid, ...fields };
}

/** The uuid `null` creates, a known one updates. All five fields are required, other ones are ignored. */
function write(store: Store, request: ApiRequest): Outcome {
  // An empty body needs no type; its fields are missing.
  const isForm = request.body === '' || mediaType(request) === CONTENT_TYPES.form;
  if (!isForm) return unsupported(request);
  // The last of a repeated field wins, like in Django.
  const form: Partial<Record<string, string>> = Object.fromEntries(
    new URLSearchParams(request.body),
  );
  const uuid = form['uuid']?.trim() ?? '';
  const isNew = uuid === 'null';
  const current = store.get(uuid.toLowerCase());
  if (!isNew && UUID.test(uuid) && current === undefined) return noSuchUser();

  const text = (name: (typeof FIELDS)[number]): string => form[name]?.trim() ?? '';
  const values = {
    first_name: text('first_name'),
    lastname: text('lastname'),
    username: text('username'),
    lang: text('lang'),
  };
  const errors = new Map(
    FIELDS.map((name) => [name as string, problemsOf(name, form[name])] as const),
  );
  const wrong = form['uuid'] === undefined ? 'This field is required.' : 'Must be a valid UUID.';
  if (!isNew && current === undefined) errors.set('uuid', [wrong]);
  const isTaken = store.users.some((user) => user !== current && user.username === values.username);
  if (isTaken && errors.get('username')?.length === 0) {
    errors.set('username', ['A user with that username already exists.']);
  }
  const problems = [...errors].filter(([, texts]) => texts.length > 0);
  if (problems.length > 0) return { status: 400, value: Object.fromEntries(problems) };
  return current === undefined
    ? { status: 201, value: shown(store.insert(values)) }
    : { status: 200, value: shown(store.put({ ...values, uuid: current.uuid })) };
}

function problemsOf(name: (typeof FIELDS)[number], sent: string | undefined): readonly string[] {
  if (sent === undefined) return ['This field is required.'];
  if (name === 'lang') {
    return LANGUAGES.some((lang) => lang === sent) ? [] : [`"${sent}" is not a valid choice.`];
  }
  const text = sent.trim();
  const isUsername = name === 'username';
  if (text === '') return isUsername ? ['This field may not be blank.'] : [];
  return [
    ...(isUsername && !USERNAME.test(text)
      ? [
          'Enter a valid username. This value may contain only letters, numbers, and @/./+/-/_ characters.',
        ]
      : []),
    ...(text.includes('\0') ? ['Null characters are not allowed.'] : []),
    ...(Array.from(text).length > MAX_LENGTH
      ? [`Ensure this field has no more than ${MAX_LENGTH} characters.`]
      : []),
  ];
}

function noSuchUser(): Outcome {
  return refusal(404, 'No User matches the given query.');
}
