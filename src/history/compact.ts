import { readFile } from 'node:fs/promises';
import { writeTextAtomically } from '../os/files.ts';
import type { HistoryFiles, HistoryLimits } from './history-files.ts';
import { wholeState } from './next-lines.ts';
import { parseLine, replay } from './replay.ts';

const DAY_MS = 86_400_000;

/** Drops old readings, until the files are within the limits. Call under the lock. */
export async function compact(
  files: HistoryFiles,
  { days, megabytes }: HistoryLimits,
  now: number,
): Promise<void> {
  const size = async (): Promise<number> =>
    [...(await files.sizes()).values()].reduce((sum, bytes) => sum + bytes, 0);
  // A tolerance of a tenth, so that not every file is written again each day.
  await dropBefore(files, now - days * DAY_MS, (days * DAY_MS) / 10);
  for (let left = days / 2; (await size()) > megabytes * 1_000_000; left /= 2) {
    await dropBefore(files, left < 0.1 ? now : now - left * DAY_MS, 0);
    if (left < 0.1) break;
  }
}

async function dropBefore(files: HistoryFiles, since: number, toleranceMs: number): Promise<void> {
  for (const path of await files.paths()) {
    const text = await readFile(path, 'utf8');
    const first = /"to":(\d+)/.exec(text.slice(0, 1_000))?.[1];
    if (first === undefined || Number(first) >= since - toleranceMs) continue;
    const rest = compacted(text, since);
    if (rest.length < text.length) await writeTextAtomically(path, rest, false);
  }
}

/** Replaces the readings before `since` by the one state that the later lines build on. Pure. */
export function compacted(text: string, since: number): string {
  const rows = text.split('\n');
  // All lines behind the first one that stays build on it, even if the clock was set back.
  const first = rows.findIndex((row) => {
    const line = row === '' ? undefined : parseLine(row);
    return line !== undefined && line.kind !== 'life' && line.to >= since;
  });
  const [old, rest] = first < 0 ? [rows, []] : [rows.slice(0, first), rows.slice(first)];
  const known = replay(old.join('\n'));
  const tracks = [...(known.end?.resources.values() ?? [])];
  const isRead = tracks.length > 0 && tracks.every((all) => all.at(-1)?.damaged === known.damaged);
  // One damaged line stands for all that were lost since the last reading.
  const lost = known.damaged === 0 || isRead ? '' : 'lost\n';
  return wholeState(known) + lost + rest.join('\n');
}
