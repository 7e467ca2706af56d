// Everything that must hold before a commit: types, lint, format, spelling, build, tests. With --long, tests that repeat
// kills, damages, keys or seeds do all their rounds (test/rounds.ts).
// The last line says how many tests passed and failed; a failed check counts as one failed.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'devsh-check-'));
const report = join(folder, 'vitest.json');
const env = { ...process.env, ...(process.argv.includes('--long') && { DEVSH_TEST_LONG: '1' }) };

/** Lint makes so many objects that a larger young generation saves an eighth of its time. */
const LARGE_YOUNG_GENERATION = '--max-semi-space-size=64';

/** Runs a program of node_modules; resolves to its exit status and, unless shown, its output. */
function run(script, args, isShown = false) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [LARGE_YOUNG_GENERATION, join(root, script), ...args], {
      cwd: root,
      env,
      stdio: ['ignore', isShown ? 'inherit' : 'pipe', isShown ? 'inherit' : 'pipe'],
    });
    let output = '';
    child.stdout?.on('data', (chunk) => (output += chunk));
    child.stderr?.on('data', (chunk) => (output += chunk));
    child.on('close', (status) => resolve({ status: status ?? 1, output }));
  });
}

async function check([name, script, ...args]) {
  const startedAt = performance.now();
  const { status, output } = await run(script, args);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${status === 0 ? '✓' : '✗'} ${name} (${seconds} s)`);
  if (status !== 0) console.log(output.trimEnd());
  return status === 0 ? 0 : 1;
}

/** The counts of vitest. Adds files that could not be loaded and errors outside any test. */
function countTests(status) {
  let result;
  try {
    result = JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    return { passed: 0, failed: 1, skipped: [] };
  }
  const tests = result.testResults.flatMap((file) => file.assertionResults);
  const brokenFiles = result.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.every((t) => t.status !== 'failed'),
  ).length;
  const failed = tests.filter((test) => test.status === 'failed').length + brokenFiles;
  return {
    passed: tests.filter((test) => test.status === 'passed').length,
    failed: failed === 0 && status !== 0 ? 1 : failed,
    skipped: tests.filter((test) => !['passed', 'failed'].includes(test.status)),
  };
}

const checks = [
  ['types', 'node_modules/typescript/bin/tsc', '--noEmit'],
  ['lint', 'scripts/lint.js'],
  [
    'format',
    'node_modules/prettier/bin/prettier.cjs',
    ...['--check', '--log-level', 'warn', '--cache', '--cache-strategy', 'content', '.'],
  ],
  ['spelling', 'node_modules/cspell/bin.mjs', '--no-progress', '--no-summary'],
  ['build', 'build.js'],
];
// Types and lint take long: side by side with the short ones.
const [types, lint, format, spelling, build] = checks;
const inTurn = async (...some) => {
  let failures = 0;
  for (const one of some) failures += await check(one);
  return failures;
};
const failures = await Promise.all([inTurn(types, format, spelling, build), inTurn(lint)]);

console.log('tests');
const { status } = await run(
  'node_modules/vitest/vitest.mjs',
  [
    'run',
    '--project=!real',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
  ],
  true,
);
const { passed, failed, skipped } = countTests(status);
rmSync(folder, { recursive: true, force: true });
for (const group of new Set(skipped.map((test) => test.ancestorTitles.join(' > ') || test.title))) {
  console.log(`skipped: ${group}`);
}
const allFailed = failed + failures.reduce((sum, count) => sum + count, 0);
const tail = skipped.length > 0 ? `, ${skipped.length} skipped` : '';
console.log(`${passed} passed, ${allFailed} failed${tail}`);
process.exitCode = allFailed === 0 ? 0 : 1;
