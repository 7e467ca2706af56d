import { UsageError } from '../errors.ts';

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** `17:02`, `yesterday 17:02`, `3 Nov`, `3 Nov 2025`: local, as short as it is clear. Files have ISO 8601. */
export function shortTime(at: Date, now = new Date()): string {
  return isRecent(at, now) ? clockTime(at, now) : dayText(at, now);
}

/** As `shortTime`, with the clock also on older days: `3 Nov 17:02`; with seconds if asked. */
export function clockTime(at: Date, now = new Date(), hasSeconds = false): string {
  const clock = [at.getHours(), at.getMinutes(), ...(hasSeconds ? [at.getSeconds()] : [])]
    .map(twoDigits)
    .join(':');
  if (at.toDateString() === now.toDateString()) return clock;
  return `${isRecent(at, now) ? 'yesterday' : dayText(at, now)} ${clock}`;
}

/** As `clockTime`, with its zone, for a sentence: `17:02 UTC+01:00`. A text that is no time is unchanged. */
export function zonedTime(time: string | number, now = new Date()): string {
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? String(time) : `${clockTime(at, now)} ${zoneText(at)}`;
}

/** The offset of the local time: `UTC`, `UTC+01:00`. */
export function zoneText(at: Date): string {
  const offset = -at.getTimezoneOffset();
  if (offset === 0) return 'UTC';
  const minutes = Math.abs(offset);
  const clock = [Math.floor(minutes / 60), minutes % 60].map(twoDigits).join(':');
  return `UTC${offset < 0 ? '-' : '+'}${clock}`;
}

/** `UTC+01:00 (older ones UTC+02:00)`: between two times the clock here may have been changed. */
export function zonesText(from: Date, now: Date): string {
  const [old, zone] = [zoneText(from), zoneText(now)];
  return old === zone ? zone : `${zone} (older ones ${old})`;
}

/** `45 s`, `3 min 20 s`, `2 h 5 min` */
export function durationText(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const UNITS_MS: Readonly<Record<string, number>> = {
  ...{ s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 },
};

/** A past time in ms UTC: `2d`, `03:00`, `yesterday 17:02`, ISO 8601. Throws UsageError at `column` for any other. */
export function parsePastTime(text: string, now = new Date(), column?: number): number {
  const time = agoTime(text, now) ?? dayTime(text, now) ?? isoTime(text);
  if (time === undefined) {
    throw new UsageError(
      `"${text}" is not a time: write it as in 2d, 90m, 03:00, "yesterday 17:02", 2026-11-22, ` +
        '2026-11-22T03:00, 2026-11-22T03:00Z',
      { column },
    );
  }
  if (time > now.getTime()) throw new UsageError(`${text} is in the future`, { column });
  return time;
}

function agoTime(text: string, now: Date): number | undefined {
  const [, number, unit = ''] = /^(\d{1,6}(?:\.\d+)?)([smhdw])$/.exec(text) ?? [];
  return number === undefined ? undefined : now.getTime() - Number(number) * (UNITS_MS[unit] ?? 0);
}

function dayTime(text: string, now: Date): number | undefined {
  const [, yesterday, hours, minutes, seconds = '0'] =
    /^(yesterday )?([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/.exec(text) ?? [];
  if (hours === undefined) return undefined;
  const clock = [Number(hours), Number(minutes), Number(seconds)] as const;
  const at = (daysAgo: number): number =>
    new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysAgo, ...clock).getTime();
  return yesterday !== undefined || at(0) > now.getTime() ? at(1) : at(0);
}

function isoTime(text: string): number | undefined {
  const [, date, clock = '00:00', zone = ''] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:?\d\d)?)?$/i.exec(
      text,
    ) ?? [];
  if (date === undefined) return undefined;
  // `Date` takes 30 February for 2 March.
  const day = new Date(`${date}T00:00:00Z`);
  if (Number.isNaN(day.getTime()) || !day.toISOString().startsWith(date)) return undefined;
  const time = Date.parse(`${date}T${clock}${zone}`);
  return Number.isNaN(time) ? undefined : time;
}

function isRecent(at: Date, now: Date): boolean {
  // Not 24 hours earlier: a day may have 23 or 25.
  const yesterday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1);
  return [now, yesterday].some((day) => at.toDateString() === day.toDateString());
}

/** `today`, `yesterday`, `3 Nov` */
export function dayName(at: Date, now = new Date()): string {
  if (at.toDateString() === now.toDateString()) return 'today';
  return isRecent(at, now) ? 'yesterday' : dayText(at, now);
}

function dayText(at: Date, now: Date): string {
  const day = `${at.getDate()} ${MONTHS[at.getMonth()] ?? ''}`;
  return at.getFullYear() === now.getFullYear() ? day : `${day} ${at.getFullYear()}`;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}
