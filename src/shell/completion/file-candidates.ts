import { readdir } from 'node:fs/promises';
import { hasUnsafe } from '../../text/visible.ts';
import type { Candidate } from '../grammar/spec.ts';

/** So many files of a folder are proposed. */
const MOST_FILES = 1_000;

/**
 * The files that a word may be the name of: those in the folder that is typed already. A folder ends
 * with a slash, and more follows; hidden files are there once their dot is typed.
 */
export async function fileCandidates(typed: string): Promise<readonly Candidate[]> {
  const start = typed.lastIndexOf('/') + 1;
  const folder = typed.slice(0, start);
  const isHiddenMeant = typed[start] === '.';
  try {
    const entries = await readdir(folder === '' ? '.' : folder, { withFileTypes: true });
    return entries
      .filter(({ name }) => (isHiddenMeant || !name.startsWith('.')) && !hasUnsafe(name))
      .slice(0, MOST_FILES)
      .map((entry) => ({
        text: `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`,
        ...(entry.isDirectory() && { continues: true }),
      }))
      .sort((a, b) => (a.text < b.text ? -1 : 1));
  } catch {
    // A folder that is not there, or not to be read, is reported by the command.
    return [];
  }
}
