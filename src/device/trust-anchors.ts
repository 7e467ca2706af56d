import { X509Certificate } from 'node:crypto';
import { UsageError, attempt } from '../errors.ts';

const CERTIFICATE = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[^-]*-----END [^-]*-----/g;

/** TLS ignores what it cannot read, and reports an unknown issuer: throws UsageError that names the file. */
export function readCa(text: string, file: string): string {
  const blocks = text.match(CERTIFICATE) ?? [];
  if (blocks.length === 0) {
    const is = /PRIVATE KEY-----/.test(text) ? 'key' : 'none';
    throw new UsageError({ code: 'bad-ca', is, file });
  }
  for (const [index, block] of blocks.entries()) {
    if (attempt(Error, () => new X509Certificate(block)) === undefined) {
      const numbers = { number: index + 1, count: blocks.length };
      throw new UsageError({ code: 'bad-ca', is: 'damaged', file, ...numbers });
    }
  }
  return text;
}

/** Upper case with colons; undefined unless it is 32 bytes of hex, in any case, also behind `sha256:`. */
export function normalizeFingerprint(text: string): string | undefined {
  const hex = text
    .trim()
    .replace(/^sha-?256(?:[:=]|\s+fingerprint=)/i, '')
    .toUpperCase();
  if (!/^(?:[0-9A-F]{64}|(?:[0-9A-F]{2}:){31}[0-9A-F]{2})$/.test(hex)) return undefined;
  return hex.replaceAll(':', '').replace(/..(?!$)/g, '$&:');
}
