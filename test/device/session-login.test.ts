import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { Credential } from '../../src/device/credential.ts';
import type { Device } from '../../src/device/device.ts';
import { parseProfile } from '../../src/device/profile-file.ts';
import { deviceAt, serve, type TestServer } from './server.ts';

const TOKEN = 't0p-secret-session';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A device with the login facts; `login` answers at /login, users are elsewhere. */
async function sessionAt(
  facts: string,
  login: Answer,
  options: Parameters<typeof deviceAt>[1] = {},
): Promise<{ server: TestServer; device: Device }> {
  const server = await serve((request, response) => {
    if (request.url?.startsWith('/login')) login(request, response);
    else response.end('[{"uuid":"1","username":"bob"}]');
  });
  const profile = parseProfile(`auth: ${facts}`, 'p.yaml', 'p');
  return { server, device: deviceAt(server, { profile, ...options }) };
}

const giveToken: Answer = (_request, response) => {
  response.end(JSON.stringify({ data: { token: TOKEN } }));
};

/** The last request to the users. */
function sent({ requests }: TestServer): TestServer['requests'][number]['headers'] {
  return requests.findLast(({ path }) => path === '/api/user/')?.headers ?? {};
}

test.each([
  ['{login: {path: /login, token_in: data.token}}', 'authorization', `Bearer ${TOKEN}`],
  [
    '{prefix: Token, login: {path: /login, token_in: data.token}}',
    'authorization',
    `Token ${TOKEN}`,
  ],
  ['{header: X-Session, login: {path: /login, token_in: data.token}}', 'x-session', TOKEN],
  ['{login: {path: /login, token_in: data.token, cookie: ticket}}', 'cookie', `ticket=${TOKEN}`],
])('%s is sent in %s', async (facts, header, value) => {
  const { server, device } = await sessionAt(facts, giveToken);
  await device.list('user');
  expect(sent(server)[header]).toBe(value);
  expect(JSON.stringify(sent(server))).not.toContain('Basic');
});

test.each<[string, Answer, string]>([
  [
    'token_in: "header:X-Auth-Token"',
    (_request, response) => response.writeHead(201, { 'X-Auth-Token': TOKEN }).end('{}'),
    `Bearer ${TOKEN}`,
  ],
  ['token_in: body', (_request, response) => response.end(`"${TOKEN}"`), `Bearer ${TOKEN}`],
  ['token_in: body', (_request, response) => response.end(`${TOKEN}\n`), `Bearer ${TOKEN}`],
])('the token may be in %s', async (facts, login, value) => {
  const { server, device } = await sessionAt(`{login: {path: /login, ${facts}}}`, login);
  await device.list('user');
  expect(sent(server).authorization).toBe(value);
});

test.each([
  ['json', 'application/json', '{"grant_type":"x","login":"admin","pass":"hunter2secret"}'],
  ['form', 'application/x-www-form-urlencoded', 'grant_type=x&login=admin&pass=hunter2secret'],
  ['basic', undefined, ''],
])('the login is sent as %s', async (encoding, type, text) => {
  const facts = `path: /login, token_in: data.token, encoding: ${encoding}, user_field: login, password_field: pass, constants: {grant_type: x}`;
  const server = await serve((_request, response) => {
    response.end(`{"data":{"token":"${TOKEN}"},"results":[]}`);
  });
  const profile = parseProfile(`auth: {login: {${facts}}}`, 'p.yaml', 'p');
  const device = deviceAt(server, { profile });
  await device.list('user');
  const [login] = server.requests;
  expect(login?.method).toBe('POST');
  expect(login?.headers['content-type']).toBe(type);
  expect(login?.headers['content-length']).toBe(String(text.length));
  expect('authorization' in (login?.headers ?? {})).toBe(encoding === 'basic');
});

test('requests in parallel share one login, and one renewal', async () => {
  let refused = 0;
  let logins = 0;
  const server = await serve((request, response) => {
    if (request.url === '/login') {
      logins += 1;
      setTimeout(() => response.end(`{"token":"session-${logins}"}`), 30);
    } else if (logins === 1 && server.requests.length > 4) {
      refused += 1;
      response.writeHead(401).end();
    } else response.end('[{"uuid":"1","username":"bob"}]');
  });
  const profile = parseProfile('auth: {login: {path: /login, token_in: token}}', 'p.yaml', 'p');
  const device = deviceAt(server, { profile });
  await Promise.all([device.list('user'), device.list('user'), device.list('user')]);
  expect(logins).toBe(1);
  await Promise.all([device.list('user'), device.list('user')]);
  expect(refused).toBeGreaterThan(0);
  expect(logins).toBe(2);
});

