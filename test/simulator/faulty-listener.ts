import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import type { TlsOptions, TLSSocket } from 'node:tls';
import {
  type Certificate,
  createCertificate,
  type Validity,
} from '../../src/simulator/certificate.ts';
import { type Endpoint, Listener } from '../../src/simulator/listener.ts';

const RELISTEN_AFTER_MS = 50;

/** A listener with faults below HTTP. */
export class FaultyListener extends Listener {
  #connections = 0;
  #behavior: ConnectionBehavior | undefined;
  #firstCertificate: Certificate | undefined;
  #relisten: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** How many connections were accepted so far. */
  get connections(): number {
    return this.#connections;
  }

  override async listen(endpoint: Endpoint): Promise<void> {
    await super.listen(endpoint);
    this.#firstCertificate = this.certificate;
    this.#isClosed = false;
  }

  /** Sets the fault of all new connections and closes the open ones. Undefined: no fault. */
  setBehavior(behavior: ConnectionBehavior | undefined): void {
    const before = this.#behavior;
    if (behavior === before) return;
    this.#behavior = behavior;
    this.certificate =
      behavior?.certificate === undefined
        ? this.#firstCertificate
        : this.#createCertificate(behavior.certificate);
    if (this.certificate !== undefined) {
      this.secure = this.#secureServer(this.certificate, behavior);
    }
    this.dropConnections();
    if (behavior?.isClosed === true) this.server?.close();
    else if (before?.isClosed === true) this.#listenAgain();
  }

  /** TLS sockets cannot send a RST; the TCP socket below can. */
  reset(socket: Socket): void {
    this.#below(socket)?.resetAndDestroy();
  }

  override async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#relisten);
    await super.close();
  }

  /** Another process may use the port meanwhile: tries until it is free. */
  #listenAgain(): void {
    const { server } = this;
    const isUnwanted = (): boolean => this.#isClosed || this.#behavior?.isClosed === true;
    if (server === undefined || isUnwanted()) return;
    const tryLater = (): void => {
      this.#relisten = setTimeout(() => this.#listenAgain(), RELISTEN_AFTER_MS);
    };
    server.once('error', tryLater);
    server.listen(this.endpoint, () => {
      server.off('error', tryLater);
      // It may have been cancelled before listening started.
      if (isUnwanted()) server.close();
    });
  }

  #createCertificate({
    isForOthers,
    validity,
  }: NonNullable<ConnectionBehavior['certificate']>): Certificate {
    const { name } = this;
    const subject = isForOthers
      ? { commonName: 'another', addresses: ['192.0.2.1'], hostNames: ['another.invalid'] }
      : { commonName: name, addresses: [this.endpoint.host], hostNames: [name, 'localhost'] };
    return createCertificate(subject, validity);
  }

  #secureServer({ key, cert }: Certificate, behavior?: ConnectionBehavior): SecureServer {
    const server = createSecureServer({ key, cert, ca: [], ...behavior?.tls }, this.serve);
    server.on('secureConnection', (socket: TLSSocket) => {
      const raw = this.#below(socket);
      if (raw !== undefined) behavior?.greetSecured?.(raw);
    });
    return server;
  }

  protected override accept(socket: Socket): void {
    this.#connections += 1;
    const { greet, isSingle } = this.#behavior ?? {};
    if (isSingle === true && this.sockets.size > 0) {
      socket.on('error', () => undefined);
      socket.destroy();
    } else if (greet === undefined) {
      super.accept(socket);
    } else {
      this.keep(socket);
      greet(socket);
    }
  }

  /** The TCP socket below TLS, found by its peer's port. */
  #below({ remotePort }: Socket): Socket | undefined {
    return [...this.sockets].find((socket) => socket.remotePort === remotePort);
  }
}

/** What a device does wrong below HTTP. */
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
