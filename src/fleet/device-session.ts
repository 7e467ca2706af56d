import { isDeepStrictEqual } from 'node:util';
import type { ClockOffset } from '../device/client.ts';
import type { Credential } from '../device/credential.ts';
import { parseAddress } from '../device/address.ts';
import type { Device, WriteResponse } from '../device/device.ts';
import type { WriteRequest } from '../device/encode.ts';
import {
  ExpiredSessionError,
  isChangedCertificate,
  isRefusedLogin,
  RejectedError,
  UnauthorizedError,
  UntrustedError,
} from '../device/errors.ts';
import { DeviceFacts, noteListing } from '../device/facts.ts';
import { isSummary, omittedByList, type Profile, listFacts } from '../device/profile.ts';
import type * as Network from '../device/network.ts';
import type { DeviceRecord, DeviceRef } from '../device/record.ts';
import type { Route } from '../device/route/route.ts';
import type { Trust } from '../device/tls.ts';
import { CancelledError, CredentialError, DevshError } from '../errors.ts';
import type { Access } from './access.ts';
import type { CredentialOutcome } from './credential-gate.ts';
import type { DeviceEntry } from './inventory.ts';

let network: Promise<typeof Network> | undefined;

/** Loads the network code once for all devices. Tries again after a failure. */
function loadNetwork(): Promise<typeof Network> {
  if (network !== undefined) return network;
  network = import('../device/network.ts');
  network.catch(() => {
    network = undefined;
  });
  return network;
}

export type SessionState =
  | { readonly kind: 'new' }
  | { readonly kind: 'connecting' }
  /** `latencyMs`: see `Response`; undefined if no response was read in full. */
  | { readonly kind: 'ready'; readonly latencyMs: number | undefined }
  | { readonly kind: 'failed'; readonly error: DevshError; readonly since: Date };

/** A complete reading of a list; times in ms UTC. */
export interface Reading {
  readonly resource: string;
  readonly records: readonly DeviceRecord[];
  readonly startedAt: number;
  readonly endedAt: number;
  readonly clock: ClockOffset | undefined;
  /** Whether the session has read this list before. */
  readonly isAgain: boolean;
}

/** Whether a list has an end, is known to leave records out, or says nothing of it. */
export type ListEnd = 'ends' | 'hides' | undefined;

/** Matches the sizes at which devices cut lists: 20, 25, 50, 100 … 1,000. */
const ROUND = /^(?:20|25|50|[125]0{2,}|250+)$/;

/** Whether a list may leave records out. @param most the most records that it has ever shown */
export function mayLeaveOut(end: ListEnd, size: number, most: number): boolean {
  return end === 'hides' || (end === undefined && ROUND.test(String(size)) && most <= size);
}

/** All that a list has ever shown: each image of a record, and the most records at once. */
export interface KnownList {
  readonly images: readonly (readonly [key: string, image: DeviceRecord])[];
  /** The keys of records that are proven absent since then. */
  readonly absent: ReadonlySet<string>;
  readonly most: number;
}

const NOTHING_KNOWN: KnownList = { images: [], absent: new Set(), most: 0 };

export interface Memory {
  /** Receives every complete reading, whoever asked for it. */
  observe(session: DeviceSession, reading: Reading): void;
  known(session: DeviceSession, resource: string): Promise<KnownList>;
  /** Notes that the record with this kept key was found absent after the last reading. */
  proveAbsent(session: DeviceSession, resource: string, key: string): void;
}

/** The pin of a device whose certificate an authority has signed: name and address identify the device. */
export const VERIFIED = 'verified';

