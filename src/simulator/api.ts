import { STATUS_CODES } from 'node:http';
import type { Dialect, ProfileName } from './dialects/dialect.ts';
import { findDocumentedView } from './dialects/documented.ts';
import { findFormActionView } from './dialects/form-action.ts';
import { hasSessions, LOGIN_PATH, loginOutcome, specialLogin } from './dialects/login.ts';
import { findRestView } from './dialects/rest.ts';
import {
  type ApiResponse,
  type ApiRequest,
  browsablePage,
  CONTENT_TYPES,
  HTML,
  NOT_FOUND_PAGE,
  type Outcome,
  refusal,
  refusalPage,
  type Site,
  type View,
} from './view.ts';
import type { Account, Store } from './store.ts';

const READS = ['GET', 'HEAD', 'OPTIONS'];

/** Returns undefined for an unknown path. */
const FIND_VIEW: Readonly<Record<ProfileName, (site: Site, path: string) => View | undefined>> = {
  documented: findDocumentedView,
  drf: findRestView,
  'generic-rest': findRestView,
  'form-action': findFormActionView,
};

/**
 * The response of a device without faults. What the API document leaves open follows Django REST
 * Framework, also the order of the checks: address, format, login, rights, method, body. Changes only
 * the store.
 */
export function respond(site: Site, request: ApiRequest): ApiResponse {
  const { profile, traits } = site.dialect;
  const findView = FIND_VIEW[profile];
  const [path = '', query] = request.target.split('?', 2);
  if (path === LOGIN_PATH && hasSessions(site.dialect)) {
    return render(
      { title: 'Login', allow: ['POST', 'DELETE'] },
      loginOutcome(site, request),
      'json',
    );
  }
  const view = findView(site, path);
  if (view === undefined) {
    if (!traits.endsWithSlash || findView(site, `${path}/`) === undefined) {
      return page(404, NOT_FOUND_PAGE);
    }
    const location = `${path}/${query === undefined ? '' : `?${query}`}`;
    return { ...page(301, ''), headers: { 'Content-Type': HTML, Location: location } };
  }
  const rendering = traits.isBrowsable ? negotiate(request.headers.accept) : 'json';
  const allow = view.allow.filter((method) => method !== 'OPTIONS' || hasOptions(site));
  const outcome =
    rendering === undefined
      ? refusal(406, 'Could not satisfy the request Accept header.')
      : decide(site, { ...view, allow }, request);
  const shaped = shapeRejection(site.dialect, request, outcome);
  return render({ ...view, allow }, shaped, rendering ?? 'json');
}

function hasOptions({ dialect }: Site): boolean {
  return dialect.traits.hasOptions && !dialect.quirks.has('no-options');
}

function decide(site: Site, view: View, request: ApiRequest): Outcome {
  const { method } = request;
  const account =
    specialLogin(site, request) ?? authenticate(site.store, request.headers.authorization);
  if (typeof account === 'string') {
    const isOpen = site.dialect.quirks.has('open-reads') && method === 'GET';
    if (isOpen && request.headers.authorization === undefined) return view.respond(request);
    return { ...refusal(401, account), headers: { 'WWW-Authenticate': 'Basic realm="api"' } };
  }
  if (!account.mayWrite && !READS.includes(method) && view.isReadOnly !== true) {
    return refusal(403, 'You do not have permission to perform this action.');
  }
  if (!view.allow.includes(method)) return refusal(405, `Method "${method}" not allowed.`);
  if (method !== 'OPTIONS') return view.respond(request);
  return {
    status: 200,
    value: {
      name: view.title,
      description: '',
      renders: ['application/json', 'text/html'],
      parses: site.dialect.traits.encodings.map((encoding) => CONTENT_TYPES[encoding]),
      actions: account.mayWrite ? view.actions?.() : undefined,
    },
  };
}

