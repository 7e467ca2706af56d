import {
  hasPositionalIds,
  hiddenFields,
  ignoredFields,
  isSummary,
  keyFieldOf,
  ownAddress,
  type Profile,
} from '../device/profile.ts';
import type { DeviceRecord } from '../device/record.ts';
import { redactorOf } from '../device/sensitive-fields.ts';
import { DevshError } from '../errors.ts';
import type { DeviceSession, Reading } from '../fleet/device-session.ts';
import { HistoryFiles, type HistoryLimits } from './history-files.ts';
import { HistoryWriter, type Observed } from './history-writer.ts';
import { MAX_RECORDS } from './next-lines.ts';

/** Readings are written when none arrived for this long, or before the process ends. */
const QUIET_MS = 1_000;
/** During a long run some always arrive: none waits for longer. */
const LONGEST_MS = 30_000;

/** Clocks are always set by less than this. */
const NOTED_MS = 1_000;

type Report = (text: string, level: 'info' | 'warning') => void;

/** Removes the secrets that a session has used or sent from a text. */
export function redactorFor({
  credential,
  sentSecrets,
}: Pick<DeviceSession, 'credential' | 'sentSecrets'>): (text: string) => string {
  const sent = [...sentSecrets];
  // A fleet is read without a write: nothing to prepare for each of its devices.
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

/** The fields that a summary is known to leave out; undefined if the list shows all, as far as is known. */
function omittedFields(
  profile: Profile,
  resource: string,
  records: readonly DeviceRecord[],
): readonly string[] | undefined {
  return isSummary(profile, resource) ? hiddenFields(profile, resource, records) : undefined;
}

/** Keeps every complete reading of this process. What fails costs the history and one warning, nothing else. */
export class Observer {
  readonly files: HistoryFiles;
  /** Whether the user was told, in this process or before, that readings are kept. */
  isAnnounced = false;
  readonly #limits: () => HistoryLimits;
  readonly #report: Report;
  readonly #onSetBack: (byMs: number) => void;
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

  /** Takes note of a reading; it is written later. */
  readonly observe = (
    session: DeviceSession,
    { resource, records, startedAt, endedAt, clock }: Reading,
  ): void => {
    const { profile } = session;
    const { pin } = session;
    if (this.#limits().days === 0 || pin === undefined) return;
    this.#announce();
    const keyField = keyFieldOf(profile, resource, records);
    this.#waiting.push({
      ...session.ref,
      session,
      ...{ pin, resource, records, from: startedAt, to: endedAt, clock, keyField },
      idFields: idFieldsOf(profile, keyField, records),
      moving: ignoredFields(profile, resource),
      omits: omittedFields(profile, resource, records),
      redact: redactorFor(session),
    });
    this.#lastAt = performance.now();
    this.#timer ??= this.#writeWhenQuiet(QUIET_MS);
  };

  /** One timer for a fleet: it starts again if readings came meanwhile. */
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
          const text = `${records.length} records of ${resource}, more than ${MAX_RECORDS}`;
          this.#report(`${name}: this reading is too large to be kept: ${text}`, 'info');
        },
      });
    } catch (error) {
      this.#warn(error);
    }
  }

  /** Writes all that is left. Never throws. */
  async close(): Promise<void> {
    await this.flush();
    await this.#writer.close().catch((error: unknown) => this.#warn(error));
  }

  #announce(): void {
    if (this.isAnnounced) return;
    this.isAnnounced = true;
    if (this.files.exists) return;
    this.#report(
      `devsh keeps what it reads for \`changes\`, without secrets, in ${this.files.folder}; ` +
        `"config set historyDays 0" turns it off`,
      'info',
    );
  }

  #warn(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    const reason = error instanceof DevshError || error instanceof Error ? error.message : '';
    this.#report(`the history of this reading was not kept: ${reason}`, 'warning');
  }
}
