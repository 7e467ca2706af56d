import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The built program, as it is when the tests start. */
    cli: string;
  }
}

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Builds dist/ when a source is newer: the pty tests run what is shipped. They run a copy, so that a
 * build beside them does not take the program away; below node_modules, where it finds its packages.
 */
export default function setup(project: TestProject): () => void {
  const built = statSync(join(root, 'dist/cli.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  const newest = [join(root, 'build.js'), ...sources.map((path) => join(root, 'src', path))]
    .map((path) => statSync(path).mtimeMs)
    .reduce((a, b) => Math.max(a, b), 0);
  if (newest > built) execFileSync(process.execPath, ['build.js'], { cwd: root, stdio: 'inherit' });
  const copy = join(root, 'node_modules/.cache', `devsh-test-${process.pid}`);
  cpSync(join(root, 'dist'), copy, { recursive: true });
  project.provide('cli', join(copy, 'cli.js'));
  return () => {
    rmSync(copy, { recursive: true, force: true });
  };
}
