import { UsageError } from '../../errors.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import type { FleetRead } from '../../fleet/fleet.ts';
import type { Call } from '../command.ts';
import { type Given, type OptionKey, OPTIONS } from '../grammar/options.ts';
import type { Output } from '../output.ts';
import { readProgress } from './read-records.ts';

/* What the ways of comparing and counting records have in common. */

/** Throws a UsageError that names the first of these options that the line has. */
export function refuseGiven(options: Given, keys: readonly OptionKey[], why: string): void {
  const key = keys.find((one) => options[one] !== undefined && options[one] !== false);
  const flag = OPTIONS.find((option) => option.key === key)?.flag;
  if (flag !== undefined) throw new UsageError(`${why}: leave out --${flag}`);
}

/** What all of these devices have, in their order; yields the failures. */
export async function* readAll(
  call: Call,
  sessions: readonly DeviceSession[],
  resource: string,
  options: Parameters<Call['read']>[2] = {},
): AsyncGenerator<Output, Extract<FleetRead, { ok: true }>[]> {
  const found = new Map<DeviceSession, Extract<FleetRead, { ok: true }>>();
  for await (const one of call.read(sessions, resource, options)) {
    if (one.ok) found.set(one.session, one);
    else yield { kind: 'error', error: one.error, device: one.session.ref };
    yield readProgress(resource, one);
  }
  return sessions.flatMap((session) => found.get(session) ?? []);
}
