import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT, run } from './programs.ts';

const CACHE = join(ROOT, 'node_modules/.cache/nodes');

/**
 * The path of a real Node of this version from npm's package of binaries, downloaded once; or why there is
 * none.
 */
export async function nodeBinary(version: string): Promise<{ path: string } | { missing: string }> {
  const name = `node-${process.platform}-${process.arch}`;
  const folder = join(CACHE, `${name}-${version}`);
  const path = join(folder, 'bin/node');
  if (existsSync(path)) return { path };
  await mkdir(CACHE, { recursive: true });
  // A test must not find the half download of another one.
  const scratch = await mkdtemp(join(CACHE, 'download-'));
  try {
    const args = ['pack', `${name}@${version}`, '--silent', '--fetch-retries=0'];
    const packed = await run('npm', args, { cwd: scratch });
    const [file = ''] = packed.stdout.trim().split('\n').slice(-1);
    const unpacked = await run('tar', ['-xzf', file, 'package/bin/node'], { cwd: scratch });
    if (packed.code !== 0 || unpacked.code !== 0) {
      return { missing: `${name}@${version} cannot be downloaded` };
    }
    await rename(join(scratch, 'package'), folder).catch((error: unknown) => {
      if (!existsSync(path)) throw error;
    });
    return { path };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
