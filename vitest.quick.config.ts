import { configDefaults, defineConfig } from 'vitest/config';
import whole from './vitest.config.ts';

/**
 * `npm run test:quick`: all tests except those that need the built program, wait, or repeat with many seeds.
 */
export default defineConfig({
  ...whole,
  test: {
    ...whole.test,
    globalSetup: [],
    // Modules are loaded once per worker, not per file: that takes most of the time here, and they have no state.
    isolate: false,
    exclude: [
      ...configDefaults.exclude,
      // Whole programs, terminals, packages.
      'test/{package,promises,pty,recipes,scripts,transcripts}/**',
      'test/**/{budget,completion,man-page,real-shells,tour,user-file}.test.ts',
      // All faults, dialects and moments of a crash.
      'test/{dialects,faults,oracle}/**',
      'test/change/{crash,faults}.test.ts',
      'test/**/random-keys.test.ts',
      // Each command against devices; reading and writing represent all.
      'test/main/!(reading|writing|usage).test.ts',
      // Tests that wait for time limits or read much.
      'test/change/**/{curl,large}.test.ts',
      'test/device/**/{arrived,client,jump}.test.ts',
      'test/**/{keychain,lock}.test.ts',
    ],
  },
});
