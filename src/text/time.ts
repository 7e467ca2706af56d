const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** `17:02`, `yesterday 17:02`, `3 Nov`, `3 Nov 2025`: local, as short as it is clear. Files have ISO 8601. */
export function shortTime(at: Date, now = new Date()): string {
  const two = (number: number): string => String(number).padStart(2, '0');
  const clock = `${two(at.getHours())}:${two(at.getMinutes())}`;
  if (at.toDateString() === now.toDateString()) return clock;
  // Not 24 hours earlier: a day may have 23 or 25.
  const yesterday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1);
  if (at.toDateString() === yesterday.toDateString()) return `yesterday ${clock}`;
  const day = `${at.getDate()} ${MONTHS[at.getMonth()] ?? ''}`;
  return at.getFullYear() === now.getFullYear() ? day : `${day} ${at.getFullYear()}`;
}
