import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Endpoint, Listener } from './listener.ts';
import { answer, page, type Scheme, schemeOf } from './api.ts';
import type { DeviceRecord } from '../device/record.ts';
import { heldRecords } from './dialects/identity.ts';
import { newExtras } from './data.ts';
import { type FaultName, FAULTS, type FaultScope, FaultSwitches, type Struck } from './faults.ts';
import { WRITES } from './faults/fault.ts';
import { type ApiAnswer, type ApiRequest, type Site, TOO_LARGE_PAGE } from './view.ts';
import type { User } from './store.ts';
import { send, type Wire } from './transmit.ts';

interface DeviceSetup {
  readonly name: string;
  readonly site: Site;
  readonly accounts: SimulatedDevice['accounts'];
  readonly latencyMs: number;
}

/** What Django takes by default. */
const MAX_BODY_BYTES = 2.5 * 1024 * 1024;
const WRITE_METHODS: readonly string[] = WRITES;

/** One device on loopback. Belongs to its simulator, which starts and closes it. */
export class SimulatedDevice {
  /** `sim1`, `sim2` ... */
  readonly name: string;
  readonly accounts: { readonly admin: SimulatedAccount; readonly viewer: SimulatedAccount };
  readonly #log: LoggedRequest[] = [];
  readonly #site: Site;
  readonly #latencyMs: number;
  readonly #faults = new FaultSwitches();
  readonly #listener: Listener;
  /** Connections that have carried a request. */
  readonly #used = new WeakSet<Socket>();
  readonly #timers = new Set<NodeJS.Timeout>();

