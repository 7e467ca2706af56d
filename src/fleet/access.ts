import type { Credential } from '../device/credential.ts';
import type { UntrustedError } from '../device/errors.ts';
import type { LearnedListing } from '../device/learned-schema.ts';
import type { Profile } from '../device/profile.ts';
import type { Route } from '../device/route/route.ts';
import type { Trust } from '../device/tls.ts';
import type { DeviceEntry } from './selector.ts';

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
  /** How the device speaks, as far as it is known. */
  profile(entry: DeviceEntry): Promise<Profile>;
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
  admit(entry: DeviceEntry, credential: Credential): Promise<(answer: CredentialAnswer) => void>;
  /** Reading a resource showed how the device speaks: worth keeping. */
  observed?(entry: DeviceEntry, resource: string, listing: LearnedListing): Promise<void>;
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

export type CredentialAnswer = 'accepted' | 'refused' | 'untold';
