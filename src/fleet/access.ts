import type { Credential } from '../device/credential.ts';
import type { UntrustedError } from '../device/errors.ts';
import type { Facts } from '../device/facts-schema.ts';
import type { Profile } from '../device/profile.ts';
import type { Route } from '../device/route/route.ts';
import type { Trust } from '../device/tls.ts';
import type { DeviceEntry } from './selector.ts';
import { CredentialError } from '../errors.ts';

/**
 * Decides about trust and credentials while devices are used. The shell implements it with files, the
 * keychain and questions to the user; its responses reopen the device.
 */
export interface Access {
  trust(entry: DeviceEntry): Promise<Trust>;
  /** How the device is reached. */
  route(entry: DeviceEntry): Route;
  /** The certificate is unknown: returns the pin to retry with, or `undefined` to refuse. */
  acceptCertificate(entry: DeviceEntry, error: UntrustedError): Promise<Trust | undefined>;
  /** The base profile of the device, and the stored facts. */
  profile(entry: DeviceEntry): Promise<{ readonly base: Profile; readonly stored: Facts }>;
  /** The first credential to try; `undefined` for none. */
  credential(entry: DeviceEntry): Promise<Credential | undefined>;
  /** After a 401: another credential to try, or `undefined` to give up. */
  anotherCredential(
    entry: DeviceEntry,
    refused: Credential | undefined,
  ): Promise<Credential | undefined>;
  /**
   * Waits until `credential` may be sent to one more device. Until a device accepts it, at most two devices
   * get it, so that a wrong password is not sprayed over a fleet. Throws if two devices refused it. The
   * caller reports the outcome with the returned function.
   */
  admit(entry: DeviceEntry, credential: Credential): Promise<(outcome: CredentialOutcome) => void>;
  /** Receives one line per request (`-v`). */
  readonly trace?: ((line: string) => void) | undefined;
  /** Receives the reason for a long wait. */
  readonly notice?: ((text: string) => void) | undefined;
  /** Receives the progress of a slow response. */
  readonly progress?: ((text: string) => void) | undefined;
  /** Receives oddities of a device's responses; the same one again each time. */
  readonly warn?: ((text: string) => void) | undefined;
  readonly timeoutMs?: number | undefined;
}

export type CredentialOutcome = 'accepted' | 'refused' | 'unknown';

/** After this many refusals a credential is sent to no other device. */
const MAX_REFUSALS = 2;

/** A slower device no longer keeps the others waiting. */
const MAX_HOLD_MS = 1500;

interface CredentialState {
  isAccepted: boolean;
  /** Names of the devices that refused it. */
  refusedBy: string[];
  /** Requests without a response so far. */
  pending: number;
  waiting: (() => void)[];
}

/**
 * Keeps a wrong password from being sprayed over a fleet. Until a device accepts a credential, at most two
 * devices get it; after two refusals no other device does.
 */
export class CredentialGate {
  readonly #states = new Map<string, CredentialState>();

  /** Each command may try refused credentials again. */
  forgetRefusals(): void {
    for (const state of this.#states.values()) state.refusedBy = [];
  }

  /**
   * Waits until the credential may be sent to one more device; the returned function reports the outcome.
   * Throws a `CredentialError` if two devices refused it.
   */
  async admit(
    deviceName: string,
    credential: Credential,
  ): Promise<(outcome: CredentialOutcome) => void> {
    const state = this.#stateOf(credential);
    while (!state.isAccepted && state.refusedBy.length + state.pending >= MAX_REFUSALS) {
      this.#throwIfRefused(deviceName, credential, state);
      await new Promise<void>((resolve) => state.waiting.push(resolve));
    }
    this.#throwIfRefused(deviceName, credential, state);
    return this.#begin(deviceName, state);
  }

  #begin(deviceName: string, state: CredentialState): (outcome: CredentialOutcome) => void {
    state.pending += 1;
    let isPending = true;
    const settle = (): void => {
      if (isPending) state.pending -= 1;
      isPending = false;
      for (const wake of state.waiting.splice(0)) wake();
    };
    const timer = setTimeout(settle, MAX_HOLD_MS);
    return (outcome) => {
      clearTimeout(timer);
      if (outcome === 'accepted') state.isAccepted = true;
      if (outcome === 'refused' && !state.refusedBy.includes(deviceName)) {
        state.refusedBy.push(deviceName);
      }
      settle();
    };
  }

  #throwIfRefused(
    deviceName: string,
    credential: Credential,
    { refusedBy }: CredentialState,
  ): void {
    if (refusedBy.length < MAX_REFUSALS) return;
    const whose = credential.user === undefined ? 'the token' : `the login of ${credential.user}`;
    throw new CredentialError(
      `${deviceName}: ${whose} was not tried, as ${refusedBy.join(' and ')} refused it. ` +
        'Check it with "devsh login".',
    );
  }

  #stateOf(credential: Credential): CredentialState {
    const key = credential.header();
    let state = this.#states.get(key);
    if (state === undefined) {
      state = { isAccepted: false, refusedBy: [], pending: 0, waiting: [] };
      this.#states.set(key, state);
    }
    return state;
  }
}
