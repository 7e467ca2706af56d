import type { LoginOutcome } from '../fleet/fresh-login.ts';

export type RotationEvent =
  /** `lost` is any response that is neither a yes nor a definite refusal. `not sent`: certainly. */
  | { readonly kind: 'sent'; readonly outcome: 'accepted' | 'refused' | 'lost' | 'not sent' }
  | { readonly kind: 'tried'; readonly secret: 'new' | 'old'; readonly outcome: LoginOutcome };

export type RotationAction =
  | { readonly kind: 'send' }
  /** Logs in once, on a new connection. */
  | { readonly kind: 'try'; readonly secret: 'new' | 'old'; readonly waitMs: number }
  | {
      readonly kind: 'end';
      readonly verdict: 'done' | 'no effect' | 'failed' | 'unknown';
      /** What a kept login needs: `both` if either may be in effect, also later. */
      readonly keeps: 'new' | 'old' | 'both';
    };

export interface RotationFacts {
  /** A request with the new secret may have reached the device before. */
  readonly isSent: boolean;
  /** The old secret is known. It is that of the account, not that of the login in use. */
  readonly knowsOld: boolean;
  /** The secret that was tried last before these events. Its login may have been refused, so the other one is tried first. */
  readonly lastTried?: 'new' | 'old' | undefined;
}

/** Delay before the new secret is tried again, or for the first time after a lost response. */
const SOON_MS = 200;
/**
 * Delays before each try of the old secret while an accepted change does not show yet. A secret that works locks no
 * account. The first try comes at once: its login ends the count of refused logins that the try of the new secret began,
 * before the change shows and the old secret is refused, too.
 */
const OLD_MS = [0, 200, 800, 2000, 4000];
/** Delay between two tries of the new secret alone: each refusal may count towards a lock of the account. */
const LATE_MS = 3000;
const MAX_REFUSALS = 2;

/**
 * The next action of a rotation on one device, from all that has happened. A request goes out at most once.
 * Only a login decides, never the response: the new secret counts when it opens a new connection, and is
 * given up only after a definite refusal with the old one working.
 */
export function nextAction(
  { isSent, knowsOld, lastTried }: RotationFacts,
  events: readonly RotationEvent[],
): RotationAction {
  const sentAt = events.findIndex(({ kind }) => kind === 'sent');
  const sent = events[sentAt];
  const tries = events.slice(sentAt + 1).filter((event) => event.kind === 'tried');
  const outcomeOf = (secret: 'new' | 'old') =>
    tries.findLast((event) => event.secret === secret)?.outcome;
  const [isNew, isOld] = [outcomeOf('new'), outcomeOf('old')];
  if (isNew === 'accepted') return end('done', 'new');
  switch (sent?.kind === 'sent' ? sent.outcome : undefined) {
    case undefined: {
      // If the old secret is unknown, the login in use sets the same secret again, and no login is tried.
      if (!isSent || !knowsOld || isOld === 'accepted') return { kind: 'send' };
      const order = lastTried === 'new' ? (['old', 'new'] as const) : (['new', 'old'] as const);
      const next = order.find((secret) => outcomeOf(secret) === undefined);
      return next === undefined ? end('unknown', 'both') : attempt(next);
    }
    case 'not sent':
      // An earlier request may have arrived; without the old secret, no login can disprove that.
      return end(isSent && !knowsOld ? 'unknown' : 'failed', 'both');
    case 'lost':
      if (isNew === undefined) return attempt('new', SOON_MS);
      if (knowsOld && isOld === undefined) return attempt('old');
      return isOld === 'accepted' ? end('failed', 'both') : end('unknown', 'both');
    case 'refused':
      if (knowsOld && isOld === undefined) return attempt('old');
      if (isOld === 'accepted') return end('failed', 'old');
      if (isNew === undefined) return attempt('new');
      return !knowsOld && isNew === 'refused' ? end('failed', 'old') : end('unknown', 'both');
    case 'accepted': {
      const refusals = tries.filter((one) => one.secret === 'new' && one.outcome === 'refused');
      if (isNew === undefined) return attempt('new');
      if (tries.length > OLD_MS.length) {
        return isOld === 'accepted' ? end('no effect', 'both') : end('unknown', 'both');
      }
      if (knowsOld && isOld !== 'refused') return attempt('old', OLD_MS[tries.length - 1]);
      if (refusals.length >= MAX_REFUSALS) return end('unknown', 'both');
      return attempt('new', knowsOld ? SOON_MS : LATE_MS);
    }
  }
}

function attempt(secret: 'new' | 'old', waitMs = 0): RotationAction {
  return { kind: 'try', secret, waitMs };
}

function end(
  verdict: (RotationAction & { kind: 'end' })['verdict'],
  keeps: 'new' | 'old' | 'both',
): RotationAction {
  return { kind: 'end', verdict, keeps };
}
