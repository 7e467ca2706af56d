import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { type Endpoint, Listener } from './listener.ts';
import { type Api, page, respond } from './api.ts';
import type { Account, User } from './store.ts';
import { type ApiResponse, type ApiRequest, TOO_LARGE_PAGE } from './view.ts';

export interface DeviceSetup {
  readonly name: string;
  readonly seed: string;
  readonly users: readonly User[];
  readonly logins: readonly Account[];
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
  protected readonly listener: Listener;
  readonly #api: Api;
  readonly #latencyMs: number;

  constructor({ name, accounts, latencyMs }: DeviceSetup, api: Api, Ports = Listener) {
    this.name = name;
    this.accounts = accounts;
    this.#api = api;
    this.#latencyMs = latencyMs;
    this.listener = new Ports(name, (request, response) => {
      // A client may disconnect at any time.
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  /** `host:port`. */
  get address(): string {
    const { host, port } = this.listener.endpoint;
    return `${host}:${port}`;
  }

  /** SHA-256 of the current certificate: upper-case hex with colons. */
  get fingerprint(): string {
    return this.listener.certificate?.fingerprint ?? '';
  }

  /** As `Listener.listen`. Returns the port. */
  async listen(endpoint: Endpoint): Promise<number> {
    await this.listener.listen(endpoint);
    return this.listener.endpoint.port;
  }

  async close(): Promise<void> {
    await this.listener.close();
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(incoming);
    const { method = '', url = '', headers } = incoming;
    const request = { method, target: url, headers, body: body ?? '' };
    const exchange = { request, response };
    if (body === undefined) this.transmit(exchange, page(400, TOO_LARGE_PAGE));
    else await this.handle(exchange);
  }

  protected async handle(exchange: Exchange): Promise<void> {
    if (this.#latencyMs > 0) await setTimeout(this.#latencyMs, undefined, { ref: false });
    this.reply(exchange);
  }

  protected reply(exchange: Exchange): void {
    this.transmit(exchange, respond(this.#api, exchange.request));
  }

  protected transmit({ response }: Exchange, { status, headers, body }: ApiResponse): void {
    response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) });
    response.end(body);
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
  readonly response: ServerResponse;
}

export interface SimulatedAccount {
  readonly username: string;
  readonly password: string;
  readonly token: string;
}
