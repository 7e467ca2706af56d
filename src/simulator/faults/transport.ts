import {
  dribbleRaw,
  endlessly,
  pourRaw,
  rawHead,
  send,
  sendBlocks,
  sendInPieces,
  sendRaw,
  sendRawAndStall,
  sendSlowly,
  sendTruncated,
} from '../transmit.ts';
import type { ApiAnswer } from '../view.ts';
import { answerFault, type AnswerFault, connectionFault, WRITES } from './fault.ts';

/** One that has a body to get wrong: 204 has none. */
function full(answer: ApiAnswer): ApiAnswer {
  return answer.status === 204 ? { ...answer, status: 200, body: '{}' } : answer;
}

function size({ body }: ApiAnswer): number {
  return Buffer.byteLength(body);
}

/** A whole answer as bytes, under headers that say what they like about its length. */
function raw(write: (answer: ApiAnswer) => string): AnswerFault['transmit'] {
  return (wire, answer) => {
    sendRaw(wire, write(full(answer)));
  };
}

/** Bytes, then silence on a connection that stays open. */
function stalled(write: (answer: ApiAnswer) => string): AnswerFault['transmit'] {
  return (wire, answer) => {
    sendRawAndStall(wire, write(full(answer)));
  };
}

function poured(
  first: (answer: ApiAnswer) => string,
  ...again: readonly string[]
): AnswerFault['transmit'] {
  return (wire, answer) => {
    pourRaw(wire, endlessly(first(full(answer)), ...again));
  };
}

const lengthOf = (answer: ApiAnswer): string => `Content-Length: ${size(answer)}`;
const CHUNKED = 'Transfer-Encoding: chunked';
const LAST_CHUNK = '0\r\n\r\n';

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

const RECORDS = `${JSON.stringify({ username: 'again' })},`.repeat(1000);
const EARLY_HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n';
const FORGED = '[{"uuid":"666","username":"forged","first_name":"","lastname":"","lang":"en"}]';

