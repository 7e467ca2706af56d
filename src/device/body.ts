import { isUtf8 } from 'node:buffer';
import { promisify, TextDecoder } from 'node:util';
import type * as Zlib from 'node:zlib';
import { TransportFault } from './fault.ts';

interface Encoded {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

interface DecodeOptions {
  readonly maxOutputLength: number;
  readonly chunkSize: number;
}

type Decoder = (bytes: Buffer, options: DecodeOptions) => Promise<Buffer>;

/** Unpacked in steps of this size: Node's own, 16 KiB, take a turn of the event loop each. */
const CHUNK_BYTES = 256 * 1024;

/** Loaded with the first such body: devsh asks for bodies as they are. */
function zlib(): typeof Zlib {
  return process.getBuiltinModule('node:zlib');
}

const GZIP: Decoder = (bytes, options) => promisify(zlib().gunzip)(bytes, options);

const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: GZIP,
  'x-gzip': GZIP,
  br: (bytes, options) => promisify(zlib().brotliDecompress)(bytes, options),
  // Some servers leave out the header that the standard asks for.
  deflate: (bytes, options) =>
    ((bytes[0] ?? 0) & 0x0f) === 8
      ? promisify(zlib().inflate)(bytes, options)
      : promisify(zlib().inflateRaw)(bytes, options),
};

/** The body without its content encodings. Throws TransportFault when it is too large or broken. */
export async function inflate(
  { status, headers, bytes }: Encoded,
  maxBytes: number,
): Promise<Buffer> {
  const encodings = (headers['content-encoding'] ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  if (encodings.length > 3) throw unreadable('it is compressed too many times', status);
  let plain = bytes;
  for (const name of encodings.reverse()) {
    if (plain.length === 0) return plain;
    const decode = DECODERS[name];
    if (!decode) throw unreadable(`"${name}" is no encoding that devsh knows`, status);
    try {
      plain = await decode(plain, { maxOutputLength: maxBytes, chunkSize: CHUNK_BYTES });
    } catch (error) {
      if (error instanceof RangeError) {
        throw new TransportFault('too large', `more than ${mebibytes(maxBytes)} unpacked`, {
          sent: true,
          status,
          cause: error,
        });
      }
      throw unreadable(`its ${name} data is broken`, status, error);
    }
  }
  return plain;
}

function unreadable(detail: string, status: number, cause?: unknown): TransportFault {
  return new TransportFault('encoding', detail, { sent: true, status, cause });
}

/** `32 MiB`. */
export function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 102.4) / 10} MiB`;
}

/**
 * In the character set that the device names, or that a byte order mark shows; UTF-8 otherwise. What
 * is no UTF-8 at all is Latin-1, as old devices send it; single broken bytes are replaced.
 */
export function bodyText(bytes: Buffer, contentType = ''): string {
  const named = decoderFor(/charset\s*=\s*"?([\w-]+)/i.exec(contentType)?.[1]);
  const marked = MARKS.find(({ mark }) => mark.every((byte, index) => bytes[index] === byte));
  const decoder = decoderFor(marked?.charset) ?? named ?? UTF_8;
  const text = decoder.decode(bytes);
  if (decoder.encoding !== 'utf-8' || isUtf8(bytes)) return text;
  return HAS_BEYOND_ASCII.test(text) ? text : LATIN_1.decode(bytes);
}

const MARKS = [
  { mark: [0xff, 0xfe], charset: 'utf-16le' },
  { mark: [0xfe, 0xff], charset: 'utf-16be' },
];

/** Any character that was read as UTF-8, besides the mark for broken bytes. */
const HAS_BEYOND_ASCII = /[^\0-\x7f\ufffd]/;

// ignoreBOM keeps the mark, so that raw output is what the device sent.
const UTF_8 = new TextDecoder('utf-8', { ignoreBOM: true });
const LATIN_1 = new TextDecoder('windows-1252');

/** Undefined for a name that nobody knows. */
function decoderFor(charset: string | undefined): TextDecoder | undefined {
  if (charset === undefined) return undefined;
  try {
    return new TextDecoder(charset.replace(/^latin-?1$/i, 'iso-8859-1'), { ignoreBOM: true });
  } catch {
    return undefined;
  }
}

/** Whether the answer said where it ends: only then is a connection that ends no loss. */
export function isFramed({ status, headers }: Omit<Encoded, 'bytes'>): boolean {
  return (
    status === 204 ||
    status === 304 ||
    headers['content-length'] !== undefined ||
    /\bchunked\b/i.test(headers['transfer-encoding'] ?? '')
  );
}
