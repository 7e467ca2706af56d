import { page } from '../../../src/simulator/api.ts';
import { type ApiResponse } from '../../../src/simulator/view.ts';
import { LOGIN_PAGE, refusalPage, SERVER_ERROR_PAGE } from '../pages.ts';
import { atRequest } from './fault.ts';

type Headers = Readonly<Record<string, string>>;

function json(status: number, value: unknown, headers: Headers = {}): ApiResponse {
  return {
    status,
    headers: { 'Content-Type': 'application/json', Vary: 'Accept', ...headers },
    body: JSON.stringify(value),
  };
}

const detail = (status: number, text: string, headers?: Headers): ApiResponse =>
  json(status, { detail: text }, headers);

const bare = (status: number, headers: Headers = {}, body = ''): ApiResponse => ({
  status,
  headers,
  body,
});

const busy = (retryAfter: string): ApiResponse => bare(503, { 'Retry-After': retryAfter });

const throttled = (retryAfter: string): ApiResponse =>
  detail(429, 'Request was throttled.', { 'Retry-After': retryAfter });

const redirect = (status: number, location: string): ApiResponse =>
  bare(status, { Location: location });

/** Clears the screen and sets the title of a terminal. */
const ESCAPES = '\u001b[2J\u001b[H\u001b]0;owned\u0007\u202eoops\u009b31m';

const NEVER_HTTP_DATE = 'Fri, 31 Dec 2100 23:59:59 GMT';

/** Refusals; the request is not executed. */
export const REFUSALS = [
  atRequest('401', 'Every credential is refused.', () =>
    detail(401, 'Invalid token.', { 'WWW-Authenticate': 'Basic realm="api"' }),
  ),
  atRequest('401-digest', 'The device requires Digest authentication.', () =>
    detail(401, 'Unauthorized', { 'WWW-Authenticate': 'Digest realm="api", nonce="0"' }),
  ),
  atRequest('403', 'The account has no rights.', () =>
    detail(403, 'You do not have permission to perform this action.'),
  ),
  atRequest('404', 'The path does not exist on the device.', () => page(404, 'Not Found')),
  atRequest('405', 'The method is not allowed; the device lists those that are.', () =>
    detail(405, 'Method not allowed.', { Allow: 'GET, HEAD, OPTIONS' }),
  ),
  atRequest('407', 'A proxy on the way requires a login.', () =>
    bare(407, { 'Proxy-Authenticate': 'Basic realm="proxy"' }),
  ),
  atRequest('409', 'The request conflicts with something.', () =>
    detail(409, 'Resource is locked.'),
  ),
  atRequest('415', 'No format is accepted.', () => detail(415, 'Unsupported media type.')),
  atRequest('password-refused', 'Every new password is refused, as too common.', ({ body }) =>
    body.includes('password')
      ? json(400, { password: ['This password is too common.'] })
      : undefined,
  ),
  atRequest('422-fields', 'The device refuses the values, field by field.', () =>
    json(422, { errors: { lang: ['Not a valid choice.'], username: ['Too short.'] } }),
  ),
  atRequest('400-html', 'A refusal in HTML.', () => page(400, refusalPage('Bad Request', 'No.'))),
  atRequest('400-empty', 'A refusal without a word.', () => page(400, '')),
  atRequest('400-escapes', 'A refusal whose text would take over a terminal.', () =>
    json(400, { username: [ESCAPES], [ESCAPES]: ['again'] }),
  ),
  atRequest('400-token', 'Every token is refused with 400.', ({ headers }) =>
    /^\s*token\b/i.test(headers.authorization ?? '')
      ? detail(400, 'Malformed authorization.')
      : undefined,
  ),
  atRequest('400-long', 'A refusal of 2 MB.', () => detail(400, 'no '.repeat(700_000))),
  atRequest('429', 'Too many requests; retry after one second.', () =>
    detail(429, 'Request was throttled. Expected available in 1 second.', { 'Retry-After': '1' }),
  ),
  atRequest('429-forever', 'Too many requests; retry after 100 years.', () =>
    throttled('3155760000'),
  ),
  atRequest('429-date', 'Too many requests; retry in 2100.', () => throttled(NEVER_HTTP_DATE)),
  atRequest('429-nonsense', 'Too many requests; retry "soon".', () => throttled('soon')),
  {
    ...atRequest('500-once', 'One request fails with 500, later ones succeed.', () =>
      page(500, SERVER_ERROR_PAGE),
    ),
    isOnce: true as const,
  },
  atRequest('500', 'Every request fails with 500.', () => page(500, SERVER_ERROR_PAGE)),
  {
    ...atRequest('503-once', 'The device is busy once, then it responds.', () => busy('1')),
    isOnce: true as const,
  },
  atRequest('503-busy', 'The device is busy all the time; retry after one second.', () =>
    busy('1'),
  ),
  atRequest('999', 'A status that does not exist.', () => detail(999, 'What?')),
  atRequest('304', 'Every response is 304, not modified.', () => bare(304)),
  atRequest('redirect-same', 'A redirect to the same list under a longer address.', (request) =>
    request.target.includes('moved')
      ? undefined
      : redirect(307, `${request.target.split('?')[0] ?? ''}?moved=1`),
  ),
  atRequest('redirect-elsewhere', 'A redirect to another host.', () =>
    redirect(307, 'https://elsewhere.invalid/api/user/'),
  ),
  atRequest('redirect-login', 'A redirect to a login page on the same device.', ({ target }) =>
    target.startsWith('/login') ? page(200, LOGIN_PAGE) : redirect(302, '/login?next=%2Fapi'),
  ),
  atRequest('redirect-loop', 'Redirects form a loop.', ({ target }) => redirect(308, target)),
  atRequest('redirect-nowhere', 'A redirect without a target.', () => page(302, '')),
];

/** No response, or a meaningless one; the request is not executed. */
export const EMPTY_RESPONSES = [
  atRequest('silence', 'The device accepts requests and never responds.', () => 'taken'),
  atRequest(
    'reset',
    'The device resets the connection instead of responding.',
    (_request, wire) => {
      wire.reset();
      return 'taken';
    },
  ),
  atRequest(
    'half-close',
    'The device closes its side of the connection instead of responding.',
    (_request, wire) => {
      wire.socket.end();
      return 'taken';
    },
  ),
  atRequest(
    'idle-close',
    'The device closes a used connection when the next request arrives.',
    (_request, wire) => {
      if (!wire.isReused) return undefined;
      wire.socket.destroy();
      return 'taken';
    },
  ),
  atRequest('html-page', 'The response is an HTML login page with status 200.', () =>
    page(200, LOGIN_PAGE),
  ),
  atRequest('empty-200', 'The response is 200 with an empty body; the device does nothing.', () =>
    bare(200, { 'Content-Type': 'application/json' }),
  ),
  atRequest('204', 'Every response is 204; the device does nothing.', () => bare(204)),
  atRequest('202', 'Everything is accepted for later (202) and never done.', () => json(202, {})),
  atRequest('status-error', '200 says {"status":"error"} in its body.', () =>
    json(200, { status: 'error', message: 'Database is locked' }),
  ),
  atRequest('success-false', '200 says {"success":false} in its body.', () =>
    json(200, { success: false, errors: ['Licence has expired'] }),
  ),
  atRequest('ok-text', 'The response is the text "OK"; the device does nothing.', () =>
    bare(200, { 'Content-Type': 'text/plain' }, 'OK\n'),
  ),
  atRequest('json-null', 'The response is null; the device does nothing.', () => json(200, null)),
];
