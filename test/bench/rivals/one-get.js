// The floor for one device: a single request over TLS, without checks.
import { Agent, get } from 'node:https';
import { performance } from 'node:perf_hooks';

/** Resolves to the ms until the list of users is there. */
export function timeOfOneGet(address) {
  const startedAt = performance.now();
  const agent = new Agent({ rejectUnauthorized: false });
  return new Promise((resolve, reject) => {
    get(`https://${address}/api/user/`, { agent, auth: 'admin:admin-secret' }, (response) => {
      response.resume();
      response.on('end', () => resolve(performance.now() - startedAt));
    }).on('error', reject);
  });
}
