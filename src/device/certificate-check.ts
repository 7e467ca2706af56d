import type { X509Certificate } from 'node:crypto';
import { checkServerIdentity, type TLSSocket } from 'node:tls';
import type { PresentedCertificate } from './errors.ts';
import { oneLine } from '../text/one-line.ts';

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

/** Every problem with chain, dates and name: OpenSSL reports one. */
export function certificateProblem(
  socket: TLSSocket,
  x509: X509Certificate,
  host: string,
): string | undefined {
  const problems = [
    chainProblem(socket, x509),
    dateProblem(x509, new Date()),
    nameProblem(x509, host),
  ];
  const found = problems.filter((problem) => problem !== undefined);
  return found.length === 0 ? undefined : found.join('; ');
}

function chainProblem(socket: TLSSocket, x509: X509Certificate): string | undefined {
  if (socket.authorized) return undefined;
  // Node's types say Error, but the value is the code.
  const code = String(socket.authorizationError);
  // Reported by nameProblem.
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return undefined;
  if (/SELF_SIGNED|UNABLE_TO/.test(code)) {
    const isSelfSigned = x509.checkIssued(x509) && x509.verify(x509.publicKey);
    return isSelfSigned ? 'it is self-signed' : `its issuer ${issuerOf(x509)} is not trusted here`;
  }
  if (!/EXPIRED|NOT_YET_VALID/.test(code)) {
    return code === 'CERT_REVOKED' ? 'it was revoked' : oneLine(code);
  }
  // dateProblem reports the certificate itself; here the code may be about its issuer.
  return dateProblem(x509, new Date()) === undefined
    ? `the certificate of its issuer ${issuerOf(x509)} has expired or is not valid yet`
    : 'its issuer was not checked';
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
