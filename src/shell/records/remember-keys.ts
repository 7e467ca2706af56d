import { keyFieldOf } from '../../device/profile.ts';
import type { DeviceRecord } from '../../device/record.ts';
import { seenRecords } from '../../settings/seen-keys.ts';
import type { Session } from '../session.ts';

/** Devices answer one after the other; their keys are written when they have. */
const GATHER_MS = 500;

/**
 * Keeps the keys that are read in a session, so that the next one can complete them before it has
 * connected. Ends with the session.
 */
export function rememberKeys(session: Session): void {
  const { fleet, services } = session;
  const kept = new Map<string, readonly DeviceRecord[]>();
  let timer: NodeJS.Timeout | undefined;

  const keep = async (): Promise<void> => {
    timer = undefined;
    for (const member of fleet.known) {
      const { address } = member.ref;
      // Those of a session of its own (a demo) are gone with it.
      if (session.given.has(member.ref.name)) continue;
      for (const resource of member.seenResources) {
        const records = member.seen(resource) ?? [];
        if (kept.get(`${address}\n${resource}`) === records) continue;
        kept.set(`${address}\n${resource}`, records);
        const keyField = keyFieldOf(member.profile, resource, records);
        await services.seenKeys.keep(
          address,
          resource,
          seenRecords(records, keyField, services.now()),
        );
      }
    }
  };
  const stop = fleet.subscribe(() => {
    timer ??= setTimeout(() => {
      session.inBackground(keep());
    }, GATHER_MS);
  });
  session.closing.push(async () => {
    stop();
    clearTimeout(timer);
    await keep();
  });
}
