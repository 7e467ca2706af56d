import { counted } from '../../text/one-line.ts';
import { seenRecords, type SeenRecords } from '../../settings/seen-keys.ts';
import { keyFieldOf } from '../../device/profile.ts';
import type { DeviceRecord } from '../../device/record.ts';
import { shortTime } from '../../text/time.ts';
import type { ShellSession } from '../session.ts';

/** "41 users, yesterday 17:02": the last known records of a device; undefined if nothing is known. */
export function lastSeenText(
  cached: Readonly<Record<string, SeenRecords>>,
  now: Date,
): string | undefined {
  const resource = Object.hasOwn(cached, 'user') ? 'user' : Object.keys(cached)[0];
  if (resource === undefined) return undefined;
  const { count, at } = cached[resource] ?? {};
  if (count === undefined || at === undefined) return undefined;
  return `${counted(count, resource)}, ${shortTime(new Date(at), now)}`;
}

/** Devices answer one after the other; their keys are written when they have. */
const GATHER_MS = 500;

/** The next session can complete them before it has connected. Ends with the session. */
export function rememberKeys(shell: ShellSession): void {
  const { fleet, services } = shell;
  const kept = new Map<string, readonly DeviceRecord[]>();
  let timer: NodeJS.Timeout | undefined;

  const keep = async (): Promise<void> => {
    timer = undefined;
    for (const session of fleet.known) {
      const { address } = session.ref;
      // Those of a session of its own (a demo) are gone with it.
      if (shell.given.has(session.ref.name)) continue;
      for (const resource of session.cachedResources) {
        const records = session.cached(resource) ?? [];
        if (kept.get(`${address}\n${resource}`) === records) continue;
        kept.set(`${address}\n${resource}`, records);
        const keyField = keyFieldOf(session.profile, resource, records);
        await services.seenKeys.keep(
          address,
          resource,
          seenRecords(records, keyField, services.now()),
        );
      }
    }
  };
  const stop = fleet.subscribe(() => {
    timer ??= setTimeout(() => shell.inBackground(keep()), GATHER_MS);
  });
  shell.closing.push(async () => {
    stop();
    clearTimeout(timer);
    await keep();
  });
}
