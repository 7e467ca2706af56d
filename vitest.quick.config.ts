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
    // Modules are loaded once for a worker, not for each file: nothing in them remembers anything (main holds
    // what there is), and loading them takes most of the time here.
    isolate: false,
    exclude: [
      ...configDefaults.exclude,
      // Whole programs, terminals, packages.
      'test/{package,promises,pty,recipes,scripts,transcripts}/**',
      'test/**/{budget,completion,man-page,real-shells,tour,user-file}.test.ts',
      // Every fault, dialect and moment at which something may end.
      'test/{dialects,faults,oracle}/**',
      'test/change/{crash,faults}.test.ts',
      'test/**/random-keys.test.ts',
      // Each command against devices: reading and writing stand for all.
      'test/main/!(reading|writing|usage).test.ts',
      // What waits for time limits, or reads much.
      'test/change/**/{curl,large}.test.ts',
      'test/device/**/{arrived,client,jump}.test.ts',
      'test/**/{keychain,lock}.test.ts',
    ],
  },
});
