// Bundles src/cli.ts into dist/, or the folder that is named: one ES module, split so that a one-shot
// command never loads Ink.
import { rm } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import esbuild from 'esbuild';

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));

const outdir = resolve(import.meta.dirname, process.argv[2] ?? 'dist');
await rm(outdir, { recursive: true, force: true });
await esbuild.build({
  absWorkingDir: import.meta.dirname,
  entryPoints: ['src/cli.ts'],
  outdir,
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.18',
  jsx: 'automatic',
  minifySyntax: true,
  legalComments: 'none',
  logLevel: 'warning',
  define: {
    'process.env.NODE_ENV': '"production"',
    // Ink would load react-devtools-core when DEV=true.
    'process.env.DEV': '"false"',
    DEVSH_VERSION: JSON.stringify(version),
  },
  // Some bundled CommonJS packages call require() for node: modules.
  banner: {
    js: "import { createRequire as devshCreateRequire } from 'node:module'; const require = devshCreateRequire(import.meta.url);",
  },
  external: ['@napi-rs/keyring', '@napi-rs/keyring/*'],
  alias: { 'react-devtools-core': './scripts/empty-module.js' },
});
