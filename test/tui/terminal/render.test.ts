import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { bundleProgram, type Bundle } from '../../pty/bundle.ts';
import { startInPty, type PtyProgram } from '../../pty/harness.ts';

let bundle: Bundle;

beforeAll(async () => {
  bundle = await bundleProgram(new URL('programs/list-program.tsx', import.meta.url));
});
afterAll(() => bundle.remove());

async function startList(env: Readonly<Record<string, string>> = {}): Promise<PtyProgram> {
  const program = startInPty({ command: process.execPath, args: [bundle.path], env });
  onTestFinished(() => program.close());
  await program.waitFor('> row 0');
  return program;
}

/** Bytes written until the screen shows `wanted`. */
async function bytesUntil(program: PtyProgram, wanted: string, act: () => void): Promise<number> {
  const before = program.raw().length;
  act();
  await program.waitFor(wanted);
  return program.raw().length - before;
}

test.each([{}, { CI: 'true' }, { INK_SCREEN_READER: 'true' }])(
  'a list is drawn whole, changed in few bytes, and laid out anew on resize, with %j',
  async (env) => {
    const program = await startList(env);
    expect(program.screen().slice(0, 4)).toEqual([
      '> row 0 alice',
      '  row 1 田中',
      '  row 2 böb',
      '  row 3 eve 👩‍💻',
    ]);
    expect(program.screen()[19]).toMatch(/^ {2}row 19/);
    for (let row = 1; row < 20; row++) {
      const bytes = await bytesUntil(program, `> row ${row}`, () => {
        program.press('down');
      });
      expect(bytes).toBeLessThan(300);
    }
    expect(program.cursor).toEqual({ row: 19, column: 2, isShown: true });
    program.resize(12, 24);
    await program.waitFor(/^ {2}row 0 alic$/m);
    program.resize(80, 24);
    await program.waitFor(/^ {2}row 0 alice$/m);
    program.press('q');
    expect(await program.exit).toEqual({ code: 0, signal: 0 });
    expect(program.buffer).toBe('normal');

    expect(program.raw()).not.toMatch(/\x1b\[[23]J/);
  },
);

test('keys that arrive in one chunk are all counted', async () => {
  const program = await startList();
  program.type('\x1b[B'.repeat(15) + '\x1b[A');
  await program.waitFor('> row 14');
});

test('a component that throws ends the program with its stack and a clean terminal', async () => {
  const program = await startList();
  program.press('x');
  expect((await program.exit).code).toBe(70);
  expect(program.buffer).toBe('normal');
  expect(program.cursor.isShown).toBe(true);
  expect(program.screen().join('\n')).toContain('Error: component broken on purpose');
});
