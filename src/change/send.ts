import {
  ExpiredSessionError,
  MAX_THROTTLE_MS,
  ProtocolError,
  RejectedError,
  UnreachableError,
  UntrustedError,
} from '../device/errors.ts';
import type { WriteResponse } from '../device/device.ts';
import { CredentialError, DevshError } from '../errors.ts';
import type { Access } from '../fleet/access.ts';
import type { DeviceSession } from '../fleet/device-session.ts';
import type { Step } from './step.ts';

/** The outcome of the request: a 2xx response, a refusal, or no usable response. */
export type RequestOutcome =
  | ({ readonly kind: 'accepted' } & Partial<WriteResponse>)
  /** `isRepeated`: an earlier request of the step got no answer that counts. */
  | {
      readonly kind: 'refused';
      readonly error: DevshError;
      readonly isRepeated?: boolean | undefined;
    }
  | { readonly kind: 'lost'; readonly error: DevshError };

export type Refusal = RequestOutcome & { readonly kind: 'refused' };

/** A device that says no (4xx, or an error as the body) has not carried out the step. A 5xx says nothing. */
export function isRefusal(outcome: RequestOutcome): outcome is Refusal {
  if (outcome.kind !== 'refused' || outcome.isRepeated === true) return false;
  const { error } = outcome;
  return !(error instanceof ProtocolError) && !(error instanceof ExpiredSessionError);
}

export function isExpiredSession(outcome: RequestOutcome): boolean {
  return outcome.kind === 'refused' && outcome.error instanceof ExpiredSessionError;
}

/** The delay that the device asks for before the request is sent again; undefined if it is too long. */
export function askedWaitMs(outcome: RequestOutcome): number | undefined {
  if (outcome.kind !== 'refused' || !(outcome.error instanceof RejectedError)) return undefined;
  const { retryAfterMs } = outcome.error;
  return retryAfterMs !== undefined && retryAfterMs <= MAX_THROTTLE_MS ? retryAfterMs : undefined;
}

/** Sends the request of a step. Throws if it certainly did not reach the device. */
export function send(
  { session, access }: { readonly session: DeviceSession; readonly access: Access },
  step: Step,
): Promise<RequestOutcome> {
  return outcomeOf(async () => ({
    kind: 'accepted',
    ...(await session.write(access, step.request)),
  }));
}

export type FailedRequest = Exclude<RequestOutcome, { readonly kind: 'accepted' }>;

export async function outcomeOf<Accepted>(
  request: () => Promise<Accepted>,
): Promise<Accepted | FailedRequest> {
  try {
    return await request();
  } catch (error) {
    if (!(error instanceof DevshError)) throw error;
    if (error instanceof UntrustedError || error instanceof CredentialError) throw error;
    if (error instanceof UnreachableError) {
      if (!error.mayHaveArrived) throw error;
      return { kind: 'lost', error };
    }
    // A response without HTTP, too large or corrupt is neither a yes nor a no.
    if (error instanceof ProtocolError && (error.status ?? 200) < 300) {
      return { kind: 'lost', error };
    }
    return { kind: 'refused', error };
  }
}
