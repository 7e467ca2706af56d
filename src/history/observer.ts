import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import {
  hasPositionalIds,
  ignoredFields,
  omittedByList,
  keyFieldOf,
  ownAddress,
  type Profile,
} from '../device/profile.ts';
import { isHarmlessField } from '../change/account-harm.ts';
import { type DeviceRecord, type DeviceRef, valueText } from '../device/record.ts';
import { isPublicField } from '../device/secret-names.ts';
import { redactorOf } from '../device/sensitive-fields.ts';
import { unlessFailed } from '../errors.ts';
import type { DeviceSession, KnownList, Reading } from '../fleet/device-session.ts';
import { mapInTurns } from '../fleet/fan-out.ts';
import { fileError, openToAppend } from '../os/files.ts';
import { endSince, HistoryFiles, type HistoryLimits } from './history-files.ts';
import { Keeper } from './kept.ts';
import {
  isTooLarge,
  lastLine,
  type LastLine,
  MAX_RECORDS,
  type NewReading,
  nextLines,
  sameLine,
} from './next-lines.ts';
import {
  digestKeyName,
  type LineOfReading,
  lineText,
  provenSum,
  replay,
  summed,
} from './replay.ts';
import { textOf } from '../output/sentences.ts';

/** Readings are written when no new one has arrived for this long, and before the process ends. */
const QUIET_MS = 1_000;
/** No reading waits for longer, even if others arrive all the time in a long run. */
const LONGEST_MS = 30_000;

/** A smaller correction of the clock is normal and not reported. */
const NOTED_MS = 1_000;

type Report = (text: string, level: 'info' | 'warning') => void;

/** Removes the secrets that a session has used or sent from a text. */
export function redactorFor({
  credential,
  sentSecrets,
}: Pick<DeviceSession, 'credential' | 'sentSecrets'>): (text: string) => string {
  const sent = [...sentSecrets];
  // A session that has written nothing needs no redactor, which saves time in a large fleet.
  const redactSent = sent.length === 0 ? (text: string) => text : redactorOf(sent);
  return (text) => redactSent(credential?.redact(text) ?? text);
}

/** The fields whose values may identify a record beside its natural key. */
function idFieldsOf(
  profile: Profile,
  keyField: string,
  records: readonly DeviceRecord[],
): readonly string[] {
  const { idFields, basePath } = profile;
  if (hasPositionalIds(profile) || idFields.length === 0 || idFields.includes(keyField)) return [];
  const address = records[0] && ownAddress(records[0], basePath);
  return address === undefined ? idFields : [...idFields, address.field];
}

interface Known extends KnownList {
  readonly images: (readonly [key: string, image: DeviceRecord])[];
  readonly absent: Set<string>;
  most: number;
}

/** Adds the records of a later reading. */
function note(known: Known, { records, keyField }: Pick<Observed, 'records' | 'keyField'>): void {
  const last = new Set(known.images.map(([, image]) => image));
  known.most = Math.max(known.most, records.length);
  for (const record of records) {
    const key = valueText(record[keyField]);
    known.absent.delete(key);
    if (!last.has(record)) known.images.push([key, record]);
  }
}

/** Keeps every complete reading of this process. A failure costs readings and one warning, but no command. */
export class Observer {
  readonly files: HistoryFiles;
  /** Whether the user was told, in this process or before, that readings are kept. */
  isAnnounced = false;
  readonly #limits: () => HistoryLimits;
  readonly #report: Report;
  readonly #onSetBack: (byMs: number) => void;
  readonly #known = new WeakMap<DeviceSession, Map<string, Known>>();
  #waiting: Observed[] = [];
  readonly #writer: HistoryWriter;
  #writing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #lastAt = 0;
  #hasFailed = false;

  /**
   * @param report receives the announcement of the first reading that is kept, and a warning
   * @param onSetBack called if the clock was set back since an earlier reading
   */
  constructor(
    folder: string,
    limits: () => HistoryLimits,
    report: Report,
    onSetBack: (byMs: number) => void,
  ) {
    this.files = new HistoryFiles(folder);
    this.#writer = new HistoryWriter(this.files);
    this.#limits = limits;
    this.#report = report;
    this.#onSetBack = onSetBack;
  }

