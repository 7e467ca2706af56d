import { page, schemeOf } from '../api.ts';
import { type ApiAnswer, LOGIN_PAGE, refusalPage, SERVER_ERROR_PAGE } from '../view.ts';
import { requestFault } from './fault.ts';

type Headers = Readonly<Record<string, string>>;

function json(status: number, value: unknown, headers: Headers = {}): ApiAnswer {
  return {
    status,
    headers: { 'Content-Type': 'application/json', Vary: 'Accept', ...headers },
    body: JSON.stringify(value),
  };
}

const detail = (status: number, text: string, headers?: Headers): ApiAnswer =>
  json(status, { detail: text }, headers);

const busy = (retryAfter: string): ApiAnswer => ({
  ...page(503, ''),
  headers: { 'Retry-After': retryAfter },
});

const throttled = (retryAfter: string): ApiAnswer =>
  detail(429, 'Request was throttled.', { 'Retry-After': retryAfter });

const redirect = (status: number, location: string): ApiAnswer => ({
  ...page(status, ''),
  headers: { Location: location },
});

/** Clears the screen and sets the title of a terminal that obeys. */
const ESCAPES = '\u001b[2J\u001b[H\u001b]0;owned\u0007\u202eoops\u009b31m';

const NEVER_HTTP_DATE = 'Fri, 31 Dec 2100 23:59:59 GMT';

/** Refusals instead of an answer: nothing is carried out. */
export const REFUSALS = [
  requestFault(
    '401',
    'Every credential is refused.',
    detail(401, 'Invalid token.', { 'WWW-Authenticate': 'Basic realm="api"' }),
  ),
  requestFault('401-bare', '401 does not say how to log in, and has no body.', page(401, '')),
  requestFault(
    '401-digest',
    'The device wants Digest authentication.',
    detail(401, 'Unauthorized', { 'WWW-Authenticate': 'Digest realm="api", nonce="0"' }),
  ),
  requestFault(
    '403',
    'The account has no right to anything.',
    detail(403, 'You do not have permission to perform this action.'),
  ),
  requestFault('404', 'There is no such address on the device.', page(404, 'Not Found')),
  requestFault(
    '405',
    'The method is not allowed, and the device says which are.',
    detail(405, 'Method not allowed.', { Allow: 'GET, HEAD, OPTIONS' }),
  ),
  requestFault('407', 'A proxy in between wants a login of its own.', {
    ...page(407, ''),
    headers: { 'Proxy-Authenticate': 'Basic realm="proxy"' },
  }),
  requestFault('409', 'It is in conflict with something.', detail(409, 'Resource is locked.')),
  requestFault('415', 'No format is good enough.', detail(415, 'Unsupported media type.')),
  requestFault('418', 'The device is a teapot.', page(418, 'short and stout')),
  requestFault(
    '422-fields',
    'The values are refused, field by field.',
    json(422, { errors: { lang: ['Not a valid choice.'], username: ['Too short.'] } }),
  ),
  requestFault('400-html', 'A refusal in HTML.', page(400, refusalPage('Bad Request', 'No.'))),
  requestFault('400-empty', 'A refusal without a word.', page(400, '')),
  requestFault(
    '400-escapes',
    'A refusal whose text would take over a terminal.',
    json(400, { username: [ESCAPES], [ESCAPES]: ['again'] }),
  ),
  requestFault('400-token', 'Every token is refused with 400.', ({ authorization }) =>
    schemeOf(authorization) === 'token' ? detail(400, 'Malformed authorization.') : undefined,
  ),
  requestFault('400-long', 'A refusal of 2 MB.', detail(400, 'no '.repeat(700_000))),
  requestFault(
    '429',
    'Too many requests; retry after one second.',
    detail(429, 'Request was throttled. Expected available in 1 second.', { 'Retry-After': '1' }),
  ),
  requestFault('429-forever', 'Too many requests; retry after 100 years.', throttled('3155760000')),
  requestFault('429-negative', 'Too many requests; retry a minute ago.', throttled('-60')),
  requestFault('429-date', 'Too many requests; retry in 2100.', throttled(NEVER_HTTP_DATE)),
  requestFault('429-nonsense', 'Too many requests; retry "soon".', throttled('soon')),
  requestFault(
    '500-once',
    'One request fails with 500, the next ones are served.',
    page(500, SERVER_ERROR_PAGE),
    'once',
  ),
  requestFault('500', 'Every request fails with 500.', page(500, SERVER_ERROR_PAGE)),
  requestFault(
    '502-html',
    'A gateway has lost the device.',
    page(502, refusalPage('Bad Gateway', 'nginx')),
  ),
  requestFault('503-once', 'The device is busy once, then it serves.', busy('1'), 'once'),
  requestFault('503-busy', 'The device is busy all the time; retry after one second.', busy('1')),
  requestFault('503-forever', 'The device is busy; retry after 100 years.', busy('3155760000')),
  requestFault('999', 'A status that does not exist.', detail(999, 'What?')),
  requestFault('304', 'Nothing is new: 304 to everything.', { status: 304, headers: {}, body: '' }),
  requestFault('redirect-same', 'A redirect to the same list under a longer address.', (request) =>
    request.target.includes('moved')
      ? undefined
      : redirect(307, `${request.target.split('?')[0] ?? ''}?moved=1`),
  ),
  requestFault(
    'redirect-elsewhere',
    'A redirect to another host.',
    redirect(307, 'https://elsewhere.invalid/api/user/'),
  ),
  requestFault('redirect-login', 'A redirect to a login page on the same device.', ({ target }) =>
    target.startsWith('/login') ? page(200, LOGIN_PAGE) : redirect(302, '/login?next=%2Fapi'),
  ),
  requestFault('redirect-loop', 'Redirects that go in a circle.', ({ target }) =>
    redirect(308, target),
  ),
  requestFault('redirect-nowhere', 'A redirect without a target.', page(302, '')),
];

