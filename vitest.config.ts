import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { folderInMemory } from './test/folder-in-memory.ts';

const temporary = folderInMemory();

/** Memory of one worker: devsh, its devices, and the programs that it starts. */
const BYTES_EACH = 1.5 * 2 ** 30;

const ALL = 'test/**/*.test.{ts,tsx}';

/** Not in `npm run test:quick`: they need the built program, wait, or repeat with many seeds. */
const SLOW = [
  // Whole programs, terminals, packages.
  'test/real/*.test.ts',
  'test/{package,promises,pty,recipes,rotation,scripts,transcripts}/**/*.test.ts',
  'test/**/{budget,compiled-program,completion,man-page,real-shells,tour,user-file}.test.ts',
  // All faults, dialects and moments of a crash.
  'test/{dialects,faults,oracle}/**/*.test.ts',
  'test/change/{crash,faults}.test.ts',
  'test/**/random-keys.test.ts',
  // Each command against devices; reading and writing represent all.
  'test/main/!(reading|writing|usage).test.ts',
  // Tests that wait for time limits or read much.
  'test/change/**/{curl,large}.test.ts',
  'test/device/**/{arrived,client,jump}.test.ts',
  'test/**/{keychain,lock,rotation-store}.test.ts',
];

/** Neither: large packages of Debian. `npm run test:real` installs and runs them. */
const PRODUCTS = 'test/real/products/*.test.ts';

/** Files that take long. Started last, one of them would run alone at the end. */
const LONG = [
  'faults/matrix',
  'faults/limits',
  'oracle/sequences/sequences',
  'promises/secrets',
  'credentials/rotation-store',
  'rotation/kill',
  'rotation/attack',
  'rotation/rotate',
  'main/pending-kill',
  'main/kill',
  'main/fleet-faults',
  'completion/shells/real-shells',
  'pty/stories/roll-out',
  'pty/stories/trouble',
  'pty/views',
  'package/npm-package',
  'dialects/exact-values',
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
    // Modules are loaded once per worker, not per file: that would take most of the time. Their only state is reset by the set-up file.
    isolate: false,
    // Simulated devices make so many objects that a larger young generation saves a fourteenth of the computing time.
    execArgv: ['--max-semi-space-size=64'],
    setupFiles: ['test/before-each-file.ts'],
    sequence: { sequencer: LongestFirst },
    // Only what hangs takes as long, on a busy machine, too.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
    // Four more than cores: most of the time a test waits, for its program or a time limit.
    maxWorkers: Math.max(
      1,
      Math.min(availableParallelism() + 4, Math.floor(process.availableMemory() / BYTES_EACH)),
    ),
    env: { NO_COLOR: '1', ...(temporary !== undefined && { TMPDIR: temporary }) },
    projects: [
      {
        extends: true,
        test: { name: 'slow', include: SLOW, globalSetup: ['test/pty/build-once.ts'] },
      },
      {
        extends: true,
        test: {
          name: 'quick',
          include: [ALL],
          exclude: [...configDefaults.exclude, ...SLOW, PRODUCTS],
        },
      },
      { extends: true, test: { name: 'real', include: [PRODUCTS], testTimeout: 60_000 } },
    ],
  },
});
