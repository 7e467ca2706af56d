import type { SeenRecords } from '../../settings/seen-keys.ts';

const DAY_MS = 86_400_000;

/** "41 users yesterday 17:02": what a device held when it was last asked; undefined when nobody knows. */
export function lastSeenText(
  remembered: Readonly<Record<string, SeenRecords>>,
  now: Date,
): string | undefined {
  const resource = Object.hasOwn(remembered, 'user') ? 'user' : Object.keys(remembered)[0];
  if (resource === undefined) return undefined;
  const { count, at } = remembered[resource] ?? {};
  if (count === undefined || at === undefined) return undefined;
  return `${count} ${resource}${count === 1 ? '' : 's'} ${whenText(new Date(at), now)}`;
}

/** `17:02`, `yesterday 17:02`, `2026-11-19`: in the time of this place, as short as it is clear. */
export function whenText(at: Date, now: Date): string {
  const clock = `${two(at.getHours())}:${two(at.getMinutes())}`;
  if (at.toDateString() === now.toDateString()) return `today ${clock}`;
  const isYesterday = at.toDateString() === new Date(now.getTime() - DAY_MS).toDateString();
  if (isYesterday) return `yesterday ${clock}`;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}
