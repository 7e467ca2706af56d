import { isChangedCertificate, UnreachableError, UntrustedError } from '../../device/errors.ts';
import { routeText } from '../../device/route/route.ts';
import type { Member } from '../../fleet/member.ts';

/** What is known of one device of the session besides its state; not yet safe to show. */
export interface DeviceFacts {
  readonly latencyMs: number | undefined;
  readonly account: string | undefined;
  /** Undefined: nothing has been proved yet. */
  readonly trust: string | undefined;
  /** The built-in profile or the user's that it speaks by. */
  readonly profile: string;
  /** Undefined: directly. */
  readonly route: string | undefined;
  /** How many records were last seen of each resource. */
  readonly counts: readonly { readonly resource: string; readonly count: number }[];
}

/** The certificate is not the one that is pinned. */
export const CHANGED = 'CHANGED';

export function deviceFacts(member: Member): DeviceFacts {
  const { state, profile, entry, route } = member;
  const resources = new Set([...Object.keys(profile.resources), ...(profile.offers ?? [])]);
  return {
    latencyMs: state.kind === 'ready' && state.elapsedMs > 0 ? state.elapsedMs : undefined,
    account: member.account,
    trust: trustText(member),
    profile: entry.profile ?? 'documented',
    route: route === undefined || route.kind === 'direct' ? undefined : routeText(route),
    counts: [...resources].flatMap((resource) => {
      const records = member.seen(resource);
      return records === undefined ? [] : [{ resource, count: records.length }];
    }),
  };
}

function trustText(member: Member): string | undefined {
  const { trust, state } = member;
  if (state.kind === 'failed' && isChangedCertificate(state.error)) return CHANGED;
  switch (trust?.kind) {
    case undefined:
      return undefined;
    case 'pinned':
      return 'pinned';
    case 'ca':
      return hasProof(member) ? `CA ${trust.file}` : undefined;
    case 'system':
      return hasProof(member) ? 'system CA' : undefined;
    case 'insecure':
      return 'NOT CHECKED';
  }
}

/** Whether the device has shown a certificate that a CA signed; a pin stands for itself. */
function hasProof({ state }: Member): boolean {
  if (state.kind !== 'failed') return state.kind === 'ready';
  return !(state.error instanceof UntrustedError || state.error instanceof UnreachableError);
}
