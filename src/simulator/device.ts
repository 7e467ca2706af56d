import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Endpoint } from './addresses.ts';
import { page } from './api.ts';
import type { DeviceRecord } from '../device/record.ts';
import { schemeOf } from './authentication.ts';
import { createCertificate, type Certificate } from './certificate.ts';
import { heldRecords } from './dialects/identity.ts';
import { newExtras } from './dialects/sample-data.ts';
import { answerFor } from './fault-answers.ts';
import { FaultSwitches, type FaultScope } from './fault-switches.ts';
import type { FaultName } from './faults.ts';
import { TOO_LARGE_PAGE } from './pages.ts';
import type { LoggedRequest, SimulatedDevice } from './simulated-device.ts';
import type { User } from './store.ts';
import { cutJson, send, sendEndlessly, sendSlowly, sendTruncated } from './transmit.ts';
import type { ApiAnswer, ApiRequest, Site } from './view.ts';

export interface DeviceSetup {
  readonly name: string;
  readonly site: Site;
  readonly accounts: SimulatedDevice['accounts'];
  readonly latencyMs: number;
}

/** What Django takes by default. */
const MAX_BODY_BYTES = 2.5 * 1024 * 1024;
const RELISTEN_AFTER_MS = 50;

/** The server of one device. `listen` before anything else; `close` ends everything it started. */
export class DeviceServer implements SimulatedDevice {
  readonly name: string;
  readonly accounts: SimulatedDevice['accounts'];
  readonly log: LoggedRequest[] = [];
  readonly #site: Site;
  readonly #latencyMs: number;
  readonly #faults = new FaultSwitches();
  readonly #sockets = new Set<Socket>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #server: Server | undefined;
  #endpoint: Endpoint = { host: '', port: 0 };
  #certificate: Certificate | undefined;
  #firstCertificate: Certificate | undefined;
  #isClosed = false;

  constructor({ name, site, accounts, latencyMs }: DeviceSetup) {
    this.name = name;
    this.accounts = accounts;
    this.#site = site;
    this.#latencyMs = latencyMs;
  }

  get host(): string {
    return this.#endpoint.host;
  }

  get port(): number {
    return this.#endpoint.port;
  }

  get address(): string {
    return `${this.host}:${this.port}`;
  }

  get url(): string {
    return `https://${this.address}`;
  }

  get fingerprint(): string {
    return this.#certificate?.fingerprint ?? '';
  }

  get certificate(): string {
    return this.#certificate?.cert ?? '';
  }

  get users(): readonly User[] {
    return this.#site.store.users;
  }

