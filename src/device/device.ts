import { type Note, textOf } from '../output/sentences.ts';
import {
  areLinks,
  assertNoCollection,
  nameInPath,
  ownPath,
  withinNamed,
  withinParent,
  otherPaths,
  writePath,
} from './record-path.ts';
import { UsageError, attempt } from '../errors.ts';
import { type ClientOptions, type ClockOffset, DeviceClient } from './client.ts';
import { entityTagOf, type HttpRequest, isRead, progressText, type Response } from './exchange.ts';
import { decodeList, decodeRecord, decodeWritten } from './decode.ts';
import {
  type DecodedList,
  pageMarksInHeaders,
  pageStep,
  type ReadOptions,
  readPages,
  type ReadPages,
} from './pages.ts';
import { BodyFailure, type DeviceError, ProtocolError, RejectedError } from './errors.ts';
import { type Body, bodyOf, fieldsSent, secretsOf, type WriteRequest } from './encode.ts';
import type { RepeatedName } from './json.ts';
import { documentedProfile } from './built-in-profiles.ts';
import {
  idOf,
  isResourceName,
  keyFieldOf,
  isDeleted,
  listFacts,
  listPath,
  listRequest,
  ownAddress,
  placeField,
  type Profile,
  profileWith,
  detailPath,
} from './profile.ts';
import { isStored } from './equality.ts';
import { type DeviceRecord, type DeviceRef, valueText } from './record.ts';
import type { Trust } from './tls.ts';
import {
  responseError,
  type FailureContext,
  decodeError,
  redacted,
  withoutSecrets,
} from './translate.ts';
import { maskedPath, secretsInQuery } from './sensitive-fields.ts';
import { objectionIn } from './complaint.ts';

/** The device accepted the write. To learn what it stored, read the record back. */
export interface WriteResponse {
  readonly status: number;
  /** As it was sent, without the secrets of the request. */
  readonly body: string;
  readonly record?: DeviceRecord | undefined;
  /** An objection despite the success status. */
  readonly objection?: string | undefined;
}

export interface RawRequest extends Pick<Body, 'form' | 'json'> {
  readonly method: WriteRequest['method'] | 'GET' | 'OPTIONS';
  /** From the root of the device, starting with one slash. */
  readonly path: string;
  /** A POST that only reads. */
  readonly isQuery?: boolean;
  readonly isOpen?: boolean;
}

/** The time limit of all pages, as a multiple of that of one response. */
const PAGES_TIME_FACTOR = 10;

const MAX_DETAILS = 1000;
const DETAILS_AT_ONCE = 2;

/** There is no such record, or none can be read at its own path. */
const ABSENT = [404, 405, 410];

const PAGE_NAME = /^(?:page|current|offset|start|cursor|after|\$?skip)$/i;

/** One device: reads and writes its records. The creator closes it. */
export class Device {
  readonly ref: DeviceRef;
  readonly trust: Trust;
  readonly #writtenSecrets: string[] = [];
  readonly #client: DeviceClient;
  #profile: Profile;
  readonly #options: ClientOptions;
  /** What led to further pages the last time, by resource. */
  readonly #paging = new Map<string, ReadPages['paging']>();
  #isCached = false;
  readonly #movedTo = new Map<string, string>();

  constructor(options: ClientOptions & { readonly profile?: Profile }) {
    this.ref = options.device;
    this.#profile = options.profile ?? documentedProfile;
    this.trust = options.trust;
    this.#options = options;
    const { auth, headers } = this.#profile;
    this.#client = new DeviceClient({ ...options, auth, headers });
  }

  get profile(): Profile {
    return this.#profile;
  }

