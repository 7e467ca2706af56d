import { configDefaults, defineConfig } from 'vitest/config';
import whole from './vitest.config.ts';

/**
 * `npm run test:quick`: everything but what is listed here. Nothing is built for it, so what runs the built program
 * does not belong to it, nor does what waits, or tries the same with many seeds.
 */
export default defineConfig({
  ...whole,
  test: {
    ...whole.test,
    globalSetup: [],
    // Modules are loaded once for a worker, not for each file: nothing in them remembers anything.
    isolate: false,
    exclude: [
      ...configDefaults.exclude,
      // Whole programs, terminals, packages.
      'test/{package,promises,pty,recipes,scripts,transcripts}/**',
      'test/{budget,user-file}.test.ts',
      'test/shell/commands/completion.test.ts',
      'test/shell/completion/shells/real-shells.test.ts',
      'test/shell/help/man-page.test.ts',
      'test/tui/tour.test.ts',
      // Every fault, dialect and moment at which something may end.
      'test/{dialects,faults,oracle}/**',
      'test/change/{crash,faults}.test.ts',
      'test/tui/random-keys.test.ts',
      // Each command against devices: reading and writing stand for all.
      'test/main/!(reading|writing|usage).test.ts',
      // What waits for time limits, or reads much.
      'test/change/record-file/large.test.ts',
      'test/change/report/curl.test.ts',
      'test/credentials/keychain.test.ts',
      'test/device/{arrived,client}.test.ts',
      'test/device/route/jump.test.ts',
      'test/settings/lock.test.ts',
    ],
  },
});
