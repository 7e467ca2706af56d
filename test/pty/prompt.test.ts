import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connect, shared, simulate, startDevsh, startOver } from './devsh.ts';

const SIZES = [
  { cols: 80, rows: 24 },
  { cols: 40, rows: 10 },
] as const;

/** Folders that two sessions share. */
async function sharedFolders(): Promise<Record<string, string>> {
  const home = await mkdtemp(join(tmpdir(), 'devsh-prompt-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  return Object.fromEntries(
    ['CONFIG', 'DATA', 'STATE', 'CACHE'].map((name) => [`XDG_${name}_HOME`, join(home, name)]),
  );
}

describe('at a prompt without devices', () => {
  const session = shared(
    () => startDevsh([]),
    (program) => startOver(program),
  );

  test.each(SIZES)(
    'the ghost of a line typed before is quiet, and Right takes it ($cols)',
    async (size) => {
      const program = session();
      program.resize(size.cols, size.rows);
      await program.waitFor('devsh>');
      program.type('help connect\r');
      await program.waitFor('TARGET');
      program.type('he');
      await program.waitFor(/devsh> help connect$/m);
      const row = program.screen().findIndex((line) => line.includes('devsh> help'));
      const column = (program.screen()[row] ?? '').indexOf('help') + 2;
      expect(program.cellStyle(row, column - 1)).toMatchObject({ foreground: -1 });
      expect(program.cellStyle(row, column)).toMatchObject({ foreground: 247 });
      expect(program.cursor.column).toBe(column);
      program.press('alt-f');
      await program.waitFor(() => program.cursor.column === column + 2);
      program.press('right');
      await program.waitFor(() => program.cursor.column === column + 10);
    },
  );

  test.each(SIZES)('the line below says how a command goes on ($cols)', async (size) => {
    const program = session();
    program.resize(size.cols, size.rows);
    await program.waitFor('devsh>');
    program.type('user set bob ');
    if (size.cols < 80) {
      // The usage gives way to the keys.
      await program.waitFor(/^ ↹ next · esc close · f1 help/m);
      return;
    }
    await program.waitFor(/\[FIELD=VALUE…\]: a field/);
    const last = program.screen().at(-1) ?? '';
    const style = (text: string) => program.cellStyle(size.rows - 1, last.indexOf(text));
    expect(style('[FIELD')).toMatchObject({ bold: true });
    expect(style('a field')).toMatchObject({ bold: false });
  });

  test('escape sequences in a paste do nothing, and a line end behind one line does not run it', async () => {
    const program = session();
    await program.waitFor('devsh>');
    program.paste('help\x1b[31m con\x1b[A\x1b[2Jnect\x07\n');
    await program.waitFor(/devsh> help/);
    expect(program.screen().join('\n')).not.toContain('TARGET');
    program.type('!');
    await program.waitFor('!');
    expect(program.screen().join('\n')).not.toContain('usage');
    program.press('ctrl-c');
    await program.waitFor(/devsh> *$/m);
    program.paste('help connect\n');
    await program.waitFor(/devsh> help connect/);
    program.press('enter');
    await program.waitFor('TARGET');
  });

  test('!! is no command but two signs', async () => {
    const program = session();
    await program.waitFor('devsh>');
    program.type('devices\r');
    await program.waitFor(/devsh> *$/m);
    program.type('!!\r');
    await program.waitFor(/there is no command "!!"/);
  });
});

describe('at a prompt with a device', () => {
  const session = shared(
    async () => {
      const simulator = await simulate();
      return { simulator, program: await connect(simulator) };
    },
    ({ program }) => startOver(program),
  );

  test.each(SIZES)(
    'what fits by its letters is proposed, the letters stressed ($cols)',
    async (size) => {
      const { program } = session();
      program.resize(size.cols, size.rows);
      program.type('user add name');
      program.press('tab');
      await program.waitFor(/^ +lastname/m);
      const row = program.screen().findIndex((line) => /^ +lastname/.test(line));
      const column = (program.screen()[row] ?? '').indexOf('lastname');
      expect(program.cellStyle(row, column)).toMatchObject({ underline: false });
      expect(program.cellStyle(row, column + 4)).toMatchObject({ underline: true });
    },
  );

  test('a paste of 100 KB is one line of text, answers at once, and runs nothing by itself', async () => {
    const { simulator, program } = session();
    const one = 'user delete viewer --yes\n';
    program.paste(one.repeat(Math.ceil(100_000 / one.length)));
    await program.waitFor('⏎');
    program.press('enter');
    await program.waitFor(/Run these \d+ lines/);
    await program.waitFor('answer>');
    program.press('escape');
    await program.waitFor((screen) => !screen.join('\n').includes('answer>'));
    const methods = simulator.devices[0]?.log.map(({ method }) => method);
    expect(methods).not.toContain('DELETE');
    expect(program.screen().join('\n')).toContain('⏎');
    program.press('ctrl-c');
    await program.waitFor(/devsh all 1> *$|devsh [^>]*> *$/m);
  });

  test.each(SIZES)('an alias is completed and shows its view at once ($cols)', async (size) => {
    const { program } = session();
    program.resize(size.cols, size.rows);
    program.type(":alias set langs 'user list admin --columns username,lang'\r");
    await program.waitFor('langs now runs');
    program.type('lan');
    program.press('tab');
    await program.waitFor(/[>…] langs/m);
    program.type('\r');
    await program.waitFor(/^ *USERNAME\S* *↑? +LANG *$/m);
    expect(program.screen().join('\n')).not.toContain('from now on');
  });
});

test('without colours the ghost stands in brackets', async () => {
  const program = await startDevsh(['--no-color']);
  await program.waitFor('devsh>');
  program.type('devices\r');
  await program.waitFor(/devsh> *$/m);
  program.type('dev');
  await program.waitFor(/devsh> dev\[ices\]$/m);
});

test('Ctrl-R finds what another session typed meanwhile; Esc keeps the typed line', async () => {
  const env = await sharedFolders();
  const first = await startDevsh([], { env });
  await first.waitFor('devsh>');
  const second = await startDevsh([], { env });
  await second.waitFor('devsh>');
  second.type('help vault\r');
  await second.waitFor('› help vault');
  second.press('ctrl-d');
  await second.exit;
  first.type('half a line');
  first.press('ctrl-r');
  first.type('vau');
  await first.waitFor(/search 'vau': help vault/);
  const row = first.screen().findIndex((line) => line.includes("search 'vau'"));
  const column = (first.screen()[row] ?? '').indexOf('help vault');
  expect(first.cellStyle(row, column)).toMatchObject({ underline: false });
  expect(first.cellStyle(row, column + 5)).toMatchObject({ underline: true });
  first.type('lt?');
  await first.waitFor("search 'vault?' not found:");
  first.press('escape');
  await first.waitFor(/devsh> half a line$/m);
});

test('keys of records are completed from an earlier session, before anything is connected', async () => {
  const env = await sharedFolders();
  const simulator = await simulate();
  const address = simulator.devices[0]?.address ?? '';
  const first = await connect(simulator, { env });
  await first.waitFor(/8 records/);
  first.type(`device add fw1 ${address}\r`);
  await first.waitFor(/added|fw1/);
  first.press('ctrl-d');
  await first.exit;
  const second = await startDevsh([], { env });
  await second.waitFor('devsh>');
  second.type('user show vie');
  second.press('tab');
  await second.waitFor('user show viewer');
});
