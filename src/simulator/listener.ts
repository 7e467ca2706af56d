import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { type Certificate, createCertificate } from './certificate.ts';

/** TCP, TLS and HTTP of one device. Call `listen` first; `close` ends all. */
export class Listener {
  protected readonly name: string;
  protected readonly serve: RequestListener;
  /** The connections below TLS. */
  protected readonly sockets = new Set<Socket>();
  protected server: Server | undefined;
  protected secure: SecureServer | undefined;
  /** Where it listens. */
  endpoint: Endpoint = { host: '', port: 0 };
  certificate: Certificate | undefined;

  /** `name`: the common name of the certificate. */
  constructor(name: string, serve: RequestListener) {
    this.name = name;
    this.serve = serve;
  }

  /** Rejects with the system's error, such as EADDRINUSE, and can then be called again. */
  async listen(endpoint: Endpoint): Promise<void> {
    await this.close();
    const { name } = this;
    this.certificate = createCertificate({
      commonName: name,
      addresses: [endpoint.host],
      hostNames: [name, 'localhost'],
    });
    const { key, cert } = this.certificate;
    // An empty list of CAs saves loading the system's, which no server needs.
    this.secure = createSecureServer({ key, cert, ca: [] }, this.serve);
    const server = createServer((socket) => this.accept(socket));
    server.listen(endpoint);
    await once(server, 'listening');
    // `address()` is an AddressInfo on a TCP server that listens.
    this.endpoint = { host: endpoint.host, port: (server.address() as AddressInfo).port };
    this.server = server;
  }

  async close(): Promise<void> {
    const { server } = this;
    if (server === undefined) return;
    await new Promise<void>((resolve) => {
      // An error says that it does not listen, which is fine.
      server.close(() => resolve());
      this.dropConnections();
    });
  }

  protected dropConnections(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  protected accept(socket: Socket): void {
    this.keep(socket);
    this.secure?.emit('connection', socket);
  }

  protected keep(socket: Socket): void {
    socket.on('error', () => undefined);
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
  }
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