test('reads that are each in a session of their own go on', async () => {
  let token = '';
  const server = await serve((request, response) => {
    if (request.url === '/login') {
      token = `session-${server.requests.length}`;
      response.end(JSON.stringify({ token }));
    } else if (request.headers.authorization === `Bearer ${token}`) {
      response.end('[{"uuid":"1","username":"bob"}]');
    } else response.writeHead(401).end();
  });
  const profile = parseProfile('auth: {login: {path: /login, token_in: token}}', 'p.yaml', 'p');
  const device = deviceAt(server, { profile });
  for (let reading = 1; reading <= 4; reading += 1) {
    expect((await device.list('user')).records).toHaveLength(1);
    token = '';
  }
  expect(server.requests.filter(({ path }) => path === '/login')).toHaveLength(4);
});

test('a renewal that is refused is not tried again by the read beside it', async () => {
  let isOver = false;
  const server = await serve((request, response) => {
    if (request.url === '/login' && !isOver) giveToken(request, response);
    else if (request.url === '/login') response.writeHead(401).end();
    else if (!isOver) response.end('[{"uuid":"1","username":"bob"},{"uuid":"2","username":"ann"}]');
    else {
      const delayMs = request.url?.includes('/1') === true ? 0 : 200;
      setTimeout(() => response.writeHead(401).end(), delayMs);
    }
  });
  const facts = 'auth: {login: {path: /login, token_in: data.token}}';
  const device = deviceAt(server, { profile: parseProfile(facts, 'p.yaml', 'p') });
  const { records } = await device.list('user');
  isOver = true;
  const reads = records.map((record) => device.details('user', [record]));
  for (const read of reads) await expect(read).rejects.toThrow('the login was refused');
  expect(server.requests.filter(({ path }) => path === '/login')).toHaveLength(2);
});

test('a 403 may be a missing right, so that it opens no further session', async () => {
  let isAllowed = true;
  const server = await serve((request, response) => {
    if (request.url === '/login') giveToken(request, response);
    else if (isAllowed) response.end('[{"uuid":"1","username":"bob"}]');
    else response.writeHead(403).end();
  });
  const facts = 'auth: {login: {path: /login, token_in: data.token}}';
  const device = deviceAt(server, { profile: parseProfile(facts, 'p.yaml', 'p') });
  await device.list('user');
  isAllowed = false;
  for (let reading = 0; reading < 3; reading += 1) {
    await expect(device.list('user')).rejects.toMatchObject({ code: 'forbidden' });
  }
  isAllowed = true;
  expect((await device.list('user')).records).toHaveLength(1);
  expect(server.requests.filter(({ path }) => path === '/login')).toHaveLength(1);
});

test.each<[number, string, string, string]>([
  [401, '{"detail":"No."}', 'unauthorized', 'the login was refused (401, as admin): No'],
  [400, '{"detail":"No."}', 'login-failed', 'the login was refused (400, as admin): No'],
  [403, '', 'login-failed', 'the login was refused (403, as admin)'],
  [
    200,
    '{"success":false,"error":"locked"}',
    'login-failed',
    '/login returned no session in data.token',
  ],
  [
    200,
    '<html><title>Sign in</title></html>',
    'login-failed',
    '/login returned no session in data.token',
  ],
  [200, '{"data":{"token":"a b\\r\\nX-Evil: 1"}}', 'login-failed', '/login returned no session'],
  [200, `{"data":{"token":"${'a'.repeat(9000)}"}}`, 'login-failed', '/login returned no session'],
  [200, `{"token":"${TOKEN}"}`, 'login-failed', 'no session in data.token (200, as admin). Try'],
  [404, '', 'login-failed', 'the login was refused (404, as admin)'],
  [429, '', 'rejected', 'too many requests'],
  [307, '', 'login-failed', '/login returned no session in data.token (307, as admin)'],
  [500, '', 'unreachable', 'no login: POST /login returned 500'],
])('a login with the response %i %s is %s', async (status, body, code, text) => {
  const { server, device } = await sessionAt(
    '{login: {path: /login, token_in: data.token}}',
    (_request, response) => {
      response.writeHead(status, status === 307 ? { location: '/login?again' } : {}).end(body);
    },
  );
  const error: unknown = await device.list('user').catch((error: unknown) => error);
  expect(error).toMatchObject({ code });
  expect(String(error)).toContain(text);
  expect(String(error)).not.toContain('hunter2secret');
  expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain(TOKEN);
  expect(server.requests.map(({ path }) => path)).toEqual(['/login']);
});

test('a login whose response is lost is not sent again, and no write counts as sent', async () => {
  const { server, device } = await sessionAt(
    '{login: {path: /login, token_in: data.token}}',
    (request) => request.socket.destroy(),
  );
  const write = device.write({ method: 'POST', path: '/api/user/', json: { username: 'zoe' } });
  await expect(write).rejects.toMatchObject({ code: 'unreachable', mayHaveArrived: false });
  expect(server.requests.map(({ path }) => path)).toEqual(['/login']);
});