  /** Reads all pages, or throws DeviceError. `probes`: asks for a page behind a list that may have one. */
  async list(
    resource: string,
    signal?: AbortSignal,
    { probes = false }: { readonly probes?: boolean } = {},
  ): Promise<ReadPages> {
    if (!isResourceName(resource)) throw new UsageError({ code: 'bad-resource', resource });
    const { parent } = this.profile.resources[resource] ?? {};
    if (parent !== undefined) return this.#listBelow(resource, parent, signal);
    const path = listPath(this.profile, resource);
    const others = otherPaths(this.profile, resource);
    const tried: string[] = [];
    let refusal: RejectedError | undefined;
    for (const place of new Set([path, ...others])) {
      try {
        const how = { mayRepeat: place === path, probes };
        const listing = await this.#listAt(place, resource, how, signal);
        // A write must not be redirected, so it goes to the path that the reads were redirected to.
        const found = this.#movedTo.get(place) ?? place;
        if (place === path && !others.includes(found)) return listing;
        const where = [[`resources.${resource}.path`, found]] as const;
        this.#profile = profileWith(this.profile, where, 'observed');
        return { ...listing, path: found, tried };
      } catch (error) {
        // Other paths are only attempts: if all fail, report the error of the profile's path.
        if (place === path && !isNotFound(error)) throw error;
        if (!(error instanceof RejectedError || error instanceof ProtocolError)) throw error;
        if (error instanceof RejectedError) refusal ??= error;
        tried.push(`${maskedPath(place)} (${error.status ?? 'no list'})`);
      }
    }
    throw this.#nowhere(resource, refusal, tried);
  }

