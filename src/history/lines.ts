import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { ClockOffset } from '../device/client.ts';
import type { DeviceRecord, JsonValue } from '../device/record.ts';
import { parseJson } from '../device/json.ts';
import { type KeptRecord, type Naming, quickText } from './kept.ts';
import { attempt } from '../errors.ts';

/** When a reading began and ended, in ms UTC: the device had this state at some time between them. */
export interface Moment {
  readonly from: number;
  readonly to: number;
}

/** What a life is: another value of any of them is another device, or may be one. */
export interface Identity {
  readonly name: string;
  /** `host:port` */
  readonly address: string;
  /** The fingerprint of the pinned certificate; `verified` if an authority vouches for the name. */
  readonly pin: string;
  /** The key of the digests, by its own digest. */
  readonly digestKey: string;
}

/** What the last line of a resource says about fields that move by themselves. */
export interface Moving {
  readonly fields: readonly string[];
  /** Identifies the values that were kept last. */
  readonly digest: string;
  readonly keptAt: number;
}

/** A record whose fields changed: what is new, and the fields that are gone. */
export interface KeptChange {
  readonly key: string;
  readonly fields: DeviceRecord;
  readonly digests?: Readonly<Record<string, string>>;
  readonly lost?: readonly string[];
}

interface ReadingLine extends Moment {
  readonly resource: string;
  /** Identifies the life; see `lifeName`. */
  readonly life: string;
  /** Identifies what was read. */
  readonly digest: string;
  readonly clock?: ClockOffset | undefined;
  readonly moving?: Moving;
  /** The list is a summary; the fields that it is known to leave out. */
  readonly omits?: readonly string[] | undefined;
  /** The values of moving fields, if they are kept again. */
  readonly values?: readonly (readonly [key: string, values: DeviceRecord])[];
  /** By field: in how many readings in a row it differed in every record. */
  readonly streaks?: Readonly<Record<string, number>>;
}

/** One line of a history file. */
export type HistoryLine =
  | ({ readonly kind: 'life'; readonly at: number } & Identity)
  /** All records: the first reading of a life, or the state from which later lines go on. */
  | (ReadingLine &
      Naming & {
        readonly kind: 'all';
        readonly records: readonly KeptRecord[];
      })
  /** `was`: the digest of the line that it builds upon. */
  | (ReadingLine & {
      readonly kind: 'change';
      readonly was: string;
      readonly added?: readonly KeptRecord[];
      readonly changed?: readonly KeptChange[];
      readonly gone?: readonly string[];
      /** Fields left out from now on, because they move by themselves. */
      readonly left?: readonly string[];
    })
  | (ReadingLine & { readonly kind: 'same' })
  /** A reading with too many records to be kept; one line stands for all that follow each other. */
  | (Moment & {
      readonly kind: 'large';
      readonly resource: string;
      readonly life: string;
      readonly records: number;
    });

export type LineOfReading = Exclude<HistoryLine, { readonly kind: 'life' | 'large' }>;

/** The short name of a life in the lines of its readings. */
export function lifeName({ name, address, pin, digestKey }: Identity): string {
  const text = JSON.stringify([name, address, pin, digestKey]);
  return createHash('sha256').update(text).digest('base64url').slice(0, 8);
}

/** Which key digests were made with, in an `Identity`. */
export function digestKeyName(key: Buffer): string {
  return createHash('sha256').update(key).digest('base64url').slice(0, 8);
}

/** With a checksum: a changed byte in a value would pass for what a device has shown. */
export function lineText(line: HistoryLine): string {
  const text = quickText(line as unknown as JsonValue).slice(0, -1);
  return `${text},"crc":${crc32(text)}}\n`;
}

/** Whether the checksum of a line is right. */
export function isWhole(text: string): boolean {
  const end = text.lastIndexOf(',"crc":');
  return end >= 0 && text.slice(end) === `,"crc":${crc32(text.slice(0, end))}}`;
}

/** Lines to append to a file with this checksum, which the last one of them gets: with that of the lines before it. */
export function summed(lines: string, sum: number): string {
  const start = lines.lastIndexOf('\n', lines.length - 2) + 1;
  const before = crc32(lines.slice(0, start), sum);
  const text = `${lines.slice(start, lines.lastIndexOf(',"crc":'))},"sum":${before}`;
  return `${lines.slice(0, start)}${text},"crc":${crc32(text)}}\n`;
}

/** The checksum of a file, if its last line proves that no byte has changed. */
export function provenSum(file: Buffer): number | undefined {
  const start = file.lastIndexOf('\n', file.length - 2) + 1;
  const last = file.toString('utf8', start);
  const before = /,"sum":(\d+),"crc":\d+\}\n$/.exec(last)?.[1];
  if (before === undefined || !isWhole(last.slice(0, -1))) return undefined;
  const sum = crc32(file.subarray(0, start));
  return sum === Number(before) ? crc32(last, sum) : undefined;
}

/** A line, or undefined if it is damaged, or not of devsh. */
export function parseLine(text: string): HistoryLine | undefined {
  if (!isWhole(text)) return undefined;
  const line = attempt(Error, () => parseJson(text) as unknown as HistoryLine | null) ?? null;
  if (typeof line !== 'object' || line === null) return undefined;
  if (line.kind === 'life') return typeof line.at === 'number' ? line : undefined;
  const isReading = typeof line.from === 'number' && typeof line.to === 'number';
  if (line.kind === 'large') return isReading ? line : undefined;
  return isReading && 'digest' in line && ['all', 'change', 'same'].includes(line.kind)
    ? line
    : undefined;
}
