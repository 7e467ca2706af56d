import { connect, createServer, type Socket } from 'node:net';
import { listen } from '../server.ts';

/** A proxy on loopback, closed when the test ends. */
export interface TestProxy {
  readonly port: number;
  /** The targets that it was asked for: `127.0.0.1:8443`. */
  readonly targets: readonly string[];
  /** Every byte that came from the client, tunnels included. */
  readonly received: () => Buffer;
}

interface ProxyOptions {
  readonly login?: { readonly user: string; readonly password: string };
  /** Connects to this port instead of the one that was asked for. */
  readonly leadsTo?: number;
}

/** Takes bytes in order, as many as are asked for. */
class Reader {
  readonly #socket: Socket;
  #bytes = Buffer.alloc(0);
  #wake: () => void = () => undefined;

  constructor(socket: Socket, onBytes: (chunk: Buffer) => void) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      onBytes(chunk);
      this.#bytes = Buffer.concat([this.#bytes, chunk]);
      this.#wake();
    });
  }

  async take(count: number): Promise<Buffer> {
    while (this.#bytes.length < count) await this.#more();
    return this.#cut(count);
  }

  async takeHeaders(): Promise<string> {
    for (;;) {
      const end = this.#bytes.indexOf('\r\n\r\n');
      if (end >= 0) return this.#cut(end + 4).toString('latin1');
      await this.#more();
    }
  }

  /** From here on all bytes go to `target` and back. */
  pipeTo(target: Socket): void {
    target.write(this.#cut(this.#bytes.length));
    this.#socket.on('data', (chunk: Buffer) => target.write(chunk));
    target.pipe(this.#socket);
    this.#socket.on('close', () => target.destroy());
    target.on('error', () => this.#socket.destroy());
  }

  #more(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve));
  }

  #cut(count: number): Buffer {
    const taken = this.#bytes.subarray(0, count);
    this.#bytes = this.#bytes.subarray(count);
    return taken;
  }
}

async function startProxy(
  serve: (socket: Socket, reader: Reader, targets: string[]) => Promise<void>,
): Promise<TestProxy> {
  const chunks: Buffer[] = [];
  const targets: string[] = [];
  const server = createServer((socket) => {
    void serve(socket, new Reader(socket, (chunk) => chunks.push(chunk)), targets);
  });
  return { port: await listen(server), targets, received: () => Buffer.concat(chunks) };
}

export function startHttpProxy({ login, leadsTo }: ProxyOptions = {}): Promise<TestProxy> {
  return startProxy(async (socket, reader, targets) => {
    const head = await reader.takeHeaders();
    const expected = login && Buffer.from(`${login.user}:${login.password}`).toString('base64');
    if (
      expected !== undefined &&
      !head.includes(`\r\nProxy-Authorization: Basic ${expected}\r\n`)
    ) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    const [, target = ''] = /^CONNECT (\S+) HTTP\/1\.1\r\n/.exec(head) ?? [];
    targets.push(target);
    const [, host, port] = /^(.*):(\d+)$/.exec(target) ?? [];
    const upstream = connect(leadsTo ?? Number(port), leadsTo === undefined ? host : undefined);
    upstream.on('error', () => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
    upstream.once('connect', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      reader.pipeTo(upstream);
    });
  });
}

export function startSocksProxy({ login, leadsTo }: ProxyOptions = {}): Promise<TestProxy> {
  return startProxy(async (socket, reader, targets) => {
    const [, count = 0] = await reader.take(2);
    const methods = [...(await reader.take(count))];
    const method = login === undefined ? 0 : methods.includes(2) ? 2 : 0xff;
    socket.write(Buffer.from([5, method]));
    if (login !== undefined && method === 2) {
      const [, length = 0] = await reader.take(2);
      const user = (await reader.take(length)).toString();
      const [size = 0] = await reader.take(1);
      const password = (await reader.take(size)).toString();
      const isRight = user === login.user && password === login.password;
      socket.write(Buffer.from([1, isRight ? 0 : 1]));
      if (!isRight) return;
    }
    const [, , , kind] = await reader.take(4);
    const host = await takeHost(reader, kind);
    const port = (await reader.take(2)).readUInt16BE();
    targets.push(`${host}:${port}`);
    const upstream = connect(leadsTo ?? port, leadsTo === undefined ? host : undefined);
    upstream.on('error', () => socket.end(Buffer.from([5, 5, 0, 1, 0, 0, 0, 0, 0, 0])));
    upstream.once('connect', () => {
      socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 80]));
      reader.pipeTo(upstream);
    });
  });
}

async function takeHost(reader: Reader, kind: number | undefined): Promise<string> {
  if (kind === 3) {
    const [length = 0] = await reader.take(1);
    return (await reader.take(length)).toString('ascii');
  }
  if (kind === 4) return (await reader.take(16)).toString('hex');
  return [...(await reader.take(4))].join('.');
}

/** A proxy that answers the first bytes with whatever it likes. */
export async function startLiar(answer: (socket: Socket) => void): Promise<{ port: number }> {
  const server = createServer((socket) => {
    socket.once('data', () => {
      answer(socket);
    });
  });
  return { port: await listen(server) };
}
