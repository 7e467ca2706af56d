import { routeText } from '../device/route/route.ts';
import type { Member } from '../fleet/member.ts';

/** What is known of one device of the session besides its state; not yet safe to show. */
export interface DeviceFacts {
  readonly latencyMs: number | undefined;
  readonly account: string | undefined;
  readonly trust: string | undefined;
  /** The built-in profile or the user's that it speaks by. */
  readonly profile: string;
  /** Undefined: directly. */
  readonly route: string | undefined;
  /** How many records were last seen of each resource. */
  readonly counts: readonly { readonly resource: string; readonly count: number }[];
}

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

function trustText({ trust }: Member): string | undefined {
  switch (trust?.kind) {
    case undefined:
      return undefined;
    case 'pinned':
      return 'pinned';
    case 'ca':
      return `CA ${trust.file}`;
    case 'system':
      return 'system CA';
    case 'insecure':
      return 'NOT CHECKED';
  }
}
