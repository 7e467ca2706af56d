// Plays random sequences of lines over boxes whose people are known: npm run oracle -- --sequences N [--seed S].
// It prints its seed; with that, a failure comes again.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { sequences: { type: 'string', default: '50' }, seed: { type: 'string' } },
});
const seed = values.seed ?? String(Math.floor(Math.random() * 1e9));
console.log(`seed ${seed}, ${values.sequences} sequences`);
const root = join(import.meta.dirname, '..');
const vitest = join(root, 'node_modules/vitest/vitest.mjs');
const { status } = spawnSync(process.execPath, [vitest, 'run', 'test/oracle/sequences'], {
  cwd: root,
  env: { ...process.env, ORACLE_SEQUENCES: values.sequences, ORACLE_SEED: seed },
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
