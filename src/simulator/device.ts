import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Endpoint, Listener } from './listener.ts';
import { type Login, loginOf, page, passwordLogin, respond, type Scheme } from './api.ts';
import type { DeviceRecord } from '../device/record.ts';
import { recordsOf } from './dialects/identity.ts';
import { newExtras } from './data.ts';
import { type ApiResponse, type ApiRequest, type Site, TOO_LARGE_PAGE } from './view.ts';
import type { User } from './store.ts';
import { send, type Wire } from './transmit.ts';

export interface DeviceSetup {
  readonly name: string;
  readonly site: Site;
  readonly accounts: SimulatedDevice['accounts'];
  readonly latencyMs: number;
}

/** Django's default. */
const MAX_BODY_BYTES = 2.5 * 1024 * 1024;

/** One device on loopback. Its simulator starts and closes it. */
export class SimulatedDevice {
  /** `sim1`, `sim2` ... */
  readonly name: string;
  readonly accounts: { readonly admin: SimulatedAccount; readonly viewer: SimulatedAccount };
  readonly #log: LoggedRequest[] = [];
  readonly #logins: Login[] = [];
  protected readonly site: Site;
  readonly #latencyMs: number;
  protected readonly listener: Listener;
  /** Connections that have carried a request. */
  readonly #used = new WeakSet<Socket>();
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor({ name, site, accounts, latencyMs }: DeviceSetup) {
    this.name = name;
    this.accounts = accounts;
    this.site = site;
    this.#latencyMs = latencyMs;
    this.listener = new Listener(name, (request, response) => {
      // A client may disconnect at any time.
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  get host(): string {
    return this.listener.endpoint.host;
  }

  get port(): number {
    return this.listener.endpoint.port;
  }

  /** All requests, also those without a response. */
  get log(): readonly LoggedRequest[] {
    return this.#log;
  }

  /** All logins with a password, in order. */
  get logins(): readonly Login[] {
    return this.#logins;
  }

  /** `host:port`. */
  get address(): string {
    return `${this.host}:${this.port}`;
  }

  get url(): string {
    return `https://${this.address}`;
  }

  /** SHA-256 of the current certificate: upper-case hex with colons. */
  get fingerprint(): string {
    return this.listener.certificate?.fingerprint ?? '';
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
    return this.site.sessions.count;
  }

  /** The current users, in the order of creation. */
  get users(): readonly User[] {
    return this.site.store.users;
  }

  /** The current list of a resource, over all pages; empty if the resource does not exist. */
  records(resource: string): readonly DeviceRecord[] {
    return recordsOf(this.site, resource);
  }

  /** As `Listener.listen`. */
  listen(endpoint: Endpoint): Promise<void> {
    return this.listener.listen(endpoint);
  }

  /** Changes or creates a user without a request; a uuid may be one that was used before. */
  putUser(fields: Partial<User> & Pick<User, 'username'>): User {
    const { store, dialect } = this.site;
    const existing = store.named(fields.username);
    const { modified, ...more } = newExtras(dialect.profile, fields);
    const stamp = modified === undefined ? {} : { modified };
    return existing === undefined
      ? store.create({ first_name: '', lastname: '', lang: 'en', ...more, ...stamp, ...fields })
      : store.replace({ ...existing, ...fields, ...stamp });
  }

  /** Sets all passwords back without a request, as a restored backup does. */
  restoreLogins(): void {
    this.site.store.restoreLogins();
  }

  /** Removes a user without a request. Returns false if there is no such user. */
  removeUser(username: string): boolean {
    const { store } = this.site;
    const user = store.named(username);
    return user !== undefined && store.delete(user.uuid);
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    await this.listener.close();
  }

  protected later(delayMs: number, run: () => void): void {
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
      apiKey: incoming.headers['x-api-key']?.toString(),
      cookie: incoming.headers.cookie,
      contentType: incoming.headers['content-type'],
      body: body ?? '',
    };
    const entry = {
      method: request.method,
      path: request.target,
      status: 0,
      body: request.body,
      authorization: loginOf(request),
      at: Date.now(),
    };
    const before = this.#log.length;
    this.#log.push(entry);
    if (this.#latencyMs > 0) {
      await new Promise<void>((resolve) => this.later(this.#latencyMs, resolve));
    }
    const exchange = { request, wire: this.#wire(incoming, response), before };
    const reply = body === undefined ? page(400, TOO_LARGE_PAGE) : this.answer(exchange);
    if (reply === 'taken') return;
    if (this.transmit(exchange, reply)) entry.status = reply.status;
  }

  /** The response. `taken`: a test has dealt with the request, and there is none. */
  protected answer(exchange: Exchange): ApiResponse | 'taken' {
    const login = passwordLogin(this.site, exchange.request);
    if (login !== undefined) this.#noteLogin(login);
    return this.execute(exchange);
  }

  protected execute({ request }: Exchange): ApiResponse {
    return respond(this.site, request);
  }

  /** Sends a response. Returns whether the log shows its status. */
  protected transmit({ wire }: Exchange, reply: ApiResponse): boolean {
    send(wire, reply);
    return true;
  }

  /** Three refusals in a row lock the account, if the device has this quirk. */
  #noteLogin(login: Login): void {
    this.#logins.push(login);
    const own = this.#logins.filter(({ username }) => username === login.username);
    const isLocked =
      this.site.dialect.quirks.has('locks-accounts') &&
      own.length >= 3 &&
      own.slice(-3).every(({ isAccepted }) => !isAccepted);
    if (isLocked) this.site.store.lock(login.username);
  }

  #wire({ socket }: IncomingMessage, response: ServerResponse): Wire {
    const isReused = this.#used.has(socket);
    this.#used.add(socket);
    return {
      response,
      socket,
      isReused,
      reset: () => this.listener.reset(socket),
    };
  }
}

/** Returns undefined if the body is too long. */
async function readBody(incoming: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return size <= MAX_BODY_BYTES ? Buffer.concat(chunks).toString() : undefined;
}

/** A request, and where its response goes. Tests extend a device by what it does in each step. */
export interface Exchange {
  readonly request: ApiRequest;
  readonly wire: Wire;
  /** How many requests came before. */
  readonly before: number;
}

export interface SimulatedAccount {
  readonly username: string;
  readonly password: string;
  readonly token: string;
}

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
