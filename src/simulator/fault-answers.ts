import { answer, page } from './api.ts';
import type { FaultSwitches } from './fault-switches.ts';
import { LOGIN_PAGE, SERVER_ERROR_PAGE } from './pages.ts';
import { LANGUAGES } from './store.ts';
import type { ApiAnswer, ApiRequest, Site } from './view.ts';

function refusal(status: number, detail: string, headers: Record<string, string> = {}): ApiAnswer {
  return {
    status,
    headers: { 'Content-Type': 'application/json', Vary: 'Accept', ...headers },
    body: JSON.stringify({ detail }),
  };
}

/** What the device answers with its faults; `silence` and `reset` are no answer at all. */
export function answerFor(
  site: Site,
  faults: FaultSwitches,
  request: ApiRequest,
): ApiAnswer | 'silence' | 'reset' {
  const fault = faults.take('request', request.method);
  switch (fault) {
    case 'silence':
    case 'reset':
      return fault;
    case 'html-page':
      return page(200, LOGIN_PAGE);
    case 'empty-200':
      return { status: 200, headers: { 'Content-Type': 'application/json' }, body: '' };
    case '401':
      return refusal(401, 'Invalid token.', { 'WWW-Authenticate': 'Basic realm="api"' });
    case '403':
      return refusal(403, 'You do not have permission to perform this action.');
    case '429':
      return refusal(429, 'Request was throttled. Expected available in 1 second.', {
        'Retry-After': '1',
      });
    case '500-once':
      return page(500, SERVER_ERROR_PAGE);
    case undefined:
      return carryOut(site, faults, request);
  }
}

/** The API itself, or what only looks like it. */
function carryOut(site: Site, faults: FaultSwitches, request: ApiRequest): ApiAnswer {
  const fault = faults.take('write', request.method);
  switch (fault) {
    case 'accept-and-forget':
    case 'delete-and-keep':
      return answer({ ...site, store: site.store.copy() }, request);
    case 'store-altered': {
      const { store } = site;
      const before = new Set(store.users);
      const reply = answer(site, request);
      for (const user of store.users.filter((stored) => !before.has(stored))) {
        const lang = LANGUAGES.find((other) => other !== user.lang) ?? user.lang;
        store.replace({ ...user, lang });
      }
      return reply;
    }
    case undefined:
      return answer(site, request);
  }
}
