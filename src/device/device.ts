import { UsageError } from '../errors.ts';
import { DeviceClient, type Answer, type ClientOptions, type HttpRequest } from './client.ts';
import { arrivedText, type Arrived } from './exchange.ts';
import { decodeList, decodeRecord, decodeWritten } from './decode.ts';
import {
  DeclinedFailure,
  DecodeFailure,
  type DeviceError,
  ProtocolError,
  RejectedError,
} from './errors.ts';
import { assertNoCollection, type FormPairs, type WriteRequest } from './encode.ts';
import { entityTagOf } from './headers.ts';
import { areLinks } from './bookkeeping.ts';
import type { RepeatedName } from './json.ts';
import type { DecodedList } from './json-records.ts';
import { detailPath, foundAt, otherPaths } from './record-path.ts';
import { pageMarksInHeaders } from './paging.ts';
import { completed, readDetails, readPages, type ReadPages } from './pages.ts';
import { documentedProfile } from './built-in-profiles.ts';
import { idOf, isResourceName, listPath, type Profile } from './profile.ts';
import { fieldsSent, secretsOf, withBody, type Body } from './request-body.ts';
import type { DeviceRecord, DeviceRef } from './record.ts';
import type { Trust } from './tls.ts';
import {
  answerError,
  type Circumstances,
  decodeError,
  redacted,
  withoutSecrets,
} from './translate.ts';
import { objectionIn } from './complaint.ts';

/** The device said yes. What it holds now is another question: read it back. */
export interface WriteAnswer {
  readonly status: number;
  /** The record as the answer shows it, when it does. */
  readonly record?: DeviceRecord;
  /** What it objects to all the same, where it says so. */
  readonly objection?: string;
}

export interface RawRequest {
  readonly method: 'GET' | 'POST' | 'DELETE' | 'OPTIONS';
  /** From the root of the device, starting with one slash. */
  readonly path: string;
  readonly form?: FormPairs;
  /** The media types that are asked for, when not those of the profile. */
  readonly accept?: string;
  /** `stay`: a redirect is the answer, and not followed. */
  readonly redirect?: 'stay';
}

/** All pages of a list may take so many times as long as one answer. */
const PAGES_TIME = 10;

/** One device: its records, read and written. Whoever makes it closes it. */
export class Device {
  readonly ref: DeviceRef;
  readonly trust: Trust;
  readonly #client: DeviceClient;
  #profile: Profile;
  readonly #options: ClientOptions;
  readonly #listings = new Map<string, ReadPages>();
  /** By path: where a redirect of the device led to. */
  readonly #movedTo = new Map<string, string>();

  constructor(options: ClientOptions & { readonly profile?: Profile }) {
    this.ref = options.device;
    this.#profile = options.profile ?? documentedProfile;
    this.trust = options.trust;
    this.#options = options;
    const { connections } = this.#profile;
    this.#client = new DeviceClient({ ...options, connections });
  }

  /** How it speaks, as far as it is known. */
  get profile(): Profile {
    return this.#profile;
  }

  /** Every record of a resource, from all its pages. Throws DeviceError, never gives a part of them. */
  async list(resource: string, signal?: AbortSignal): Promise<ReadPages> {
    if (!isResourceName(resource)) throw new UsageError(`"${resource}" is no name of a resource`);
    const path = listPath(this.profile, resource);
    try {
      const listing = await this.#listAgain(path, resource, signal);
      const movedTo = this.#movedTo.get(path);
      // Reads are sent on, writes are not: they go to where the device says that it is.
      return movedTo !== undefined && otherPaths(this.profile, resource).includes(movedTo)
        ? this.#foundAt(movedTo, resource, listing)
        : listing;
    } catch (error) {
      if (!(error instanceof RejectedError && error.status === 404)) throw error;
      const found = await this.#listElsewhere(resource, signal);
      if (found === undefined) throw error;
      return found;
    }
  }

