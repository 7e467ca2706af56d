import { authenticate } from './authentication.ts';
import { negotiate, type Rendering } from './negotiation.ts';
import { browsablePage, NOT_FOUND_PAGE } from './pages.ts';
import type { Store } from './store.ts';
import { readUserForm } from './user-form.ts';

/** One request, read to its end. */
export interface ApiRequest {
  readonly method: string;
  /** The request target: path and query as sent. */
  readonly target: string;
  readonly host: string;
  readonly accept: string | undefined;
  readonly authorization: string | undefined;
  readonly contentType: string | undefined;
  readonly body: string;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What the view decided, before it is written as JSON or as a page. */
interface Outcome {
  readonly status: number;
  /** Absent: no body at all. */
  readonly value?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A path of the API. */
type Route =
  | { readonly kind: 'root' }
  | { readonly kind: 'list' }
  | { readonly kind: 'user'; readonly uuid: string };

const ALLOWED = {
  root: ['GET', 'HEAD', 'OPTIONS'],
  list: ['GET', 'POST', 'HEAD', 'OPTIONS'],
  user: ['DELETE', 'OPTIONS'],
} as const;

const TITLES = { root: 'Api Root', list: 'User List', user: 'User Instance' } as const;
const FORM = 'application/x-www-form-urlencoded';
const HTML = 'text/html; charset=utf-8';
const READS = ['GET', 'HEAD', 'OPTIONS'];

/** Undefined where nothing is; `path` ends with a slash. */
function findRoute(sent: string): Route | undefined {
  const path = decode(sent);
  if (path === '/api/') return { kind: 'root' };
  if (path === '/api/user/') return { kind: 'list' };
  // The framework's pattern for an id: no slash, no dot.
  const uuid = /^\/api\/user\/([^/.]+)\/$/.exec(path)?.[1];
  return uuid === undefined ? undefined : { kind: 'user', uuid: uuid.toLowerCase() };
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/**
 * What a device answers: the documented API, and for the gaps what Django REST Framework does.
 * The order of the checks is the framework's, too: address, format, login, rights, method, body.
 * Changes `store`; everything else is decided by the arguments.
 */
export function answer(store: Store, request: ApiRequest): ApiAnswer {
  const [path = '', query] = request.target.split('?', 2);
  const route = findRoute(path);
  if (route === undefined) {
    if (findRoute(`${path}/`) === undefined) return page(404, NOT_FOUND_PAGE);
    const location = `${path}/${query === undefined ? '' : `?${query}`}`;
    return { ...page(301, ''), headers: { 'Content-Type': HTML, Location: location } };
  }
  const rendering = negotiate(request.accept);
  const outcome: Outcome =
    rendering === undefined
      ? refusal(406, 'Could not satisfy the request Accept header.')
      : decide(store, route, request);
  return render(route, outcome, rendering ?? 'json');
}

function decide(store: Store, route: Route, request: ApiRequest): Outcome {
  const { method } = request;
  const account = authenticate(store, request.authorization);
  if (typeof account === 'string') {
    return { ...refusal(401, account), headers: { 'WWW-Authenticate': 'Basic realm="api"' } };
  }
  if (!account.mayWrite && !READS.includes(method) && route.kind !== 'root') {
    return refusal(403, 'You do not have permission to perform this action.');
  }
  if (!ALLOWED[route.kind].some((allowed) => allowed === method)) {
    return refusal(405, `Method "${method}" not allowed.`);
  }
  if (method === 'OPTIONS') return { status: 200, value: description(route) };
  if (route.kind === 'root') {
    return { status: 200, value: { user: `https://${request.host}/api/user/` } };
  }
  if (route.kind === 'user') {
    return store.delete(route.uuid)
      ? { status: 204 }
      : refusal(404, 'No User matches the given query.');
  }
  return method === 'POST' ? write(store, request) : { status: 200, value: store.users };
}

/** `POST /api/user/`: the uuid `null` creates, a known one updates. */
function write(store: Store, request: ApiRequest): Outcome {
  const type = request.contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  // An empty body has no type to object to; its fields are missing.
  if (type !== FORM && request.body !== '') {
    const sent = request.contentType ?? '';
    return refusal(415, `Unsupported media type "${sent}" in request.`);
  }
  const form = readUserForm(request.body, store);
  switch (form.kind) {
    case 'create':
      return { status: 201, value: store.create(form.fields) };
    case 'update':
      return { status: 200, value: store.replace(form.user) };
    case 'unknown-uuid':
      return refusal(404, 'No User matches the given query.');
    case 'invalid':
      return { status: 400, value: form.errors };
  }
}

function description(route: Route): unknown {
  return {
    name: TITLES[route.kind],
    description: '',
    renders: ['application/json', 'text/html'],
    parses: [FORM],
  };
}

function refusal(status: number, detail: string): Outcome {
  return { status, value: { detail } };
}

function render(route: Route, outcome: Outcome, rendering: Rendering): ApiAnswer {
  const { status, value } = outcome;
  const headers = {
    Allow: ALLOWED[route.kind].join(', '),
    Vary: 'Accept',
    ...outcome.headers,
  };
  if (value === undefined) return { status, headers, body: '' };
  return rendering === 'json'
    ? {
        status,
        headers: { 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify(value),
      }
    : {
        status,
        headers: { 'Content-Type': HTML, ...headers },
        body: browsablePage(TITLES[route.kind], status, value),
      };
}

/** A page of the server itself, which knows nothing of the API. */
export function page(status: number, body: string): ApiAnswer {
  return { status, headers: { 'Content-Type': HTML }, body };
}
