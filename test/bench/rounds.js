// Runs programs in turn and compares them pair by pair, so that load slows both.
import { execFileSync, spawn } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { whenEnding } from './cleanup.js';

/** Bash reports the computing time of a program and its children to the millisecond. */
const TIMED = ['-c', 'TIMEFORMAT="%U %S"; { time "$@" 2>&3; } 3>&2 2>&4', 'timed'];
const hasBash = has('bash');
/** The most characters of the output of a failed program that are reported. */
const MAX_OUTPUT = 300;

/**
 * Runs a program. Resolves to its wall and computing time (`NaN` without bash); rejects if it fails.
 *
 * @param onOutput called with the milliseconds since the start at each piece of standard output
 * @param onProblem called at the end with all of standard error
 */
export function run(
  command,
  { env = {}, accepts = [0], input, onOutput = () => undefined, onProblem = () => undefined } = {},
) {
  const [program, ...args] = hasBash ? ['bash', ...TIMED, ...command] : command;
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const child = spawn(program, args, {
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe', 'ignore', 'pipe'],
    });
    const kill = whenEnding(() => child.kill('SIGKILL'));
    let output = '';
    let problem = '';
    let times = '';
    child.stdout.on('data', (chunk) => {
      if (output.length < MAX_OUTPUT) output += chunk;
      onOutput(performance.now() - startedAt, chunk);
    });
    child.stderr.on('data', (chunk) => (problem += chunk));
    child.stdio[4].on('data', (chunk) => (times += chunk));
    child.on('error', reject);
    // A program that reads no input may end before its input is closed.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    child.on('close', (code) => {
      const ms = performance.now() - startedAt;
      kill();
      const [user, system] = times.trim().split(' ').map(Number);
      onProblem(problem);
      if (accepts.includes(code)) resolve({ ms, cpuMs: hasBash ? (user + system) * 1000 : NaN });
      else {
        const message = `${problem} ${output}`.trim().slice(0, MAX_OUTPUT);
        reject(new Error(`${command.slice(0, 6).join(' ')} ended with ${code}: ${message}`));
      }
    });
  });
}

export function has(program, ...args) {
  try {
    execFileSync(program, args.length === 0 ? ['--version'] : args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export function median(numbers) {
  return quantile(numbers, 0.5);
}

/** @param share 0.5: the median, 0.99: one in a hundred is more */
export function quantile(numbers, share) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)];
  return below + (sorted[Math.ceil(place)] - below) * (place % 1);
}

/**
 * Runs all of `works` in each round, after one round to warm up. Resolves to the figures of each, by
 * round.
 *
 * @param works functions that resolve to a figure
 */
export async function inTurn(works, rounds) {
  const figures = works.map(() => []);
  for (let round = -1; round < rounds; round += 1) {
    for (const [index, work] of works.entries()) {
      const figure = await work();
      if (round >= 0) figures[index].push(figure);
    }
  }
  return figures;
}
