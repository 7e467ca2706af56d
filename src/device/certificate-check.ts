import type { X509Certificate } from 'node:crypto';
import { checkServerIdentity, type TLSSocket } from 'node:tls';
import type { PresentedCertificate } from './errors.ts';
import { oneLine } from '../text/one-line.ts';
import { type Note, textOf } from '../output/sentences.ts';

export function describeCertificate(x509: X509Certificate): PresentedCertificate {
  return {
    fingerprint: x509.fingerprint256,
    subject: nameText(x509.subject),
    validFrom: isoDate(x509.validFrom),
    validTo: isoDate(x509.validTo),
  };
}

export function certificateText(x509: X509Certificate): string {
  const [from, to] = [day(x509.validFrom), day(x509.validTo)];
  return textOf({ code: 'certificate', is: 'validity', names: namesOf(x509), from, to });
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
  return found.length === 0 ? undefined : found.map(textOf).join('; ');
}

function chainProblem(socket: TLSSocket, x509: X509Certificate): Note | undefined {
  if (socket.authorized) return undefined;
  // Node's types say Error, but the value is the code.
  const code = String(socket.authorizationError);
  // Reported by nameProblem.
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return undefined;
  if (/SELF_SIGNED|UNABLE_TO/.test(code)) {
    const isSelfSigned = x509.checkIssued(x509) && x509.verify(x509.publicKey);
    return isSelfSigned
      ? { code: 'certificate', is: 'self-signed' }
      : { code: 'certificate', is: 'issuer', issuer: nameText(x509.issuer) };
  }
  if (!/EXPIRED|NOT_YET_VALID/.test(code)) {
    return code === 'CERT_REVOKED'
      ? { code: 'certificate', is: 'revoked' }
      : { code: 'certificate', is: 'other', reason: oneLine(code) };
  }
  // dateProblem reports the certificate itself; here the code may be about its issuer.
  return dateProblem(x509, new Date()) === undefined
    ? { code: 'certificate', is: 'issuer-expired', issuer: nameText(x509.issuer) }
    : { code: 'certificate', is: 'issuer-unchecked' };
}

function dateProblem({ validFrom, validTo }: X509Certificate, now: Date): Note | undefined {
  const today = now.toISOString().slice(0, 10);
  if (now > new Date(validTo))
    return { code: 'certificate', is: 'expired', day: day(validTo), today };
  return now < new Date(validFrom)
    ? { code: 'certificate', is: 'early', day: day(validFrom), today }
    : undefined;
}

function nameProblem(x509: X509Certificate, host: string): Note | undefined {
  const asked = host.replace(/%.*$/, '').replace(/\.$/, '');
  const mismatch = checkServerIdentity(asked, x509.toLegacyObject());
  return mismatch && { code: 'certificate', is: 'name', names: namesOf(x509), asked };
}

function namesOf(x509: X509Certificate): string {
  return nameText(x509.subjectAltName ?? x509.subject);
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
