import { chooseRoute } from '../device/route/choose-route.ts';
import { parseAddress } from '../device/address.ts';
import type { Credential } from '../device/credential.ts';
import { areFieldsLearned, isLearned, learn, learnFields } from '../device/learn.ts';
import { withAllLearned } from '../device/learned.ts';
import type { Learned, LearnedListing } from '../device/learned-schema.ts';
import { observedAfter, withObservation, type Observation } from '../device/observation.ts';
import type { Profile } from '../device/profile.ts';
import type { Route } from '../device/route/route.ts';
import type { Trust } from '../device/tls.ts';
import { type Access, type CredentialAnswer, CredentialGate } from '../fleet/access.ts';
import type { Member } from '../fleet/member.ts';
import type { DeviceEntry } from '../fleet/selector.ts';

/** One for all devices of the process: a wrong password goes to two of them at the most. */
export const gate = new CredentialGate();

/** What the caller has said of one device: there is nobody to ask. */
export class DeviceAccess implements Access {
  readonly timeoutMs: number | undefined;
  readonly #trust: Trust;
  readonly #credential: Credential | undefined;
  readonly #profile: Profile;
  /** Kept as long as the device is open; the command line keeps the same in its cache. */
  #learned: Learned = { at: new Date().toISOString(), byResource: {} };

  constructor(
    trust: Trust,
    credential: Credential | undefined,
    profile: Profile,
    timeoutMs: number | undefined,
  ) {
    this.#trust = trust;
    this.#credential = credential;
    this.#profile = profile;
    this.timeoutMs = timeoutMs;
  }

  trust(): Promise<Trust> {
    return Promise.resolve(this.#trust);
  }

  route(entry: DeviceEntry): Route {
    return chooseRoute(parseAddress(entry.address), entry.route, process.env);
  }

  acceptCertificate(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  profile(): Promise<Profile> {
    return Promise.resolve(withAllLearned(this.#profile, this.#learned));
  }

  credential(): Promise<Credential | undefined> {
    return Promise.resolve(this.#credential);
  }

  anotherCredential(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  admit(entry: DeviceEntry, credential: Credential): Promise<(answer: CredentialAnswer) => void> {
    return gate.admit(entry.name, credential);
  }

  observed(_entry: DeviceEntry, resource: string, listing: LearnedListing): Promise<void> {
    const { listings } = this.#learned;
    const known = { ...listings?.[resource], ...listing };
    this.#learned = { ...this.#learned, listings: { ...listings, [resource]: known } };
    return Promise.resolve();
  }

  /** Asks the device once what it says of a resource, without writing. */
  async learn(
    member: Member,
    resource: string,
    what: 'once' | 'fields',
    signal: AbortSignal,
  ): Promise<void> {
    const held = this.#learned.byResource[resource];
    const records = member.seen(resource) ?? [];
    if (isLearned(held, records) || (what === 'fields' && areFieldsLearned(held))) return;
    const fresh = await member.use(this, (device) =>
      what === 'fields' && held === undefined
        ? learnFields(device, resource, new Date(), signal)
        : learn(device, resource, records, new Date(), signal),
    );
    const byResource = { ...this.#learned.byResource, ...fresh.byResource };
    this.#learned = { ...this.#learned, ...fresh, byResource };
    member.learned(withAllLearned(this.#profile, this.#learned));
  }

  /** Keeps what writing to the device showed of how it speaks. */
  keep(member: Member, observation: Observation): void {
    const { profile } = member;
    member.learned(withObservation(profile, observation));
    this.#learned = { ...this.#learned, ...observedAfter(this.#learned, profile, observation) };
  }
}
