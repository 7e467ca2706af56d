// Bundles src/cli.ts into dist/, or the folder that is named: cli.js, which asks whether Node is new enough, one file
// that every command loads, and one for each part of the program that only some of them load (Ink, YAML, all that writing needs).
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import esbuild from 'esbuild';
import { fewFilesFor, inkKeepsLines, lateStringWidth } from './scripts/bundle-plugins.js';
import { manual } from './scripts/man.js';
import { billOfMaterials, bundledPackages, notices } from './scripts/third-party.js';

const root = import.meta.dirname;
const { version, engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const cli = join(root, 'src/cli.ts');
const start = join(root, 'src/start.ts');
// Some bundled CommonJS packages call require() for node: modules.
const REQUIRE =
  "import { createRequire as devshCreateRequire } from 'node:module'; const require = devshCreateRequire(import.meta.url);";
const [folder = 'dist', option] = process.argv.slice(2);
const outdir = resolve(root, folder);

await rm(outdir, { recursive: true, force: true });
const { metafile } = await esbuild.build({
  absWorkingDir: root,
  entryPoints: [cli],
  outdir,
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  metafile: true,
  platform: 'node',
  format: 'esm',
  target: 'node22.19',
  jsx: 'automatic',
  minifySyntax: true,
  // Names are kept: a stack in a bug report must say something.
  minifyWhitespace: true,
  legalComments: 'none',
  // For profiles. They change no byte of the program.
  sourcemap: option === '--source-maps' && 'external',
  logLevel: 'warning',
  loader: { '.md': 'text' },
  external: ['@napi-rs/keyring', '@napi-rs/keyring/*'],
  alias: {
    // wrap-ansi brings an older one: a text is as wide to who wraps it as to who draws it.
    'string-width': './node_modules/string-width/index.js',
    // Ink's developer tools, and what only they need.
    'react-devtools-core': './scripts/empty-module.js',
    ws: './scripts/empty-module.js',
  },
  define: {
    'process.env.NODE_ENV': '"production"',
    // Leaves out undici's second, experimental HTTP parser, which a variable of the user would switch on: 200 kB of a start.
    esbuildDetection: 'true',
    // Ink asks by it for its developer tools.
    'process.env.DEV': '"false"',
    DEVSH_VERSION: JSON.stringify(version),
    DEVSH_NODE: JSON.stringify(engines.node.replace('>=', '')),
    // Only a release knows the address (scripts/release.js).
    ...(process.env.DEVSH_BUGS && { DEVSH_BUGS: JSON.stringify(process.env.DEVSH_BUGS) }),
  },
  banner: { js: REQUIRE },
  plugins: [lateStringWidth, inkKeepsLines, fewFilesFor(join(root, 'src/main.ts'), [cli, start])],
});
// A Node that is too old must be able to run the first file (src/cli.ts).
const entry = join(outdir, 'cli.js');
await writeFile(entry, readFileSync(entry, 'utf8').replace(REQUIRE, ''));
// The folder may be outside of the package.
await writeFile(join(outdir, 'package.json'), '{"type": "module"}\n');
await mkdir(join(outdir, 'man'));
await writeFile(join(outdir, 'man/devsh.1'), await manual(version));
await cp(join(root, 'profiles'), join(outdir, 'profiles'), { recursive: true });
const packages = bundledPackages(root, metafile);
await writeFile(join(outdir, 'THIRD-PARTY-NOTICES.txt'), notices(packages));
await writeFile(join(outdir, 'sbom.cdx.json'), billOfMaterials(root, packages));
