// Bundles src/cli.ts into dist/, or the folder that is named: a small file that every start loads, one for
// every command, and one more for each door that only some commands open (Ink, YAML, all that writing needs).
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import esbuild from 'esbuild';
import {
  asCommonJs,
  compiledParts,
  confWithoutAjv,
  grammarAlone,
  inkWithoutDevtools,
  oneFileFor,
  undiciHttp1,
  yogaAtOnce,
} from './scripts/bundle-plugins.js';
import { lateSegments, lateStringWidth } from './scripts/late-text-plugins.js';
import { manual } from './scripts/man.js';
import { billOfMaterials, bundledPackages, notices } from './scripts/third-party.js';

const root = import.meta.dirname;
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const main = join(root, 'src/main.ts');
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
    // Ink asks by it for its developer tools.
    'process.env.DEV': '"false"',
    DEVSH_VERSION: JSON.stringify(version),
  },
};

const commands = {
  ...common,
  entryPoints: { main },
  // Compiled code is kept by the name of its file.
  entryNames: 'chunks/[name]-[hash]',
  chunkNames: 'chunks/[name]-[hash]',
  outExtension: { '.js': '.cjs' },
  splitting: true,
  jsx: 'automatic',
  external: ['@napi-rs/keyring', '@napi-rs/keyring/*'],
  // wrap-ansi brings an older one: a text is as wide to who wraps it as to who draws it.
  alias: { 'string-width': './node_modules/string-width/index.js' },
  plugins: [
    undiciHttp1,
    confWithoutAjv,
    inkWithoutDevtools,
    lateStringWidth,
    ...lateSegments,
    yogaAtOnce,
  ],
};

await rm(outdir, { recursive: true, force: true });

// First only to find out what is imported at run time.
const { metafile } = await esbuild.build({ ...commands, write: false });
const late = Object.values(metafile.outputs).flatMap(({ entryPoint }) => entryPoint ?? []);
const program = await esbuild.build({
  ...commands,
  plugins: [...commands.plugins, oneFileFor(main, late), asCommonJs],
});

const grammar = { ...common, external: commands.external };
const completion = await esbuild.build({
  ...grammar,
  entryPoints: ['src/answer-completion.ts'],
  entryNames: 'completion/[name]-[hash]',
  chunkNames: 'completion/[name]-[hash]',
  outExtension: commands.outExtension,
  splitting: true,
  // Where there are settings they are checked, and an inventory that was changed is read anew.
  plugins: [
    confWithoutAjv,
    lateStringWidth,
    grammarAlone(/\/(inventory-text|settings-schema)\.ts$|\/conf$/),
    asCommonJs,
  ],
});
await mkdir(join(outdir, 'man'));
await writeFile(join(outdir, 'man/devsh.1'), await manual(version));

// Shares no code with the others, so that `--version` loads one file.
await esbuild.build({
  ...common,
  entryPoints: ['src/cli.ts'],
  outExtension: commands.outExtension,
  format: 'cjs',
  plugins: [
    compiledParts({
      './main.ts': fileOf(program, main),
      './answer-completion.ts': fileOf(completion, join(root, 'src/answer-completion.ts')),
    }),
  ],
});

await cp(join(root, 'profiles'), join(outdir, 'profiles'), { recursive: true });
const packages = bundledPackages(root, [program.metafile, completion.metafile]);
await writeFile(join(outdir, 'THIRD-PARTY-NOTICES.txt'), notices(packages));
await writeFile(join(outdir, 'sbom.cdx.json'), billOfMaterials(root, packages));

/** The file in `outdir` that was built from a source. */
function fileOf({ metafile }, source) {
  const [path] = Object.entries(metafile.outputs).find(
    ([, { entryPoint }]) => entryPoint !== undefined && resolve(root, entryPoint) === source,
  );
  return relative(outdir, resolve(root, path)).replaceAll('\\', '/');
}
