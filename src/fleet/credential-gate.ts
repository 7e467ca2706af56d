import type { Credential } from '../device/credential.ts';
import { CredentialError } from '../errors.ts';
import type { CredentialAnswer } from './access.ts';

/** So many devices may refuse a credential before it is sent to no further one. */
const MAX_REFUSALS = 2;

/** A device that is silent for so long does not keep the others waiting. */
const PATIENCE_MS = 1500;

interface Standing {
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
  readonly #standings = new Map<string, Standing>();

  /** A new command is a new try: what was refused before may be tried again. */
  forgetRefusals(): void {
    for (const standing of this.#standings.values()) standing.refusedBy = [];
  }

  /**
   * Waits until the credential may go to one more device, and returns the function that tells how the
   * device answered. Throws a `CredentialError` when it was refused twice.
   */
  async admit(
    deviceName: string,
    credential: Credential,
  ): Promise<(answer: CredentialAnswer) => void> {
    const standing = this.#standingOf(credential);
    while (!standing.isAccepted && standing.refusedBy.length + standing.pending >= MAX_REFUSALS) {
      this.#throwIfRefused(deviceName, credential, standing);
      await new Promise<void>((resolve) => standing.waiting.push(resolve));
    }
    this.#throwIfRefused(deviceName, credential, standing);
    return this.#begin(deviceName, standing);
  }

  #begin(deviceName: string, standing: Standing): (answer: CredentialAnswer) => void {
    standing.pending += 1;
    let isPending = true;
    const settle = (): void => {
      if (isPending) standing.pending -= 1;
      isPending = false;
      for (const wake of standing.waiting.splice(0)) wake();
    };
    const patience = setTimeout(settle, PATIENCE_MS);
    return (answer) => {
      clearTimeout(patience);
      if (answer === 'accepted') standing.isAccepted = true;
      if (answer === 'refused' && !standing.refusedBy.includes(deviceName)) {
        standing.refusedBy.push(deviceName);
      }
      settle();
    };
  }

  #throwIfRefused(deviceName: string, credential: Credential, { refusedBy }: Standing): void {
    if (refusedBy.length < MAX_REFUSALS) return;
    const whose = credential.user === undefined ? 'the token' : `the login of ${credential.user}`;
    throw new CredentialError(
      `${deviceName}: ${whose} was not tried, as ${refusedBy.join(' and ')} refused it. ` +
        'Check it with "devsh login".',
    );
  }

  #standingOf(credential: Credential): Standing {
    const key = credential.header();
    let standing = this.#standings.get(key);
    if (standing === undefined) {
      standing = { isAccepted: false, refusedBy: [], pending: 0, waiting: [] };
      this.#standings.set(key, standing);
    }
    return standing;
  }
}
