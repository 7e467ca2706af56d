import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { takeLock } from './lock.ts';

/**
 * Takes a file of the user's for this devsh alone; resolves to what gives it back. The lock stands in
 * the state folder: beside the file it would go with it to machines where its owner cannot be asked.
 */
export function holdFile(state: string, path: string): Promise<() => Promise<void>> {
  const name = createHash('sha256').update(path).digest('hex').slice(0, 32);
  return takeLock(join(state, 'locks', `file-${name}`), {
    waitMs: 0,
    purpose: `${path} is being written`,
  });
}
