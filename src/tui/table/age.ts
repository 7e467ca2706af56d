import { foldNote, type FoldedRow } from '../../fleet/fold.ts';
import { visible } from '../../text/visible.ts';
import type { TableRows } from './rows.ts';

/* Of when records are whose device does not answer now. */

type Stale = TableRows['stale'];

/** Whether none of the devices that a row stands for has answered. */
export function isStaleRow({ devices }: FoldedRow, stale: Stale): boolean {
  return stale.size > 0 && devices.every(({ name }) => stale.has(name));
}

/** What is said of a row beside its fields. What a device held before is no reading: it proves nothing. */
export function noteOf(row: FoldedRow, isFiltered: boolean | undefined, stale: Stale): string {
  if (stale.size === 0) return visible(foldNote(row, isFiltered));
  const age = ageNote(row, stale);
  const isDiffering = row.differing.length > 0;
  if (age !== '' && !isDiffering) return age;
  const read = { ...row, of: row.of - stale.size, unread: row.unread + stale.size };
  const note = visible(foldNote(read, isFiltered));
  return age === '' ? note : `${note}; ${age}`;
}

/** `as of 07:46`; `fw3 as of 07:46` where others have answered; empty where all have. */
function ageNote(row: FoldedRow, stale: Stale): string {
  if (stale.size === 0) return '';
  const old = row.devices.map(({ name }) => name).filter((name) => stale.has(name));
  const [first] = old;
  if (first === undefined) return '';
  const what = asOfText(old.map((name) => stale.get(name)));
  if (old.length === row.devices.length) return what;
  return `${old.length === 1 ? visible(first) : `${old.length} devices`} ${what}`;
}

/** `3 as of 07:46`, for the title; empty where all have answered. */
export function staleText(stale: Stale): string {
  return stale.size === 0 ? '' : `${stale.size} ${asOfText([...stale.values()])}`;
}

/** The oldest of these times: nothing is newer than it says. */
export function asOfText(times: readonly (Date | undefined)[]): string {
  const known = times.filter((time) => time !== undefined).sort((a, b) => Number(a) - Number(b));
  const [oldest] = known;
  return oldest === undefined ? 'as of before' : `as of ${shortTime(oldest)}`;
}

/** `07:46`, of another day `11-21 07:46`, as on the wall. */
export function shortTime(at: Date): string {
  const two = (number: number): string => String(number).padStart(2, '0');
  const time = `${two(at.getHours())}:${two(at.getMinutes())}`;
  if (at.toDateString() === new Date().toDateString()) return time;
  return `${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
}
