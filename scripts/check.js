// Everything that must hold before a commit: types, lint, format, spelling, tests. With --long, tests that repeat
// kills, damages, keys or seeds do all their rounds (test/rounds.ts).
// The last line says how many tests passed and failed; a failed check counts as one failed.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'devsh-check-'));
const report = join(folder, 'vitest.json');
const env = { ...process.env, ...(process.argv.includes('--long') && { DEVSH_TEST_LONG: '1' }) };

/** Lint makes so many objects that a larger young generation saves a quarter of its time. */
const LARGE_YOUNG_GENERATION = '--max-semi-space-size=128';

/** Checks run beside the tests, which wait for time limits: they take what the tests leave. */
const GIVES_WAY = 10;

/** Runs a program of node_modules; resolves to its exit status and, unless shown, its output. */
function run(script, args, { isShown = false, priority = 0 } = {}) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [LARGE_YOUNG_GENERATION, join(root, script), ...args], {
      cwd: root,
      env,
      stdio: ['ignore', isShown ? 'inherit' : 'pipe', isShown ? 'inherit' : 'pipe'],
    });
    if (child.pid !== undefined && priority !== 0) setPriority(child.pid, priority);
    let output = '';
    child.stdout?.on('data', (chunk) => (output += chunk));
    child.stderr?.on('data', (chunk) => (output += chunk));
    child.on('close', (status) => resolve({ status: status ?? 1, output }));
  });
}

/** Says at once whether it passed; resolves to what is to be said of a failure. */
async function check([name, script, ...args]) {
  const startedAt = performance.now();
  const { status, output } = await run(script, args, { priority: GIVES_WAY });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${status === 0 ? '✓' : '✗'} ${name} (${seconds} s)`);
  return status === 0 ? undefined : `✗ ${name}\n${output.trimEnd()}`;
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
  ['types and lint', 'scripts/lint.js'],
  [
    'format',
    'node_modules/prettier/bin/prettier.cjs',
    ...['--check', '--log-level', 'warn', '--cache', '--cache-strategy', 'content', '.'],
  ],
  ['spelling', 'node_modules/cspell/bin.mjs', '--no-progress', '--no-summary'],
];
const failures = [];
const checked = (async () => {
  for (const one of checks) failures.push(await check(one));
})();

const { status } = await run(
  'node_modules/vitest/vitest.mjs',
  [
    'run',
    '--project=!real',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
  ],
  { isShown: true },
);
await checked;
const { passed, failed, skipped } = countTests(status);
rmSync(folder, { recursive: true, force: true });
for (const group of new Set(skipped.map((test) => test.ancestorTitles.join(' > ') || test.title))) {
  console.log(`skipped: ${group}`);
}
const failedChecks = failures.filter((text) => text !== undefined);
for (const text of failedChecks) console.log(text);
const allFailed = failed + failedChecks.length;
const tail = skipped.length > 0 ? `, ${skipped.length} skipped` : '';
console.log(`${passed} passed, ${allFailed} failed${tail}`);
process.exitCode = allFailed === 0 ? 0 : 1;
