// Run after each save: types, and the tests that need no terminal and start no program. Arguments go to vitest.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const TYPES = ['node_modules/typescript/bin/tsc', '--noEmit'];
const TESTS = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'quick', '--reporter=dot'];

function run(args) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit' });
    child.on('close', (status) => resolve(status ?? 1));
  });
}

const all = [run(TYPES), run([...TESTS, ...process.argv.slice(2)])];
process.exitCode = Math.max(...(await Promise.all(all)));
