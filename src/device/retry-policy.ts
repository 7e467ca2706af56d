import { MAX_THROTTLE_MS, MAX_THROTTLES } from './errors.ts';
import type { Response } from './exchange.ts';
import { TransportFault } from './fault.ts';

const MAX_REDIRECTS = 3;
const RETRY_DELAYS_MS = [100, 300];
/** Reads wait so many times as long as one answer may take, where that is longer. */
const READ_THROTTLE_TIME = 10;

/** How far a read has come. */
interface ReadState {
  readonly path: string;
  /** How often it was sent on to get to this path. */
  readonly redirects: number;
  /** How often it was sent again to this path, as something went wrong. */
  readonly retries: number;
  /** How often it was begun anew, as the device asked to wait. */
  readonly throttles: number;
}

/** What came of one attempt. */
export type Outcome = { readonly response: Response } | { readonly fault: unknown };

interface ReadRules {
  /** Of the device. */
  readonly origin: string;
  /** The path that is asked for. */
  readonly path: string;
  /** `stay`: a redirect is the answer, and not followed. */
  readonly redirect?: 'stay' | undefined;
  /** How long one whole answer may take. */
  readonly timeoutMs: number;
  /** Nothing that failed is tried again. */
  readonly isClosed: boolean;
}

/** The attempt after this one: at once, or after a time that somebody asked for. */
interface NextRead {
  readonly state: ReadState;
  readonly waitMs?: number;
  /** The device itself asks for this wait. */
  readonly isAskedFor?: true;
}

export function firstRead(path: string): ReadState {
  return { path, redirects: 0, retries: 0, throttles: 0 };
}

/**
 * What follows an attempt to read; undefined when its outcome is what the caller gets. Not for writes:
 * some devices carry one out and say 429 all the same.
 */
export function nextRead(
  state: ReadState,
  outcome: Outcome,
  rules: ReadRules,
): NextRead | undefined {
  if ('fault' in outcome) {
    return !rules.isClosed && isPassing(outcome.fault) ? retry(state) : undefined;
  }
  const { status, headers } = outcome.response;
  const waitMs = status === 429 || status === 503 ? retryAfterMs(headers) : undefined;
  if (waitMs !== undefined) {
    const longestMs = Math.max(MAX_THROTTLE_MS, READ_THROTTLE_TIME * rules.timeoutMs);
    const { throttles } = state;
    if (waitMs > longestMs || throttles >= MAX_THROTTLES) return undefined;
    const anew = { ...firstRead(rules.path), throttles: throttles + 1 };
    return { state: anew, waitMs, isAskedFor: true };
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

/** Faults that may be gone a moment later; a device that does not answer in time gets no more load. */
export function isPassing(error: unknown): boolean {
  return (
    error instanceof TransportFault &&
    ['refused', 'reset', 'wrong length', 'cut off'].includes(error.kind)
  );
}

/** No byte of the request has left: the device did not take the connection, or ended it at once. */
export function isUnsent(error: unknown): boolean {
  return (
    error instanceof TransportFault &&
    !error.sent &&
    ['refused', 'reset', 'connect timeout'].includes(error.kind)
  );
}

/** The path to go on with; undefined when the answer is no redirect or leads away from the device. */
function redirectOf(
  { status, headers: { location } }: Response,
  origin: string,
  path: string,
): string | undefined {
  if (![301, 302, 303, 307, 308].includes(status)) return undefined;
  if (location === undefined || !URL.canParse(location, origin + path)) return undefined;
  const target = new URL(location, origin + path);
  const isOurs = target.origin === origin && target.username === '' && target.password === '';
  return isOurs ? target.pathname + target.search : undefined;
}

/** How long a device asks to wait, from seconds or a date; undefined when it does not say. */
export function retryAfterMs(headers: Readonly<Record<string, string>>): number | undefined {
  const text = headers['retry-after']?.trim();
  if (text === undefined) return undefined;
  if (/^\d{1,15}(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
  // Date.parse would take a negative number for a year.
  const until = /^-?\d/.test(text) ? NaN : Date.parse(text);
  if (Number.isNaN(until)) return undefined;
  // The device's own clock, where it tells the time: it may be far off from ours.
  const now = Date.parse(headers['date'] ?? '');
  return Math.max(0, until - (Number.isNaN(now) ? Date.now() : now));
}