  /** The error for a list that is at none of the likely paths: what to state. */
  #nowhere(
    resource: string,
    refusal: RejectedError | undefined,
    tried: readonly string[],
  ): RejectedError {
    const { name } = this.ref;
    const text = refusal?.message.slice(name.length + 2) ?? '';
    const { offers = [] } = this.profile;
    const found = { refusal: text, tried: tried.slice(1), offers, resource, device: name };
    return new RejectedError(this.ref, { code: 'no-list', ...found }, refusal ?? { status: 404 });
  }

  /** The list below each parent, its records with the field that says where they are. */
  async #listBelow(
    resource: string,
    parent: string,
    signal: AbortSignal | undefined,
  ): Promise<ReadPages> {
    const { records: parents } = await this.list(parent, signal);
    const { profile } = this;
    const field = placeField(profile, resource) ?? '';
    const count = parents.length;
    const tooMany = { code: 'too-many-to-read', is: 'parents', resource, count, parent } as const;
    const lists = await this.#readEach(parents, { tooMany, what: parent }, async (record) => {
      const name = nameInPath(profile, parent, record);
      const bound = withinNamed(profile, resource, name);
      const path = listPath(bound, resource);
      const pages = await this.#listAt(path, resource, { mayRepeat: true }, signal);
      const keyField = keyFieldOf(bound, resource, pages.records);
      const records = pages.records.map((one) => {
        const place = { [field]: `${name}/${valueText(one[keyField])}` };
        // First, and not replaced by a field of the device.
        return { ...place, ...one, ...place };
      });
      return { ...pages, records };
    });
    const records = lists.flatMap((list) => list.records);
    return { ...(lists[0] ?? { envelope: 'array' }), records };
  }

  async #listAt(
    path: string,
    resource: string,
    { mayRepeat, probes = false }: { readonly mayRepeat: boolean; readonly probes?: boolean },
    signal: AbortSignal | undefined,
  ): Promise<ReadPages> {
    const step = this.#paging.get(resource);
    let before = 0;
    const readPage = async (page: string): Promise<DecodedList> => {
      const progress: HttpRequest['progress'] = (bytes) => {
        const text = progressText(bytes, before, resource);
        this.#client.caller.progress?.(`${this.ref.name}: ${text}`);
      };
      const asked = listRequest(this.profile, resource, page);
      const redirect = asked.isQuery && ('stay' as const);
      const request = { ...asked, body: bodyOf(asked), redirect, progress };
      const response = await this.#ask(request, signal);
      const list = this.#decoded(request, response, () =>
        decodePage(response, resource, this.profile, this.#warnOfRepeated(resource)),
      );
      if (response.movedTo !== undefined) this.#movedTo.set(page, response.movedTo);
      this.#isCached ||= Number(response.headers['age'] ?? 0) > 0;
      // A 206 to a request for all must say how to get the rest, or the list would look complete.
      if (response.status === 206 && list.total === undefined && list.next === undefined) {
        throw new ProtocolError(this.ref, { code: 'partial-list', path: page });
      }
      before += list.records.length;
      return list;
    };
    const pages = await readPages(path, this.ref, readPage, {
      ...this.#pagingOf(resource),
      ...(step !== undefined && step !== 'next' && { known: step }),
      maxMs: this.pagesTimeMs,
      probes,
      idOf: (record) => idOf(this.profile, record),
    });
    this.#paging.set(resource, pages.paging);
    if (!areLinks(pages.records, this.profile)) {
      const isThere = (record: DeviceRecord): boolean => !isDeleted(this.profile, resource, record);
      return { ...pages, records: pages.records.filter(isThere) };
    }
    try {
      return { ...pages, records: await this.details(resource, pages.records, signal) };
    } catch (error) {
      if (!isNotFound(error)) throw error;
      // The record may have been deleted after it was listed: read the list once more.
      if (mayRepeat) return this.#listAt(path, resource, { mayRepeat: false }, signal);
      // Not RejectedError, because the list itself was found.
      throw new ProtocolError(this.ref, { code: 'ghost-record', resource }, { status: 404 });
    }
  }

  /** What was observed of its pages is tried first, what is configured is all that is tried. */
  #pagingOf(resource: string): Pick<ReadOptions, 'facts' | 'known'> {
    const facts = listFacts(this.profile, resource);
    const isSeen = this.profile.origins[`resources.${resource}.list.paging`] === 'observed';
    return isSeen
      ? { facts: { ...facts, paging: 'auto' }, known: pageStep(facts.paging) }
      : { facts };
  }

  /** Each at its own path, two at a time. Throws ProtocolError rather than return only some, or another record. */
  async details(
    resource: string,
    records: readonly DeviceRecord[],
    signal?: AbortSignal,
    profile = this.profile,
  ): Promise<readonly DeviceRecord[]> {
    const count = records.length;
    const tooMany = { code: 'too-many-to-read', is: 'details', resource, count } as const;
    return this.#readEach(records, { tooMany, what: resource }, (record) =>
      this.#detail(resource, record, profile, signal),
    );
  }

  /** In the order of the records, two at a time. Throws ProtocolError if there are too many, or time is up. */
  async #readEach<Result>(
    records: readonly DeviceRecord[],
    { tooMany, what }: { readonly tooMany: Note; readonly what: string },
    read: (record: DeviceRecord) => Promise<Result>,
  ): Promise<readonly Result[]> {
    const all = records.length;
    if (all > MAX_DETAILS) throw new ProtocolError(this.ref, tooMany);
    const results: Result[] = [];
    const remaining = records.entries();
    const deadline = performance.now() + this.pagesTimeMs;
    const readNext = async (): Promise<void> => {
      for (const [index, record] of remaining) {
        if (performance.now() > deadline) {
          const late = { code: 'late-details', read: index, count: all, resource: what } as const;
          throw new ProtocolError(this.ref, late);
        }
        results[index] = await read(record);
      }
    };
    await Promise.all(Array.from({ length: DETAILS_AT_ONCE }, readNext));
    return results;
  }

  /** The record, with the fields at its own path added. */
  async #detail(
    resource: string,
    listed: DeviceRecord,
    stated: Profile,
    signal: AbortSignal | undefined,
  ): Promise<DeviceRecord> {
    const { profile, record } = withinParent(stated, resource, listed);
    const facts = { path: detailPath(profile, resource) };
    const request = { method: 'GET', path: writePath(profile, facts, resource, record) } as const;
    const response = await this.#ask(request, signal);
    const full = this.#decoded(request, response, () =>
      decodeRecord(response.body, resource, profile, this.#warnOfRepeated(resource)),
    );
    if (isDeleted(profile, resource, full)) {
      const deleted = { code: 'deleted-record', path: request.path, resource } as const;
      throw new RejectedError(this.ref, deleted, { status: 404 });
    }
    const other = [keyFieldOf(profile, resource, [record]), ...profile.idFields].find(
      (field) =>
        Object.hasOwn(record, field) &&
        Object.hasOwn(full, field) &&
        !isStored(record[field], full[field]),
    );
    const place = placeField(stated, resource);
    const own = place === undefined ? {} : { [place]: listed[place] ?? '' };
    if (other === undefined) return { ...listed, ...full, ...own };
    const { path } = request;
    throw new ProtocolError(this.ref, { code: 'other-record', path, resource, field: other });
  }

  /** Sends a write once. Throws DeviceError unless the device accepts it. */
  async write(request: WriteRequest, signal?: AbortSignal): Promise<WriteResponse> {
    const { method, ifMatch: revision, ifAbsent } = request;
    const path = ownPath(request.path);
    if (method === 'DELETE') assertNoCollection(this.profile, request.path);
    if (ifAbsent === true) await this.#refuseExisting(path, signal);
    const sent = { method, path, body: bodyOf(request), ifMatch: revision, ifAbsent };
    this.#writtenSecrets.push(...secretsOf(request));
    let response = await this.#ask(sent, signal);
    const isUnconditional = revision === undefined && ifAbsent !== true;
    if (response.status === 428 && method !== 'POST' && isUnconditional) {
      // 428 means that nothing was done: the device requires If-Match (RFC 6585).
      const current = await this.#ask({ method: 'GET', path }, signal);
      const ifMatch = isSuccess(current) ? entityTagOf(current) : undefined;
      if (ifMatch !== undefined) response = await this.#ask({ ...sent, ifMatch }, signal);
    }
    const resource = path.slice(this.profile.basePath.length).split('/')[0] ?? '';
    const fields = fieldsSent(this.profile, request);
    const shown = this.#decoded({ ...request, fields }, response, () =>
      decodeWritten(response.body, resource, this.profile),
    );
    const record = withLocation(this.profile, shown, response.headers['location']);
    const objection = objectionIn(response.body);
    return {
      status: response.status,
      body: withoutSecrets(this.#context(request), response).body,
      record,
      objection: objection && redacted(this.#context(request), objection),
    };
  }

  /** A PUT replaces what is at its path: a record that the list does not show must not be overwritten. */
  async #refuseExisting(path: string, signal: AbortSignal | undefined): Promise<void> {
    const response = await this.#ask({ method: 'GET', path }, signal);
    if (ABSENT.includes(response.status)) return;
    // A 403 or 500 does not say that nothing is there.
    const failure = this.failureOf({ method: 'GET', path }, response);
    if (failure !== undefined) throw failure;
    throw new RejectedError(this.ref, { code: 'exists-unlisted', path }, { status: 409 });
  }

  /** Sends any request; any status is a response. Throws UsageError for a path that leaves the device. */
  async raw(request: RawRequest, signal?: AbortSignal): Promise<Response> {
    if (request.method === 'DELETE') assertNoCollection(this.profile, request.path);
    const { method, isQuery, isOpen = false } = request;
    const path = ownPath(request.path);
    const sent = { method, path, body: bodyOf(request), isQuery, ...(isOpen && { login: {} }) };
    const response = await this.#ask(sent, signal);
    // What is read stays unchanged: a word in a list may equal a password by chance.
    if (isRead(sent) && isSuccess(response)) return response;
    return withoutSecrets(this.#context({ ...request, path }), response);
  }

  /** All records of a list, whose first page is `first`, or DeviceError; undefined for one page, or for no list. */
  async allPages(
    path: string,
    first: Response,
    onPage: (response: Response) => void,
    signal?: AbortSignal,
  ): Promise<readonly DeviceRecord[] | undefined> {
    const [place = '', query] = path.split('?', 2);
    const asksForPage = [...new URLSearchParams(query).keys()].some((name) => PAGE_NAME.test(name));
    if (!isSuccess(first) || asksForPage) return undefined;
    const resource = place.split('/').findLast((part) => part !== '') ?? '';
    let list = attempt(BodyFailure, () => decodePage(first, resource, this.profile));
    if (list === undefined) return undefined;
    const readPage = async (page: string): Promise<DecodedList> => {
      const known = list;
      list = undefined;
      if (known !== undefined) return known;
      const request = { method: 'GET', path: page } as const;
      const response = await this.#ask(request, signal);
      const further = this.#decoded(request, response, () =>
        decodePage(response, resource, this.profile),
      );
      onPage(response);
      return further;
    };
    const { records, paging } = await readPages(path, this.ref, readPage, {
      ...this.#pagingOf(resource),
      maxMs: this.pagesTimeMs,
    });
    return paging === undefined ? undefined : records;
  }

  /** Secrets in the writes so far, and those of sessions. */
  get sentSecrets(): readonly string[] {
    return [...this.#writtenSecrets, ...this.#client.sessionSecrets];
  }

  get latencyMs(): number | undefined {
    return this.#client.latencyMs;
  }

  /** How far its clock is ahead of the clock here, by its last response. */
  get clockOffset(): ClockOffset | undefined {
    return this.#client.clockOffset;
  }

  /** Whether a reading came from a cache (`Age`, RFC 9111): it may be older than a write before it. */
  get isCached(): boolean {
    return this.#isCached;
  }

  get pagesTimeMs(): number {
    return PAGES_TIME_FACTOR * this.#client.timeoutMs;
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  #ask(request: HttpRequest, signal?: AbortSignal): Promise<Response> {
    return this.#client.request(request, signal);
  }

  /** The error for a response; undefined for a success. */
  failureOf(request: Request, response: Response): DeviceError | undefined {
    return isSuccess(response) ? undefined : responseError(this.#context(request), response);
  }

  /** Decodes a response. Throws DeviceError if it is a failure or cannot be decoded. */
  #decoded<T>(request: Request, response: Response, decode: () => T): T {
    const failure = this.failureOf(request, response);
    if (failure !== undefined) throw failure;
    try {
      return decode();
    } catch (error) {
      if (!(error instanceof BodyFailure)) throw error;
      throw decodeError(this.#context(request), response, error);
    }
  }

  #context(request: Request): FailureContext {
    const { device, credential } = this.#options;
    const { sessionSecrets } = this.#client;
    const secrets = [...secretsOf(request), ...secretsInQuery(request.path), ...sessionSecrets];
    const { auth } = this.#profile;
    return { device, credential, auth, request, fields: request.fields, secrets };
  }

  #warnOfRepeated(resource: string): (repeated: RepeatedName) => void {
    return ({ name }) => {
      const what = { code: 'repeated-name', resource, name: JSON.stringify(name) } as const;
      this.#client.caller.warn?.(`${this.ref.name}: ${textOf(what)}`);
    };
  }
}

type Request = FailureContext['request'] & Pick<FailureContext, 'fields'> & Body;

function isSuccess({ status }: Response): boolean {
  return status >= 200 && status < 300;
}

function decodePage(
  { headers, body }: Response,
  ...how: [resource: string, profile: Profile, onRepeated?: (repeated: RepeatedName) => void]
): DecodedList {
  return { ...pageMarksInHeaders(headers), ...decodeList(body, ...how) };
}

/** What a response shows of a record, with the id that its `Location` names. */
function withLocation(
  profile: Profile,
  shown: DeviceRecord | undefined,
  location = '',
): DeviceRecord | undefined {
  const [idField] = profile.idFields;
  const { id } = ownAddress({ url: location }, profile.basePath) ?? {};
  const isOpen = shown === undefined || idOf(profile, shown) === undefined;
  return isOpen && id !== undefined && idField !== undefined ? { ...shown, [idField]: id } : shown;
}

function isNotFound(error: unknown): error is RejectedError {
  return error instanceof RejectedError && error.status === 404;
}
