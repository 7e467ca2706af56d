import { isChangedCertificate } from '../device/errors.ts';
import { type FaultKind, TransportFault } from '../device/fault.ts';
import { type DevshError, LoginInDoubtError, ReadOnlyError } from '../errors.ts';

export const CHANGED_CERTIFICATE = 'certificate CHANGED';

const FAULT_WORDS: Readonly<Record<FaultKind, string>> = {
  name: 'DNS',
  refused: 'refused',
  'no route': 'no route',
  route: 'proxy or jump host',
  'connect timeout': 'timeout',
  timeout: 'timeout',
  tls: 'TLS',
  'old tls': 'TLS',
  reset: 'interrupted',
  'wrong length': 'bad response',
  'cut off': 'bad response',
  'too large': 'bad response',
  malformed: 'bad response',
  encoding: 'bad response',
};

/** The word for an error code; any other code is its own word. */
const CODE_WORDS: Readonly<Record<string, string>> = {
  untrusted: 'certificate',
  unauthorized: 'login',
  'login-failed': 'login',
  credentials: 'login',
  protocol: 'bad response',
};

/** Why a device failed, in one or two words. It names the state of a device, and devices are counted by it. */
export function failureCause(error: DevshError): string {
  if (isChangedCertificate(error)) return CHANGED_CERTIFICATE;
  if (error instanceof LoginInDoubtError) return 'login in doubt';
  if (error.cause instanceof TransportFault) return FAULT_WORDS[error.cause.kind];
  return CODE_WORDS[error.code] ?? error.code;
}

/** Error codes as words, for use after a count or in parentheses. */
const IN_WORDS: Readonly<Record<string, string>> = {
  unreachable: 'not reached',
  untrusted: 'not trusted',
  protocol: 'without a usable response',
  unauthorized: 'refused the login',
  'login-failed': 'refused the login',
  forbidden: 'without permission',
  credentials: 'without a login',
  rejected: 'refused the request',
  refused: 'refused by devsh',
  settings: 'with an invalid settings file',
  'not-read': 'not read then',
  'not-known': 'in doubt',
  'not-restorable': 'cannot be restored',
};

export function causeText(error: DevshError): string {
  if (isChangedCertificate(error)) return CHANGED_CERTIFICATE;
  if (error instanceof ReadOnlyError) return 'read-only';
  return IN_WORDS[error.code] ?? error.code;
}
