import { DevshError } from '../errors.ts';
import { type Note, textOf } from '../output/sentences.ts';
import type { DeviceRef } from './record.ts';

/** One device failed. The message starts with the device name and ends with advice. */
export class DeviceError extends DevshError {
  readonly code: string = 'device';
  readonly device: DeviceRef;

  constructor(
    device: DeviceRef,
    what: Note | string,
    options?: ErrorOptions & { fix?: Note | undefined },
  ) {
    super(what, { ...options, where: device.name });
    this.device = device;
  }
}

/** No connection, or no complete response in time. */
export class UnreachableError extends DeviceError {
  override readonly code = 'unreachable';
  override readonly exitCode = 5;
  /** False only if the request was certainly never sent. If true after a write, read back its outcome. */
  readonly mayHaveArrived: boolean;
  readonly #what: Note | string;

  /** @param options.fix counts until the outcome of the request is known */
  constructor(
    device: DeviceRef,
    what: Note | string,
    options: { mayHaveArrived?: boolean; fix?: Note | undefined } & ErrorOptions = {},
  ) {
    super(device, what, options);
    this.mayHaveArrived = options.mayHaveArrived ?? true;
    this.#what = what;
  }

  /** The same error without its fix, once the outcome of the request is known. */
  settled(): UnreachableError {
    const { device, mayHaveArrived, cause } = this;
    return new UnreachableError(device, this.#what, { mayHaveArrived, cause });
  }
}

/** A presented certificate, for the question and the refusal. */
export interface PresentedCertificate {
  /** SHA-256 of the DER certificate: upper-case hex, pairs joined by colons. */
  readonly fingerprint: string;
  readonly subject: string;
  /** ISO 8601 dates. */
  readonly validFrom: string;
  readonly validTo: string;
}

/** The certificate has no known CA and no pin, or differs from the pin. */
export class UntrustedError extends DeviceError {
  override readonly code = 'untrusted';
  override readonly exitCode = 5;
  readonly reason: 'unknown' | 'changed' | 'ca';
  readonly presented: PresentedCertificate;

  constructor(
    device: DeviceRef,
    what: Note | string,
    certificate: { reason: 'unknown' | 'changed' | 'ca'; presented: PresentedCertificate },
  ) {
    super(device, what);
    this.reason = certificate.reason;
    this.presented = certificate.presented;
  }
}

export function isChangedCertificate(error: unknown): error is UntrustedError {
  return error instanceof UntrustedError && error.reason === 'changed';
}

/** 401: the device does not accept the credential; 403: the account lacks the right. */
export class UnauthorizedError extends DeviceError {
  override readonly code: 'unauthorized' | 'forbidden';
  override readonly exitCode = 4;
  readonly status: 401 | 403;

  constructor(device: DeviceRef, what: Note | string, status: 401 | 403) {
    super(device, what);
    this.status = status;
    this.code = status === 401 ? 'unauthorized' : 'forbidden';
  }
}

/** A session login was refused with a response that may have another reason. */
export class LoginFailedError extends DeviceError {
  override readonly code = 'login-failed';
  override readonly exitCode = 4;
}

/** Whether the device does not accept the login itself. A missing right (403) is something else. */
export function isRefusedLogin(error: unknown): boolean {
  return (
    error instanceof LoginFailedError ||
    (error instanceof UnauthorizedError && error.code === 'unauthorized')
  );
}

/** A write met the end of its session: only reading shows whether the device has executed it. */
export class ExpiredSessionError extends DeviceError {
  override readonly code = 'session-expired';
  override readonly exitCode = 4;
}

/** Complaints of the device per field; `''` collects those about no field. */
export type FieldIssues = Readonly<Record<string, readonly string[]>>;

/** The longest wait for a write; a longer one counts as a refusal. */
export const MAX_THROTTLE_MS = 30_000;
export const MAX_THROTTLES = 3;

/** The device understood the request and refused it (400, 404, 405, 409, 415, 422, 429 …). */
export class RejectedError extends DeviceError {
  override readonly code = 'rejected';
  readonly status: number;
  readonly issues: FieldIssues;
  /** How long the device asks to wait before the next request (429), if it says so. */
  readonly retryAfterMs: number | undefined;

  constructor(
    device: DeviceRef,
    what: Note | string,
    response: { status: number; issues?: FieldIssues; retryAfterMs?: number | undefined },
  ) {
    super(device, what);
    this.status = response.status;
    this.retryAfterMs = response.retryAfterMs;
    this.issues = response.issues ?? {};
  }
}

/** The response does not fit such an API: HTML, broken JSON, 5xx, too large. */
export class ProtocolError extends DeviceError {
  override readonly code = 'protocol';
  readonly status: number | undefined;
  /** The start of the body, unchanged, for `--raw`. */
  readonly body: string | undefined;

  constructor(
    device: DeviceRef,
    what: Note | string,
    response: { status?: number | undefined; body?: string } = {},
  ) {
    super(device, what);
    this.status = response.status;
    this.body = response.body;
  }
}

/** What a body does not contain; `device.ts` turns it into a DeviceError. */
export class BodyFailure extends Error {
  constructor(what: Note | string, options?: ErrorOptions) {
    super(textOf(what), options);
  }
}

/** A body without records. */
export class DecodeFailure extends BodyFailure {}

/** A 2xx whose body reports a failure. */
export class DeclinedFailure extends BodyFailure {
  readonly isDeclined = true;
}
