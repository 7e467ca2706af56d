// Draws the pictures of README and docs: `npm run screenshots [-- NAME...]`. Runs the built program in a
// pty, on simulated devices.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import esbuild from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
// Below node_modules, so that both find their packages.
const folder = join(root, 'node_modules/.cache', `devsh-screenshots-${process.pid}`);
const program = join(folder, 'take.mjs');

try {
  execFileSync(process.execPath, ['build.js', join(folder, 'dist')], { cwd: root });
  await esbuild.build({
    entryPoints: [join(root, 'scripts/screenshots/take.ts')],
    outfile: program,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    logLevel: 'warning',
  });
  const { takePictures } = await import(pathToFileURL(program).href);
  const { missing } = await takePictures({
    cli: join(folder, 'dist/cli.cjs'),
    target: join(root, 'pictures'),
    names: process.argv.slice(2),
    onTaken: (name) => console.log(`✓ pictures/${name}.svg`),
  });
  for (const name of missing) console.error(`there is no picture "${name}"`);
  if (missing.length > 0) process.exitCode = 2;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
