// Runs programs in turn and compares them pair by pair, so that a machine that slows down slows both.
import { spawn } from 'node:child_process';
import { performance } from 'node:perf_hooks';

/** Runs a program to its end. Resolves to its wall time in ms; rejects when it fails. */
export function run([command, ...args], { env = {}, accepts = [0] } = {}) {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const child = spawn(command, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let problem = '';
    child.stdout.resume();
    child.stderr.on('data', (chunk) => (problem += chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      if (accepts.includes(code)) resolve(performance.now() - startedAt);
      else
        reject(
          new Error(`${command} ${args.join(' ').slice(0, 80)}: ${code} ${problem.slice(0, 300)}`),
        );
    });
  });
}

export function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * Runs all of `works` in each round, after one that does not count. Resolves to the figures of each,
 * round by round.
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

/** The median of the ratios, pair by pair. */
export function ratioOf(own, others) {
  return median(own.map((figure, round) => figure / others[round]));
}
