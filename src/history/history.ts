import { identifyingId } from '../change/identity.ts';
import type { GoneAt } from '../change/lineage.ts';
import type { Profile } from '../device/profile.ts';
import { type DeviceRecord, grouped } from '../device/record.ts';
import { DevshError, expectedError } from '../errors.ts';
import { mayLeaveOut } from '../fleet/device-session.ts';
import { counted, someOf } from '../text/one-line.ts';
import { rememberedFor } from '../text/remember.ts';
import { zonedTime } from '../text/time.ts';
import type { HistoryFiles } from './history-files.ts';
import type { KeptState } from './kept.ts';
import {
  type DeviceIdentity,
  type KnownReading,
  type IdentityPeriod,
  type Moment,
  replay,
} from './replay.ts';
import { type Note, textOf } from '../output/sentences.ts';

export interface PastState extends KnownReading {
  readonly records: readonly DeviceRecord[];
  /** The next reading; undefined if there is none yet. */
  readonly nextRead: Moment | undefined;
  /** Whether the device has had the same identity since then. */
  readonly isCurrentIdentity: boolean;
  /** The identities of the device then, and of the devices that have had its name since, in order. */
  readonly identities: readonly DeviceIdentity[];
  /** The fields that the list left out, if it was a summary. */
  readonly notRead: NotRead | undefined;
  /** Fields that move by themselves. The records do not have them. */
  readonly leftOut: readonly string[];
}

/** The fields that a summary list shows, and those that it is known to leave out. */
export interface NotRead {
  readonly shown: readonly string[];
  readonly omits: readonly string[];
}

/** The fields that readings of a list do not have; undefined if the list shows all, as far as known. */
export function notReadIn(
  { omits }: Pick<KnownReading, 'omits'>,
  state: KeptState,
): NotRead | undefined {
  if (omits === undefined) return undefined;
  const shown = [...new Set([...state.values()].flatMap(({ fields }) => Object.keys(fields)))];
  return { shown, omits: omits.filter((field) => !shown.includes(field)) };
}

/** `known are only uuid, username: the list leaves out at least lang` */
export function notReadText(found: NotRead): string {
  return textOf({ code: 'summary-list', ...found });
}

/** One remark for each summary, with the devices that have it: `user: known are only uuid, username: …`. */
export function notReadRemarks(
  lists: readonly {
    readonly device: string;
    readonly resource: string;
    readonly notRead: NotRead | undefined;
  }[],
): string[] {
  const groups = grouped(lists, ({ resource, notRead }) =>
    notRead === undefined ? undefined : `${resource}: ${notReadText(notRead)}`,
  );
  return [...groups].map(([text, same]) => `${text}: ${someOf(same.map(({ device }) => device))}`);
}

/** devsh read nothing before that time. */
export class NotReadError extends DevshError {
  readonly code = 'not-read';
  override readonly exitCode = 3;
}

export type NotKept = (device: string) => string | undefined;

export interface DeviceHistory {
  readonly device: string;
  /** The begin of the requested time, in ms UTC. */
  readonly since: number;
  /** Oldest first; none if nothing is kept. */
  readonly periods: readonly IdentityPeriod[];
  /** How many lines of its file are damaged; undefined if none is. */
  readonly damage: string | undefined;
  /** Why there are no readings, if there are none. */
  readonly unread: string;
}

export class History {
  readonly #files: HistoryFiles;
  readonly #notKept: NotKept;

  /** @param notKept why devsh keeps no reading of a device; undefined if it does */
  constructor(files: HistoryFiles, notKept: NotKept = () => undefined) {
    this.#files = files;
    this.#notKept = notKept;
  }

  /** The readings of a device since then (ms UTC), and the last state before. Everybody asks here. */
  of(device: string, since: number): DeviceHistory {
    const { periods, damaged } = replay(this.#files.read(device, since), since);
    const damage = damaged > 0 ? damageText(this.#files.path(device), damaged) : undefined;
    return { device, since, periods, damage, unread: this.#notKept(device) ?? 'never read' };
  }

  /** Tells when ids were gone from a device of the same identity: since then they may belong to another record. */
  goneAt(device: string, profile: Profile): GoneAt {
    return goneFrom(this.of(device, -Infinity).periods, profile);
  }

  /**
   * The state of a resource at `time`: that of the last reading that had ended by then. If there is none, an error says
   * when the first reading was.
   */
  stateAt(device: string, resource: string, time: number): PastState | DevshError {
    try {
      const { periods } = this.of(device, time);
      const all = periods.flatMap((period) => {
        const readings = period.resources.get(resource) ?? [];
        return readings.map((reading) => ({ period, last: readings.at(-1) ?? reading, reading }));
      });
      const index = all.findLastIndex(({ reading }) => reading.to <= time);
      const found = all[index];
      if (found === undefined) {
        const isLarge = periods.some(({ tooLarge }) => tooLarge.has(resource));
        const reason = all.length === 0 ? this.#notKept(device) : undefined;
        if (reason !== undefined) return new NotReadError(`${device}: ${reason}`);
        return new NotReadError(notRead(device, resource, time, all[0]?.reading, isLarge));
      }
      const { period, last, reading } = found;
      return {
        ...reading,
        records: Array.from(reading.state.values(), ({ fields }) => fields),
        nextRead: all[index + 1]?.reading,
        isCurrentIdentity: period === periods.at(-1),
        identities: periods.slice(periods.indexOf(period)).flatMap(({ identities }) => identities),
        leftOut: last.moving?.fields ?? [],
        notRead: notReadIn(last, reading.state),
      };
    } catch (error) {
      return expectedError(error);
    }
  }
}

function notRead(
  device: string,
  resource: string,
  time: number,
  first: Moment | undefined,
  isLarge: boolean,
): Note {
  const what = { code: 'not-read', device, resource } as const;
  if (first === undefined) return { ...what, is: isLarge ? 'large' : 'yet' };
  return { ...what, is: 'then', time: zonedTime(time), first: zonedTime(first.to) };
}

/** `…/fw3.jsonl (2 lines damaged, or after a damaged one)` */
export function damageText(path: string, lines: number): string {
  return textOf({ code: 'damaged-lines', path, lines: counted(lines, 'line') });
}

/** Pure. */
export function goneFrom(periods: readonly IdentityPeriod[], profile: Profile): GoneAt {
  const idsIn = rememberedFor((state: KeptState, keyField: string) => {
    const ids = [...state.values()].map(({ fields }) => identifyingId(profile, keyField, fields));
    return new Set(ids.filter((id) => id !== undefined));
  });
  const last = periods.at(-1)?.identities[0];
  const own = periods.filter(({ identities }) =>
    identities.some(({ pin, address }) => pin === last?.pin && address === last.address),
  );
  return (resource, id, since) => {
    const readings = own.flatMap((period) => period.resources.get(resource) ?? []);
    const most = readings.reduce((size, { state }) => Math.max(size, state.size), 0);
    return readingsSince(readings, since).find((reading) => {
      const { list, state, keyField } = reading;
      if (mayLeaveOut(list, state.size, most)) return false;
      const ids = idsIn(state, keyField);
      return !ids.has(id) && (ids.size > 0 || state.size === 0);
    })?.to;
  };
}

/** The readings since then, in the order in which they were made, even if the clock was set back. */
function readingsSince(readings: readonly KnownReading[], since: number): readonly KnownReading[] {
  const first = readings.findIndex(({ from, to }, index) => {
    const before = readings[index - 1];
    const isBack = before !== undefined && to < before.from;
    return from >= since || (isBack && to < since);
  });
  return first < 0 || since === Infinity ? [] : readings.slice(first);
}
