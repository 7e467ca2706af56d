// Draws the pictures of README and docs: `npm run screenshots [-- NAME...]`. Runs the built program in a
// pty, on simulated devices.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import './import-markdown.js';

const root = fileURLToPath(new URL('..', import.meta.url));
// Below node_modules, so that it finds its packages.
const folder = join(root, 'node_modules/.cache', `devsh-screenshots-${process.pid}`);

try {
  execFileSync(process.execPath, ['build.js', join(folder, 'dist')], { cwd: root });
  const { takePictures } = await import('./screenshots/take.ts');
  const { missing } = await takePictures({
    cli: join(folder, 'dist/cli.js'),
    target: join(root, 'pictures'),
    names: process.argv.slice(2),
    onTaken: (name) => console.log(`✓ pictures/${name}.svg`),
  });
  for (const name of missing) console.error(`there is no picture "${name}"`);
  if (missing.length > 0) process.exitCode = 2;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
