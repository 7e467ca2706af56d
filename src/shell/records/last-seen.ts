import { seenRecords } from '../../settings/seen-keys.ts';
import { keyFieldOf } from '../../device/profile.ts';
import type { DeviceRecord } from '../../device/record.ts';
import type { ShellSession } from '../session.ts';

/** The wait after an answer: devices answer one after the other, and their keys are written together. */
const GATHER_MS = 500;

/** Keeps the keys that this session reads, until it ends: the next session can complete them before it connects. */
export function rememberKeys(shell: ShellSession): void {
  const { fleet, services } = shell;
  const kept = new Map<string, readonly DeviceRecord[]>();
  let timer: NodeJS.Timeout | undefined;

  const keep = async (): Promise<void> => {
    timer = undefined;
    for (const session of fleet.known) {
      const { address } = session.ref;
      // The readings of a demo end with its session.
      if (shell.given.has(session.ref.name)) continue;
      for (const resource of session.cachedResources) {
        const records = session.cached(resource) ?? [];
        if (kept.get(`${address}\n${resource}`) === records) continue;
        kept.set(`${address}\n${resource}`, records);
        const keyField = keyFieldOf(session.profile, resource, records);
        await services.seenKeys.keep(address, resource, seenRecords(records, keyField));
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
