import { DevshError } from '../errors.ts';
import type { DeviceRef } from './record.ts';

/** One device failed. The message starts with the device's name and ends with what to try. */
export class DeviceError extends DevshError {
  readonly code: string = 'device';
  readonly device: DeviceRef;

  constructor(device: DeviceRef, message: string, options?: ErrorOptions) {
    super(`${device.name}: ${message}`, options);
    this.device = device;
  }
}

/** No connection, or no complete answer in time. */
export class UnreachableError extends DeviceError {
  override readonly code = 'unreachable';
  override readonly exitCode = 5;
  /**
   * False only when the request was certainly never sent (name not found, refused, no TLS). After a
   * write, true means: read back to learn what became of it.
   */
  readonly mayHaveArrived: boolean;
  readonly #message: string;

  /** @param options.advice ends the message while nobody has looked at what became of the request */
  constructor(
    device: DeviceRef,
    message: string,
    options: { mayHaveArrived?: boolean; advice?: string | undefined } & ErrorOptions = {},
  ) {
    const { advice, ...rest } = options;
    super(device, advice === undefined ? message : `${message}. ${advice}`, rest);
    this.mayHaveArrived = options.mayHaveArrived ?? true;
    this.#message = message;
  }

  /** The same without its advice: what became of the request is known by now. */
  settled(): UnreachableError {
    const { device, mayHaveArrived, cause } = this;
    return new UnreachableError(device, this.#message, { mayHaveArrived, cause });
  }
}

/** A certificate as it was presented, for the question and the refusal. */
export interface PresentedCertificate {
  /** SHA-256 of the DER certificate: upper-case hex, pairs joined by colons. */
  readonly fingerprint: string;
  readonly subject: string;
  /** ISO 8601 dates. */
  readonly validFrom: string;
  readonly validTo: string;
}

/** The certificate is neither signed by a known CA nor pinned, or it differs from the pin. */
export class UntrustedError extends DeviceError {
  override readonly code = 'untrusted';
  override readonly exitCode = 5;
  readonly reason: 'unknown' | 'changed' | 'ca';
  readonly presented: PresentedCertificate;

  constructor(
    device: DeviceRef,
    message: string,
    certificate: { reason: 'unknown' | 'changed' | 'ca'; presented: PresentedCertificate },
  ) {
    super(device, message);
    this.reason = certificate.reason;
    this.presented = certificate.presented;
  }
}

export function isChangedCertificate(error: unknown): error is UntrustedError {
  return error instanceof UntrustedError && error.reason === 'changed';
}

/** 401: the device does not accept the credential; 403: not the account's right. */
export class UnauthorizedError extends DeviceError {
  override readonly code: 'unauthorized' | 'forbidden';
  override readonly exitCode = 4;

  constructor(device: DeviceRef, message: string, status: 401 | 403) {
    super(device, message);
    this.code = status === 401 ? 'unauthorized' : 'forbidden';
  }
}

/** What the device objects to, per field; `''` holds what is about no field. */
export type FieldIssues = Readonly<Record<string, readonly string[]>>;

/** The longest wait that is waited for; a device that asks for more has refused. */
export const MAX_THROTTLE_MS = 30_000;
/** So often a request is sent again because the device asked to wait. */
export const MAX_THROTTLES = 3;

/** The device understood the request and refused it (400, 404, 405, 409, 415, 422, 429 …). */
export class RejectedError extends DeviceError {
  override readonly code = 'rejected';
  readonly status: number;
  readonly issues: FieldIssues;
  /** How long the device asks to wait before the next request (429); undefined when it does not say. */
  readonly retryAfterMs: number | undefined;

  constructor(
    device: DeviceRef,
    message: string,
    answer: { status: number; issues?: FieldIssues; retryAfterMs?: number | undefined },
  ) {
    super(device, message);
    this.status = answer.status;
    this.retryAfterMs = answer.retryAfterMs;
    this.issues = answer.issues ?? {};
  }
}

/** The answer is no answer of such an API: HTML, broken JSON, 5xx, too large. */
export class ProtocolError extends DeviceError {
  override readonly code = 'protocol';
  /** HTTP status, when there was one. */
  readonly status: number | undefined;
  /** The start of the body as it came, for `--raw`. */
  readonly body: string | undefined;

  constructor(
    device: DeviceRef,
    message: string,
    answer: { status?: number | undefined; body?: string } = {},
  ) {
    super(device, message);
    this.status = answer.status;
    this.body = answer.body;
  }
}

/** A body that holds no records; `device.ts` makes it an error with the device's name. */
export class DecodeFailure extends Error {}

/** A 2xx whose body says that the device did not do it. */
export class DeclinedFailure extends Error {}
