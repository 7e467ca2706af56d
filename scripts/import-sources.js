// Imports TypeScript files, which Node 20 cannot do by itself.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import esbuild from 'esbuild';

/**
 * The exports of these files, all together.
 *
 * @param paths relative to the root
 * @param root of this work tree or another one
 */
export async function importSources(paths, root = resolve(import.meta.dirname, '..')) {
  const cache = join(root, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  // Below node_modules, so that they find their packages.
  const folder = mkdtempSync(join(cache, 'devsh-source-'));
  try {
    const outfile = join(folder, 'source.mjs');
    await esbuild.build({
      stdin: {
        contents: paths.map((path) => `export * from './${path}';`).join('\n'),
        resolveDir: root,
      },
      absWorkingDir: root,
      outfile,
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      target: 'node20.19',
      jsx: 'automatic',
      loader: { '.md': 'text' },
      logLevel: 'warning',
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
