import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { checkServerIdentity, rootCertificates, type TLSSocket } from 'node:tls';
import { certificatesIn } from './trust-anchors.ts';
import type { PresentedCertificate } from './errors.ts';
import { oneLine } from '../text/one-line.ts';

/** A certificate as messages and questions show it. */
export function describeCertificate(x509: X509Certificate): PresentedCertificate {
  return {
    fingerprint: x509.fingerprint256,
    subject: nameText(x509.subject),
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
 *
 * @param ca the certificates (PEM) that may have issued it; those of the system when absent
 */
export function certificateProblem(
  socket: TLSSocket,
  x509: X509Certificate,
  host: string,
  ca?: string,
  now: Date = new Date(),
): string | undefined {
  const problems = [
    chainProblem(socket, x509, ca),
    dateProblem(x509, now),
    nameProblem(x509, host),
  ];
  const told = problems.filter((problem) => problem !== undefined);
  return told.length === 0 ? undefined : told.join('; ');
}

function chainProblem(
  socket: TLSSocket,
  x509: X509Certificate,
  ca: string | undefined,
): string | undefined {
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
        : issuerProblem(x509, anchorsOf(ca));
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
      return SELF_SIGNED;
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

const SELF_SIGNED = 'it is self-signed';
/** Longer chains are none. */
const MOST_LINKS = 10;

/** Whether nobody whom we trust has issued it, whatever its dates; undefined when that is not known. */
function issuerProblem(
  x509: X509Certificate,
  anchors: readonly X509Certificate[] | undefined,
): string | undefined {
  if (anchors === undefined) return undefined;
  let link: X509Certificate | undefined = x509;
  for (let count = 0; link !== undefined && count < MOST_LINKS; count += 1) {
    const held: X509Certificate = link;
    const isTrusted = anchors.some(
      (anchor) => anchor.fingerprint256 === held.fingerprint256 || isIssuedBy(held, anchor),
    );
    if (isTrusted) return undefined;
    link = held.issuerCertificate;
  }
  return isIssuedBy(x509, x509) ? SELF_SIGNED : `its issuer ${issuerOf(x509)} is not known here`;
}

function isIssuedBy(x509: X509Certificate, issuer: X509Certificate): boolean {
  return x509.checkIssued(issuer) && x509.verify(issuer.publicKey);
}

/** The certificates that may have issued others; undefined when not all of them can be read. */
function anchorsOf(ca: string | undefined): readonly X509Certificate[] | undefined {
  try {
    const blocks = ca === undefined ? systemAnchors() : certificatesIn(ca);
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    return undefined;
  }
}

/** Those that Node trusts: its own, and those that it adds from a file when it starts. */
function systemAnchors(): readonly string[] {
  const file = process.env['NODE_EXTRA_CA_CERTS'];
  const added = file === undefined || file === '' ? '' : readFileSync(file, 'utf8');
  return [...rootCertificates, ...certificatesIn(added)];
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
  return nameText(x509.subjectAltName ?? x509.subject);
}

function issuerOf(x509: X509Certificate): string {
  return nameText(x509.issuer);
}

/** Node's types leave out that a certificate may name nobody. */
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
