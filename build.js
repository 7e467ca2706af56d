// Bundles src/cli.ts into dist/: one ES module, split so that a one-shot command never loads Ink.
import { rm } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import esbuild from 'esbuild';

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));

await rm(new URL('dist', import.meta.url), { recursive: true, force: true });
await esbuild.build({
  absWorkingDir: import.meta.dirname,
  entryPoints: ['src/cli.ts'],
  outdir: 'dist',
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
