import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { atEnd, shared, startDevsh, startOver } from './devsh.ts';

/** An editor that shows the file, waits for Enter, and then changes it. */
async function editor(change: string): Promise<{ EDITOR: string; TMPDIR: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'devsh-editor-'));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'an editor.mjs');
  await writeFile(
    file,
    `import { readFileSync, writeFileSync } from 'node:fs';
     const file = process.argv.at(-1);
     const text = readFileSync(file, 'utf8');
     process.stdout.write('EDITING\\n' + text);
     process.stdin.once('data', () => {
       writeFileSync(file, (${change})(text));
       process.exit(0);
     });`,
  );
  return { EDITOR: `'${process.execPath}' "${file}"`, TMPDIR: folder };
}

const drafts = async ({ TMPDIR }: { readonly TMPDIR: string }): Promise<string[]> =>
  (await readdir(TMPDIR)).filter((name) => name.startsWith('devsh-edit-'));

describe('without devices', () => {
  const session = shared(
    async () => {
      const env = await editor(`(text) => text.replace('list', 'list --fold')`);
      return { env, program: await startDevsh([], { env }) };
    },
    ({ program }) => startOver(program),
  );

  test('Ctrl-X Ctrl-E takes the line to the editor and back, and does not run it', async () => {
    const { env, program } = session();
    await program.waitFor('devsh>');
    program.type('user list');
    program.press('ctrl-x');
    await program.waitFor('ctrl-x … · ctrl-e edit the line');
    program.press('ctrl-e');
    await program.waitFor(/EDITING\s+user list$/m);
    expect(program.buffer).toBe('normal');
    program.press('enter');
    await program.waitFor(/devsh> user list --fold$/m);
    expect(program.buffer).toBe('alternate');
    expect(await drafts(env)).toEqual([]);
  });

  test('a line with a secret does not go to a file', async () => {
    const { program } = session();
    await program.waitFor('devsh>');
    program.type('user add username=bob password=geheim');
    program.press('ctrl-x');
    program.press('ctrl-e');
    await program.waitFor('the line contains a secret');
  });

  test('a key after Ctrl-X that means nothing there is typed', async () => {
    const { program } = session();
    await program.waitFor('devsh>');
    program.press('ctrl-x');
    await program.waitFor('ctrl-x …');
    program.type('users');
    await program.waitFor(/devsh> users/);
  });
});

test('a signal takes the file along', async () => {
  const env = await editor('(text) => text');
  const program = await startDevsh([], { env });
  await program.waitFor('devsh>');
  program.type('user list');
  program.press('ctrl-x');
  program.press('ctrl-e');
  await program.waitFor('EDITING');
  expect(await drafts(env)).toHaveLength(1);
  program.kill('SIGTERM');
  await program.exit;
  expect(await drafts(env)).toEqual([]);
});
