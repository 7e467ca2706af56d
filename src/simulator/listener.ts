import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { TlsOptions, TLSSocket } from 'node:tls';
import { type Certificate, createCertificate, type Validity } from './certificate.ts';

const RELISTEN_AFTER_MS = 50;

/** TCP, TLS and HTTP of one device, with the faults in between. Call `listen` first; `close` ends all. */
export class Listener {
  readonly #name: string;
  readonly #serve: RequestListener;
  /** The connections below TLS. */
  readonly #sockets = new Set<Socket>();
  #connections = 0;
  #server: Server | undefined;
  #secure: SecureServer | undefined;
  #behavior: ConnectionBehavior | undefined;
  #endpoint: Endpoint = { host: '', port: 0 };
  #certificate: Certificate | undefined;
  #firstCertificate: Certificate | undefined;
  #relisten: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** `name`: the common name of the certificate. */
  constructor(name: string, serve: RequestListener) {
    this.#name = name;
    this.#serve = serve;
  }

  get endpoint(): Endpoint {
    return this.#endpoint;
  }

  get connections(): number {
    return this.#connections;
  }

  /** The current one. */
  get certificate(): Certificate | undefined {
    return this.#certificate;
  }

  /** Rejects with the system's error, such as EADDRINUSE, and can then be called again. */
  async listen(endpoint: Endpoint): Promise<void> {
    await this.#stop();
    this.#endpoint = endpoint;
    this.#certificate = this.#createCertificate();
    this.#firstCertificate = this.#certificate;
    this.#secure = this.#secureServer(this.#certificate);
    const server = createServer((socket) => this.#accept(socket));
    server.listen(endpoint);
    await once(server, 'listening');
    // `address()` is an AddressInfo on a TCP server that listens.
    this.#endpoint = { host: endpoint.host, port: (server.address() as AddressInfo).port };
    this.#server = server;
  }

  /** Sets the fault of all new connections and closes the open ones. Undefined: no fault. */
  setBehavior(behavior: ConnectionBehavior | undefined): void {
    const before = this.#behavior;
    if (behavior === before) return;
    this.#behavior = behavior;
    this.#certificate =
      behavior?.certificate === undefined
        ? this.#firstCertificate
        : this.#createCertificate(behavior.certificate);
    if (this.#certificate !== undefined) {
      this.#secure = this.#secureServer(this.#certificate, behavior);
    }
    this.#dropConnections();
    if (behavior?.isClosed === true) this.#server?.close();
    else if (before?.isClosed === true) this.#listenAgain();
  }

  /** TLS sockets cannot send a RST; the TCP socket below can. */
  reset(socket: Socket): void {
    this.#below(socket)?.resetAndDestroy();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#relisten);
    await this.#stop();
  }

  async #stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    await new Promise<void>((resolve) => {
      // An error says that it does not listen (fault `refuse`), which is fine.
      server.close(() => resolve());
      this.#dropConnections();
    });
  }

  #dropConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Another process may use the port meanwhile: tries until it is free. */
  #listenAgain(): void {
    const server = this.#server;
    const isUnwanted = (): boolean => this.#isClosed || this.#behavior?.isClosed === true;
    if (server === undefined || isUnwanted()) return;
    const tryLater = (): void => {
      this.#relisten = setTimeout(() => this.#listenAgain(), RELISTEN_AFTER_MS);
    };
    server.once('error', tryLater);
    server.listen(this.#endpoint, () => {
      server.off('error', tryLater);
      // It may have been cancelled before listening started.
      if (isUnwanted()) server.close();
    });
  }

  #createCertificate({
    isForOthers,
    validity,
  }: NonNullable<ConnectionBehavior['certificate']> = {}): Certificate {
    const { host } = this.#endpoint;
    const subject = isForOthers
      ? { commonName: 'another', addresses: ['192.0.2.1'], hostNames: ['another.invalid'] }
      : { commonName: this.#name, addresses: [host], hostNames: [this.#name, 'localhost'] };
    return createCertificate(subject, validity);
  }

  #secureServer({ key, cert }: Certificate, behavior?: ConnectionBehavior): SecureServer {
    // An empty list of CAs saves loading the system's, which no server needs.
    const server = createSecureServer({ key, cert, ca: [], ...behavior?.tls }, this.#serve);
    server.on('secureConnection', (socket: TLSSocket) => {
      const raw = this.#below(socket);
      if (raw !== undefined) behavior?.greetSecured?.(raw);
    });
    return server;
  }

  #accept(socket: Socket): void {
    this.#connections += 1;
    socket.on('error', () => undefined);
    if (this.#behavior?.isSingle === true && this.#sockets.size > 0) {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    if (this.#behavior?.greet === undefined) this.#secure?.emit('connection', socket);
    else this.#behavior.greet(socket);
  }

  /** The TCP socket below TLS, found by its peer's port. */
  #below({ remotePort }: Socket): Socket | undefined {
    return [...this.#sockets].find((socket) => socket.remotePort === remotePort);
  }
}

/** What tests let a device do wrong below HTTP. */
export interface ConnectionBehavior {
  /** Nothing listens on the port. */
  readonly isClosed?: true;
  /** Closes a second connection at once. */
  readonly isSingle?: true;
  /** Instead of TLS. */
  readonly greet?: (socket: Socket) => void;
  /** As soon as TLS is ready; the socket below it. */
  readonly greetSecured?: (socket: Socket) => void;
  readonly tls?: TlsOptions;
  /** Replaces the first certificate. */
  readonly certificate?: {
    readonly isForOthers?: true;
    readonly validity?: Validity;
  };
}

/** `host:port` to listen on; port 0 for any free one. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

const HOSTS_PER_NET = 250;

/** The address of a device: 127.0.0.2 to .251, 127.0.1.2 ... */
export function ownAddress(device: number): string {
  return `127.0.${Math.floor(device / HOSTS_PER_NET)}.${2 + (device % HOSTS_PER_NET)}`;
}

/** The most that fit into 127.0.0.0/16. */
export const MAX_DEVICES = 256 * HOSTS_PER_NET;
