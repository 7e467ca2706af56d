import { identifyingId } from '../change/identity.ts';
import type { GoneAt } from '../change/lineage.ts';
import type { Profile } from '../device/profile.ts';
import type { HistoryFiles } from './history-files.ts';
import type { KeptState } from './kept.ts';
import { type KnownReading, type Life, replay } from './replay.ts';

/** Which ids a device has stopped to show, under its identity of today: another record may have them since. */
export async function idsGone(
  files: HistoryFiles,
  device: string,
  profile: Profile,
): Promise<GoneAt> {
  return goneFrom(replay((await files.read(device)) ?? '').lives, profile);
}

/** Pure. */
export function goneFrom(lives: readonly Life[], profile: Profile): GoneAt {
  const known = new Map<KeptState, ReadonlySet<string>>();
  const idsOf = ({ state, keyField }: KnownReading): ReadonlySet<string> => {
    const ids =
      known.get(state) ??
      new Set(
        [...state.values()].flatMap(({ fields }) => identifyingId(profile, keyField, fields) ?? []),
      );
    known.set(state, ids);
    return ids;
  };
  const last = lives.at(-1)?.identity;
  const own = lives.filter(
    ({ identity: { pin, address } }) => pin === last?.pin && address === last.address,
  );
  return (resource, id, since) => {
    const readings = own.flatMap((life) => life.resources.get(resource)?.readings ?? []);
    return readingsSince(readings, since).find((reading) => {
      const ids = idsOf(reading);
      return !ids.has(id) && (ids.size > 0 || reading.state.size === 0);
    })?.to;
  };
}

/** In the order in which they were made, even if the clock was set back. */
function readingsSince(readings: readonly KnownReading[], since: number): readonly KnownReading[] {
  const first = readings.findIndex(({ from, to }, index) => {
    const before = readings[index - 1];
    const isBack = before !== undefined && to < before.from;
    return from >= since || (isBack && to < since);
  });
  return first < 0 || since === Infinity ? [] : readings.slice(first);
}
