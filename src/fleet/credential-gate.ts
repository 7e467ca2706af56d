import type { Credential } from '../device/credential.ts';
import { CredentialError } from '../errors.ts';

export type CredentialOutcome = 'accepted' | 'refused' | 'unknown';

/** After this many refusals a credential goes to no other device: a wrong password must not lock accounts. */
export const MAX_REFUSALS = 2;

/** After this time, other devices may get the credential before a slow device responds. */
const MAX_HOLD_MS = 1500;

interface CredentialState {
  /** Names of the devices that accepted it last: they keep getting it. */
  readonly acceptedBy: Set<string>;
  refusedBy: string[];
  /** Devices that have it and did not respond so far, each with the timer of its hold. */
  readonly pending: Map<string, NodeJS.Timeout>;
  waiting: (() => void)[];
}

/** Until a device accepts a credential, at most two devices get it. After two refusals no other device does. */
export class CredentialGate {
  readonly #states = new Map<string, CredentialState>();

  /** Allows refused credentials again. Called for each command of the user, but not for work that devsh repeats. */
  forgetRefusals(): void {
    for (const state of this.#states.values()) state.refusedBy = [];
  }

  /** Waits until one more device may get the credential; call it when connected. Throws CredentialError. */
  async admit(deviceName: string, credential: Credential): Promise<void> {
    const state = this.#stateOf(credential);
    const { acceptedBy, pending } = state;
    if (acceptedBy.has(deviceName)) return;
    while (
      acceptedBy.size === 0 &&
      !pending.has(deviceName) &&
      state.refusedBy.length + pending.size >= MAX_REFUSALS
    ) {
      this.#throwIfRefused(deviceName, credential, state);
      await new Promise<void>((resolve) => state.waiting.push(resolve));
    }
    this.#throwIfRefused(deviceName, credential, state);
    if (pending.has(deviceName)) return;
    pending.set(
      deviceName,
      setTimeout(() => this.#release(deviceName, state), MAX_HOLD_MS),
    );
  }

  settle(deviceName: string, credential: Credential, outcome: CredentialOutcome): void {
    const state = this.#stateOf(credential);
    if (outcome === 'accepted') state.acceptedBy.add(deviceName);
    if (outcome === 'refused') {
      state.acceptedBy.delete(deviceName);
      if (!state.refusedBy.includes(deviceName)) state.refusedBy.push(deviceName);
    }
    this.#release(deviceName, state);
  }

  #release(deviceName: string, { pending, waiting }: CredentialState): void {
    clearTimeout(pending.get(deviceName));
    pending.delete(deviceName);
    for (const wake of waiting.splice(0)) wake();
  }

  #throwIfRefused(deviceName: string, { user }: Credential, { refusedBy }: CredentialState): void {
    const isAgain = refusedBy.includes(deviceName);
    if (!isAgain && refusedBy.length < MAX_REFUSALS) return;
    throw new CredentialError({ code: 'not-tried', device: deviceName, user, isAgain, refusedBy });
  }

  #stateOf(credential: Credential): CredentialState {
    const key = credential.header();
    let state = this.#states.get(key);
    if (state === undefined) {
      state = { acceptedBy: new Set(), refusedBy: [], pending: new Map(), waiting: [] };
      this.#states.set(key, state);
    }
    return state;
  }
}
