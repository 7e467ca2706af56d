import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** What one worker may need at once: its own devsh and devices, and the programs that it starts. */
const BYTES_EACH = 1.5 * 2 ** 30;

export default defineConfig({
  // As in the bundle (build.js): a text is a module.
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
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // One for each core: in a pty, too, of a test and the program that it drives one waits for the other.
    maxWorkers: Math.max(
      1,
      Math.min(availableParallelism(), Math.floor(process.availableMemory() / BYTES_EACH)),
    ),
    env: { NO_COLOR: '1' },
  },
});
