import { defineConfig } from 'vitest/config';

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
    maxWorkers: 2,
    env: { NO_COLOR: '1' },
  },
});