/** No answer, or one that means nothing: nothing is carried out. */
export const PRETENCES = [
  requestFault('silence', 'Requests are taken and never answered.', () => 'taken'),
  requestFault('reset', 'The connection is reset instead of an answer.', (_request, wire) => {
    wire.reset();
    return 'taken';
  }),
  requestFault('half-close', 'The device ends its side instead of an answer.', (_request, wire) => {
    wire.socket.end();
    return 'taken';
  }),
  requestFault(
    'idle-close',
    'A connection that was used before is closed as the next request comes.',
    (_request, wire) => {
      if (!wire.isReused) return undefined;
      wire.socket.destroy();
      return 'taken';
    },
  ),
  requestFault(
    'html-page',
    'A login page in HTML comes back with status 200.',
    page(200, LOGIN_PAGE),
  ),
  requestFault('empty-200', 'The answer is 200 with an empty body, and nothing is done.', {
    status: 200,
    headers: { 'Content-Type': 'application/json' },
    body: '',
  }),
  requestFault('204', 'The answer to everything is 204, and nothing is done.', {
    status: 204,
    headers: {},
    body: '',
  }),
  requestFault('202', 'Everything is accepted for later, and never done.', json(202, {})),
  requestFault(
    'status-error',
    '200 says {"status":"error"} in its body.',
    json(200, { status: 'error', message: 'Database is locked' }),
  ),
  requestFault(
    'success-false',
    '200 says {"success":false} in its body.',
    json(200, { success: false, errors: ['Licence has expired'] }),
  ),
  requestFault(
    'error-escapes',
    'An error in a 200, whose text would take over a terminal.',
    json(200, { status: 'error', message: ESCAPES }),
  ),
  requestFault('ok-text', 'The answer is the text "OK", and nothing is done.', {
    status: 200,
    headers: { 'Content-Type': 'text/plain' },
    body: 'OK\n',
  }),
  requestFault('json-null', 'The answer is null, and nothing is done.', json(200, null)),
];
