import type { Call } from '../call.ts';
import type { Finding } from './finding.ts';

/** Whether a login can be kept, and where. */
export async function* keychainFindings(call: Call): AsyncGenerator<Finding> {
  const { credentials } = call;
  const isThere = await credentials.reachesKeychain();
  const [problem = 'none on this machine'] = credentials.problems;
  yield {
    area: 'credentials',
    what: 'keychain',
    state: isThere ? 'ok' : credentials.problems.length > 0 ? 'warning' : 'not used',
    detail: isThere ? 'answers' : problem,
  };
  const place = await credentials.placeToStore();
  yield {
    area: 'credentials',
    what: 'logins are kept in',
    state: place === undefined ? 'not used' : 'ok',
    detail: place === undefined ? 'nothing; "vault init" makes a place' : `the ${place}`,
  };
}
