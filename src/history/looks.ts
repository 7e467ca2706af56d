import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readText, writeTextAtomically } from '../os/files.ts';
import type { HistoryFiles } from './history-files.ts';
import { attempt } from '../errors.ts';

/** By resource and device: when the last reading that a table showed had ended, in ms UTC. */
type Looks = Readonly<Record<string, Readonly<Record<string, number>>>>;

export async function readLooks(files: HistoryFiles): Promise<Looks> {
  const text = (await readText(pathOf(files))) ?? '{}';
  const looks = attempt(SyntaxError, () => JSON.parse(text) as unknown);
  return typeof looks === 'object' && looks !== null ? (looks as Looks) : {};
}

/**
 * Adds looks: another devsh may have shown other devices, or these ones later. Drops devices of which no
 * reading is kept: with nothing to compare, their names would only outlive `changes --forget`.
 */
export async function keepLooks(
  files: HistoryFiles,
  looks: ReadonlyMap<string, ReadonlyMap<string, number>>,
): Promise<void> {
  await files.exclusively(async () => {
    const kept = await readLooks(files);
    const resources = [...new Set([...Object.keys(kept), ...looks.keys()])];
    const merged = resources.map((resource) => {
      const times = new Map(Object.entries(kept[resource] ?? {}));
      for (const [name, at] of looks.get(resource) ?? []) {
        times.set(name, Math.max(at, times.get(name) ?? 0));
      }
      const known = [...times].filter(([name]) => existsSync(files.path(name)));
      return [resource, Object.fromEntries(known)] as const;
    });
    if (merged.length === 0) return;
    const text = JSON.stringify(Object.fromEntries(merged));
    await writeTextAtomically(pathOf(files), `${text}\n`);
  });
}

function pathOf({ folder }: HistoryFiles): string {
  return join(folder, 'looked-at.json');
}