  /** @internal */
  constructor({ name, site, accounts, latencyMs }: DeviceSetup) {
    this.name = name;
    this.accounts = accounts;
    this.#site = site;
    this.#latencyMs = latencyMs;
    this.#listener = new Listener(name, (request, response) => {
      // A client that goes away in the middle is no news.
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  get host(): string {
    return this.#listener.endpoint.host;
  }

  get port(): number {
    return this.#listener.endpoint.port;
  }

  /** The requests that came, answered or not. */
  get log(): readonly LoggedRequest[] {
    return this.#log;
  }

  /** `host:port`. */
  get address(): string {
    return `${this.host}:${this.port}`;
  }

  get url(): string {
    return `https://${this.address}`;
  }

  /** SHA-256 of the certificate presented now: upper-case hex with colons. */
  get fingerprint(): string {
    return this.#listener.certificate?.fingerprint ?? '';
  }

  /** The certificate presented now, PEM; what `--ca` takes. */
  get certificate(): string {
    return this.#listener.certificate?.cert ?? '';
  }

  /** How many connections it has taken, whatever became of them. */
  get connections(): number {
    return this.#listener.connections;
  }

  /** What the device holds now, in the order of creation. */
  get users(): readonly User[] {
    return this.#site.store.users;
  }

  /** What its list of a resource shows now, on all pages; empty where there is no such resource. */
  records(resource: string): readonly DeviceRecord[] {
    return heldRecords(this.#site, resource);
  }

  /**
   * As `Listener.listen`.
   * @internal
   */
  listen(endpoint: Endpoint): Promise<void> {
    return this.#listener.listen(endpoint);
  }

  /**
   * Switches a fault: true until switched off (500-once: for one request), false off, or for that
   * many requests. Faults of the connection see no requests, so they know only true and false.
   * @throws RangeError when a count or a method is given for one of these.
   */
  setFault(name: FaultName, on: boolean | number = true, scope: FaultScope = {}): void {
    const isOfConnection = FAULTS.find((fault) => fault.name === name)?.stage === 'connection';
    if (isOfConnection && (typeof on === 'number' || Object.keys(scope).length > 0)) {
      throw new RangeError(`The fault ${name} is on or off, it does not count requests.`);
    }
    this.#faults.set(name, on, scope);
    this.#listener.strike(this.#faults.connection);
  }

  clearFaults(): void {
    this.#faults.clear();
    this.#listener.strike(this.#faults.connection);
  }

  /** Behind everybody's back: changes the user of that name, or creates it. */
  putUser(fields: Partial<Omit<User, 'uuid'>> & Pick<User, 'username'>): User {
    const { store, dialect } = this.#site;
    const existing = store.named(fields.username);
    const { modified, ...more } = newExtras(dialect.profile, fields);
    const stamp = modified === undefined ? {} : { modified };
    return existing === undefined
      ? store.create({ first_name: '', lastname: '', lang: 'en', ...more, ...stamp, ...fields })
      : store.replace({ ...existing, ...fields, ...stamp });
  }

  /** Behind everybody's back; false when there is no such user. */
  removeUser(username: string): boolean {
    const { store } = this.#site;
    const user = store.named(username);
    return user !== undefined && store.delete(user.uuid);
  }

  /** @internal */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    await this.#listener.close();
  }

  #later(delayMs: number, run: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      run();
    }, delayMs);
    this.#timers.add(timer);
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(incoming);
    const request: ApiRequest = {
      method: incoming.method ?? '',
      target: incoming.url ?? '',
      host: incoming.headers.host ?? this.address,
      accept: incoming.headers.accept,
      authorization: incoming.headers.authorization,
      contentType: incoming.headers['content-type'],
      body: body ?? '',
    };
    const entry = {
      method: request.method,
      path: request.target,
      status: 0,
      body: request.body,
      authorization: schemeOf(request.authorization),
      at: Date.now(),
    };
    const isAfterWrite = this.#log.some(({ method }) => WRITE_METHODS.includes(method));
    this.#log.push(entry);
    if (this.#latencyMs > 0) {
      await new Promise<void>((resolve) => {
        this.#later(this.#latencyMs, resolve);
      });
    }
    const wire = this.#wire(incoming, response);
    const about = { method: request.method, isAfterWrite };
    const reply =
      body === undefined ? page(400, TOO_LARGE_PAGE) : this.#answer(request, wire, about);
    if (reply === 'taken') return;
    const fault = this.#faults.take('answer', about);
    if (fault?.isLost !== true) entry.status = reply.status;
    if (fault === undefined) send(wire, reply);
    else fault.transmit(wire, reply);
  }

  /** What the device answers with its faults; `taken`: nothing at all. */
  #answer(request: ApiRequest, wire: Wire, about: Struck): ApiAnswer | 'taken' {
    const site = this.#site;
    const instead = this.#faults.take('request', about)?.reply(request, wire);
    if (instead !== undefined) return instead;
    const fault = this.#faults.take('write', about);
    const reply =
      fault === undefined
        ? answer(site, request)
        : fault.runStep({ site, request, later: this.#later.bind(this) });
    const list = isList(request, reply) ? this.#faults.take('list', about) : undefined;
    if (list === undefined) return reply;
    const records = JSON.parse(reply.body) as object[];
    return { ...reply, body: list.rewrite(records, reply.body, request) };
  }

  #wire({ socket }: IncomingMessage, response: ServerResponse): Wire {
    const isReused = this.#used.has(socket);
    this.#used.add(socket);
    return {
      response,
      socket,
      isReused,
      reset: () => {
        this.#listener.reset(socket);
      },
      changeCertificate: () => {
        this.setFault('certificate-change');
      },
    };
  }
}

/** Undefined when it is longer than a device takes. */
async function readBody(incoming: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return size <= MAX_BODY_BYTES ? Buffer.concat(chunks).toString() : undefined;
}

/** Whether an answer is a bare list of records. */
function isList({ method }: ApiRequest, { status, body }: ApiAnswer): boolean {
  return method === 'GET' && status === 200 && body.startsWith('[');
}

/** Who can log in to a simulated device, and how. */
export interface SimulatedAccount {
  readonly username: string;
  readonly password: string;
  readonly token: string;
}

/** One request that a device got. */
export interface LoggedRequest {
  readonly method: string;
  /** Path and query as sent. */
  readonly path: string;
  /** The status that went out; 0 while, or when, there was no answer. */
  readonly status: number;
  readonly body: string;
  readonly authorization: Scheme;
  /** When it had been read: milliseconds since 1970. */
  readonly at: number;
}
