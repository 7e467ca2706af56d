/** In sort order. */
const LETTERS = '23456789abcdefghijkmnpqrstuvwxyz';

/**
 * `20261121-093041-k3qd7m`: UTC, two letters for milliseconds, four random ones. Sorts after `newest` even if the
 * clock was set back since: the order of ids is the order of runs.
 */
export function newRunId(now: number, newest?: string, random: () => number = Math.random): string {
  const last = (newest === undefined ? undefined : runIdTime(newest)) ?? -Infinity;
  const at = new Date(Math.max(now, last + 1));
  const time = at.toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
  const letter = (index: number): string => LETTERS[index % LETTERS.length] ?? '';
  const milliseconds = at.getUTCMilliseconds();
  const tail = [0, 1, 2, 3].map(() => letter(Math.floor(random() * LETTERS.length)));
  return `${time}-${letter(milliseconds >> 5)}${letter(milliseconds)}${tail.join('')}`;
}

/** The time in a run's id, in ms UTC: never before the run began. Undefined for another text. */
export function runIdTime(run: string): number | undefined {
  const [, year, month, day, hour, minute, second, high = '', low = ''] =
    /^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)-([a-z\d])([a-z\d])[a-z\d]{4}$/.exec(run) ?? [];
  if (year === undefined) return undefined;
  const milliseconds = LETTERS.indexOf(high) * LETTERS.length + LETTERS.indexOf(low);
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) + milliseconds;
  return Number.isNaN(time) || milliseconds < 0 ? undefined : time;
}