  /** Queues a reading, which is written later. */
  readonly observe = (
    session: DeviceSession,
    { resource, records, startedAt, endedAt, clock, isAgain }: Reading,
  ): void => {
    const { profile, pin } = session;
    if (this.#limits().days === 0 || pin === undefined) return;
    this.#announce();
    const keyField = keyFieldOf(profile, resource, records);
    const idFields = idFieldsOf(profile, keyField, records);
    const isHarmless = (field: string): boolean =>
      idFields.includes(field) ||
      isPublicField(field) ||
      isHarmlessField({ profile, resource, keyField }, field);
    this.#waiting.push({
      ...session.ref,
      session,
      ...{ pin, resource, records, from: startedAt, to: endedAt, clock, keyField },
      idFields,
      moving: ignoredFields(profile, resource),
      omits: omittedByList(profile, resource, records),
      list: session.endOf(resource),
      isAgain,
      absent: new Set(),
      redact: redactorFor(session),
      mayKeep: this.#limits().isClosed === true ? isHarmless : undefined,
    });
    const known = this.#known.get(session)?.get(resource);
    if (known !== undefined) note(known, { records, keyField });
    this.#lastAt = performance.now();
    this.#timer ??= this.#writeWhenQuiet(QUIET_MS);
  };

  /** All that the list of a device of this identity has shown. Read once for each session, which adds its readings. */
  known(session: DeviceSession, resource: string): KnownList {
    const lists = this.#known.get(session) ?? new Map<string, Known>();
    this.#known.set(session, lists);
    const list = lists.get(resource) ?? this.#readKnown(session, resource);
    lists.set(resource, list);
    return list;
  }

  #readKnown({ ref, pin }: DeviceSession, resource: string): Known {
    const { periods } = replay(this.files.read(ref.name, -Infinity));
    const own = periods.filter(
      ({ identities: [last] }) => last.address === ref.address && last.pin === pin,
    );
    const readings = own.flatMap((period) => period.resources.get(resource) ?? []);
    const states = new Set(readings.map(({ state }) => state));
    const kept = new Set([...states].flatMap((state) => [...state.values()]));
    const known: Known = {
      images: Array.from(kept, ({ key, fields }) => [key, fields]),
      absent: new Set(readings.at(-1)?.absent),
      most: [...states].reduce((most, { size }) => Math.max(most, size), 0),
    };
    for (const one of this.#waiting) {
      if (one.name === ref.name && one.resource === resource && one.pin === pin) note(known, one);
    }
    return known;
  }

  /** Adds the proof that a record is absent to the last reading, if that is not written yet. */
  proveAbsent(session: DeviceSession, resource: string, key: string): void {
    this.#known.get(session)?.get(resource)?.absent.add(key);
    const last = this.#waiting.findLast(
      (one) => one.session === session && one.resource === resource,
    );
    last?.absent?.add(key);
  }

  /** Notes that the device with the new pin is the same one, because the user has replaced the pin. */
  async replacePin(device: DeviceRef, old: string, pin: string): Promise<void> {
    await this.flush();
    await unlessFailed(this.#writer.replacePin(device, old, pin));
  }

  /** Starts one timer for the whole fleet. It starts again if readings have arrived meanwhile. */
  #writeWhenQuiet(ms: number, startedAt = performance.now()): NodeJS.Timeout {
    const timer = setTimeout(() => {
      const waitMs = Math.min(this.#lastAt + QUIET_MS, startedAt + LONGEST_MS) - performance.now();
      this.#timer = waitMs > 0 ? this.#writeWhenQuiet(waitMs, startedAt) : undefined;
      if (this.#timer === undefined) void this.flush();
    }, ms);
    return timer.unref();
  }

  /** Writes the readings so far. Never throws. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    const readings = this.#waiting;
    this.#waiting = [];
    if (readings.length === 0) return;
    try {
      await this.#writer.write(readings, this.#limits(), {
        onError: (error) => this.#warn(error),
        onSetBack: (byMs) => {
          if (byMs >= NOTED_MS) this.#onSetBack(byMs);
        },
        onTooLarge: ({ name, resource, records }) => {
          const values = { device: name, resource, count: records.length, most: MAX_RECORDS };
          this.#report(textOf({ code: 'history', is: 'large', ...values }), 'info');
        },
      });
    } catch (error) {
      this.#warn(error);
    }
  }

  #announce(): void {
    if (this.isAnnounced) return;
    this.isAnnounced = true;
    if (this.files.exists) return;
    const { folder } = this.files;
    this.#report(textOf({ code: 'history', is: 'kept', folder }), 'info');
  }

  #warn(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    const reason = error instanceof Error ? error.message : '';
    this.#report(textOf({ code: 'history', is: 'lost', reason }), 'warning');
  }
}

/** Usually long enough for the last line of each resource. */
const TAIL_BYTES = 1_024;
/** A session keeps one unchanged reading in this time. */
export const SAME_EVERY_MS = 60_000;
const DAY_MS = 86_400_000;

/** A reading that waits to be written. */
type Observed = Omit<NewReading, 'identity'> & {
  readonly session: object;
  /** Whether the session has read this list before. */
  readonly isAgain?: boolean;
  readonly name: string;
  readonly address: string;
  readonly pin: string;
  readonly redact: (text: string) => string;
  readonly mayKeep?: ((field: string) => boolean) | undefined;
};

interface Problems {
  readonly onError: (error: unknown) => void;
  /** Called for the first of several such readings in a row. */
  readonly onTooLarge: (reading: Observed) => void;
  /** Called if the clock was set back since an earlier reading. */
  readonly onSetBack: (byMs: number) => void;
}

/** Writes the readings of one process. */
export class HistoryWriter {
  readonly #files: HistoryFiles;
  #appended = 0;

  constructor(files: HistoryFiles) {
    this.#files = files;
  }

  /** Appends the lines of the readings. A failure for one device does not stop the others. */
  async write(
    readings: readonly Observed[],
    limits: HistoryLimits,
    { onError, onTooLarge, onSetBack }: Problems,
  ): Promise<void> {
    await this.#files.exclusively(async () => {
      const key = await this.#files.key();
      const digestKey = digestKeyName(key);
      await mapInTurns(readings, (reading) => {
        const { name, address, pin, redact, mayKeep } = reading;
        const identity = { name, address, pin, digestKey };
        try {
          const keeper = new Keeper(key, redact, mayKeep);
          const isNew = this.#keep({ ...reading, identity }, keeper, onSetBack);
          if (isNew && isTooLarge(reading)) onTooLarge(reading);
        } catch (error) {
          onError(error);
        }
      });
      await this.#compact(limits, Date.now());
    });
  }

  async replacePin({ name, address }: DeviceRef, old: string, pin: string): Promise<void> {
    const path = this.#files.path(name);
    if (!existsSync(path)) return;
    await this.#files.exclusively(() => {
      this.#append(path, (_, whole) => {
        const { end } = replay(whole());
        const last = end?.identities[0];
        if (last?.address !== address || last.pin !== old) return undefined;
        return lineText({ ...last, kind: 'life', at: Date.now(), pin, replaces: old });
      });
      return Promise.resolve();
    });
  }

  /** Appends a reading. Returns whether it has written something. */
  #keep(reading: Observed & NewReading, keeper: Keeper, onSetBack: Problems['onSetBack']): boolean {
    const now = Date.now();
    const path = this.#files.path(reading.identity.name);
    return this.#append(path, (lastOf, whole) => {
      const last = lastOf(reading.resource);
      if (last?.kind === 'large' && isTooLarge(reading)) return undefined;
      const same = sameLine(last, reading, keeper);
      if (same !== undefined)
        return reading.isAgain === true && isSoon(same, last) ? undefined : lineText(same);
      const next = nextLines(whole(), reading, keeper, now);
      if (next !== undefined && next.setBackMs > 0) onSetBack(next.setBackMs);
      return next?.text;
    });
  }

  /** Appends lines to a file. Synchronous, because that is faster for the many files of a fleet. */
  #append(path: string, linesFor: (lastOf: LastOf, whole: () => string) => string | undefined) {
    try {
      const file = openToAppend(path);
      try {
        const bytes = endSince(file, Infinity);
        const tail = bytes.toString('utf8', Math.max(0, bytes.length - TAIL_BYTES));
        // A line cut off by a crash must not merge with the next one.
        const end = bytes.length > 0 && !tail.endsWith('\n') ? '\n' : '';
        const whole = (): string => bytes.toString('utf8') + end;
        // Undefined if a line is damaged: then the last lines are not trusted.
        const sum = provenSum(bytes) ?? (replay(whole()).damaged === 0 ? crc32(bytes) : undefined);
        const lastOf: LastOf = (resource) =>
          sum === undefined ? undefined : lastLine(tail, resource);
        const lines = linesFor(lastOf, whole);
        if (lines) {
          const text = sum === undefined ? end + lines : summed(end + lines, sum);
          this.#appended += appendWhole(file, text);
        }
        return Boolean(lines);
      } finally {
        closeSync(file);
      }
    } catch (error) {
      throw fileError('write', path, error);
    }
  }

  /** Drops old readings, once a day and when this process has written much. */
  async #compact(limits: HistoryLimits, now: number): Promise<void> {
    const stamp = join(this.#files.folder, 'compacted');
    const last = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (now - last < DAY_MS && this.#appended < limits.megabytes * 50_000) return;
    this.#appended = 0;
    await (await import('./compact.ts')).compact(this.#files, limits, now);
    writeFileSync(stamp, '', { mode: 0o600 });
    utimesSync(stamp, now / 1000, now / 1000);
  }
}

/** Returns the last line of a resource; undefined if the caller has to read the whole file. */
type LastOf = (resource: string) => LastLine;

function isSoon({ to, absent }: LineOfReading, last: LastLine): boolean {
  return last !== undefined && absent === undefined && to - last.to < SAME_EVERY_MS;
}

/** Appends the whole text or nothing, because a full disk may take a part of it. Returns the number of bytes. */
function appendWhole(file: number, text: string): number {
  const { size } = fstatSync(file);
  const bytes = Buffer.from(text);
  try {
    for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
    return bytes.length;
  } catch (error) {
    ftruncateSync(file, size);
    throw error;
  }
}