/** How long an answer is, and where it ends. */
export const FRAMING_FAULTS = [
  {
    ...answerFault(
      'store-and-drop',
      'A write is carried out, then the connection dies.',
      ({ response }) => response.destroy(),
    ),
    methods: WRITES,
    isLost: true as const,
  },
  answerFault('slow-body', 'The body comes byte by byte, four in a second.', sendSlowly),
  answerFault(
    'body-in-pieces',
    'The body comes in forty pieces, within two seconds.',
    sendInPieces,
  ),
  answerFault('truncated-body', 'The connection ends in the middle of the body.', sendTruncated),
  answerFault('endless-body', 'The body never ends.', (wire, answer) => {
    sendBlocks(wire, full(answer), endlessly('[', RECORDS));
  }),
  answerFault(
    'stalled-body',
    'The body stops in the middle, and the connection stays open.',
    stalled(
      (answer) => rawHead(answer, [lengthOf(answer)]) + answer.body.slice(0, size(answer) / 2),
    ),
  ),
  answerFault(
    'short-length',
    'Content-Length says less than the body has.',
    raw((answer) => rawHead(answer, [`Content-Length: ${size(answer) - 1}`]) + answer.body),
  ),
  answerFault(
    'long-length',
    'Content-Length says more than comes, and the connection stays open.',
    stalled((answer) => rawHead(answer, [`Content-Length: ${size(answer) + 9}`]) + answer.body),
  ),
  answerFault(
    'long-length-closed',
    'Content-Length says more than comes, then the connection ends.',
    raw((answer) => rawHead(answer, [`Content-Length: ${size(answer) + 9}`]) + answer.body),
  ),
  answerFault(
    'huge-length',
    'Content-Length says a terabyte.',
    raw((answer) => rawHead(answer, ['Content-Length: 1099511627776']) + answer.body),
  ),
  answerFault(
    'negative-length',
    'Content-Length is negative.',
    raw((answer) => rawHead(answer, ['Content-Length: -1']) + answer.body),
  ),
  answerFault(
    'two-lengths',
    'Two Content-Length headers contradict each other.',
    raw((answer) => rawHead(answer, [lengthOf(answer), 'Content-Length: 2']) + answer.body),
  ),
  answerFault(
    'length-and-chunks',
    'The answer has a Content-Length and comes in chunks.',
    raw((answer) => rawHead(answer, [lengthOf(answer), CHUNKED]) + chunk(answer.body) + LAST_CHUNK),
  ),
  answerFault(
    'chunk-garbage',
    'The size of a chunk is no number.',
    raw((answer) => rawHead(answer, [CHUNKED]) + chunk(answer.body) + 'what?\r\n'),
  ),
  answerFault(
    'chunk-negative',
    'The size of a chunk is negative.',
    raw((answer) => `${rawHead(answer, [CHUNKED])}-5\r\n${answer.body}\r\n${LAST_CHUNK}`),
  ),
  answerFault(
    'chunk-huge',
    'The size of a chunk does not fit into 64 bits.',
    raw((answer) => `${rawHead(answer, [CHUNKED])}FFFFFFFFFFFFFFFFF\r\n${answer.body}`),
  ),
  answerFault(
    'chunk-cut',
    'The connection ends before the last chunk.',
    raw((answer) => rawHead(answer, [CHUNKED]) + chunk(answer.body)),
  ),
  answerFault(
    'chunk-extensions',
    'The size of a chunk is followed by extensions without end.',
    poured((answer) => `${rawHead(answer, [CHUNKED])}2;x=`, 'y'.repeat(16_384)),
  ),
  answerFault(
    'trailer-flood',
    'Behind the last chunk come trailers without end.',
    poured(
      (answer) => `${rawHead(answer, [CHUNKED])}${chunk(answer.body)}0\r\n`,
      `X-Trailer: ${'y'.repeat(100)}\r\n`.repeat(100),
    ),
  ),
  answerFault(
    'no-length',
    'Nothing says how long the answer is; the connection ends with it.',
    raw((answer) => rawHead(answer, []) + answer.body),
  ),
  answerFault(
    'no-length-cut',
    'Nothing says how long the answer is, and half of it comes.',
    raw((answer) => rawHead(answer, []) + answer.body.slice(0, size(answer) / 2)),
  ),
  answerFault(
    'forged-answer',
    'Behind the answer comes a second one that nobody has asked for.',
    raw((answer) => {
      const forged = { ...answer, status: 200, body: FORGED };
      // No word of an end: the forged one is for the next request.
      const heads = [answer, forged].map((each) => rawHead(each, [lengthOf(each)]) + each.body);
      return heads.join('').replaceAll('Connection: close\r\n', '');
    }),
  ),
  answerFault(
    'http-0.9',
    'The body comes without a head.',
    raw(({ body }) => body),
  ),
  answerFault(
    'wrong-version',
    'The answer speaks of HTTP/3.7.',
    raw((answer) => (rawHead(answer, [lengthOf(answer)]) + answer.body).replace('1.1', '3.7')),
  ),
  answerFault(
    'garbage',
    'The answer is noise.',
    raw(() => '\u0000\u0001\u0002\u001b[31m\u00ff'.repeat(500)),
  ),
];

/** What stands before the body. */
export const HEADER_FAULTS = [
  answerFault(
    'headers-stall',
    'The headers stop in the middle.',
    stalled((answer) => rawHead(answer, [lengthOf(answer)]).slice(0, 40)),
  ),
  answerFault(
    'slow-headers',
    'The headers come byte by byte, four in a second.',
    (wire, answer) => {
      dribbleRaw(wire, rawHead(answer, [lengthOf(answer)]) + answer.body);
    },
  ),
  answerFault(
    'many-headers',
    'The answer has 5,000 headers.',
    raw((answer) => {
      const flood = Array.from({ length: 5000 }, (_, index) => `X-${index}: ${index}`);
      return rawHead(answer, [...flood, lengthOf(answer)]) + answer.body;
    }),
  ),
  answerFault(
    'long-header',
    'One header is 1 MB long.',
    raw((answer) => rawHead(answer, [`X-Long: ${'y'.repeat(1_000_000)}`, lengthOf(answer)])),
  ),
  answerFault(
    'endless-headers',
    'The headers never end.',
    poured(() => 'HTTP/1.1 200 OK\r\n', `X-More: ${'y'.repeat(1000)}\r\n`),
  ),
  answerFault(
    'early-hints',
    'A hundred interim answers (103) come before the answer.',
    raw((answer) => EARLY_HINTS.repeat(100) + rawHead(answer, [lengthOf(answer)]) + answer.body),
  ),
  answerFault(
    'endless-hints',
    'Interim answers (103) never end.',
    poured(() => EARLY_HINTS, EARLY_HINTS.repeat(100)),
  ),
  answerFault(
    'continue-unasked',
    'The device asks to go on (100), which nobody has offered.',
    raw(
      (answer) =>
        `HTTP/1.1 100 Continue\r\n\r\n${rawHead(answer, [lengthOf(answer)])}${answer.body}`,
    ),
  ),
  answerFault(
    'switching-protocols',
    'The device changes to another protocol (101), which nobody has offered.',
    raw(() => 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nhello'),
  ),
  answerFault(
    'bare-line-feeds',
    'The lines of the head end without a carriage return.',
    raw((answer) => rawHead(answer, [lengthOf(answer)]).replaceAll('\r', '') + answer.body),
  ),
  answerFault(
    'folded-header',
    'A header goes on in the next line, as it was done long ago.',
    raw((answer) => rawHead(answer, ['X-Folded: one', '\ttwo', lengthOf(answer)]) + answer.body),
  ),
  answerFault(
    'nul-in-header',
    'A header has a NUL in it.',
    raw((answer) => rawHead(answer, ['X-Nul: a\u0000b', lengthOf(answer)]) + answer.body),
  ),
  answerFault('cookies', 'Fifty cookies are set with each answer.', (wire, answer) => {
    const cookies = Array.from({ length: 50 }, (_, index) => `c${index}=${'x'.repeat(50)}; Path=/`);
    wire.response.setHeader('Set-Cookie', cookies);
    send(wire, answer);
  }),
  answerFault(
    'certificate-changes-later',
    'After one more answer, another certificate is presented.',
    (wire, answer) => {
      wire.response.once('finish', wire.changeCertificate);
      send(wire, { ...answer, headers: { ...answer.headers, Connection: 'close' } });
    },
  ),
];

const DAY_MS = 24 * 60 * 60 * 1000;

/** A record of the kind alert: fatal, handshake failure (RFC 8446, section 6). */
const HANDSHAKE_FAILURE = Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x28]);

