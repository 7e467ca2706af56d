// Writes everything that is generated from the program: the tables of README and docs, the transcripts and
// recipes, and the screens of the tests. `npm run pages -- test/transcripts` writes only some of it.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

const PAGES = ['test/readme.test.ts', 'test/transcripts', 'test/pty/views.test.ts'];
const asked = process.argv.slice(2);
const unknown = asked.find((page) => !PAGES.includes(page));
if (unknown !== undefined) {
  console.error(`pages: "${unknown}" writes no page; these do: ${PAGES.join(', ')}`);
  process.exit(2);
}
const { status } = spawnSync(
  process.execPath,
  // The files come first: `--update` takes the next word for its value.
  ['node_modules/vitest/vitest.mjs', 'run', ...(asked.length > 0 ? asked : PAGES), '--update'],
  {
    cwd: resolve(import.meta.dirname, '..'),
    env: { ...process.env, UPDATE_TRANSCRIPTS: '1' },
    stdio: 'inherit',
  },
);
process.exitCode = status ?? 1;
