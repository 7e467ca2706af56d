import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
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
 * Builds the program as it is shipped, for these tests alone: a build beside them does not take it
 * away. Below node_modules, where it finds its packages.
 */
export default function setup(project: TestProject): () => void {
  const folder = join(root, 'node_modules/.cache', `devsh-test-${process.pid}`);
  execFileSync(process.execPath, ['build.js', folder], { cwd: root, stdio: 'inherit' });
  // As in the package: Node 20.18 does not guess what a file is.
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  project.provide('cli', join(folder, 'cli.js'));
  return () => {
    rmSync(folder, { recursive: true, force: true });
  };
}
