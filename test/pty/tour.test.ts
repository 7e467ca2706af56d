import fc from 'fast-check';
import { test } from 'vitest';
import { KEYMAP } from '../../src/tui/keys/default-keymap.ts';
import { startDevsh } from './devsh.ts';
import type { PtyProgram } from './harness.ts';
import { rounds } from '../rounds.ts';

/** Keys that end or stop devsh or open a program, and those that the harness cannot press. */
const NOT_PRESSED = ['q', 'ctrl-d', 'ctrl-z', 'ctrl-l', 'shift-up', 'shift-down'];

const KEYS = [
  ...new Set(KEYMAP.flatMap(({ keys }) => keys.flatMap((key) => key.split(' ')))),
].filter((key) => !NOT_PRESSED.includes(key));

/** Escape in the encoding that does not become Alt with the next key (kitty keyboard protocol). */
const ESCAPE = '\x1b[27u';

const SEEDS = [1, 2];
const COUNT = rounds(200, { least: 40 });

test.each(SEEDS)(
  `${COUNT} random keys neither end the program nor lock it up, and Esc ends in the table (%s)`,
  { timeout: 60_000 },
  async (seed) => {
    const args = ['demo', '--devices', '2', '--users', '6'];
    const program = await startDevsh(args, { cols: 90, rows: 24, env: { EDITOR: 'true' } });
    await program.waitFor('connected to 2 devices');
    const keys = fc.sample(fc.constantFrom(...KEYS), { numRuns: COUNT, seed });
    for (const key of keys) await press(program, key);
    await backToTable(program);
    await press(program, ':');
    await program.waitFor(() => isAtPrompt(program));
    program.press('ctrl-e');
    program.press('ctrl-u');
    await program.waitFor(/^▸devsh [^>]*> *$/m);
    program.type('info\r');
    await program.waitFor('known devices');
  },
);

/** The start of the full frame after Ctrl-L, by which all keys before have been processed. */
const WHOLE = '\x1b[m\x1b[1H';

async function press(program: PtyProgram, key: string): Promise<void> {
  if (key === 'escape') program.type(ESCAPE);
  else program.press(key);
  const written = program.raw().length;
  const isWhole = (): boolean => program.raw().includes(WHOLE, written);
  program.press('ctrl-l');
  // A question that opens drops the keys that were pressed before it.
  const again = setInterval(() => !isWhole() && program.press('ctrl-l'), 500);
  await program.waitFor(isWhole).finally(() => clearInterval(again));
}

/** Presses Escape often enough to reach the table. */
async function backToTable(program: PtyProgram): Promise<void> {
  await program.waitFor(isIdle, 30_000);
  for (let escapes = 0; escapes < 25; escapes += 1) {
    await press(program, 'escape');
    await program.waitFor(isIdle, 30_000);
  }
  await program.waitFor((screen) => screen[1]?.startsWith('▸') === true);
}

function isIdle(screen: readonly string[]): boolean {
  return !/Ctrl-C cancels|stopping:|reading \d/.test(screen.join('\n'));
}

function isAtPrompt(program: PtyProgram): boolean {
  const { row, isShown } = program.cursor;
  return isShown && /^▸devsh [^>]*>/.test(program.screen()[row] ?? '');
}