  /** Reads are tried where a device may also have the resource; undefined when it is nowhere. */
  async #listElsewhere(resource: string, signal?: AbortSignal): Promise<ReadPages | undefined> {
    for (const path of otherPaths(this.profile, resource)) {
      try {
        const listing = await this.#listAt(path, resource, signal);
        return this.#foundAt(this.#movedTo.get(path) ?? path, resource, listing);
      } catch (error) {
        if (!(error instanceof RejectedError || error instanceof ProtocolError)) throw error;
      }
    }
    return undefined;
  }

  #foundAt(path: string, resource: string, listing: ReadPages): ReadPages {
    this.#profile = foundAt(this.profile, resource, path);
    return { ...listing, path };
  }

  /** A record may go between the list that names it and its own answer: then all is read once more. */
  async #listAgain(path: string, resource: string, signal?: AbortSignal): Promise<ReadPages> {
    try {
      return await this.#listAt(path, resource, signal);
    } catch (error) {
      if (!(error instanceof ProtocolError && error.status === 404)) throw error;
      return this.#listAt(path, resource, signal);
    }
  }

  async #listAt(path: string, resource: string, signal?: AbortSignal): Promise<ReadPages> {
    const maxMs = this.pagesTimeMs;
    const { list: facts } = this.profile;
    let before = 0;
    const read = async (page: string): Promise<DecodedList> => {
      const list = await this.#page(page, resource, signal, before);
      before += list.records.length;
      return list;
    };
    const paging = this.#listings.get(resource)?.paging;
    const observed = this.profile.resources[resource]?.pageStep;
    const known = paging === 'next' ? undefined : (paging ?? observed);
    const pages = await readPages(path, this.ref, read, {
      facts,
      known,
      maxMs,
      idOf: (record) => idOf(this.profile, record),
    });
    const listing = areLinks(pages.records, this.profile)
      ? { ...pages, records: await this.#linked(resource, pages.records, signal) }
      : pages;
    this.#listings.set(resource, listing);
    return listing;
  }

  /** What the addresses in a list lead to. */
  async #linked(
    resource: string,
    links: readonly DeviceRecord[],
    signal?: AbortSignal,
  ): Promise<readonly DeviceRecord[]> {
    try {
      return await this.details(resource, links, signal);
    } catch (error) {
      if (!(error instanceof RejectedError && error.status === 404)) throw error;
      // Not RejectedError: the list itself is where it was looked for.
      const text = `its list names a ${resource} that it does not have (404). Try again`;
      throw new ProtocolError(this.ref, text, { status: 404 });
    }
  }

  /**
   * The records in full, each read at its own path, two at a time. Throws ProtocolError when a path
   * answers with another record.
   */
  async details(
    resource: string,
    records: readonly DeviceRecord[],
    signal?: AbortSignal,
    profile = this.profile,
  ): Promise<readonly DeviceRecord[]> {
    const readOne = (record: DeviceRecord): Promise<DeviceRecord> =>
      this.#detail(resource, record, profile, signal);
    return readDetails(this.ref, resource, records, readOne, this.pagesTimeMs);
  }

  /** How a resource was listed the last time; undefined when it was not. */
  listing(resource: string): ReadPages | undefined {
    return this.#listings.get(resource);
  }

  /** Sends a write once. Throws DeviceError unless the device says that it did it. */
  async write(request: WriteRequest, signal?: AbortSignal): Promise<WriteAnswer> {
    if (request.method === 'DELETE') assertNoCollection(this.profile, request.path);
    const answer = await this.#writeOnce(request, signal);
    const circumstances = {
      ...this.#circumstances(request),
      fields: fieldsSent(this.profile, request),
    };
    if (!isSuccess(answer)) throw answerError(circumstances, answer);
    const resource = request.path.slice(this.profile.basePath.length).split('/')[0] ?? '';
    const record = decoding(circumstances, answer, () =>
      decodeWritten(answer.body, resource, this.profile),
    );
    const objection = objectionIn(answer.body, this.profile.errorsIn);
    return {
      status: answer.status,
      ...(record && { record }),
      ...(objection !== undefined && { objection: redacted(circumstances, objection) }),
    };
  }

  /** Any request to this device; any status is an answer. Throws UsageError for a path that leaves it. */
  async raw(request: RawRequest, signal?: AbortSignal): Promise<Answer> {
    const url = URL.canParse(request.path, this.#client.origin)
      ? new URL(request.path, this.#client.origin)
      : undefined;
    // The URL parser would drop line ends and tabs, and make it another path.
    const hasControls = /\p{Cc}/u.test(request.path);
    if (hasControls || !request.path.startsWith('/') || url?.origin !== this.#client.origin) {
      throw new UsageError(
        `${JSON.stringify(request.path.slice(0, 200))} is no path on the device: it starts with one slash, as /api/user/`,
      );
    }
    if (request.method === 'DELETE') assertNoCollection(this.profile, request.path);
    const path = url.pathname + url.search;
    const { accept, redirect } = request;
    const answer = await this.#ask(
      {
        ...withBody({ ...request, path }),
        ...(accept && { accept }),
        ...(redirect && { redirect }),
      },
      signal,
    );
    // Data is given as it came: in a list a word may be somebody's password by chance.
    return isSuccess(answer) ? answer : withoutSecrets(this.#circumstances(request), answer);
  }

  /** Whether it takes one connection at a time, as it was said or seen. */
  get takesOneConnection(): boolean {
    return this.#client.takesOneConnection;
  }

  /** How long all pages of a list may take. */
  get pagesTimeMs(): number {
    return PAGES_TIME * this.#client.timeoutMs;
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  /**
   * A device that answers 428 has done nothing yet: it wants to be told which state of the record is
   * meant (RFC 6585), and is told the one that it holds.
   */
  async #writeOnce(request: WriteRequest, signal?: AbortSignal): Promise<Answer> {
    const sent = withBody(request);
    const answer = await this.#ask(sent, signal);
    if (answer.status !== 428 || request.method === 'POST') return answer;
    const held = await this.#ask({ method: 'GET', path: request.path }, signal);
    const ifMatch = isSuccess(held) ? entityTagOf(held) : undefined;
    return ifMatch === undefined ? answer : this.#ask({ ...sent, ifMatch }, signal);
  }

  #ask(request: HttpRequest, signal?: AbortSignal): Promise<Answer> {
    const { accept } = this.profile;
    return this.#client.request({ ...(accept !== undefined && { accept }), ...request }, signal);
  }

  async #detail(
    resource: string,
    record: DeviceRecord,
    profile: Profile,
    signal?: AbortSignal,
  ): Promise<DeviceRecord> {
    const path = detailPath(profile, resource, record);
    const request = { method: 'GET', path } as const;
    const answer = await this.#ask(request, signal);
    const circumstances = this.#circumstances(request);
    if (!isSuccess(answer)) throw answerError(circumstances, answer);
    const full = decoding(circumstances, answer, () =>
      decodeRecord(answer.body, resource, profile, this.#warnOfRepeated(resource)),
    );
    return completed(this.ref, profile, resource, { path, record, full });
  }

  /** `before`: how many records the pages before had. */
  async #page(
    path: string,
    resource: string,
    signal: AbortSignal | undefined,
    before: number,
  ): Promise<DecodedList> {
    const request = { method: 'GET', path } as const;
    const arriving = ({ bytes, records }: Arrived): void => {
      const text = arrivedText({ bytes, records: before + records }, resource);
      this.#options.arriving?.(`${this.ref.name}: ${text}`);
    };
    const answer = await this.#ask({ ...request, arriving }, signal);
    const circumstances = this.#circumstances(request);
    if (!isSuccess(answer)) throw answerError(circumstances, answer);
    if (answer.movedTo !== undefined) this.#movedTo.set(path, answer.movedTo);
    const page = decoding(circumstances, answer, () => ({
      ...pageMarksInHeaders(answer.headers),
      ...decodeList(answer.body, resource, this.profile, this.#warnOfRepeated(resource)),
    }));
    // No part was asked for: where the rest is must be said, or it would look like all there is.
    if (answer.status === 206 && page.total === undefined && page.next === undefined) {
      const text = `${path} was answered with a part only (206), and nothing says how to get the rest`;
      throw new ProtocolError(this.ref, text);
    }
    return page;
  }

  #warnOfRepeated(resource: string): (repeated: RepeatedName) => void {
    return ({ name }) => {
      const what = `${resource}: its JSON has ${JSON.stringify(name)} twice in one object`;
      this.#options.warn?.(`${this.ref.name}: ${what}, and the last one is taken`);
    };
  }

  #circumstances(request: Circumstances['request'] & Body): Circumstances {
    const { device, credential } = this.#options;
    return { device, credential, request, secrets: secretsOf(request) };
  }
}

function isSuccess({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}

/** Throws what `decode` found wrong as an error with the device's name. */
function decoding<T>(circumstances: Circumstances, answer: Answer, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (!(error instanceof DecodeFailure || error instanceof DeclinedFailure)) throw error;
    throw decodeError(circumstances, answer, error) satisfies DeviceError;
  }
}
