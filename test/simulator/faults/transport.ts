import { send, type Wire, writeHead } from './transmit.ts';
import { dribble, endlessly, paced, pour, rawHead, sendBlocks } from './damage.ts';
import type { ApiResponse } from '../../../src/simulator/view.ts';
import { atResponse, atConnection, WRITES } from './fault.ts';

/** Replaces a 204, which has no body to damage. */
function full(response: ApiResponse): ApiResponse {
  return response.status === 204 ? { ...response, status: 200, body: '{}' } : response;
}

/** The parts of a response; `whole` is the correct one. */
function partsOf(response: ApiResponse) {
  const { body } = response;
  const size = Buffer.byteLength(body);
  const length = `Content-Length: ${size}`;
  /** `text` after the head with any headers about its length. */
  const withHead = (lines: readonly string[], text: string): string =>
    rawHead(response, lines) + text;
  return { response, withHead, body, size, length, whole: withHead([length], body) };
}

type Write = (parts: ReturnType<typeof partsOf>) => string;

/** Literal bytes, then an orderly end of the connection. */
function raw<const Name extends string>(name: Name, summary: string, write: Write) {
  return atResponse(name, summary, ({ socket }, response) => {
    socket.end(write(partsOf(full(response))));
  });
}

/** Bytes, then silence on a connection that stays open. */
function stalled<const Name extends string>(name: Name, summary: string, write: Write) {
  return atResponse(name, summary, ({ socket }, response) => {
    socket.write(write(partsOf(full(response))));
  });
}

/** Bytes, then `again` until the client disconnects. */
function endless<const Name extends string>(
  name: Name,
  summary: string,
  again: string,
  first: Write,
) {
  return atResponse(name, summary, ({ socket }, response) => {
    pour(endlessly(first(partsOf(full(response))), again), socket);
  });
}

/** Sends the head at once and returns the body. */
function startBody({ response }: Wire, reply: ApiResponse): Buffer {
  const body = writeHead(response, reply);
  response.flushHeaders();
  return body;
}

const CHUNKED = 'Transfer-Encoding: chunked';
const LAST_CHUNK = '0\r\n\r\n';

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

const RECORDS = `${JSON.stringify({ username: 'again' })},`.repeat(1000);
const EARLY_HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n';
const FORGED = '[{"uuid":"666","username":"forged","first_name":"","lastname":"","lang":"en"}]';
const TRAILERS = `X-Trailer: ${'y'.repeat(100)}\r\n`.repeat(100);

/** Wrong length or end of a response. */
export const FRAMING_FAULTS = [
  {
    ...atResponse(
      'store-and-drop',
      'The device executes the write, then the connection breaks.',
      ({ response }) => response.destroy(),
    ),
    methods: WRITES,
    isLost: true as const,
  },
  atResponse('slow-body', 'The body arrives at four bytes per second.', (wire, response) => {
    dribble(startBody(wire, response), wire.response);
  }),
  atResponse(
    'body-in-pieces',
    'The body arrives in forty pieces within two seconds.',
    (wire, response) => {
      const body = startBody(wire, response);
      dribble(body, wire.response, { size: Math.ceil(body.length / 40), everyMs: 50 });
    },
  ),
  atResponse('truncated-body', 'The connection ends in the middle of the body.', (wire, reply) => {
    const { response } = wire;
    if (reply.body === '') {
      send(wire, reply);
      return;
    }
    const body = writeHead(response, reply);
    response.write(body.subarray(0, body.length / 2), () => response.socket?.end());
  }),
  atResponse('endless-body', 'The body never ends.', (wire, response) => {
    sendBlocks(wire, full(response), endlessly('[', RECORDS));
  }),
  stalled('stalled-body', 'The body stops in the middle, and the connection stays open.', (right) =>
    right.withHead([right.length], right.body.slice(0, right.size / 2)),
  ),
  raw('short-length', 'Content-Length is smaller than the body.', ({ withHead, size, body }) =>
    withHead([`Content-Length: ${size - 1}`], body),
  ),
  stalled(
    'long-length',
    'Content-Length is larger than the body, and the connection stays open.',
    ({ withHead, size, body }) => withHead([`Content-Length: ${size + 9}`], body),
  ),
  raw('huge-length', 'Content-Length is a terabyte.', ({ withHead, body }) =>
    withHead(['Content-Length: 1099511627776'], body),
  ),
  raw('two-lengths', 'Two Content-Length headers contradict each other.', (right) =>
    right.withHead([right.length, 'Content-Length: 2'], right.body),
  ),
  raw('length-and-chunks', 'The response has a Content-Length and chunks.', (right) =>
    right.withHead([right.length, CHUNKED], chunk(right.body) + LAST_CHUNK),
  ),
  raw('chunk-garbage', 'The size of a chunk is not a number.', ({ withHead, body }) =>
    withHead([CHUNKED], `${chunk(body)}what?\r\n`),
  ),
  raw('chunk-huge', 'The size of a chunk does not fit into 64 bits.', ({ withHead, body }) =>
    withHead([CHUNKED], `FFFFFFFFFFFFFFFFF\r\n${body}`),
  ),
  raw('chunk-cut', 'The connection ends before the last chunk.', ({ withHead, body }) =>
    withHead([CHUNKED], chunk(body)),
  ),
  atResponse(
    'chunk-extensions',
    'Endless extensions follow the size of a chunk.',
    ({ socket }, response) => {
      const first = partsOf(full(response)).withHead([CHUNKED], '2;x=');
      // The headers that never end come as fast as they are read; two floods would prove no more than one.
      pour(paced(endlessly(first, 'y'.repeat(16_384)), 10), socket);
    },
  ),
  endless(
    'trailer-flood',
    'Endless trailers follow the last chunk.',
    TRAILERS,
    ({ withHead, body }) => withHead([CHUNKED], `${chunk(body)}0\r\n`),
  ),
  raw('no-length', 'The response has no length; the connection ends with it.', (right) =>
    right.withHead([], right.body),
  ),
  raw('no-length-cut', 'The response has no length, and half of it arrives.', (right) =>
    right.withHead([], right.body.slice(0, right.size / 2)),
  ),
  raw('forged-answer', 'A second response follows that devsh did not request.', (right) => {
    const forged = partsOf({ ...right.response, status: 200, body: FORGED });
    // The connection stays open, so that the forged response meets the next request.
    return (right.whole + forged.whole).replaceAll('Connection: close\r\n', '');
  }),
  raw('http-0.9', 'The response is a body without headers.', ({ body }) => body),
  raw('wrong-version', 'The status line names HTTP/3.7.', ({ whole }) =>
    whole.replace('1.1', '3.7'),
  ),
  raw('garbage', 'The response is noise.', () => '\u0000\u0001\u0002\u001b[31m\u00ff'.repeat(500)),
];

