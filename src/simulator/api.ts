import type { Account } from './store.ts';
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

/** What a device answers. Tests put other dialects in its place. */
export interface Api {
  /** The accepted formats of a body. */
  readonly encodings: readonly (keyof typeof CONTENT_TYPES)[];
  /** Undefined for an unknown path. */
  readonly findView: (path: string) => View | undefined;
  /** The account of a request, or the message of the 401. */
  readonly login: (request: ApiRequest) => Account | string;
  /** Writes a refusal in another way. */
  readonly refuse?: (request: ApiRequest, outcome: Outcome) => Outcome;
}

/** The response of a device without faults, as Django REST Framework would give it. Changes only the store. */
export function respond(api: Api, request: ApiRequest): ApiResponse {
  const [path = '', query] = request.target.split('?', 2);
  const view = api.findView(path);
  if (view === undefined) {
    if (api.findView(`${path}/`) === undefined) return page(404, NOT_FOUND_PAGE);
    const location = `${path}/${query === undefined ? '' : `?${query}`}`;
    return { ...page(301, ''), headers: { 'Content-Type': HTML, Location: location } };
  }
  const outcome = decide(api, view, request);
  const isRefusal = outcome.status >= 400;
  return render(view.allow, isRefusal ? (api.refuse?.(request, outcome) ?? outcome) : outcome);
}

function decide(api: Api, view: View, request: ApiRequest): Outcome {
  const { method } = request;
  const account = api.login(request);
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
      parses: api.encodings.map((encoding) => CONTENT_TYPES[encoding]),
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
