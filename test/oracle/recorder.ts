import { connect, createServer, type TLSSocket } from 'node:tls';
import type { AddressInfo } from 'node:net';
import { createCertificate } from '../../src/simulator/certificate.ts';

/** A relay between devsh and a device that records the bytes that devsh sent. */
export interface Recorder {
  readonly address: string;
  readonly fingerprint: string;
  /** The writes so far, in order. */
  readonly writes: () => readonly RawRequest[];
  readonly close: () => void;
}

export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly contentType: string;
  readonly body: string;
}

/** @param address host:port of the device, whose certificate is not checked here */
export async function startRecorder(address: string): Promise<Recorder> {
  const subject = { commonName: 'recorder', addresses: ['127.0.0.1'], hostNames: [] };
  const { key, cert, fingerprint } = createCertificate(subject);
  const streams: Buffer[][] = [];
  const sockets = new Set<TLSSocket>();
  const server = createServer({ key, cert }, (near) => {
    const [host, port] = address.split(':');
    const far = connect({ host, port: Number(port), rejectUnauthorized: false });
    const chunks: Buffer[] = [];
    streams.push(chunks);
    near.on('data', (chunk: Buffer) => chunks.push(chunk));
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        near.destroy();
        far.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    fingerprint,
    writes: () =>
      streams
        .flatMap((chunks) => requestsIn(Buffer.concat(chunks)))
        .filter(({ method }) => !['GET', 'HEAD', 'OPTIONS'].includes(method)),
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** The requests of one connection; bodies have a Content-Length. */
function requestsIn(bytes: Buffer): RawRequest[] {
  const requests: RawRequest[] = [];
  for (let rest = bytes; ;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return requests;
    const [line = '', ...lines] = rest.subarray(0, end).toString('latin1').split('\r\n');
    const headers = new Map(
      lines.map((header): [string, string] => {
        const [name = '', ...value] = header.split(':');
        return [name.toLowerCase(), value.join(':').trim()];
      }),
    );
    if (headers.has('transfer-encoding')) throw new Error(`a body without a length: ${line}`);
    const start = end + 4;
    const stop = start + Number(headers.get('content-length') ?? 0);
    const [method = '', path = ''] = line.split(' ');
    const body = rest.subarray(start, stop).toString();
    requests.push({ method, path, contentType: headers.get('content-type') ?? '', body });
    rest = rest.subarray(stop);
  }
}