test('the session is ended where the device says that it is, but only below the login', async () => {
  const endings = [
    '/login/77',
    'https://elsewhere.invalid/login/77',
    '/api/user/',
    '/login/../api/',
  ];
  for (const [index, location] of endings.entries()) {
    const facts =
      '{login: {path: /login, token_in: data.token, logout: {method: DELETE, path: "{location}"}}}';
    const { server, device } = await sessionAt(facts, (request, response) => {
      response.setHeader('location', location);
      giveToken(request, response);
    });
    await device.list('user');
    await device.close();
    const deleted = server.requests.filter(({ method }) => method === 'DELETE');
    expect(deleted.map(({ path }) => path)).toEqual(index === 0 ? ['/login/77'] : []);
  }
});

test('a session that is named by its secret is ended without showing it', async () => {
  const lines: string[] = [];
  const facts =
    '{login: {path: /login, token_in: data.token, logout: {method: DELETE, path: "{location}"}}}';
  const { server, device } = await sessionAt(
    facts,
    (request, response) => {
      response.setHeader('location', `/login/${TOKEN}`);
      giveToken(request, response);
    },
    {
      trace: (line) => lines.push(line),
    },
  );
  await device.list('user');
  await device.close();
  expect(server.requests.at(-1)?.path).toBe(`/login/${TOKEN}`);
  expect(lines.join('\n')).toContain('/login/***');
  expect(lines.join('\n')).not.toContain(TOKEN);
});

test('a refused login shows no secret among its constants', async () => {
  const { device } = await sessionAt(
    '{login: {path: /login, token_in: t, constants: {client_secret: Xq9canary, realm: lab}}}',
    (_request, response) => {
      response.writeHead(400).end('{"detail":"no client Xq9canary in lab"}');
    },
  );
  await expect(device.list('user')).rejects.toThrow('no client *** in lab');
});

test('a token is sent as it is, without a session', async () => {
  const { server, device } = await sessionAt(
    '{header: X-API-Key, login: {path: /login, token_in: data.token}}',
    giveToken,
    { credential: Credential.token('abcdefgh') },
  );
  await device.list('user');
  expect(server.requests.map(({ headers }) => headers['x-api-key'])).toEqual(['abcdefgh']);
});

test('the secret of a session is in no error, trace or response of a write', async () => {
  const lines: string[] = [];
  const server = await serve((request, response) => {
    if (request.url === '/login') giveToken(request, response);
    else if (request.method === 'GET') response.writeHead(400).end(`{"detail":"Bad ${TOKEN}"}`);
    else response.end(JSON.stringify({ echo: request.headers }));
  });
  const facts = 'auth: {login: {path: /login, token_in: data.token, cookie: sid}}';
  const device = deviceAt(server, {
    profile: parseProfile(facts, 'p.yaml', 'p'),
    trace: (line) => lines.push(line),
  });
  const error: unknown = await device.list('user').catch((error: unknown) => error);
  const { body } = await device.raw({ method: 'POST', path: '/api/user/', form: [['a', 'b']] });
  const all = `${String(error)} ${JSON.stringify(error)} ${body} ${lines.join(' ')}`;
  expect(all).toContain('Bad ***');
  expect(all).not.toContain(TOKEN);
  expect(all).not.toContain('hunter2secret');
  expect(device.sentSecrets).toContain(TOKEN);
});

test.each([
  ['{login: {path: /login}}', 'token_in: is missing'],
  ['{login: {path: /api/user/, cookie: sid}}', 'has records: a login would add one'],
  ['{login: {path: "/login?token=abc", cookie: sid}}', 'addresses end up in logs'],
  ['{login: {path: login, cookie: sid}}', 'must begin with /'],
  ['{login: {path: /api/%75ser/, cookie: sid}}', 'without % and #'],
  ['{login: {path: "/login#x", cookie: sid}}', 'without % and #'],
  ["{login: {path: '/\\\\other.invalid/login', cookie: sid}}", 'must begin with /'],
  ['{login: {path: /login, cookie: "a b"}}', 'must be a place'],
  ['{login: {path: /login, cookie: "a=b; c"}}', 'must be a place'],
  ['{header: cookie, login: {path: /login, cookie: sid}}', 'is a header of HTTP'],
  ['{login: {path: /login, cookie: sid, tokenin: x}}', 'did you mean "token_in"?'],
  [
    '{login: {path: /login, cookie: sid, logout: {path: /login/../api/}}}',
    'without blanks and dots',
  ],
  ['{login: {path: /login, cookie: sid, logout: {path: /login/%2E%2e/api}}}', 'without blanks and'],
  [
    '{login: {path: /login, cookie: sid, logout: {method: DELETE, path: /api/user/}}}',
    'a logout by DELETE must go to the path of the login',
  ],
])('%s is refused', (facts, why) => {
  expect(() => parseProfile(`auth: ${facts}`, 'p.yaml', 'p')).toThrow(why);
});
