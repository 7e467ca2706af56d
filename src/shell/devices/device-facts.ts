import { basename } from 'node:path';
import { isChangedCertificate, UnreachableError, UntrustedError } from '../../device/errors.ts';
import { routeText } from '../../device/route/route.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';

/** What is known of one device of the session besides its state; not yet safe to show. */
export interface DeviceFacts {
  /** The device's own time for the last response, without waiting for a connection. */
  readonly latencyMs: number | undefined;
  readonly account: string | undefined;
  /** Undefined: no certificate has been verified yet. */
  readonly trust: string | undefined;
  /** The name of its profile, built in or the user's. */
  readonly profile: string;
  /** Undefined: directly. */
  readonly route: string | undefined;
  /** Number of records at the last read, for each resource. */
  readonly counts: readonly { readonly resource: string; readonly count: number }[];
}

/** The certificate differs from the pinned one. */
export const CHANGED = 'CHANGED';
export const NOT_CHECKED = 'NOT CHECKED';

export function caText(file: string): string {
  return `CA ${basename(file)}`;
}

export function deviceFacts(session: DeviceSession): DeviceFacts {
  const { state, profile, entry, route } = session;
  const resources = new Set([...Object.keys(profile.resources), ...(profile.offers ?? [])]);
  return {
    latencyMs: state.kind === 'ready' ? state.latencyMs : undefined,
    account: session.account,
    trust: trustText(session),
    profile: entry.profile ?? 'documented',
    route: route === undefined || route.kind === 'direct' ? undefined : routeText(route),
    counts: [...resources].flatMap((resource) => {
      const records = session.cached(resource);
      return records === undefined ? [] : [{ resource, count: records.length }];
    }),
  };
}

function trustText(session: DeviceSession): string | undefined {
  const { trust, state } = session;
  if (state.kind === 'failed' && isChangedCertificate(state.error)) return CHANGED;
  switch (trust?.kind) {
    case undefined:
      return undefined;
    case 'pinned':
      return 'pinned';
    case 'ca':
      return hasProof(session) ? caText(trust.file) : undefined;
    case 'system':
      return hasProof(session) ? 'system CA' : undefined;
    case 'insecure':
      return NOT_CHECKED;
  }
}

/** Whether the device has presented a certificate that a CA signed. A pin is a proof in itself. */
function hasProof({ state }: DeviceSession): boolean {
  if (state.kind !== 'failed') return state.kind === 'ready';
  return !(state.error instanceof UntrustedError || state.error instanceof UnreachableError);
}
