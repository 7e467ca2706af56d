import type { CredentialOutcome } from './credential-gate.ts';
import type { Caller } from '../device/client.ts';
import type { Credential } from '../device/credential.ts';
import type { UntrustedError } from '../device/errors.ts';
import type { Facts } from '../device/facts.ts';
import type { Profile } from '../device/profile.ts';
import type { Route } from '../device/route/route.ts';
import type { Trust } from '../device/tls.ts';
import type { DeviceEntry } from './inventory.ts';

/** Decides about trust and credentials while devices are used: the shell asks the keychain and the user. */
export interface Access extends Caller {
  trust(entry: DeviceEntry): Promise<Trust>;
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
  /** Waits until one more device may get the credential (`CredentialGate`). Throws if two devices refused it. */
  admit(entry: DeviceEntry, credential: Credential): Promise<void>;
  settle(entry: DeviceEntry, credential: Credential, outcome: CredentialOutcome): void;
}

/** Never asks the user for another login, so that a refusal shows that this one no longer works. */
export function withoutAsking(access: Access): Access {
  const { trace, notice, timeoutMs } = access;
  return {
    trace,
    notice,
    timeoutMs,
    profile: (entry) => access.profile(entry),
    trust: (entry) => access.trust(entry),
    route: (entry) => access.route(entry),
    credential: (entry) => access.credential(entry),
    admit: (entry, credential) => access.admit(entry, credential),
    settle: (entry, credential, outcome) => access.settle(entry, credential, outcome),
    acceptCertificate: () => Promise.resolve(undefined),
    anotherCredential: () => Promise.resolve(undefined),
  };
}

/** Sends no login. */
export function withoutLogin(access: Access): Access {
  return { ...withoutAsking(access), credential: () => Promise.resolve(undefined) };
}
