import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import {
  type DeviceSetup,
  type Exchange,
  SimulatedDevice as ShippedDevice,
} from '../../src/simulator/device.ts';
import { respond } from '../../src/simulator/api.ts';
import { apiOf, shownRecords, type Site, tableOf } from './dialects/site.ts';
import type { DeviceRecord } from '../../src/device/record.ts';
import type { Account } from '../../src/simulator/store.ts';
import type { DialectUser as User } from './dialects/dialect-store.ts';
import type { ApiRequest, ApiResponse } from '../../src/simulator/view.ts';
import {
  type FaultName,
  FAULTS,
  type FaultScope,
  FaultSwitches,
  type FaultTarget,
} from './faults.ts';
import { WRITES } from './faults/fault.ts';
import { send, type Wire } from './faults/transmit.ts';
import { passwordLogin } from './dialects/login.ts';
import type { Sessions } from './dialects/sessions.ts';
import { FaultyListener } from './faulty-listener.ts';
import { deleteUser, putUser } from './users.ts';

const WRITE_METHODS: readonly string[] = WRITES;

/** A device that keeps a log, and does what no device should do when a test asks for it. */
export class FaultyDevice extends ShippedDevice {
  declare protected readonly listener: FaultyListener;
  readonly #site: Site;
  readonly #faults = new FaultSwitches();
  readonly #log: { -readonly [Key in keyof LoggedRequest]: LoggedRequest[Key] }[] = [];
  readonly #notes = new WeakMap<Exchange, Note>();
  readonly #logins: Login[] = [];
  /** Connections that have carried a request. */
  readonly #used = new WeakSet<Socket>();
  readonly #sessions: Sessions;
  readonly #firstLogins: ReadonlyMap<string, Account>;
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(setup: DeviceSetup, site: Site, sessions: Sessions) {
    super(setup, apiOf(site), FaultyListener);
    this.#site = site;
    this.#sessions = sessions;
    this.#firstLogins = new Map(this.#site.store.accounts);
  }

  get host(): string {
    return this.listener.endpoint.host;
  }

  get port(): number {
    return this.listener.endpoint.port;
  }

  get url(): string {
    return `https://${this.address}`;
  }

  /** All requests, also those without a response. */
  get log(): readonly LoggedRequest[] {
    return this.#log;
  }

  /** All logins with a password, in order. */
  get logins(): readonly Login[] {
    return this.#logins;
  }

  /** The current certificate as PEM, for `--ca`. */
  get certificate(): string {
    return this.listener.certificate?.cert ?? '';
  }

  /** How many connections were accepted so far. */
  get connections(): number {
    return this.listener.connections;
  }

  /** How many sessions are open, in dialects that have them. */
  get sessions(): number {
    return this.#sessions.count;
  }

  /** The current users, in the order of creation. */
  get users(): readonly User[] {
    return this.#site.store.users;
  }

