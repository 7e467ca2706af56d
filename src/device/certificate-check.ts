import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { checkServerIdentity, rootCertificates, type TLSSocket } from 'node:tls';
import { certificatesIn } from './trust-anchors.ts';
import type { PresentedCertificate } from './errors.ts';
import { oneLine } from '../text/one-line.ts';
import { attempt } from '../errors.ts';

export function describeCertificate(x509: X509Certificate): PresentedCertificate {
  return {
    fingerprint: x509.fingerprint256,
    subject: nameText(x509.subject),
    validFrom: isoDate(x509.validFrom),
    validTo: isoDate(x509.validTo),
  };
}

/** The names and the validity of a certificate, in one phrase. */
export function certificateText(x509: X509Certificate): string {
  return `issued for ${namesOf(x509)}, valid ${day(x509.validFrom)} to ${day(x509.validTo)}`;
}

/** Every problem with chain, dates and name: OpenSSL reports one. `ca`: the issuers, else the system's. */
export function certificateProblem(
  socket: TLSSocket,
  x509: X509Certificate,
  host: string,
  ca?: string,
): string | undefined {
  const problems = [
    chainProblem(socket, x509, ca),
    dateProblem(x509, new Date()),
    nameProblem(x509, host),
  ];
  const found = problems.filter((problem) => problem !== undefined);
  return found.length === 0 ? undefined : found.join('; ');
}

function chainProblem(
  socket: TLSSocket,
  x509: X509Certificate,
  ca: string | undefined,
): string | undefined {
  if (socket.authorized) return undefined;
  // Node's types say Error, but the value is the code.
  const code = String(socket.authorizationError);
  // Reported by nameProblem.
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return undefined;
  if (/SELF_SIGNED|UNABLE_TO/.test(code)) return untrusted(x509);
  if (!/EXPIRED|NOT_YET_VALID/.test(code)) {
    return code === 'CERT_REVOKED' ? 'it was revoked' : oneLine(code);
  }
  // dateProblem reports the certificate itself; here the code may be about its issuer.
  return dateProblem(x509, new Date()) === undefined
    ? `the certificate of its issuer ${issuerOf(x509)} has expired or is not valid yet`
    : issuerProblem(x509, anchorsOf(ca));
}

function untrusted(x509: X509Certificate): string {
  const isSelfSigned = isIssuedBy(x509, x509);
  return isSelfSigned ? 'it is self-signed' : `its issuer ${issuerOf(x509)} is not trusted here`;
}

/** No real chain is longer. */
const MAX_CHAIN = 10;

/** Whether no trusted CA issued the certificate, ignoring dates; undefined if that is unknown. */
function issuerProblem(
  x509: X509Certificate,
  anchors: readonly X509Certificate[] | undefined,
): string | undefined {
  if (anchors === undefined) return undefined;
  let link: X509Certificate | undefined = x509;
  for (let count = 0; link !== undefined && count < MAX_CHAIN; count += 1) {
    const certificate: X509Certificate = link;
    const isTrusted = anchors.some(
      (anchor) =>
        anchor.fingerprint256 === certificate.fingerprint256 || isIssuedBy(certificate, anchor),
    );
    if (isTrusted) return undefined;
    link = certificate.issuerCertificate;
  }
  return untrusted(x509);
}

function isIssuedBy(x509: X509Certificate, issuer: X509Certificate): boolean {
  return x509.checkIssued(issuer) && x509.verify(issuer.publicKey);
}

/** The trusted CA certificates; undefined if one of them cannot be parsed. */
function anchorsOf(ca: string | undefined): readonly X509Certificate[] | undefined {
  const blocks = ca === undefined ? systemAnchors() : certificatesIn(ca);
  return attempt(Error, () => blocks.map((block) => new X509Certificate(block)));
}

/** The CAs that Node trusts: its own and those of NODE_EXTRA_CA_CERTS. */
function systemAnchors(): readonly string[] {
  const file = process.env['NODE_EXTRA_CA_CERTS'];
  const added = file === undefined || file === '' ? '' : readFileSync(file, 'utf8');
  return [...rootCertificates, ...certificatesIn(added)];
}

function dateProblem(x509: X509Certificate, now: Date): string | undefined {
  const [from, to] = [new Date(x509.validFrom), new Date(x509.validTo)];
  const today = now.toISOString().slice(0, 10);
  if (now > to) return `it expired on ${day(x509.validTo)} (here it is ${today})`;
  if (now < from) return `it is not valid before ${day(x509.validFrom)} (here it is ${today})`;
  return undefined;
}

function nameProblem(x509: X509Certificate, host: string): string | undefined {
  const asked = host.replace(/%.*$/, '').replace(/\.$/, '');
  const mismatch = checkServerIdentity(asked, x509.toLegacyObject());
  return mismatch && `it was issued for another name: ${namesOf(x509)}, not ${asked}`;
}

function namesOf(x509: X509Certificate): string {
  return nameText(x509.subjectAltName ?? x509.subject);
}

function issuerOf(x509: X509Certificate): string {
  return nameText(x509.issuer);
}

/** A certificate may have no subject, although Node's types exclude that. */
function nameText(name: string | undefined): string {
  return oneLine(name ?? '') || 'nobody';
}

function isoDate(text: string): string {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? oneLine(text) : date.toISOString();
}

function day(text: string): string {
  return isoDate(text).slice(0, 10);
}
