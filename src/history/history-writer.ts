import {
  closeSync,
  ftruncateSync,
  openSync,
  readFileSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type { DeviceRecord } from '../device/record.ts';
import { fileError, writeTextAtomically } from '../os/files.ts';
import type { HistoryFiles, HistoryLimits } from './history-files.ts';
import { Keeper } from './kept.ts';
import { digestKeyName, type LineOfReading, lineText, provenSum, summed } from './lines.ts';
import {
  compacted,
  isTooLarge,
  lastLine,
  type LastLine,
  nextLines,
  type NewReading,
  sameLine,
  setBackMs,
} from './next-lines.ts';
import { lastTrack, replay } from './replay.ts';

/** Enough for the last lines of a device, unless one of them has many records. */
const TAIL_BYTES = 1_024;
/** Of unchanged readings, one in this time is written at once; the last one when something changes or at the end. */
const SAME_EVERY_MS = 60_000;
/** After so many ms of writing, other work gets its turn. */
const TURN_MS = 10;
const DAY_MS = 86_400_000;

/** A reading that waits to be written. */
export type Observed = Omit<NewReading, 'identity' | 'before'> & {
  /** The session that read; what it read before is kept for as long as it lives. */
  readonly session: object;
  readonly name: string;
  readonly address: string;
  readonly pin: string;
  readonly redact: (text: string) => string;
};

/** Receives what could not be kept. */
interface Problems {
  readonly onError: (error: unknown) => void;
  /** Only the first of several in a row. */
  readonly onTooLarge: (reading: Observed) => void;
  /** The clock was set back since an earlier reading. */
  readonly onSetBack: (byMs: number) => void;
}

/** Writes the readings of one process. */
export class HistoryWriter {
  readonly #files: HistoryFiles;
  /** Unchanged readings that are not written yet, by path and resource. */
  readonly #held = new Map<string, { readonly path: string; readonly line: LineOfReading }>();
  /** What each session read last, by resource: it caches the same. Its first reading is written at once. */
  readonly #last = new WeakMap<object, Map<string, readonly DeviceRecord[]>>();
  #appended = 0;

  constructor(files: HistoryFiles) {
    this.#files = files;
  }

  /** Appends what the readings show. A device that cannot be kept does not stop the others. */
  async write(
    readings: readonly Observed[],
    limits: HistoryLimits,
    { onError, onTooLarge, onSetBack }: Problems,
  ): Promise<void> {
    await this.#files.exclusively(async () => {
      const key = await this.#files.key();
      const digestKey = digestKeyName(key);
      let turn = performance.now();
      for (const reading of readings) {
        const { name, address, pin, redact } = reading;
        const identity = { name, address, pin, digestKey };
        try {
          const keeper = new Keeper(key, redact);
          const isNew = this.#keep({ ...reading, identity }, keeper, onSetBack);
          if (isNew && isTooLarge(reading)) onTooLarge(reading);
        } catch (error) {
          onError(error);
        }
        if (performance.now() - turn > TURN_MS) {
          await nextTurn();
          turn = performance.now();
        }
      }
      await this.#compact(limits, Date.now());
    });
  }

  /** Writes the unchanged readings that were not written yet. */
  async close(): Promise<void> {
    const held = [...this.#held.values()];
    this.#held.clear();
    if (held.length === 0) return;
    await this.#files.exclusively(() => {
      for (const { path, line } of held) this.#append(path, (lastOf) => followUp(lastOf, line));
      return Promise.resolve();
    });
  }

  /** Returns whether it has written something. */
  #keep(reading: Observed & NewReading, keeper: Keeper, onSetBack: Problems['onSetBack']): boolean {
    const now = Date.now();
    const path = this.#files.path(reading.identity.name);
    const id = `${path}\n${reading.resource}`;
    return this.#append(path, (lastOf, whole) => {
      const last = lastOf(reading.resource);
      if (last?.kind === 'large' && isTooLarge(reading)) return undefined;
      const same = sameLine(last, reading, keeper);
      const held = this.#held.get(id)?.line;
      const kept = this.#last.get(reading.session) ?? new Map<string, readonly DeviceRecord[]>();
      const before = kept.get(reading.resource);
      kept.set(reading.resource, isTooLarge(reading) ? [] : reading.records);
      this.#last.set(reading.session, kept);
      if (same === undefined) {
        this.#held.delete(id);
        const text = (held && followUp(lastOf, held)) ?? '';
        const next = nextLines(whole() + text, { ...reading, before }, keeper, now);
        if (next === undefined) return text;
        if (next.setBackMs > 0) onSetBack(next.setBackMs);
        return text + next.text;
      }
      const isSoon = reading.to - (last?.to ?? 0) < SAME_EVERY_MS;
      if (!isSoon || before === undefined) {
        this.#held.delete(id);
        return lineText(same);
      }
      const backMs = held === undefined ? 0 : setBackMs(held.to, same, now);
      if (backMs > 0) onSetBack(backMs);
      if (held === undefined || same.from > held.from || backMs > 0) {
        this.#held.set(id, { path, line: same });
      }
      return undefined;
    });
  }

  /** Synchronous, because a fleet has many files. */
  #append(path: string, linesFor: (lastOf: LastOf, whole: () => string) => string | undefined) {
    try {
      const file = openSync(path, 'a+', 0o600);
      try {
        const bytes = readFileSync(file);
        const tail = bytes.toString('utf8', Math.max(0, bytes.length - TAIL_BYTES));
        // A line cut off by a crash must not merge with the next one.
        const end = bytes.length > 0 && !tail.endsWith('\n') ? '\n' : '';
        const whole = (): string => bytes.toString('utf8') + end;
        // Undefined: a line is damaged, so the end of the file is not trusted.
        const sum = provenSum(bytes) ?? (replay(whole()).damaged === 0 ? crc32(bytes) : undefined);
        const lastOf: LastOf = (resource) => {
          const last = lastLine(tail, resource);
          return sum !== undefined || isApplied(last, whole()) ? last : undefined;
        };
        const lines = linesFor(lastOf, whole);
        if (lines) {
          const text = sum === undefined ? end + lines : summed(end + lines, sum);
          this.#appended += appendWhole(file, bytes.length, text);
        }
        return Boolean(lines);
      } finally {
        closeSync(file);
      }
    } catch (error) {
      throw fileError('write', path, error);
    }
  }

  /** Once a day, and when this process has written much: drops what is too old, and what is too much. */
  async #compact({ days, megabytes }: HistoryLimits, now: number): Promise<void> {
    const stamp = join(this.#files.folder, 'compacted');
    const limit = megabytes * 1_000_000;
    const last = await stat(stamp).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    );
    if (now - last < DAY_MS && this.#appended < limit / 20) return;
    this.#appended = 0;
    // A tenth more, so that not every file is written again each day.
    await this.#dropBefore(now - days * DAY_MS, (days * DAY_MS) / 10);
    for (let left = days / 2; (await this.#size()) > limit; left /= 2) {
      await this.#dropBefore(left < 0.1 ? now : now - left * DAY_MS, 0);
      if (left < 0.1) break;
    }
    writeFileSync(stamp, '', { mode: 0o600 });
    utimesSync(stamp, now / 1000, now / 1000);
  }

  async #size(): Promise<number> {
    let total = 0;
    for (const size of (await this.#files.sizes()).values()) total += size;
    return total;
  }

  async #dropBefore(since: number, toleranceMs: number): Promise<void> {
    for (const path of (await this.#files.sizes()).keys()) {
      const text = await readFile(path, 'utf8');
      const first = /"to":(\d+)/.exec(text.slice(0, 1_000))?.[1];
      if (first === undefined || Number(first) >= since - toleranceMs) continue;
      const rest = compacted(text, since);
      if (rest.length < text.length) await writeTextAtomically(path, rest, false);
    }
  }
}

/** The last line of a resource that readers of the file can use; undefined if the whole file has to be read. */
type LastOf = (resource: string) => LastLine;

/** The line of an unchanged reading, unless the file went on without it. */
function followUp(lastOf: LastOf, line: LineOfReading): string | undefined {
  const last = lastOf(line.resource);
  const isKnown = last !== undefined && last.kind !== 'large' && last.life === line.life;
  const isNext = isKnown && last.digest === line.digest && line.from >= last.to;
  return isNext ? lineText(line) : undefined;
}

/** Whether a replay of a damaged file gets to this line. */
function isApplied(last: LastLine, whole: string): boolean {
  if (last === undefined || last.kind === 'large') return true;
  return lastTrack(whole, last.life, last.resource).track?.digest === last.digest;
}

/** Appends all of it or nothing: a full disk may take only a part. Returns the number of bytes. */
function appendWhole(file: number, size: number, text: string): number {
  const bytes = Buffer.from(text);
  try {
    for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
    return bytes.length;
  } catch (error) {
    ftruncateSync(file, size);
    throw error;
  }
}
