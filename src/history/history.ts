import { DevshError } from '../errors.ts';
import type { DeviceRecord } from '../device/record.ts';
import { attributed, type WrittenStep } from './attribution.ts';
import { type Event, eventsOf } from './events.ts';
import type { HistoryFiles } from './history-files.ts';
import type { KeptState } from './kept.ts';
import type { Identity, Moment } from './lines.ts';
import { type KnownReading, type Life, replay, type ResourceLife } from './replay.ts';

/** The devices and the time of a question. Times in ms UTC; open if absent. */
export interface Period {
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** A state that was read. */
export interface PastState {
  readonly records: readonly DeviceRecord[];
  /** The same with digests, by key. */
  readonly state: KeptState;
  readonly keyField: string;
  /** The reading that shows it. */
  readonly read: Moment;
  /** The next reading; undefined if there is none yet. */
  readonly nextRead: Moment | undefined;
  /** When the life began, in ISO 8601. */
  readonly life: string;
  /** Whether the device is still in that life, as far as is known. */
  readonly isCurrentLife: boolean;
  /** Which device it was, and which ones have had its name since, in order. */
  readonly identities: readonly Identity[];
  /** Fields whose secrets are masked in some record: only digests are kept. */
  readonly lossy: readonly string[];
  /** Fields that move by themselves; the records are without them. */
  readonly leftOut: readonly string[];
}

/** What is known of a resource on one device. */
export interface Coverage {
  readonly device: string;
  readonly resource: string;
  readonly first: Moment | undefined;
  readonly last: Moment | undefined;
  readonly readings: number;
  /** The longest time between two readings; undefined with less than two. */
  readonly longestGap: Moment | undefined;
  readonly lives: number;
  /** The last reading that has too many records to be kept. */
  readonly tooLarge: (Moment & { readonly records: number }) | undefined;
}

/** Nothing was read before that time. */
export class NotReadError extends DevshError {
  readonly code = 'not-read';
  override readonly exitCode = 3;
}

/** Answers questions about what was read in the past. */
export class History {
  readonly #files: HistoryFiles;

  constructor(files: HistoryFiles) {
    this.#files = files;
  }

  /** The lives of a device, oldest first; none if nothing is kept. */
  async lives(device: string): Promise<readonly Life[]> {
    const text = await this.#files.read(device);
    return text === undefined ? [] : replay(text).lives;
  }

  /** The complete readings of a resource, oldest first. */
  async readingsOf(device: string, resource: string, period: Period = {}): Promise<Moment[]> {
    const lives = await this.lives(device);
    return lives
      .flatMap((life) => life.resources.get(resource)?.readings ?? [])
      .filter(({ from, to }) => isIn(period, from, to))
      .map(({ from, to }) => ({ from, to }));
  }

  /** What changed, oldest first. With `steps` it says which run did it. */
  async events(
    devices: readonly string[],
    period: Period & { readonly resource?: string | undefined } = {},
    steps: readonly WrittenStep[] = [],
  ): Promise<Event[]> {
    const events: Event[] = [];
    for (const device of devices) events.push(...eventsOf(device, await this.lives(device)));
    const asked = events.filter(
      (event) =>
        isIn(period, event.after ?? event.before, event.before) &&
        (period.resource === undefined ||
          event.resource === undefined ||
          event.resource === period.resource),
    );
    return attributed(asked, steps).sort((a, b) => a.before - b.before);
  }

  /**
   * The state of a resource that was current at `time`: that of the last reading that ended by then. Throws
   * NotReadError if there is none, and says when the first reading was.
   */
  async stateAt(device: string, resource: string, time: number): Promise<PastState> {
    const lives = await this.lives(device);
    const all = lives.flatMap((life) => {
      const known = life.resources.get(resource);
      return (known?.readings ?? []).map((reading) => ({ life, known, reading }));
    });
    const index = all.findLastIndex(({ reading }) => reading.to <= time);
    const found = all[index];
    if (found?.known === undefined) {
      const isLarge = lives.some(({ tooLarge }) => tooLarge.has(resource));
      throw new NotReadError(notRead(device, resource, time, all[0]?.reading, isLarge));
    }
    const { life, known, reading } = found;
    const next = all[index + 1]?.reading;
    const kept = [...reading.state.values()];
    return {
      records: kept.map(({ fields }) => fields),
      state: reading.state,
      keyField: reading.keyField,
      read: { from: reading.from, to: reading.to },
      nextRead: next && { from: next.from, to: next.to },
      life: life.id,
      isCurrentLife: life === lives.at(-1),
      identities: lives.slice(lives.indexOf(life)).map(({ identity }) => identity),
      lossy: [...new Set(kept.flatMap(({ digests = {} }) => Object.keys(digests)))],
      leftOut: known.moving,
    };
  }

  /** What is known of each device, also of those that were never read. */
  async coverage(
    devices: readonly string[],
    resource: string,
    period: Period = {},
  ): Promise<Coverage[]> {
    const all: Coverage[] = [];
    for (const device of devices) {
      const lives = await this.lives(device);
      const readings = lives
        .flatMap((life) => life.resources.get(resource)?.readings ?? [])
        .filter(({ from, to }) => isIn(period, from, to));
      all.push({
        ...{ device, resource, first: moment(readings[0]), last: moment(readings.at(-1)) },
        ...{ readings: readings.length, longestGap: longestGap(readings), lives: lives.length },
        tooLarge: lives.findLast((life) => life.tooLarge.has(resource))?.tooLarge.get(resource),
      });
    }
    return all;
  }

  /** The last values of fields that move by themselves, by key, and when they were read. */
  async movingValues(
    device: string,
    resource: string,
  ): Promise<Pick<ResourceLife, 'values' | 'valuesAt'> | undefined> {
    return (await this.lives(device)).at(-1)?.resources.get(resource);
  }
}

function isIn({ since = -Infinity, until = Infinity }: Period, from: number, to: number): boolean {
  return to >= since && from <= until;
}

function moment(reading: KnownReading | undefined): Moment | undefined {
  return reading && { from: reading.from, to: reading.to };
}

function longestGap(readings: readonly Moment[]): Moment | undefined {
  let longest: Moment | undefined;
  for (const [index, { from, to }] of readings.entries()) {
    const before = readings[index - 1];
    if (before === undefined) continue;
    const gap = { from: before.from, to: Math.max(from, to) };
    if (longest === undefined || gap.to - gap.from > longest.to - longest.from) longest = gap;
  }
  return longest;
}

function notRead(
  device: string,
  resource: string,
  time: number,
  first: Moment | undefined,
  isLarge: boolean,
): string {
  const at = new Date(time).toISOString();
  if (first === undefined && isLarge) return `${device}: ${resource} is too large to be kept`;
  return first === undefined
    ? `${device}: devsh has not kept a reading of ${resource} yet`
    : `${device}: ${resource} was not read by ${at}; the first reading is of ${new Date(first.to).toISOString()}`;
}
