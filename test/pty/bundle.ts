import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

export interface Bundle {
  /** The bundled program. */
  readonly path: string;
  /** Deletes the file. */
  remove(): Promise<void>;
}

/** Bundles a TypeScript program of the tests like the real program (build.js). */
export async function bundleProgram(entry: URL): Promise<Bundle> {
  const folder = await mkdtemp(join(tmpdir(), 'devsh-test-'));
  const path = join(folder, 'program.mjs');
  await build({
    entryPoints: [fileURLToPath(entry)],
    outfile: path,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node22.19',
    jsx: 'automatic',
    logLevel: 'warning',
    loader: { '.md': 'text' },
    define: { 'process.env.NODE_ENV': '"production"', 'process.env.DEV': '"false"' },
    banner: {
      js: "import { createRequire as devshCreateRequire } from 'node:module'; const require = devshCreateRequire(import.meta.url);",
    },
    alias: {
      'react-devtools-core': fileURLToPath(
        new URL('../../scripts/empty-module.js', import.meta.url),
      ),
    },
  });
  return { path, remove: () => rm(folder, { recursive: true, force: true }) };
}