/** One device of the fleet: its connection, opened on first use, and its cached records. */
export class DeviceSession {
  readonly entry: DeviceEntry;
  readonly ref: DeviceRef;
  readonly facts = new DeviceFacts();
  #state: SessionState = { kind: 'new' };
  #failsSince: Date | undefined;
  #failure: DevshError | undefined;
  #declined: string | undefined;
  #isEnded = false;
  #device: Promise<OpenDevice> | undefined;
  #credential: Credential | undefined;
  #caller: Access | undefined;
  readonly #onChange: () => void;
  readonly #memory: Memory | undefined;
  /** The records last read per resource: for completion and counts, never for decisions. */
  readonly #cached = new Map<string, { readonly records: readonly DeviceRecord[]; at: Date }>();

  /** Resources whose last list had an end. */
  readonly #ended = new Set<string>();
  readonly #hasProbed = new Set<string>();

  /** Resources where devsh has already tested whether the list is a summary. The test may have no result. */
  readonly #hasAskedSummary = new Set<string>();

  constructor(entry: DeviceEntry, onChange: () => void = () => undefined, memory?: Memory) {
    this.entry = entry;
    this.ref = { name: entry.name, address: entry.address };
    this.#onChange = onChange;
    this.#memory = memory;
    this.facts.onNew(onChange);
  }

  get state(): SessionState {
    return this.#state;
  }

  /** The fingerprint, or `verified` by an authority; undefined if the certificate was not checked. */
  get pin(): string | undefined {
    if (this.trust === undefined || this.trust.kind === 'insecure') return undefined;
    return this.trust.kind === 'pinned' ? this.trust.fingerprint : VERIFIED;
  }

  /** The latest failure, also during the next attempt; undefined once it is ready. */
  get failure(): DevshError | undefined {
    return this.#failure;
  }

  /** When it began to fail; undefined once it is ready. */
  get failsSince(): Date | undefined {
    return this.#failsSince;
  }

  get declined(): string | undefined {
    return this.#declined;
  }

  /** Notes that the user has declined a question. Undefined allows devsh to ask again. */
  decline(question: string | undefined): void {
    this.#declined = question;
    this.#onChange();
  }

  /** The account of requests; undefined before the first use and for a token without a user. */
  get account(): string | undefined {
    return this.#credential?.user;
  }

  #tokenOwner: { readonly of: Credential; readonly user: string } | undefined;

  /** The owner of the token in use, if the user has named it since the token is in use. */
  get tokenOwner(): string | undefined {
    return this.#tokenOwner?.of.equals(this.#credential) ? this.#tokenOwner.user : undefined;
  }

  set tokenOwner(user: string | undefined) {
    const of = this.#credential;
    this.#tokenOwner = of && user !== undefined ? { of, user } : undefined;
  }

  /** The login for which the user has allowed writes, although no record shows its account. */
  unlistedLogin: Credential | undefined;

  /** Whether devsh has waited for the effect of a write without success. It then waits less for the next ones. */
  hasWaitedInVain = false;

  /** How the certificate is checked; undefined before the first use. */
  trust: Trust | undefined;

  /** How the device is reached; undefined before the first use. */
  route: Route | undefined;

  /** When a list was last read; undefined before the first one. */
  lastRead: Date | undefined;

  /** Secrets in the writes so far: a device may show them in any field. */
  readonly sentSecrets = new Set<string>();

  cached(resource: string): readonly DeviceRecord[] | undefined {
    return this.#cached.get(resource)?.records;
  }

  cachedAt(resource: string): Date | undefined {
    return this.#cached.get(resource)?.at;
  }

