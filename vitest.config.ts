import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Memory of one worker: devsh, its devices, and the programs that it starts. */
const BYTES_EACH = 1.5 * 2 ** 30;

/** Short files that take long. Started last, one of them would run alone at the end. */
const LONG = [
  'rotation/kill',
  'rotation/rotate',
  'main/owed-kill',
  'main/kill',
  'pty/stories/roll-out',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean =>
      LONG.some((name) => moduleId.endsWith(`/test/${name}.test.ts`));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  // Imports texts as modules, like the bundle (build.js).
  plugins: [
    {
      name: 'text-of-markdown',
      transform: (text, id) =>
        id.endsWith('.md') ? `export default ${JSON.stringify(text)};` : undefined,
    },
  ],
  test: {
    include: ['test/**/*.test.{ts,tsx}'],
    globalSetup: ['test/pty/build-once.ts'],
    sequence: { sequencer: LongestFirst },
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // One per core, also for ptys: a test waits while its program runs.
    maxWorkers: Math.max(
      1,
      Math.min(availableParallelism(), Math.floor(process.availableMemory() / BYTES_EACH)),
    ),
    env: { NO_COLOR: '1' },
  },
});
