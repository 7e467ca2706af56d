// Bundles src/cli.ts into dist/, or the folder that is named: a small file that every start loads, one for
// every command, and one more for each door that only some commands open (Ink, YAML, all that writing needs).
import { cp, rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import esbuild from 'esbuild';
import {
  confWithoutAjv,
  grammarAlone,
  mainApart,
  oneFileFor,
  undiciHttp1,
  yogaAtOnce,
} from './scripts/bundle-plugins.js';
import { lateSegments, lateStringWidth } from './scripts/late-text-plugins.js';
import { writeManual } from './scripts/man.js';
import { billOfMaterials, bundledPackages, notices } from './scripts/third-party.js';

const root = import.meta.dirname;
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const main = join(root, 'src/main.ts');
const api = join(root, 'src/api.ts');
const simulator = join(root, 'src/simulator/simulator.ts');
const [folder = 'dist', option] = process.argv.slice(2);
const outdir = resolve(root, folder);

const common = {
  absWorkingDir: root,
  outdir,
  bundle: true,
  metafile: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  minifySyntax: true,
  // Names are kept: a stack in a bug report must say something.
  minifyWhitespace: true,
  legalComments: 'none',
  // For profiles. They change no byte of the program.
  sourcemap: option === '--source-maps' && 'external',
  logLevel: 'warning',
  loader: { '.md': 'text' },
  define: {
    'process.env.NODE_ENV': '"production"',
    // Ink would load react-devtools-core when DEV=true.
    'process.env.DEV': '"false"',
    DEVSH_VERSION: JSON.stringify(version),
  },
};

const commands = {
  ...common,
  // The simulator is for tests of others, too: its file is the one that devsh itself loads.
  entryPoints: { main, api, simulator },
  chunkNames: 'chunks/[name]-[hash]',
  splitting: true,
  jsx: 'automatic',
  // Some bundled CommonJS packages call require() for node: modules.
  banner: {
    js: "import { createRequire as devshCreateRequire } from 'node:module'; const require = devshCreateRequire(import.meta.url);",
  },
  external: ['@napi-rs/keyring', '@napi-rs/keyring/*'],
  alias: {
    'react-devtools-core': './scripts/empty-module.js',
    // The same tools would talk by it.
    ws: './scripts/empty-module.js',
    // wrap-ansi brings an older one: a text is as wide to who wraps it as to who draws it.
    'string-width': './node_modules/string-width/index.js',
  },
  plugins: [undiciHttp1, confWithoutAjv, lateStringWidth, ...lateSegments, yogaAtOnce],
};

await rm(outdir, { recursive: true, force: true });
const first = ['src/cli.ts', 'src/compile-cache.ts'];
await esbuild.build({ ...common, entryPoints: first, plugins: [mainApart] });
const grammar = { ...common, banner: commands.banner, external: commands.external };
const completion = await esbuild.build({
  ...grammar,
  entryPoints: ['src/answer-completion.ts'],
  chunkNames: 'completion/[name]-[hash]',
  splitting: true,
  // Where there are settings they are checked, and an inventory that was changed is read anew.
  plugins: [
    confWithoutAjv,
    lateStringWidth,
    grammarAlone(/\/(inventory-text|settings-schema)\.ts$|\/conf$/),
  ],
});
await writeManual(join(outdir, 'man/devsh.1'), version, {
  ...grammar,
  plugins: [lateStringWidth, grammarAlone(/\/help\/topic-text\.ts$/)],
});

// First only to find out what is imported at run time.
const { metafile } = await esbuild.build({ ...commands, write: false });
const late = Object.values(metafile.outputs)
  .flatMap(({ entryPoint }) => entryPoint ?? [])
  .filter((path) => resolve(root, path) !== simulator);
const program = await esbuild.build({
  ...commands,
  plugins: [...commands.plugins, oneFileFor(main, late)],
});

await cp(join(root, 'profiles'), join(outdir, 'profiles'), { recursive: true });
const packages = bundledPackages(root, [program.metafile, completion.metafile]);
await writeFile(join(outdir, 'THIRD-PARTY-NOTICES.txt'), notices(packages));
await writeFile(join(outdir, 'sbom.cdx.json'), billOfMaterials(root, packages));
