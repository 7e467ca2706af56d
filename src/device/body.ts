import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate as inflateZlib, inflateRaw } from 'node:zlib';
import { TransportFault } from './fault.ts';

interface Encoded {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

type Decoder = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const ZLIB: Decoder = promisify(inflateZlib);
const RAW_DEFLATE: Decoder = promisify(inflateRaw);
const GZIP: Decoder = promisify(gunzip);
const BROTLI: Decoder = promisify(brotliDecompress);

const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: GZIP,
  'x-gzip': GZIP,
  br: BROTLI,
  // Some servers leave out the header that the standard asks for.
  deflate: (bytes, options) =>
    ((bytes[0] ?? 0) & 0x0f) === 8 ? ZLIB(bytes, options) : RAW_DEFLATE(bytes, options),
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
  if (encodings.length > 3) throw malformed('too many content encodings', status);
  let plain = bytes;
  for (const name of encodings.reverse()) {
    if (plain.length === 0) return plain;
    const decode = DECODERS[name];
    if (!decode) throw malformed('an unknown content encoding', status);
    try {
      plain = await decode(plain, { maxOutputLength: maxBytes });
    } catch (error) {
      if (error instanceof RangeError) {
        throw new TransportFault('too large', `more than ${maxBytes} bytes when decompressed`, {
          sent: true,
          status,
          cause: error,
        });
      }
      throw malformed(`broken ${name} data`, status, error);
    }
  }
  return plain;
}

function malformed(detail: string, status: number, cause?: unknown): TransportFault {
  return new TransportFault('malformed', detail, { sent: true, status, cause });
}

/** UTF-8, broken bytes replaced; Latin-1 only when the device says so. */
export function bodyText(bytes: Buffer, contentType = ''): string {
  const charset = /charset\s*=\s*"?([\w-]+)/i.exec(contentType)?.[1]?.toLowerCase() ?? '';
  const isLatin = ['iso-8859-1', 'latin1', 'latin-1', 'windows-1252', 'cp1252'].includes(charset);
  // ignoreBOM keeps the mark, so that raw output is what the device sent.
  return new TextDecoder(isLatin ? 'windows-1252' : 'utf-8', { ignoreBOM: true }).decode(bytes);
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