const PLAIN_ANSWER =
  'HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 28\r\n\r\nThis is plain HTTP, no TLS.\n';

function daysFromNow(days: number): Date {
  return new Date(Date.now() + days * DAY_MS);
}

/** Before there is a connection that a request could go over. */
export const CONNECTION_FAULTS = [
  connectionFault('refuse', 'Connections are refused: nothing listens on the port.', {
    isClosed: true,
  }),
  connectionFault('accept-and-close', 'Connections are accepted and closed at once.', {
    greet: (socket) => socket.end(),
  }),
  connectionFault('accept-and-reset', 'Connections are accepted and reset at once.', {
    greet: (socket) => socket.resetAndDestroy(),
  }),
  connectionFault('one-connection', 'A second connection at the same time is closed at once.', {
    isSingle: true,
  }),
  connectionFault('handshake-stall', 'Connections are accepted, and TLS never begins.', {
    greet: () => undefined,
  }),
  connectionFault('handshake-cut', 'The connection ends in the middle of the handshake.', {
    greet: (socket) => socket.once('data', () => socket.end()),
  }),
  connectionFault('handshake-failure', 'The handshake is refused with a TLS alert.', {
    greet: (socket) => socket.once('data', () => socket.end(HANDSHAKE_FAILURE)),
  }),
  connectionFault('tls-garbage', 'The handshake is answered with noise.', {
    greet: (socket) => socket.end(Buffer.alloc(4096, 0xa5)),
  }),
  connectionFault('plain-http', 'The port speaks HTTP without TLS.', {
    greet: (socket) => socket.once('data', () => socket.end(PLAIN_ANSWER)),
  }),
  connectionFault('ssh-banner', 'Another service is on the port: SSH greets.', {
    greet: (socket) => socket.write('SSH-2.0-OpenSSH_9.6\r\n'),
  }),
  connectionFault('old-tls', 'The device speaks TLS 1.1 only.', {
    tls: { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
  }),
  connectionFault('client-certificate', 'The device wants a certificate of the client, too.', {
    tls: { requestCert: true, rejectUnauthorized: true },
  }),
  connectionFault('reset-after-handshake', 'The connection is reset as soon as TLS is ready.', {
    greetSecured: (socket) => socket.resetAndDestroy(),
  }),
  connectionFault('certificate-change', 'Another certificate is presented from now on.', {
    certificate: {},
  }),
  connectionFault('certificate-expired', 'The certificate expired yesterday.', {
    certificate: { validity: { from: daysFromNow(-300), to: daysFromNow(-1) } },
  }),
  connectionFault('certificate-too-early', 'The certificate is valid from tomorrow on.', {
    certificate: { validity: { from: daysFromNow(1), to: daysFromNow(300) } },
  }),
  connectionFault('certificate-of-another', 'The certificate is made out to another device.', {
    certificate: { isForOthers: true },
  }),
];