  /** The current list of a resource, over all pages; empty if the resource does not exist. */
  records(resource: string): readonly DeviceRecord[] {
    const target = tableOf(this.#site, resource);
    return target === undefined ? [] : shownRecords(target);
  }

  /** Changes or creates a user without a request; a uuid may be one that was used before. */
  putUser(fields: Partial<User> & Pick<User, 'username'>): User {
    return putUser(this.#site, fields);
  }

  /** Sets all passwords back without a request, as a restored backup does. */
  restoreLogins(): void {
    const { accounts } = this.#site.store;
    accounts.clear();
    for (const [uuid, account] of this.#firstLogins) accounts.set(uuid, account);
  }

  /** Removes a user without a request. Returns false if there is no such user. */
  removeUser(username: string): boolean {
    const { store } = this.#site;
    const user = store.named(username);
    return user !== undefined && deleteUser(store, user.uuid);
  }

  /**
   * Switches a fault on (true; `500-once` then strikes one request), off (false), or on for that many
   * requests. Connection faults see no requests, so they are only on or off.
   * @throws RangeError if a connection fault gets a count or a method
   */
  setFault(name: FaultName, on: boolean | number = true, scope: FaultScope = {}): void {
    const isOfConnection = FAULTS.find((fault) => fault.name === name)?.stage === 'connection';
    if (isOfConnection && (typeof on === 'number' || Object.keys(scope).length > 0)) {
      throw new RangeError(`The fault ${name} is on or off, it does not count requests.`);
    }
    this.#faults.set(name, on, scope);
    this.listener.setBehavior(this.#faults.connection);
  }

  clearFaults(): void {
    this.#faults.clear();
    this.listener.setBehavior(this.#faults.connection);
  }

  protected override async handle(exchange: Exchange): Promise<void> {
    const { request, response } = exchange;
    const { socket } = response.req;
    const entry = {
      method: request.method,
      path: request.target,
      status: 0,
      body: request.body,
      authorization: schemeOf(request.headers),
      at: Date.now(),
    };
    const wire = {
      response,
      socket,
      isReused: this.#used.has(socket),
      reset: () => {
        this.listener.reset(socket);
      },
    };
    this.#used.add(socket);
    const isAfterWrite = this.#log.some(({ method }) => WRITE_METHODS.includes(method));
    const target = { method: request.method, isAfterWrite };
    this.#log.push(entry);
    this.#notes.set(exchange, { entry, wire, target });
    await super.handle(exchange);
  }

  override async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    await super.close();
  }

  #later(delayMs: number, run: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      run();
    }, delayMs);
    this.#timers.add(timer);
  }

  protected override reply(exchange: Exchange): void {
    const reply = this.#answer(exchange);
    if (reply !== 'taken') this.transmit(exchange, reply);
  }

  /** `taken`: a fault has dealt with the request, and there is no response. */
  #answer(exchange: Exchange): ApiResponse | 'taken' {
    const { request } = exchange;
    const { wire, target } = this.#noteOf(exchange);
    const instead = this.#faults.take('request', target)?.reply(request, wire);
    if (instead !== undefined) return instead;
    this.#noteLogin(request);
    const reply = this.#execute(exchange, target);
    if (reply === 'taken' || !isBareList(request, reply)) return reply;
    const list = this.#faults.take('list', target);
    if (list === undefined) return reply;
    const records = JSON.parse(reply.body) as object[];
    return { ...reply, body: list.rewrite(records, reply.body, request) };
  }

  #execute(exchange: Exchange, target: FaultTarget): ApiResponse | 'taken' {
    const fault = this.#faults.take('write', target);
    const { request } = exchange;
    if (fault === undefined) return respond(apiOf(this.#site), request);
    return fault.execute({ site: this.#site, request, later: this.#later.bind(this) });
  }

  protected override transmit(exchange: Exchange, reply: ApiResponse): void {
    const note = this.#notes.get(exchange);
    const fault = note && this.#faults.take('answer', note.target);
    if (note === undefined || fault === undefined) {
      send(exchange, reply);
    } else {
      const changeCertificate = (): void => this.setFault('certificate-change');
      fault.transmit({ ...note.wire, changeCertificate }, reply);
    }
    if (note !== undefined && fault?.isLost !== true) note.entry.status = reply.status;
  }

  #noteOf(exchange: Exchange): Note {
    const note = this.#notes.get(exchange);
    if (note === undefined) throw new Error('a request that was not handled');
    return note;
  }

  #noteLogin(request: ApiRequest): void {
    const [username, password] = passwordLogin(request) ?? [];
    if (username === undefined || password === undefined) return;
    const isAccepted = this.#site.store.accountByPassword(username, password) !== undefined;
    this.#logins.push({ username, password, isAccepted });
  }
}

/** What is known of a request besides its text. */
interface Note {
  readonly entry: { status: number };
  readonly wire: Wire;
  readonly target: FaultTarget;
}

export interface Login {
  readonly username: string;
  readonly password: string;
  readonly isAccepted: boolean;
}

type Scheme = 'basic' | 'token' | 'bearer' | 'key' | 'cookie' | 'none';

export interface LoggedRequest {
  readonly method: string;
  /** Path and query as sent. */
  readonly path: string;
  /** The status that was sent; 0 without a response. */
  readonly status: number;
  readonly body: string;
  readonly authorization: Scheme;
  /** When the request had been read: milliseconds since 1970. */
  readonly at: number;
}

/** How a request logs in, in any dialect. */
function schemeOf(headers: IncomingHttpHeaders): Scheme {
  if (headers['x-api-key'] !== undefined) return 'key';
  if (headers.cookie !== undefined) return 'cookie';
  const scheme = headers.authorization?.trim().split(/\s+/)[0]?.toLowerCase();
  return scheme === 'basic' || scheme === 'token' || scheme === 'bearer' ? scheme : 'none';
}

/** Whether a response is a bare list of records. */
function isBareList({ method }: ApiRequest, { status, body }: ApiResponse): boolean {
  return method === 'GET' && status === 200 && body.startsWith('[');
}
