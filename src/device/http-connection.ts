import { setFlagsFromString } from 'node:v8';
import type { buildConnector } from 'undici';
// The package index loads fetch, WebSocket and more: 48 ms per start. The version is pinned.
import Client from 'undici/lib/dispatcher/client.js';

if (process.versions.node.startsWith('20.')) {
  // Node 20 optimises the HTTP parser on a worker that delays process exit by 80-100 ms.
  setFlagsFromString('--wasm-tiering-budget=1000000000');
}

/** Opens a connection and calls back with its socket after the certificate check. */
export type Connect = (callback: buildConnector.Callback) => void;

/** One connection for reads, one at a time, or for one write; opened by the first request, and again if it was closed. */
export type HttpConnection = Client;

/** How long before the device closes an idle connection devsh does. A read that is too late is repeated. */
const CLOSE_BEFORE_MS = 500;

/** Like undici's own, but created once instead of with a stack for each closed connection. */
export const CLOSED = Object.assign(new Error('The client is destroyed'), {
  code: 'UND_ERR_DESTROYED',
});

export function httpConnection(origin: string, connect: Connect): HttpConnection {
  return new Client(origin, {
    pipelining: 1,
    keepAliveTimeoutThreshold: CLOSE_BEFORE_MS,
    connect: (_target, callback) => connect(callback),
  });
}
