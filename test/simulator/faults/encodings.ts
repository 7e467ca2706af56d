import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { send } from './transmit.ts';
import { endlessly, sendBlocks } from './damage.ts';
import { type ResponseFault, atResponse } from './fault.ts';

type Encode = (body: string) => Buffer;

/** The body in another encoding, and the headers about it. */
function encoded(
  headers: Readonly<Record<string, string>>,
  encode: Encode,
): ResponseFault['transmit'] {
  return (wire, response) => {
    const isEmpty = response.status === 204;
    const body = isEmpty ? '' : encode(response.body);
    send(wire, { ...response, headers: { ...response.headers, ...(!isEmpty && headers) }, body });
  };
}

function packed<const Name extends string>(
  name: Name,
  summary: string,
  encoding: string,
  encode: Encode,
) {
  return atResponse(name, summary, encoded({ 'Content-Encoding': encoding }, encode));
}

function inCharset<const Name extends string>(
  name: Name,
  summary: string,
  charset: string,
  encode: Encode,
) {
  const type = charset === '' ? 'application/json' : `application/json; charset=${charset}`;
  return atResponse(name, summary, encoded({ 'Content-Type': type }, encode));
}

/** Unpacks to a gigabyte: gzip members may be concatenated. */
function bomb(): Buffer {
  return Buffer.concat(Array<Buffer>(1024).fill(gzipSync(MEGABYTE)));
}

/** Characters outside of Latin-1 become JSON escapes. */
function latin1(body: string): Buffer {
  const escaped = body.replace(
    /[^\0-\xff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return Buffer.from(escaped, 'latin1');
}

function firstHalf(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.length / 2);
}

const MEGABYTE = Buffer.alloc(1024 * 1024, ' ');
const TWENTY = Array<string>(20).fill('gzip').join(',');
const noise: Encode = () => Buffer.alloc(2000, 0xa5);
const plain: Encode = (body) => Buffer.from(body);
const utf16: Encode = (body) => Buffer.from(body, 'utf16le');
const marked = (body: string): string => `\ufeff${body}`;

/** The same text in another encoding. */
export const ENCODING_FAULTS = [
  packed('gzip', 'The body is compressed although devsh asks for plain bodies.', 'gzip', gzipSync),
  packed('deflate', 'The same with deflate.', 'deflate', deflateSync),
  packed(
    'deflate-bare',
    'The same with deflate, without the header that the standard requires.',
    'deflate',
    deflateRawSync,
  ),
  packed('brotli', 'The same with brotli.', 'br', brotliCompressSync),
  packed('gzip-many-times', 'The headers declare twenty compressions.', TWENTY, gzipSync),
  packed('gzip-truncated', 'The compressed body is cut, but its length is right.', 'gzip', (body) =>
    firstHalf(gzipSync(body)),
  ),
  packed('gzip-garbage', 'The headers declare compression, but the body is noise.', 'gzip', noise),
  packed('gzip-bomb', 'A megabyte that unpacks to a gigabyte.', 'gzip', bomb),
  atResponse('endless-gzip', 'A compressed body that never ends.', (wire, response) => {
    const status = response.status === 204 ? 200 : response.status;
    const block = gzipSync(MEGABYTE);
    const headers = { ...response.headers, 'Content-Encoding': 'gzip' };
    sendBlocks(wire, { status, headers }, endlessly(block, block));
  }),
  packed('unknown-encoding', 'The compression is unknown.', 'x-vendor', plain),
  inCharset('latin-1', 'The body is Latin-1, and declares it.', 'iso-8859-1', latin1),
  inCharset('latin-1-unsaid', 'The body is Latin-1, but declares UTF-8.', 'utf-8', latin1),
  inCharset('utf-16', 'The body is UTF-16, and declares it.', 'utf-16le', utf16),
  inCharset('utf-16-marked', 'The body is UTF-16 and begins with a byte order mark.', '', (body) =>
    utf16(marked(body)),
  ),
  inCharset('byte-order-mark', 'The body begins with a byte order mark.', 'utf-8', (body) =>
    plain(marked(body)),
  ),
  inCharset('unknown-charset', 'The character set is unknown.', 'x-klingon', plain),
];
