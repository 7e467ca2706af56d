// Everything that must hold before a commit: types, lint, format, spelling, tests. With --long, tests that repeat
// kills, damages, keys or seeds do all their rounds (test/rounds.ts), and properties take a new seed.
// A few files with failed tests run once more, alone: a test that passes then failed by the load of the machine, and is
// named as unsteady, a defect of its own. A fault of devsh fails again: both runs have the same seed.
// The last line says how many tests passed and failed; a failed check counts as one failed.
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'devsh-check-'));
const report = join(folder, 'vitest.json');
const isLong = process.argv.includes('--long');
/** Of all properties: the same commit always gets the same answer, unless new cases are looked for. */
const seed = process.env.DEVSH_TEST_SEED ?? (isLong ? String(randomInt(2 ** 31)) : '1');
const env = { ...process.env, ...(isLong && { DEVSH_TEST_LONG: '1' }), DEVSH_TEST_SEED: seed };

/** Failed files that are worth a second look; more than these do not fail by chance. */
const FEW = 5;

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

/** Runs test files, all by default. Resolves to the result of each test and the files that failed as a whole. */
async function runTests(files = []) {
  rmSync(report, { force: true });
  const { status } = await run(
    'node_modules/vitest/vitest.mjs',
    [
      'run',
      '--project=!real',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
      ...files,
    ],
    { isShown: true },
  );
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
    const failedFiles = testResults.filter((file) => file.status === 'failed');
    const tests = testResults.flatMap((file) => file.assertionResults);
    const failed = tests.filter((test) => test.status === 'failed');
    // A file that could not be loaded, or an error outside any test, counts as one failed.
    const others = failedFiles.filter((file) =>
      file.assertionResults.every((test) => test.status !== 'failed'),
    ).length;
    return {
      passed: tests.filter((test) => test.status === 'passed').length,
      failed,
      failedCount: Math.max(failed.length + others, status === 0 ? 0 : 1),
      failedFiles: failedFiles.map((file) => file.name),
      skipped: tests.filter((test) => !['passed', 'failed'].includes(test.status)),
    };
  } catch {
    return { passed: 0, failed: [], failedCount: 1, failedFiles: [], skipped: [] };
  }
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

const tests = await runTests();
await checked;
let { passed, failedCount } = tests;
if (tests.failedFiles.length > 0 && tests.failedFiles.length <= FEW) {
  console.log('The files with failed tests run once more, alone:');
  const again = await runTests(tests.failedFiles);
  const isFailed = new Set(again.failed.map(({ fullName }) => fullName));
  const unsteady = tests.failed.filter(({ fullName }) => !isFailed.has(fullName));
  for (const { fullName } of unsteady) console.log(`unsteady: ${fullName}`);
  passed += unsteady.length;
  failedCount = again.failedCount;
}
rmSync(folder, { recursive: true, force: true });
for (const group of new Set(
  tests.skipped.map((test) => test.ancestorTitles.join(' > ') || test.title),
)) {
  console.log(`skipped: ${group}`);
}
const failedChecks = failures.filter((text) => text !== undefined);
for (const text of failedChecks) console.log(text);
const allFailed = failedCount + failedChecks.length;
const tail = tests.skipped.length > 0 ? `, ${tests.skipped.length} skipped` : '';
console.log(`seed of the properties: ${seed}`);
console.log(`${passed} passed, ${allFailed} failed${tail}`);
process.exitCode = allFailed === 0 ? 0 : 1;