function render(
  view: Pick<View, 'title' | 'allow'>,
  outcome: Outcome,
  rendering: Rendering,
): ApiResponse {
  const { status, value, text } = outcome;
  const headers = { Allow: view.allow.join(', '), Vary: 'Accept', ...outcome.headers };
  if (text === undefined && value === undefined) return { status, headers, body: '' };
  const { type, body } =
    text ??
    (rendering === 'json'
      ? { type: CONTENT_TYPES.json, body: JSON.stringify(value) }
      : { type: HTML, body: browsablePage(view.title, status, value) });
  return { status, headers: { 'Content-Type': type, ...headers }, body };
}

/** A page of the web server in front of the API. */
export function page(status: number, body: string): ApiResponse {
  return { status, headers: { 'Content-Type': HTML }, body };
}

/** The account of the header, or the message of the 401. */
function authenticate(store: Store, authorization = ''): Account | string {
  const [name = '', credentials, ...rest] = authorization.trim().split(/\s+/);
  const scheme = name.toLowerCase();
  if (scheme !== 'basic' && scheme !== 'token') {
    return 'Authentication credentials were not provided.';
  }
  const noun = scheme === 'basic' ? 'Credentials' : 'Token';
  if (credentials === undefined) return `Invalid ${scheme} header. No credentials provided.`;
  if (rest.length > 0) return `Invalid ${scheme} header. ${noun} string should not contain spaces.`;
  return scheme === 'token'
    ? (store.accountByToken(credentials) ?? 'Invalid token.')
    : byPassword(store, credentials);
}

function byPassword(store: Store, credentials: string): Account | string {
  const login = loginIn(credentials);
  if (login === undefined) {
    return 'Invalid basic header. Credentials not correctly base64 encoded.';
  }
  return store.accountByPassword(...login) ?? 'Invalid username/password.';
}

/** The name and the password of a Basic login. */
export function loginIn(credentials: string): [username: string, password: string] | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(credentials) || credentials.length % 4 !== 0) return undefined;
  const [username = '', ...password] = Buffer.from(credentials, 'base64').toString().split(':');
  return [username, password.join(':')];
}

/** The renderers of Django REST Framework. */
type Rendering = 'json' | 'html';

/** The media ranges that each one serves, precise ones first; then the server's own order. */
const RENDERINGS: readonly (readonly [range: string, Rendering])[] = [
  ['application/json', 'json'],
  ['text/html', 'html'],
  ['application/*', 'json'],
  ['text/*', 'html'],
  ['*/*', 'json'],
];

/** Like the framework; parameters and `q` are ignored. */
function negotiate(accept = '*/*'): Rendering | undefined {
  const ranges = accept.split(',').map((range) => range.split(';')[0]?.trim().toLowerCase());
  return RENDERINGS.find(([range]) => ranges.includes(range))?.[1];
}

/** Status codes of the view itself, not of the login or the server. */
const REJECTIONS = [400, 404, 409];

/** Writes a refusal as the dialect does. */
function shapeRejection(dialect: Dialect, request: ApiRequest, outcome: Outcome): Outcome {
  const { status, value } = outcome;
  if (status < 400) return outcome;
  if (dialect.profile === 'form-action') {
    // Only the server in front of the form uses status codes.
    const isOfServer = status === 401 || status === 405 || request.method !== 'POST';
    return isOfServer ? outcome : ok({ status: 'error', message: textIn(value) });
  }
  if (dialect.quirks.has('status-200-errors') && REJECTIONS.includes(status)) {
    return ok({ success: false, message: textIn(value) });
  }
  if (dialect.quirks.has('html-errors') && (status === 400 || status >= 500)) {
    const title = `${STATUS_CODES[status] ?? 'Error'} (${status})`;
    return { status, text: { type: HTML, body: refusalPage(title, textIn(value)) } };
  }
  return outcome;
}

function ok(value: unknown): Outcome {
  return { status: 200, value };
}

/** All texts in the body of a refusal, in one line. */
function textIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(textIn).join(' ');
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .map(([name, inner]) => {
      const text = textIn(inner);
      return name === 'detail' || name === 'non_field_errors' ? text : `${name}: ${text}`;
    })
    .join(' ');
}
