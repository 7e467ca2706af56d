import type { Credential } from '../device/credential.ts';
import type { UntrustedError } from '../device/errors.ts';
import type { Facts } from '../device/facts-schema.ts';
import type { Profile } from '../device/profile.ts';
import type { Route } from '../device/route/route.ts';
import type { Trust } from '../device/tls.ts';
import type { DeviceEntry } from './selector.ts';
import { CredentialError } from '../errors.ts';

/**
 * Who decides about trust and credentials while devices are used. The shell asks files, the keychain
 * and the user; a device is opened anew with what it answers.
 */
export interface Access {
  /** How to check the device's certificate. */
  trust(entry: DeviceEntry): Promise<Trust>;
  /** By which way the device is reached. */
  route(entry: DeviceEntry): Route;
  /** The certificate is not known: pin it and try again, or `undefined` to refuse. */
  acceptCertificate(entry: DeviceEntry, error: UntrustedError): Promise<Trust | undefined>;
  /** How the device speaks: its base profile, and what was kept of what was seen of it. */
  profile(entry: DeviceEntry): Promise<{ readonly base: Profile; readonly kept: Facts }>;
  /** The credential to start with; `undefined` tries without one. */
  credential(entry: DeviceEntry): Promise<Credential | undefined>;
  /** The device answered 401: another credential to try, or `undefined` to give up. */
  anotherCredential(
    entry: DeviceEntry,
    refused: Credential | undefined,
  ): Promise<Credential | undefined>;
  /**
   * Waits until `credential` may be sent to one more device: one that nobody has accepted yet goes to
   * two devices at the most, so that a wrong password is not sprayed over a fleet. Throws when it was
   * refused twice. The answer is told by calling the returned function.
   */
  admit(entry: DeviceEntry, credential: Credential): Promise<(answer: CredentialOutcome) => void>;
  /** Receives one line for each request (`-v`). */
  readonly trace?: ((line: string) => void) | undefined;
  /** Receives what keeps the user waiting, in words. */
  readonly notice?: ((text: string) => void) | undefined;
  /** Receives what has come of an answer that takes long, in words. */
  readonly arriving?: ((text: string) => void) | undefined;
  /** Receives what is odd about a device's answers, in words; again each time. */
  readonly warn?: ((text: string) => void) | undefined;
  readonly timeoutMs?: number | undefined;
}

export type CredentialOutcome = 'accepted' | 'refused' | 'untold';

/** So many devices may refuse a credential before it is sent to no further one. */
const MAX_REFUSALS = 2;

/** A device that is silent for so long does not keep the others waiting. */
const PATIENCE_MS = 1500;

interface CredentialState {
  isAccepted: boolean;
  /** Names of the devices that refused it. */
  refusedBy: string[];
  /** Requests whose answer is still awaited. */
  pending: number;
  waiting: (() => void)[];
}

/**
 * Keeps a wrong password from being sprayed over a fleet. As long as no device has accepted a
 * credential it is with two devices at the most; when two have refused it, no other one gets it.
 */
export class CredentialGate {
  readonly #states = new Map<string, CredentialState>();

  /** A new command is a new try: what was refused before may be tried again. */
  forgetRefusals(): void {
    for (const state of this.#states.values()) state.refusedBy = [];
  }

  /**
   * Waits until the credential may go to one more device, and returns the function that tells how the
   * device answered. Throws a `CredentialError` when it was refused twice.
   */
  async admit(
    deviceName: string,
    credential: Credential,
  ): Promise<(answer: CredentialOutcome) => void> {
    const state = this.#stateOf(credential);
    while (!state.isAccepted && state.refusedBy.length + state.pending >= MAX_REFUSALS) {
      this.#throwIfRefused(deviceName, credential, state);
      await new Promise<void>((resolve) => state.waiting.push(resolve));
    }
    this.#throwIfRefused(deviceName, credential, state);
    return this.#begin(deviceName, state);
  }

  #begin(deviceName: string, state: CredentialState): (answer: CredentialOutcome) => void {
    state.pending += 1;
    let isPending = true;
    const settle = (): void => {
      if (isPending) state.pending -= 1;
      isPending = false;
      for (const wake of state.waiting.splice(0)) wake();
    };
    const patience = setTimeout(settle, PATIENCE_MS);
    return (answer) => {
      clearTimeout(patience);
      if (answer === 'accepted') state.isAccepted = true;
      if (answer === 'refused' && !state.refusedBy.includes(deviceName)) {
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
