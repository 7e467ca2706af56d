import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

/** Linux keeps it in memory. Containers often limit it, or let no program run there. */
const SHARED_MEMORY = '/dev/shm';
const ENOUGH_BYTES = 8 * 2 ** 30;

/**
 * A folder in memory for the temporary files of tests, until this process ends: devsh flushes what it writes, and on a
 * disk that takes more time than all else. Undefined if the user chose a folder, for the full rounds of
 * `npm run test:long`, and where such a folder is too small or missing.
 */
export function folderInMemory(): string | undefined {
  const { TMPDIR, DEVSH_TEST_LONG } = process.env;
  if (TMPDIR !== undefined || DEVSH_TEST_LONG === '1') return undefined;
  try {
    removeAbandoned();
    const { bavail, bsize } = statfsSync(SHARED_MEMORY);
    if (Math.min(bavail * bsize, process.availableMemory()) < ENOUGH_BYTES) return undefined;
    const folder = mkdtempSync(join(SHARED_MEMORY, `devsh-${process.pid}-`));
    process.on('exit', () => {
      rmSync(folder, { recursive: true, force: true });
    });
    // Like /tmp: some tests run as another user.
    chmodSync(folder, 0o1777);
    const program = join(folder, 'program');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
    execFileSync(program);
    rmSync(program);
    return folder;
  } catch {
    return undefined;
  }
}

/** A run that was killed has left its folder. */
function removeAbandoned(): void {
  for (const name of readdirSync(SHARED_MEMORY)) {
    const pid = /^devsh-(\d+)-/.exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) {
      rmSync(join(SHARED_MEMORY, name), { recursive: true, force: true });
    }
  }
}
