import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const script = join(import.meta.dirname, '../bench/bench.js');

function bench(...args: readonly string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args]);
  return { status, output: `${stdout.toString()}${stderr.toString()}` };
}

test('the help of the bench names the rows, and nothing is built or measured', () => {
  expect(bench('--help')).toEqual({
    status: 0,
    output: expect.stringMatching(
      /--compare REVISION.*--profile TEXT.*Rows:\n.*list of one device\n/s,
    ) as string,
  });
});

test.each([
  [['--rounds', '0'], '--rounds must be a whole number from 1.'],
  [['--profile', ''], '--profile needs a part of the name of a row'],
  [['--profile', 'list', '--compare', 'HEAD'], 'exclude each other'],
  [['--compare', 'no-such-revision'], 'no-such-revision is no revision of this repository.'],
  [['--only', 'no such row'], 'No row has "no such row" in its name: see --help.'],
])('the bench refuses %j before it builds', (args, problem) => {
  expect(bench(...args)).toEqual({
    status: 2,
    output: expect.stringContaining(problem) as string,
  });
});
