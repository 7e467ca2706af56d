import { X509Certificate } from 'node:crypto';
import { UsageError } from '../errors.ts';

const CERTIFICATE = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[^-]*-----END [^-]*-----/g;

/**
 * The text of a file with CA certificates (PEM), checked: TLS itself would ignore what it cannot read,
 * and then say of every device that its issuer is not known. Throws UsageError that names the file.
 */
export function readCa(text: string, file: string): string {
  const blocks = certificatesIn(text);
  if (blocks.length === 0) {
    const instead = /PRIVATE KEY-----/.test(text) ? ', but a private key' : '';
    throw new UsageError(
      `${file} holds no certificate in PEM form ("-----BEGIN CERTIFICATE-----")${instead}`,
    );
  }
  for (const [index, block] of blocks.entries()) {
    if (!isCertificate(block)) {
      throw new UsageError(`${file}: certificate ${index + 1} of ${blocks.length} is damaged`);
    }
  }
  return text;
}

/** Each certificate of a PEM text. */
export function certificatesIn(text: string): readonly string[] {
  return text.match(CERTIFICATE) ?? [];
}

function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem);
    return true;
  } catch {
    return false;
  }
}

/**
 * A SHA-256 fingerprint in its one spelling (upper case, colons); undefined when it is not 32 bytes
 * of hex. Takes any case, colons or none, and a leading `sha256:`.
 */
export function normalizeFingerprint(text: string): string | undefined {
  const hex = text
    .trim()
    .replace(/^sha-?256(?:[:=]|\s+fingerprint=)/i, '')
    .toUpperCase();
  if (!/^(?:[0-9A-F]{64}|(?:[0-9A-F]{2}:){31}[0-9A-F]{2})$/.test(hex)) return undefined;
  return hex.replaceAll(':', '').replace(/..(?!$)/g, '$&:');
}
