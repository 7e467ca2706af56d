import { MAX_THROTTLES } from './errors.ts';
import type { Response } from './exchange.ts';
import { TransportFault } from './fault.ts';

const MAX_REDIRECTS = 3;
const RETRY_DELAYS_MS = [100, 300];

interface ReadState {
  readonly path: string;
  readonly redirects: number;
  readonly retries: number;
  readonly throttles: number;
}

export type Outcome = { readonly response: Response } | { readonly fault: unknown };

interface ReadRules {
  readonly origin: string;
  readonly path: string;
  readonly redirect?: 'stay' | undefined;
  /** A login: repeated only if no byte of it left. */
  readonly isOnce?: boolean;
  readonly isClosed: boolean;
}

interface NextRead {
  readonly state: ReadState;
  readonly waitMs?: number;
  readonly isRequested?: true;
}

export function firstRead(path: string): ReadState {
  return { path, redirects: 0, retries: 0, throttles: 0 };
}

/** The next attempt of a read; undefined if its outcome counts. A device may execute a write and respond 429. */
export function nextRead(
  state: ReadState,
  outcome: Outcome,
  rules: ReadRules,
): NextRead | undefined {
  if ('fault' in outcome) {
    const mayRepeat = rules.isOnce !== true || isUnsent(outcome.fault);
    return !rules.isClosed && mayRepeat && isTemporary(outcome.fault) ? retry(state) : undefined;
  }
  if (rules.isOnce === true) return undefined;
  const { status, headers } = outcome.response;
  const waitMs = status === 429 || status === 503 ? retryAfterMs(headers) : undefined;
  if (waitMs !== undefined) {
    const { throttles } = state;
    if (throttles >= MAX_THROTTLES) return undefined;
    const restarted = { ...firstRead(rules.path), throttles: throttles + 1 };
    return { state: restarted, waitMs, isRequested: true };
  }
  if ([502, 503, 504].includes(status)) return retry(state);
  const isFollowed = rules.redirect !== 'stay' && state.redirects < MAX_REDIRECTS;
  const path = isFollowed ? redirectOf(outcome.response, rules.origin, state.path) : undefined;
  if (path === undefined) return undefined;
  return { state: { ...state, path, redirects: state.redirects + 1, retries: 0 } };
}

function retry(state: ReadState): NextRead | undefined {
  const waitMs = RETRY_DELAYS_MS[state.retries];
  return waitMs === undefined
    ? undefined
    : { state: { ...state, retries: state.retries + 1 }, waitMs };
}

/** Temporary faults. A timeout is none: a slow device gets no more load. */
export function isTemporary(error: unknown): boolean {
  return (
    error instanceof TransportFault &&
    ['refused', 'reset', 'wrong length', 'cut off'].includes(error.kind)
  );
}

/** No byte of the request was sent: the device refused the connection or closed it at once. */
export function isUnsent(error: unknown): boolean {
  return (
    error instanceof TransportFault &&
    !error.sent &&
    ['refused', 'reset', 'connect timeout'].includes(error.kind)
  );
}

/** The path to follow; undefined if it is no redirect or leaves the device. */
function redirectOf(
  { status, headers: { location } }: Response,
  origin: string,
  path: string,
): string | undefined {
  if (![301, 302, 303, 307, 308].includes(status)) return undefined;
  if (location === undefined || !URL.canParse(location, origin + path)) return undefined;
  const target = new URL(location, origin + path);
  const isSameDevice = target.origin === origin && target.username === '' && target.password === '';
  return isSameDevice ? target.pathname + target.search : undefined;
}

/** The wait in Retry-After (seconds or a date), if there is one. */
export function retryAfterMs(headers: Readonly<Record<string, string>>): number | undefined {
  const text = headers['retry-after']?.trim();
  if (text === undefined) return undefined;
  if (/^\d{1,15}(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
  // Date.parse would read a negative number as a year.
  const until = /^-?\d/.test(text) ? NaN : Date.parse(text);
  if (Number.isNaN(until)) return undefined;
  // Relative to the device's own clock, which may differ from ours.
  const now = Date.parse(headers['date'] ?? '');
  return Math.max(0, until - (Number.isNaN(now) ? Date.now() : now));
}
