import type { X509Certificate } from 'node:crypto';
import { checkServerIdentity, type TLSSocket } from 'node:tls';
import type { PresentedCertificate } from './errors.ts';
import { oneLine } from './text.ts';

/** A certificate as messages and questions show it. */
export function describeCertificate(x509: X509Certificate): PresentedCertificate {
  return {
    fingerprint: x509.fingerprint256,
    subject: oneLine(x509.subject),
    validFrom: isoDate(x509.validFrom),
    validTo: isoDate(x509.validTo),
  };
}

/** The names a certificate is made out to and how long it is valid, in a few words. */
export function certificateText(x509: X509Certificate): string {
  return `made out to ${namesOf(x509)}, valid ${day(x509.validFrom)} to ${day(x509.validTo)}`;
}

/**
 * What is wrong with the chain, the dates and the name of a certificate, in words; undefined when nothing
 * is. OpenSSL tells of one thing only, and then the next one would come as a surprise.
 */
export function certificateProblem(
  socket: TLSSocket,
  x509: X509Certificate,
  host: string,
  now: Date = new Date(),
): string | undefined {
  const problems = [chainProblem(socket, x509), dateProblem(x509, now), nameProblem(x509, host)];
  const told = problems.filter((problem) => problem !== undefined);
  return told.length === 0 ? undefined : told.join('; ');
}

function chainProblem(socket: TLSSocket, x509: X509Certificate): string | undefined {
  if (socket.authorized) return undefined;
  // Node's types say Error; at run time it is the code.
  const code = String(socket.authorizationError);
  switch (code) {
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return undefined; // said with the names
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      // Said with the dates, unless it is the CA's own certificate that they are about.
      return dateProblem(x509, new Date()) === undefined
        ? `the certificate of its issuer ${issuerOf(x509)} has expired or is not valid yet`
        : undefined;
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
      return 'it is self-signed';
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
      return `its issuer ${issuerOf(x509)} is not known here`;
    case 'CERT_REVOKED':
      return 'it was revoked';
    default:
      return oneLine(code);
  }
}

function dateProblem(x509: X509Certificate, now: Date): string | undefined {
  const [from, to] = [new Date(x509.validFrom), new Date(x509.validTo)];
  const today = now.toISOString().slice(0, 10);
  if (now > to) return `it expired on ${day(x509.validTo)} (here it is ${today})`;
  if (now < from) return `it is valid from ${day(x509.validFrom)} on only (here it is ${today})`;
  return undefined;
}

function nameProblem(x509: X509Certificate, host: string): string | undefined {
  const asked = host.replace(/%.*$/, '').replace(/\.$/, '');
  const mismatch = checkServerIdentity(asked, x509.toLegacyObject());
  return mismatch && `it is made out to another name: ${namesOf(x509)}, not ${asked}`;
}

function namesOf(x509: X509Certificate): string {
  return oneLine(x509.subjectAltName ?? x509.subject);
}

function issuerOf(x509: X509Certificate): string {
  return oneLine(x509.issuer);
}

function isoDate(text: string): string {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? oneLine(text) : date.toISOString();
}

function day(text: string): string {
  return isoDate(text).slice(0, 10);
}
