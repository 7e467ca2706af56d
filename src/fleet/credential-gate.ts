import type { Credential } from '../device/credential.ts';
import { CredentialError } from '../errors.ts';

export type CredentialOutcome = 'accepted' | 'refused' | 'unknown';

/** After so many refusals a credential goes to no other device: a wrong password must not lock accounts. */
export const MAX_REFUSALS = 2;

/** A slower device no longer keeps the others waiting: they may get the credential before it responds. */
const MAX_HOLD_MS = 1500;

interface CredentialState {
  /** Names of the devices that accepted it last: they keep getting it. */
  readonly acceptedBy: Set<string>;
  /** Names of the devices that refused it. */
  refusedBy: string[];
  /** Requests without a response so far. */
  pending: number;
  waiting: (() => void)[];
}

/**
 * Keeps a wrong password from being sprayed over a fleet. Until a device accepts a credential, at most two
 * devices that respond in time have it; after two refusals no other device gets it. `StopRule` counts the
 * refusals of a roll-out.
 */
export class CredentialGate {
  readonly #states = new Map<string, CredentialState>();

  /** Each command may try refused credentials again. */
  forgetRefusals(): void {
    for (const state of this.#states.values()) state.refusedBy = [];
  }

  /**
   * Waits until the credential may be sent to one more device; the returned function reports the outcome.
   * Throws a `CredentialError` if two devices refused it, unless this one accepted it before.
   */
  async admit(
    deviceName: string,
    credential: Credential,
  ): Promise<(outcome: CredentialOutcome) => void> {
    const state = this.#stateOf(credential);
    if (state.acceptedBy.has(deviceName)) return this.#begin(deviceName, state);
    while (state.acceptedBy.size === 0 && state.refusedBy.length + state.pending >= MAX_REFUSALS) {
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
      if (outcome === 'accepted') state.acceptedBy.add(deviceName);
      if (outcome === 'refused') {
        state.acceptedBy.delete(deviceName);
        if (!state.refusedBy.includes(deviceName)) state.refusedBy.push(deviceName);
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
      `${deviceName}: ${whose} was not tried, because ${refusedBy.join(' and ')} refused it. ` +
        'Check it with "devsh login".',
    );
  }

  #stateOf(credential: Credential): CredentialState {
    const key = credential.header();
    let state = this.#states.get(key);
    if (state === undefined) {
      state = { acceptedBy: new Set(), refusedBy: [], pending: 0, waiting: [] };
      this.#states.set(key, state);
    }
    return state;
  }
}
