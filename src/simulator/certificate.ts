import { createHash, generateKeyPairSync, randomBytes, sign, X509Certificate } from 'node:crypto';

/**
 * A self-signed certificate as small devices make them: P-256, SHA-256, its own CA. Node cannot build one, and the
 * libraries that can take 120 ms to load; the one shape needed here is 90 lines (RFC 5280, DER of X.690).
 */
export interface Certificate {
  /** PEM. */
  readonly key: string;
  /** PEM. */
  readonly cert: string;
  /** SHA-256 of the DER form: upper-case hex, pairs joined by colons. */
  readonly fingerprint: string;
}

export interface CertificateSubject {
  readonly commonName: string;
  /** Subject alternative names: IPv4 addresses and host names. */
  readonly addresses: readonly string[];
  readonly hostNames: readonly string[];
}

/** Up to the year 2049. */
export interface Validity {
  readonly from: Date;
  readonly to: Date;
}

const DAY_MS = 24 * 60 * 60 * 1000;

const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectId: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  sequence: 0x30,
  set: 0x31,
} as const;

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const size = content.length;
  const length =
    size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

/** Constructed, context-specific: `[number] EXPLICIT`. */
const explicit = (number: number, content: Buffer): Buffer => der(0xa0 | number, content);

function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = rest.flatMap((arc) => {
    const digits = [arc & 0x7f];
    for (let left = arc >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80);
    return digits;
  });
  return der(TAG.objectId, Buffer.from([first * 40 + second, ...bytes]));
}

/** `YYMMDDhhmmssZ`, which RFC 5280 requires up to the year 2049. */
function utcTime(date: Date): Buffer {
  const digits = date.toISOString().replace(/\D/g, '').slice(2, 14);
  return der(TAG.utcTime, Buffer.from(`${digits}Z`));
}

function extension(id: string, value: Buffer, critical = false): Buffer {
  const flag = critical ? [der(TAG.boolean, Buffer.from([0xff]))] : [];
  return der(TAG.sequence, objectId(id), ...flag, der(TAG.octetString, value));
}

function extensions(subject: CertificateSubject, publicKey: Buffer): Buffer {
  const names = [
    ...subject.hostNames.map((name) => der(0x82, Buffer.from(name))),
    ...subject.addresses.map((address) => der(0x87, Buffer.from(address.split('.').map(Number)))),
  ];
  const keyId = createHash('sha1').update(publicKey).digest();
  const isCa = der(TAG.boolean, Buffer.from([0xff]));
  return der(
    TAG.sequence,
    extension('2.5.29.19', der(TAG.sequence, isCa), true), // basicConstraints
    extension('2.5.29.14', der(TAG.octetString, keyId)), // subjectKeyIdentifier
    extension('2.5.29.17', der(TAG.sequence, ...names)), // subjectAltName
  );
}

function fromYesterday(): Validity {
  const now = Date.now();
  return { from: new Date(now - DAY_MS), to: new Date(now + 730 * DAY_MS) };
}

/** Creates a key and its certificate in about half a millisecond. Default: valid from yesterday for two years. */
export function createCertificate(
  subject: CertificateSubject,
  validity: Validity = fromYesterday(),
): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const algorithm = der(TAG.sequence, objectId('1.2.840.10045.4.3.2')); // ecdsa-with-SHA256
  const commonName = der(TAG.utf8String, Buffer.from(subject.commonName));
  const name = der(TAG.sequence, der(TAG.set, der(TAG.sequence, objectId('2.5.4.3'), commonName)));
  const serial = randomBytes(16);
  // DER wants a positive number without a leading zero byte.
  serial[0] = 0x40 | ((serial[0] ?? 0) & 0x3f);
  const content = der(
    TAG.sequence,
    explicit(0, der(TAG.integer, Buffer.from([2]))), // version 3
    der(TAG.integer, serial),
    algorithm,
    name,
    der(TAG.sequence, utcTime(validity.from), utcTime(validity.to)),
    name,
    spki,
    explicit(3, extensions(subject, spki)),
  );
  const signature = der(TAG.bitString, Buffer.from([0]), sign('sha256', content, privateKey));
  const certificate = new X509Certificate(der(TAG.sequence, content, algorithm, signature));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: certificate.toString(),
    fingerprint: certificate.fingerprint256,
  };
}