/** Wrong headers and status lines. */
export const HEADER_FAULTS = [
  stalled('headers-stall', 'The headers stop in the middle.', ({ whole }) => whole.slice(0, 40)),
  atResponse('slow-headers', 'The headers arrive at four bytes per second.', (wire, response) => {
    dribble(Buffer.from(partsOf(response).whole), wire.socket);
  }),
  raw('many-headers', 'The response has 5,000 headers.', ({ withHead, length, body }) => {
    const flood = Array.from({ length: 5000 }, (_, index) => `X-${index}: ${index}`);
    return withHead([...flood, length], body);
  }),
  raw('long-header', 'One header is 1 MB long.', ({ withHead, length }) =>
    withHead([`X-Long: ${'y'.repeat(1_000_000)}`, length], ''),
  ),
  endless(
    'endless-headers',
    'The headers never end.',
    `X-More: ${'y'.repeat(1000)}\r\n`,
    () => 'HTTP/1.1 200 OK\r\n',
  ),
  raw(
    'early-hints',
    'A hundred interim responses (103) precede the response.',
    ({ whole }) => EARLY_HINTS.repeat(100) + whole,
  ),
  endless(
    'endless-hints',
    'Interim responses (103) never end.',
    EARLY_HINTS.repeat(100),
    () => EARLY_HINTS,
  ),
  raw(
    'switching-protocols',
    'The device switches protocols (101), which devsh did not offer.',
    () => 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nhello',
  ),
  atResponse('cookies', 'Each response sets fifty cookies.', (wire, response) => {
    const cookies = Array.from({ length: 50 }, (_, index) => `c${index}=${'x'.repeat(50)}; Path=/`);
    wire.response.setHeader('Set-Cookie', cookies);
    send(wire, response);
  }),
  atResponse(
    'certificate-changes-later',
    'After one more response the device presents another certificate.',
    (wire, response) => {
      wire.response.once('finish', wire.changeCertificate);
      send(wire, { ...response, headers: { ...response.headers, Connection: 'close' } });
    },
  ),
];

const DAY_MS = 24 * 60 * 60 * 1000;

/** A TLS alert record: fatal, handshake_failure (RFC 8446, section 6). */
const HANDSHAKE_FAILURE = Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x28]);

const PLAIN_ANSWER =
  'HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 28\r\n\r\nThis is plain HTTP, no TLS.\n';

function daysFromNow(days: number): Date {
  return new Date(Date.now() + days * DAY_MS);
}

/** Faults of TCP, TLS and the certificate. */
export const CONNECTION_FAULTS = [
  atConnection('refuse', 'Connections are refused: nothing listens on the port.', {
    isClosed: true,
  }),
  atConnection('accept-and-close', 'Connections are accepted and closed at once.', {
    greet: (socket) => socket.end(),
  }),
  atConnection('one-connection', 'A second connection at the same time is closed at once.', {
    isSingle: true,
  }),
  atConnection('handshake-stall', 'The device accepts connections but never starts TLS.', {
    greet: () => undefined,
  }),
  atConnection('handshake-failure', 'The handshake is refused with a TLS alert.', {
    greet: (socket) => socket.once('data', () => socket.end(HANDSHAKE_FAILURE)),
  }),
  atConnection('tls-garbage', 'The device responds to the handshake with noise.', {
    greet: (socket) => socket.end(Buffer.alloc(4096, 0xa5)),
  }),
  atConnection('plain-http', 'The port speaks HTTP without TLS.', {
    greet: (socket) => socket.once('data', () => socket.end(PLAIN_ANSWER)),
  }),
  atConnection('old-tls', 'The device speaks TLS 1.1 only.', {
    tls: { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
  }),
  atConnection('client-certificate', 'The device also requires a client certificate.', {
    tls: { requestCert: true, rejectUnauthorized: true },
  }),
  atConnection('reset-after-handshake', 'The connection is reset as soon as TLS is ready.', {
    greetSecured: (socket) => socket.resetAndDestroy(),
  }),
  atConnection('certificate-change', 'The device presents another certificate from now on.', {
    certificate: {},
  }),
  atConnection('certificate-expired', 'The certificate expired yesterday.', {
    certificate: { validity: { from: daysFromNow(-300), to: daysFromNow(-1) } },
  }),
  atConnection('certificate-too-early', 'The certificate is valid from tomorrow on.', {
    certificate: { validity: { from: daysFromNow(1), to: daysFromNow(300) } },
  }),
  atConnection('certificate-of-another', 'The certificate is issued for another device.', {
    certificate: { isForOthers: true },
  }),
];
