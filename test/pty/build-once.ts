import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The program, built when the tests start. */
    cli: string;
  }
}

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Builds the shipped program for these tests alone, so that another build does not replace it. Below
 * node_modules, so that it finds its packages.
 */
export default function setup(project: TestProject): () => void {
  const folder = join(root, 'node_modules/.cache', `devsh-test-${process.pid}`);
  execFileSync(process.execPath, ['build.js', folder], { cwd: root, stdio: 'inherit' });
  project.provide('cli', join(folder, 'cli.js'));
  return () => {
    rmSync(folder, { recursive: true, force: true });
  };
}
