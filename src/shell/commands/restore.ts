import { pluralOf } from '../../text/one-line.ts';
import { recordKey } from '../arguments.ts';
import { verb, type VerbSpec } from '../command.ts';
import { CHANGE } from '../grammar/options.ts';

export function restore(resource: string): VerbSpec {
  return verb({
    name: 'restore',
    summary: `Bring ${pluralOf(resource)} back to what they were at an earlier time`,
    args: [{ ...recordKey(resource), isRest: true }],
    options: [...CHANGE, 'at', 'where', 'prune'],
    forced: 'loss',
    details:
      'Plans from what each device has now to what devsh read there at --at TIME, or last before it: adds what\n' +
      'is gone, sets what differs, deletes what is new only with --prune. Without KEY and --where, which is\n' +
      'about the records of then, it means all. devsh names what does not come back: secrets (it keeps only\n' +
      'digests), ids, fields that the device sets or that move by themselves.\n' +
      'An account without its password is added disabled, if the device has a field for that; otherwise devsh\n' +
      'asks, and --yes alone is refused without --allow loss. password=… gives one, for a single KEY. An\n' +
      'account that a lockout removed since needs its KEY. devsh refuses a device that it did not read by then,\n' +
      'and one with another certificate or address than then. "undo" undoes it, like any run.',
    examples: [
      `${resource} restore --at 03:00 --on fw3 --dry-run`,
      `${resource} restore bob --at 2d`,
      `${resource} restore --where lang=de --at 2026-11-22T03:00Z --prune`,
    ],
    async *run(call) {
      const { restoreRecords } = await import('../past/restore.ts');
      yield* restoreRecords(call, resource);
    },
  });
}
