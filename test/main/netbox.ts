import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { createCertificate } from '../../src/simulator/certificate.ts';

export interface NetBoxDevice {
  readonly name: string | null;
  readonly address?: string;
  readonly site?: string;
  readonly status?: string;
}

export interface NetBox {
  readonly address: string;
  readonly fingerprint: string;
  /** `GET /path` and its login. */
  readonly log: readonly { readonly path: string; readonly authorization: string | undefined }[];
}

/**
 * A NetBox over TLS on loopback: a token, pages whose absolute links name another host (like behind a
 * proxy), filters by site and status. For one test.
 */
export async function startNetBox(
  devices: readonly NetBoxDevice[],
  options: { readonly token?: string; readonly nextOf?: (next: string) => string } = {},
): Promise<NetBox> {
  const { token = 'nb-token', nextOf = (next) => `http://behind.proxy${next}` } = options;
  const validity = { from: new Date(Date.now() - 1e9), to: new Date(Date.now() + 1e10) };
  const subject = { commonName: 'netbox', addresses: ['127.0.0.1'], hostNames: [] };
  const { key, cert, fingerprint } = createCertificate(subject, validity);
  const log: { path: string; authorization: string | undefined }[] = [];
  const server = createServer({ key, cert }, (request, response) => {
    const { authorization } = request.headers;
    log.push({ path: request.url ?? '', authorization });
    const answer = (status: number, body: unknown): void => {
      const text = JSON.stringify(body);
      response.writeHead(status, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      });
      response.end(text);
    };
    if (authorization !== `Token ${token}` && authorization !== `Bearer ${token}`) {
      answer(401, { detail: 'Authentication credentials were not provided.' });
      return;
    }
    const { pathname, searchParams } = new URL(request.url ?? '', 'https://netbox');
    if (pathname !== '/api/dcim/devices/') {
      answer(404, { detail: 'Not found.' });
      return;
    }
    const [site, status] = [searchParams.get('site'), searchParams.get('status')];
    const found = devices.filter(
      (device) => (site === null || device.site === site) && (device.status ?? 'active') === status,
    );
    const offset = Number(searchParams.get('offset') ?? 0);
    const limit = Number(searchParams.get('limit') ?? 50);
    searchParams.set('offset', String(offset + limit));
    const next = `${pathname}?${searchParams.toString()}`;
    answer(200, {
      count: found.length,
      next: offset + limit < found.length ? nextOf(next) : null,
      previous: null,
      results: found.slice(offset, offset + limit).map(({ name, address, site: slug }, index) => ({
        id: offset + index + 1,
        name,
        primary_ip4: address === undefined ? null : { address: `${address}/24` },
        site: slug === undefined ? null : { slug },
        tags: [],
      })),
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { address: `127.0.0.1:${port}`, fingerprint, log };
}
