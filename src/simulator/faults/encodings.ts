import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { endlessly, send, sendBlocks } from '../transmit.ts';
import type { ApiAnswer } from '../view.ts';
import { answerFault, type AnswerFault } from './fault.ts';

/** The body in other bytes, and what the headers say of them. */
function encoded(
  headers: Readonly<Record<string, string>>,
  encode: (body: string) => Buffer,
): AnswerFault['transmit'] {
  return (wire, answer) => {
    const isEmpty = answer.status === 204;
    const body = isEmpty ? '' : encode(answer.body);
    send(wire, { ...answer, headers: { ...answer.headers, ...(!isEmpty && headers) }, body });
  };
}

const contentEncoding = (name: string): Readonly<Record<string, string>> => ({
  'Content-Encoding': name,
});

const charset = (name: string): Readonly<Record<string, string>> => ({
  'Content-Type': `application/json; charset=${name}`,
});

/** Unpacks to a gigabyte: members of a gzip file may follow each other. */
function bomb(): Buffer {
  const megabyte = gzipSync(Buffer.alloc(1024 * 1024, ' '));
  return Buffer.concat(Array.from({ length: 1024 }, () => megabyte));
}

/** What Latin-1 does not have is written as JSON allows it. */
function latin1(body: string): Buffer {
  const escaped = body.replace(
    /[^\0-\xff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return Buffer.from(escaped, 'latin1');
}

const withMark = (body: string): string => `\ufeff${body}`;

/** The same text in other bytes. */
export const ENCODING_FAULTS = [
  answerFault(
    'gzip',
    'The body is compressed, which nobody has asked for.',
    encoded(contentEncoding('gzip'), gzipSync),
  ),
  answerFault(
    'deflate',
    'The same with deflate.',
    encoded(contentEncoding('deflate'), deflateSync),
  ),
  answerFault(
    'deflate-bare',
    'The same with deflate, without the header that the standard asks for.',
    encoded(contentEncoding('deflate'), deflateRawSync),
  ),
  answerFault(
    'brotli',
    'The same with brotli.',
    encoded(contentEncoding('br'), brotliCompressSync),
  ),
  answerFault(
    'gzip-twice',
    'The body is compressed twice.',
    encoded(contentEncoding('gzip, gzip'), (body) => gzipSync(gzipSync(body))),
  ),
  answerFault(
    'gzip-many-times',
    'The body is said to be compressed twenty times.',
    encoded(contentEncoding(Array<string>(20).fill('gzip').join(',')), gzipSync),
  ),
  answerFault(
    'gzip-truncated',
    'The compressed body breaks off, under a length that is right.',
    encoded(contentEncoding('gzip'), (body) => {
      const whole = gzipSync(body);
      return whole.subarray(0, whole.length / 2);
    }),
  ),
  answerFault(
    'gzip-garbage',
    'The body is said to be compressed, and is noise.',
    encoded(contentEncoding('gzip'), () => Buffer.alloc(2000, 0xa5)),
  ),
  answerFault(
    'gzip-not',
    'The body is said to be compressed, and is not.',
    encoded(contentEncoding('gzip'), (body) => Buffer.from(body)),
  ),
  answerFault(
    'gzip-bomb',
    'A megabyte that unpacks to a gigabyte.',
    encoded(contentEncoding('gzip'), bomb),
  ),
  answerFault('endless-gzip', 'A compressed body that never ends.', (wire, answer: ApiAnswer) => {
    const status = answer.status === 204 ? 200 : answer.status;
    const block = gzipSync(Buffer.alloc(1024 * 1024, ' '));
    const headers = { ...answer.headers, ...contentEncoding('gzip') };
    sendBlocks(wire, { status, headers }, endlessly(block, block));
  }),
  answerFault(
    'unknown-encoding',
    'The body is compressed in a way that nobody knows.',
    encoded(contentEncoding('x-vendor'), (body) => Buffer.from(body)),
  ),
  answerFault(
    'latin-1',
    'The body is in Latin-1, and says so.',
    encoded(charset('iso-8859-1'), latin1),
  ),
  answerFault(
    'latin-1-unsaid',
    'The body is in Latin-1 and says that it is UTF-8.',
    encoded(charset('utf-8'), latin1),
  ),
  answerFault(
    'utf-16',
    'The body is in UTF-16, and says so.',
    encoded(charset('utf-16le'), (body) => Buffer.from(body, 'utf16le')),
  ),
  answerFault(
    'utf-16-marked',
    'The body is in UTF-16 and begins with a byte order mark.',
    encoded({ 'Content-Type': 'application/json' }, (body) =>
      Buffer.from(withMark(body), 'utf16le'),
    ),
  ),
  answerFault(
    'byte-order-mark',
    'The body begins with a byte order mark.',
    encoded(charset('utf-8'), (body) => Buffer.from(withMark(body))),
  ),
  answerFault(
    'unknown-charset',
    'The body is in a character set that nobody knows.',
    encoded(charset('x-klingon'), (body) => Buffer.from(body)),
  ),
];
