import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, test } from 'vitest';
import { isQuiet, startDevsh } from './devsh.ts';

const FIRST = 'Type an address or a number, and Enter:';

test('with nothing set up a number and Enter open the demo', async () => {
  const program = await startDevsh([]);
  await program.waitFor(
    /Type an address or a number, and Enter:\n\n {3}1 {2}demo +three simulated/,
  );
  await program.waitFor(/Your own inventory goes to .+\/config\/devsh\/devices\.yaml\./);
  program.type('1\r');
  // What the line says stays in sight below a note that it did not ask for.
  await program.waitFor(/connected to 3 devices/);
  await program.waitFor(/^[ ▸]users · 3 devices/m);
  await program.waitFor(isQuiet);
  program.type('1');
  await program.waitFor(/> 1$/m);
});

test('with nothing set up a number and Enter begin the line for a device', async () => {
  const program = await startDevsh([]);
  await program.waitFor(FIRST);
  program.type('2\r');
  await program.waitFor(/devsh> connect( |$)/m);
  program.press('ctrl-u');
  program.type('3\r');
  await program.waitFor(/devsh> device import( |$)/m);
  program.press('ctrl-u');
  program.type('4\r');
  await program.waitFor(/devsh> device add( |$)/m);
  program.type('fw1 10.0.0.5\r');
  await program.waitFor('added fw1');
  await program.waitFor(isQuiet);
  program.type('5\r');
  await program.waitFor(/› help/);
});

test('what an inventory would bring stands above the question whether to take it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'devsh-import-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'devices.csv');
  await writeFile(file, 'name,address\nfw8,10.0.0.8\nfw9,10.0.0.9\n');
  const program = await startDevsh([]);
  await program.waitFor(FIRST);
  program.type(`device import '${file}'\r`);
  await program.waitFor(/fw8 +add +address 10\.0\.0\.8 +│\n│ fw9 +add .*\n│ Write this to/);
  await program.waitFor('answer>');
  program.type('2\r');
  await program.waitFor('2 added');
  await program.waitFor((screen) => !screen.join('\n').includes('answer>'));
});