  records(resource: string): readonly DeviceRecord[] {
    return heldRecords(this.#site, resource);
  }

  /** Rejects with the error of the operating system, such as EADDRINUSE; may be tried again. */
  async listen(endpoint: Endpoint): Promise<void> {
    await this.#stop();
    this.#certificate = createCertificate({
      commonName: this.name,
      addresses: [endpoint.host],
      hostNames: [this.name, 'localhost'],
    });
    this.#firstCertificate = this.#certificate;
    const server = createServer(tlsOptions(this.#certificate), (request, response) => {
      // A client that goes away in the middle is no news.
      this.#serve(request, response).catch(() => response.destroy());
    });
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    server.listen(endpoint);
    await once(server, 'listening');
    // `address()` is an AddressInfo on a TCP server that listens.
    this.#endpoint = { host: endpoint.host, port: (server.address() as AddressInfo).port };
    this.#server = server;
  }

  setFault(name: FaultName, on: boolean | number = true, scope: FaultScope = {}): void {
    const isOfConnection = name === 'refuse' || name === 'certificate-change';
    if (isOfConnection && (typeof on === 'number' || scope.method !== undefined)) {
      throw new RangeError(`The fault ${name} is on or off, it does not count requests.`);
    }
    const wasOn = this.#faults.isOn(name);
    this.#faults.set(name, on, scope);
    if (wasOn === this.#faults.isOn(name)) return;
    if (name === 'refuse') this.#switchListener(!wasOn);
    if (name === 'certificate-change') this.#switchCertificate(!wasOn);
  }

  clearFaults(): void {
    this.setFault('refuse', false);
    this.setFault('certificate-change', false);
    this.#faults.clear();
  }

  putUser(fields: Partial<Omit<User, 'uuid'>> & Pick<User, 'username'>): User {
    const { store, dialect } = this.#site;
    const existing = store.named(fields.username);
    const { modified, ...more } = newExtras(dialect.profile, fields);
    const stamp = modified === undefined ? {} : { modified };
    return existing === undefined
      ? store.create({ first_name: '', lastname: '', lang: 'en', ...more, ...stamp, ...fields })
      : store.replace({ ...existing, ...fields, ...stamp });
  }

  removeUser(username: string): boolean {
    const { store } = this.#site;
    const user = store.named(username);
    return user !== undefined && store.delete(user.uuid);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    await this.#stop();
  }

  async #stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    await new Promise<void>((resolve) => {
      // The error says that it does not listen (fault `refuse`), which is what is wanted.
      server.close(() => {
        resolve();
      });
      this.#dropConnections();
    });
  }

  #dropConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #switchListener(isRefusing: boolean): void {
    if (isRefusing) {
      this.#server?.close();
      this.#dropConnections();
    } else {
      this.#listenAgain();
    }
  }

  /** Somebody may have taken the port meanwhile: goes on until it is free again. */
  #listenAgain(): void {
    const server = this.#server;
    const isUnwanted = (): boolean => this.#isClosed || this.#faults.isOn('refuse');
    if (server === undefined || isUnwanted()) return;
    const tryLater = (): void => {
      this.#later(RELISTEN_AFTER_MS, () => {
        this.#listenAgain();
      });
    };
    server.once('error', tryLater);
    server.listen(this.#endpoint, () => {
      server.off('error', tryLater);
      // Listening takes effect a little later, when it may have been called off.
      if (isUnwanted()) server.close();
    });
  }

  #switchCertificate(isOther: boolean): void {
    this.#certificate = isOther
      ? createCertificate({ commonName: this.name, addresses: [this.host], hostNames: [this.name] })
      : this.#firstCertificate;
    if (this.#certificate === undefined) return;
    this.#server?.setSecureContext(tlsOptions(this.#certificate));
    this.#dropConnections();
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
    this.log.push(entry);
    if (this.#latencyMs > 0) {
      await new Promise<void>((resolve) => {
        this.#later(this.#latencyMs, resolve);
      });
    }
    const reply =
      body === undefined ? page(400, TOO_LARGE_PAGE) : answerFor(this.#site, this.#faults, request);
    if (reply === 'silence') return;
    if (reply === 'reset') {
      this.#reset(incoming);
      return;
    }
    this.#transmit(request, reply, response, (status) => (entry.status = status));
  }

  #transmit(
    { method }: ApiRequest,
    reply: ApiAnswer,
    response: ServerResponse,
    sent: (status: number) => void,
  ): void {
    const fault = this.#faults.take('answer', method);
    if (fault === 'store-and-drop') {
      response.destroy();
      return;
    }
    sent(reply.status);
    switch (fault) {
      case 'slow-body':
        sendSlowly(response, reply);
        return;
      case 'truncated-body':
        sendTruncated(response, reply);
        return;
      case 'endless-body':
        sendEndlessly(response, reply);
        return;
      case 'invalid-json':
        send(response, cutJson(reply));
        return;
      case undefined:
        send(response, reply);
    }
  }

  /** TLS sockets cannot send a RST; the TCP socket below, known by its peer's port, can. */
  #reset({ socket }: IncomingMessage): void {
    for (const raw of this.#sockets) {
      if (raw.remotePort === socket.remotePort) raw.resetAndDestroy();
    }
  }
}

/** The empty list of CAs spares loading the system's, which no server needs. */
function tlsOptions({ key, cert }: Certificate): { key: string; cert: string; ca: string[] } {
  return { key, cert, ca: [] };
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
