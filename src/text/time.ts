const DAY_MS = 86_400_000;
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** `17:02`, `yesterday 17:02`, `3 Nov`, `3 Nov 2025`: local, as short as it is clear. Files have ISO 8601. */
export function shortTime(at: Date, now = new Date()): string {
  const two = (number: number): string => String(number).padStart(2, '0');
  const clock = `${two(at.getHours())}:${two(at.getMinutes())}`;
  if (at.toDateString() === now.toDateString()) return clock;
  const isYesterday = at.toDateString() === new Date(now.getTime() - DAY_MS).toDateString();
  if (isYesterday) return `yesterday ${clock}`;
  const day = `${at.getDate()} ${MONTHS[at.getMonth()] ?? ''}`;
  return at.getFullYear() === now.getFullYear() ? day : `${day} ${at.getFullYear()}`;
}
