import { authenticate } from './authentication.ts';
import type { ProfileName } from './dialects/dialect.ts';
import { findDocumentedView } from './dialects/documented.ts';
import { findFormActionView } from './dialects/form-action.ts';
import { shapeRejection } from './dialects/rejections.ts';
import { findRestView } from './dialects/rest.ts';
import { negotiate, type Rendering } from './negotiation.ts';
import { browsablePage, NOT_FOUND_PAGE } from './pages.ts';
import {
  CONTENT_TYPES,
  HTML,
  refusal,
  type ApiAnswer,
  type ApiRequest,
  type Outcome,
  type Site,
  type View,
} from './view.ts';

const READS = ['GET', 'HEAD', 'OPTIONS'];

/** Undefined where nothing is. */
const FIND_VIEW: Readonly<Record<ProfileName, (site: Site, path: string) => View | undefined>> = {
  documented: findDocumentedView,
  drf: findRestView,
  'generic-rest': findRestView,
  'form-action': findFormActionView,
};

/**
 * What a device answers: the documented API, and for the gaps what Django REST Framework does; or
 * another dialect. The order of the checks is the framework's, too: address, format, login, rights,
 * method, body. Changes the store; everything else is decided by the arguments.
 */
export function answer(site: Site, request: ApiRequest): ApiAnswer {
  const { profile, traits } = site.dialect;
  const findView = FIND_VIEW[profile];
  const [path = '', query] = request.target.split('?', 2);
  const view = findView(site, path);
  if (view === undefined) {
    if (!traits.endsWithSlash || findView(site, `${path}/`) === undefined) {
      return page(404, NOT_FOUND_PAGE);
    }
    const location = `${path}/${query === undefined ? '' : `?${query}`}`;
    return { ...page(301, ''), headers: { 'Content-Type': HTML, Location: location } };
  }
  const rendering = traits.isBrowsable ? negotiate(request.accept) : 'json';
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
  const account = authenticate(site.store, request.authorization);
  if (typeof account === 'string') {
    return { ...refusal(401, account), headers: { 'WWW-Authenticate': 'Basic realm="api"' } };
  }
  if (!account.mayWrite && !READS.includes(method) && view.isReadOnly !== true) {
    return refusal(403, 'You do not have permission to perform this action.');
  }
  if (!view.allow.includes(method)) return refusal(405, `Method "${method}" not allowed.`);
  if (method !== 'OPTIONS') return view.answer(request);
  const description = {
    name: view.title,
    description: '',
    renders: ['application/json', 'text/html'],
    parses: site.dialect.traits.encodings.map((encoding) => CONTENT_TYPES[encoding]),
  };
  const actions = account.mayWrite ? view.actions?.() : undefined;
  return { status: 200, value: { ...description, ...(actions && { actions }) } };
}

function render(view: View, outcome: Outcome, rendering: Rendering): ApiAnswer {
  const { status, value, text } = outcome;
  const headers = { Allow: view.allow.join(', '), Vary: 'Accept', ...outcome.headers };
  if (text !== undefined) {
    return { status, headers: { 'Content-Type': text.type, ...headers }, body: text.body };
  }
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
        body: browsablePage(view.title, status, value),
      };
}

/** A page of the server itself, which knows nothing of the API. */
export function page(status: number, body: string): ApiAnswer {
  return { status, headers: { 'Content-Type': HTML }, body };
}