  get cachedResources(): readonly string[] {
    return [...this.#cached.keys()];
  }

  /**
   * Runs `work` with the open device. If the certificate is unknown or the credential refused, asks
   * `access` and runs `work` again: it must be one request, or safe to repeat after a 401.
   *
   * @param options.isWrite sends the request only once, because a device may execute a write that it answers with 401.
   *   The read-back may use the login again, and may ask for another one
   */
  async use<T>(
    access: Access,
    work: (device: Device) => Promise<T>,
    { isWrite = false } = {},
  ): Promise<T> {
    if (this.#caller !== access && isStopped(this.#state)) {
      const failure = this.#failure;
      await this.close();
      this.#failure = failure;
    }
    this.#caller = access;
    if (this.#state.kind !== 'ready') this.#change({ kind: 'connecting' });
    try {
      for (;;) {
        const opening = (this.#device ??= this.#open(access));
        try {
          const open = await opening;
          const result = await this.#attempt(access, open, work, isWrite);
          this.#change({ kind: 'ready', latencyMs: open.device.latencyMs });
          return result;
        } catch (error) {
          if (this.#device === opening) await this.#reopen(access, opening, error, isWrite);
          else if (isWrite && !isBeforeRequest(error)) throw error;
          // Another caller has reopened the device meanwhile: repeat the work.
        }
      }
    } catch (error) {
      if (error instanceof DevshError) this.#change(this.#stateAfter(error));
      throw error;
    }
  }

  /** Reads all records of a resource. Returns the same array if nothing has changed, which callers can test. */
  async list(
    access: Access,
    resource: string,
    signal?: AbortSignal,
    probes = false,
  ): Promise<readonly DeviceRecord[]> {
    let started = 0;
    let clock: ClockOffset | undefined;
    const listing = await this.use(access, async (device) => {
      started = performance.now();
      const pages = await device.list(resource, signal, { probes });
      clock = device.clockOffset;
      if (device.isCached) this.facts.set('effects', 'late');
      return pages;
    });
    const known = this.cached(resource);
    const records =
      known !== undefined && isDeepStrictEqual(known, listing.records) ? known : listing.records;
    const at = new Date();
    // The start is not taken from the clock, because somebody may set it during the reading.
    const startedAt = at.getTime() - Math.ceil(performance.now() - started);
    this.#cached.set(resource, { records, at });
    this.lastRead = at;
    if (listing.hasEnd === true) this.#ended.add(resource);
    else this.#ended.delete(resource);
    noteListing(this.facts, resource, listing);
    await this.facts.notified;
    const times = { startedAt, endedAt: at.getTime(), clock };
    this.#memory?.observe(this, { resource, records, ...times, isAgain: known !== undefined });
    this.#onChange();
    return records;
  }

  /** Whether the last list had an end (a total, or no next page), or is known to leave records out. */
  endOf(resource: string): ListEnd {
    if (listFacts(this.profile, resource).hides === true) return 'hides';
    return this.#ended.has(resource) ? 'ends' : undefined;
  }

  /** Whether the last list may leave records out. This does not compare it with earlier lists. */
  mayLack(resource: string): boolean {
    return mayLeaveOut(this.endOf(resource), this.cached(resource)?.length ?? 0, 0);
  }

  async known(resource: string): Promise<KnownList> {
    return (await this.#memory?.known(this, resource)) ?? NOTHING_KNOWN;
  }

  /** Notes that a record was found absent since the last list. */
  proveAbsent(resource: string, key: string): void {
    this.#memory?.proveAbsent(this, resource, key);
  }

  /** Reads the list, and asks once for a page behind its end. */
  async probePages(
    access: Access,
    resource: string,
    signal?: AbortSignal,
  ): Promise<readonly DeviceRecord[]> {
    if (this.#hasProbed.has(resource)) return this.cached(resource) ?? [];
    this.#hasProbed.add(resource);
    return this.list(access, resource, signal, true);
  }

  /** The records in full: reads each one if the list leaves fields out. */
  async inFull(
    access: Access,
    resource: string,
    records: readonly DeviceRecord[],
    signal?: AbortSignal,
  ): Promise<readonly DeviceRecord[]> {
    if (records.length === 0 || !isSummary(this.profile, resource)) return records;
    return this.details(access, resource, records, signal);
  }

  /** The fields that these records lack if they are of a summary; undefined if they show all, or were read in full. */
  omittedIn(resource: string, records: readonly DeviceRecord[]): readonly string[] | undefined {
    const isListed = records === this.cached(resource);
    return isListed ? omittedByList(this.profile, resource, records) : undefined;
  }

  details(
    access: Access,
    resource: string,
    records: readonly DeviceRecord[],
    signal?: AbortSignal,
  ): Promise<readonly DeviceRecord[]> {
    return this.use(access, (device) => device.details(resource, records, signal, this.profile));
  }

  write(access: Access, request: WriteRequest): Promise<WriteResponse> {
    return this.use(access, (device) => device.write(request), { isWrite: true });
  }

  /** Learns facts. `once`: again only after an empty list has records; `again`: always; `fields`: only the fields. */
  async learn(
    access: Access,
    resource: string,
    what: 'once' | 'again' | 'fields' = 'once',
    signal?: AbortSignal,
  ): Promise<void> {
    const { facts } = this;
    const records = this.cached(resource) ?? [];
    const asked = facts.get(`resources.${resource}.options`)?.of;
    const isDone =
      asked === 'records' ||
      (asked !== undefined && records.length === 0) ||
      (asked === 'fields' && what === 'fields');
    if (isDone && what !== 'again') return;
    const { learn } = await import('../device/learn.ts');
    const about = what === 'fields' && asked === undefined ? undefined : records;
    await this.use(access, (device) => learn({ device, facts, resource, signal }, about));
    await facts.notified;
  }

  /** Reads this record to find out whether the list leaves fields out, if that is unknown. */
  async learnSummary(access: Access, resource: string, record: DeviceRecord): Promise<void> {
    const known = listFacts(this.profile, resource).summary;
    if (known !== undefined || this.#hasAskedSummary.has(resource)) return;
    this.#hasAskedSummary.add(resource);
    const { noteOwn } = await import('../device/learn.ts');
    const { facts } = this;
    await this.use(access, (device) => noteOwn({ device, facts, resource }, record));
    await facts.notified;
  }

  /** The list with the wanted records in full; computes which ones only if the list is a summary. */
  async withDetails(
    access: Access,
    resource: string,
    [records, wantedOf]: readonly [readonly DeviceRecord[], () => readonly DeviceRecord[]],
    signal?: AbortSignal,
  ): Promise<readonly DeviceRecord[]> {
    if (!isSummary(this.profile, resource)) return records;
    const wanted = wantedOf();
    const full = await this.inFull(access, resource, wanted, signal);
    const fullOf = new Map(wanted.map((record, index) => [record, full[index] ?? record]));
    return fullOf.size === 0 ? records : records.map((record) => fullOf.get(record) ?? record);
  }

  /** Opens the device, so that trust and account are known. A failure is thrown when the device is used. */
  async ensureOpen(access: Access): Promise<void> {
    this.#device ??= this.#open(access);
    await this.#device.catch(() => {
      this.#device = undefined;
    });
  }

  get profile(): Profile {
    return this.facts.profile;
  }

  /** The credential in use; undefined while not connected. */
  get credential(): Credential | undefined {
    return this.#credential;
  }

  /** Opens with this credential instead of the first one of `access`. */
  async openWith(access: Access, credential: Credential): Promise<void> {
    await this.close();
    this.#device = this.#open(access, { credential });
  }

  /** @param options.isEnd after this, work in the background cannot open the device again */
  async close({ isEnd = false } = {}): Promise<void> {
    this.#isEnded ||= isEnd;
    const device = this.#device;
    this.#device = undefined;
    this.#change({ kind: 'new' });
    await device?.then(
      (open) => open.device.close(),
      () => undefined, // the device never opened
    );
  }

  async #attempt<T>(
    access: Access,
    { device, credential }: OpenDevice,
    work: (device: Device) => Promise<T>,
    isWrite: boolean,
  ): Promise<T> {
    const settle = (outcome: CredentialOutcome): void => {
      if (credential !== undefined) access.settle(this.entry, credential, outcome);
    };
    try {
      const result = await work(device);
      settle('accepted');
      return result;
    } catch (error) {
      // A device may have executed a write that it answers with 401, so the login stays usable for the read-back.
      settle(isRefusedLogin(error) && !isWrite ? 'refused' : 'unknown');
      throw error;
    } finally {
      for (const secret of device.sentSecrets) this.sentSecrets.add(secret);
    }
  }

  /** Reopens the device if another pin or credential may resolve `error`; otherwise throws it. */
  async #reopen(
    access: Access,
    opening: Promise<OpenDevice>,
    error: unknown,
    isWrite: boolean,
  ): Promise<void> {
    let open: OpenDevice;
    try {
      open = await opening;
    } catch (failure) {
      this.#device = undefined;
      throw failure;
    }
    if (error instanceof UntrustedError && error.reason === 'unknown') {
      const trust = await access.acceptCertificate(this.entry, error);
      if (trust === undefined) throw error;
      this.#device = this.#open(access, { trust, credential: open.credential });
    } else if (isRefusedLogin(error) || error instanceof CredentialError) {
      const { trust } = open.device;
      // A write without a login was not executed.
      const mayRepeat = !isWrite || open.credential === undefined;
      const credential =
        isRefusedLogin(error) && mayRepeat
          ? await access.anotherCredential(this.entry, open.credential)
          : undefined;
      // Without another credential, the next use looks up the login again, which may be a new one by then.
      this.#device = credential && this.#open(access, { trust, credential });
    } else {
      throw error;
    }
    await open.device.close();
    if (this.#device === undefined) throw error;
  }

  async #open(
    access: Access,
    given: { trust?: Trust | undefined; credential?: Credential | undefined } = {},
  ): Promise<OpenDevice> {
    if (this.#isEnded) throw new CancelledError();
    // The network code loads while devsh looks up the pin and the login.
    const loading = loadNetwork();
    const route = access.route(this.entry);
    this.route = route;
    const trust = given.trust ?? (await access.trust(this.entry));
    const credential = given.credential ?? (await access.credential(this.entry));
    this.trust = trust;
    this.#credential = credential;
    const { base, stored } = await access.profile(this.entry);
    this.facts.load(base, stored);
    const { Device } = await loading;
    const device = new Device({
      device: this.ref,
      address: parseAddress(this.entry.address),
      trust,
      route,
      credential,
      beforeLogin: credential && (() => access.admit(this.entry, credential)),
      profile: this.profile,
      caller: () => this.#caller,
    });
    return { device, credential };
  }

  /** The state after a failure. A rejected request leaves the device ready; a cancelled one keeps the state. */
  #stateAfter(error: DevshError): SessionState {
    const before = this.#state;
    if (error instanceof CancelledError)
      return before.kind === 'connecting' ? { kind: 'new' } : before;
    const responded =
      error instanceof RejectedError ||
      error instanceof ExpiredSessionError ||
      (error instanceof UnauthorizedError && error.code === 'forbidden');
    if (responded) return { kind: 'ready', latencyMs: undefined };
    this.#failsSince ??= new Date();
    return { kind: 'failed', error, since: this.#failsSince };
  }

  #change(state: SessionState): void {
    // A repeated failure keeps the time of the first one.
    if (state.kind === 'ready') this.#failsSince = undefined;
    if (state.kind === 'failed') this.#failure = state.error;
    else if (state.kind !== 'connecting') this.#failure = undefined;
    this.#state = state;
    this.#onChange();
  }
}

/** A changed certificate ends the session; the next command starts a new one. */
function isStopped(state: SessionState): boolean {
  return state.kind === 'failed' && isChangedCertificate(state.error);
}

/** Whether devsh sent nothing: the certificate is not trusted, or there is no login to send. */
function isBeforeRequest(error: unknown): boolean {
  return error instanceof UntrustedError || error instanceof CredentialError;
}

interface OpenDevice {
  readonly device: Device;
  readonly credential: Credential | undefined;
}
