import type { Site } from './dialects/dialect.ts';
import {
  type ApiResponse,
  type ApiRequest,
  CONTENT_TYPES,
  HTML,
  NOT_FOUND_PAGE,
  type Outcome,
  refusal,
  type View,
} from './view.ts';

const READS = ['GET', 'HEAD', 'OPTIONS'];

/**
 * The response of a device without faults. What the API document leaves open follows Django REST
 * Framework, also the order of the checks: address, format, login, rights, method, body. Changes only
 * the store.
 */
export function respond(site: Site, request: ApiRequest): ApiResponse {
  const { dialect } = site;
  const { traits } = dialect;
  const [path = '', query] = request.target.split('?', 2);
  const view = dialect.findView(site, path);
  if (view === undefined) {
    if (!traits.endsWithSlash || dialect.findView(site, `${path}/`) === undefined) {
      return page(404, NOT_FOUND_PAGE);
    }
    const location = `${path}/${query === undefined ? '' : `?${query}`}`;
    return { ...page(301, ''), headers: { 'Content-Type': HTML, Location: location } };
  }
  const allow = view.allow.filter((method) => method !== 'OPTIONS' || traits.hasOptions);
  const outcome = decide(site, { ...view, allow }, request);
  const shaped = outcome.status < 400 ? outcome : dialect.refuse(request, outcome);
  return render(allow, shaped);
}

function decide(site: Site, view: View, request: ApiRequest): Outcome {
  const { method } = request;
  const account = site.dialect.login(site, request);
  if (typeof account === 'string') {
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
      renders: ['application/json'],
      parses: site.dialect.traits.encodings.map((encoding) => CONTENT_TYPES[encoding]),
      actions: account.mayWrite ? view.actions?.() : undefined,
    },
  };
}

function render(allow: readonly string[], { status, value, text, ...more }: Outcome): ApiResponse {
  const headers = { Allow: allow.join(', '), Vary: 'Accept', ...more.headers };
  if (text === undefined && value === undefined) return { status, headers, body: '' };
  const { type, body } = text ?? { type: CONTENT_TYPES.json, body: JSON.stringify(value) };
  return { status, headers: { 'Content-Type': type, ...headers }, body };
}

/** A page of the web server in front of the API. */
export function page(status: number, body: string): ApiResponse {
  return { status, headers: { 'Content-Type': HTML }, body };
}
