import { expect, test } from 'vitest';
import { Credential } from '../../src/device/credential.ts';
import type { Response } from '../../src/device/exchange.ts';
import { TransportFault } from '../../src/device/fault.ts';
import { responseError, type FailureContext, exchangeError } from '../../src/device/translate.ts';

const circumstances: FailureContext = {
  device: { name: 'fw1', address: '10.0.0.5:443' },
  request: { method: 'POST', path: '/api/user/' },
  credential: Credential.basic('admin', 'hunter2'),
};

function answer(status: number, body = '', headers: Record<string, string> = {}): Response {
  return { status, body, headers, elapsedMs: 1, latencyMs: 1 };
}

const ANSWERS = [
  answer(
    400,
    '{"username":["taken","too short"],"non_field_errors":["no"],"address":{"city":["?"]}}',
  ),
  answer(400, '["not this","nor that"]'),
  answer(401, '{"detail":"Invalid username/password."}'),
  answer(403),
  answer(404, '<!DOCTYPE html><html><head><title>Page not found at /api/user/</title>'),
  answer(405, '', { allow: 'GET, POST' }),
  answer(429, '{"detail":"Request was throttled."}', { 'retry-after': '60' }),
  answer(500, '<h1>Server Error (500)</h1>'),
  answer(301, '', { location: 'https://other/\u009b31mapi/user' }),
];

test('every refusal is one line that says what to try', () => {
  const errors = ANSWERS.map((one) => responseError(circumstances, one));
  for (const { message } of errors) expect(message).not.toMatch(/\p{Cc}/u);
  const lines = errors.map(({ exitCode, code, message }) => `${exitCode} ${code} ${message}`);
  expect(lines.join('\n')).toMatchInlineSnapshot(`
    "1 rejected fw1: POST /api/user/ was refused (400): username: taken, too short; no; address.city: ?
    1 rejected fw1: POST /api/user/ was refused (400): not this, nor that
    4 unauthorized fw1: the login was refused (401, as admin): Invalid username/password. Try "login fw1"
    4 forbidden fw1: POST /api/user/ is forbidden (403). Either "admin" lacks the permission, or the login is wrong: try "login fw1" with another account
    1 rejected fw1: POST /api/user/ was refused (404, not found): Page not found at /api/user/
    1 rejected fw1: POST /api/user/ was refused (405, method not allowed; it allows GET, POST)
    1 rejected fw1: POST /api/user/ was refused (429, too many requests; retry after 60 s): Request was throttled
    1 protocol fw1: POST /api/user/ returned 500: Server Error (500). The device has an internal error; try again, and check its log
    1 protocol fw1: POST /api/user/ returned a redirect (301) to https://other/ 31mapi/user: devsh redirects no writes; nothing else was sent"
  `);
});

test('complaints are kept per field, whatever the fields are called', () => {
  const error = responseError(
    circumstances,
    answer(400, '{"__proto__":["a"],"constructor":"b","detail":"c"}'),
  );
  expect(Object.entries((error as { issues?: object }).issues ?? {})).toEqual([
    ['__proto__', ['a']],
    ['constructor', ['b']],
    ['', ['c']],
  ]);
});

test('a long response is cut in the message and kept for --raw', () => {
  const error = responseError(circumstances, answer(500, `x${'y'.repeat(100_000)}`));
  expect(error.message.length).toBeLessThan(500);
  expect(error).toMatchObject({ body: expect.stringMatching(/^xy{1000}/) as string });
});

test('every lost response says whether the request may have arrived', () => {
  const faults = [
    new TransportFault('name', 'getaddrinfo ENOTFOUND', { sent: false }),
    new TransportFault('refused', 'connect ECONNREFUSED', { sent: false }),
    new TransportFault('no route', 'connect EHOSTUNREACH', { sent: false }),
    new TransportFault('connect timeout', 'no connection within 5000 ms', { sent: false }),
    new TransportFault('tls', 'wrong version number', { sent: false }),
    new TransportFault('reset', 'read ECONNRESET', { sent: false }),
    new TransportFault('reset', 'other side closed', { sent: true }),
    new TransportFault('timeout', 'no complete response within 10000 ms', { sent: true }),
    new TransportFault('cut off', 'no length', { sent: true }),
  ];
  const lines = faults.map((fault) => {
    const error = exchangeError(circumstances, fault);
    expect(error).toMatchObject({ code: 'unreachable', mayHaveArrived: fault.sent });
    return error.message;
  });
  expect(lines.join('\n')).toMatchInlineSnapshot(`
    "fw1: the name of 10.0.0.5:443 does not resolve. Check the spelling, or use the IP address
    fw1: 10.0.0.5:443 refuses the connection. Is its API switched on, and is the port right?
    fw1: no route to 10.0.0.5:443. Check the network, the VPN and the address
    fw1: no connection to 10.0.0.5:443 in time. Is it switched on, and does a firewall let you through?
    fw1: no TLS with 10.0.0.5:443: wrong version number. Is this the HTTPS port, and does it speak TLS 1.2?
    fw1: 10.0.0.5:443 closed the connection before it was ready. Is this the HTTPS port?
    fw1: the connection broke before the response to POST /api/user/ was complete. The device may have executed it: check before you repeat it
    fw1: POST /api/user/: no complete response within 10000 ms. The device may have executed it: check before you repeat it
    fw1: the response to POST /api/user/ has no length and may be cut off. The device may have executed it: check before you repeat it"
  `);
});

test.each(['refused', 'tls', 'reset', 'connect timeout'] as const)(
  'a device that was read is not asked for its port: %s',
  (kind) => {
    const fault = new TransportFault(kind, 'detail', { sent: false });
    const { message } = exchangeError({ ...circumstances, wasRead: true }, fault);
    expect(message).not.toMatch(/HTTPS port|API switched on|port right/);
  },
);

test('a bug stays a bug', () => {
  const bug = new TypeError('x is not a function');
  expect(exchangeError(circumstances, bug)).toBe(bug);
});

test('an answer whose length contradicts its header is the fault of the device, and said so', () => {
  const fault = new TransportFault('wrong length', 'x', { sent: true });
  expect(exchangeError(circumstances, fault).message).toBe(
    'fw1: the response to POST /api/user/ does not have the length of its Content-Length, or has two of them. ' +
      'The device may have executed it: check before you repeat it',
  );
});
