import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startDevsh } from './devsh.ts';

test('with nothing set up one key opens the demo', async () => {
  const program = await startDevsh([]);
  await program.waitFor(/Press a key, or type the words:\n\n {3}1 {2}demo +three simulated/);
  await program.waitFor(/Your own inventory goes to .+\/config\/devsh\/devices\.yaml\./);
  await program.waitFor(
    /^ 1 demo · 2 connect · 3 import · 4 add a device · 5 commands · enter run/m,
  );
  program.press('1');
  await program.waitFor(/connected to 3 devices/);
  await program.waitFor(/^[ ▸]users · 3 devices/m);
  program.type('1');
  await program.waitFor(/> 1$/m);
});

test('with nothing set up one key begins the line for a device; the words can be typed as well', async () => {
  const program = await startDevsh([]);
  await program.waitFor('Press a key');
  program.press('2');
  await program.waitFor(/devsh> connect( |$)/m);
  expect(program.screen().join('\n')).toContain('Type one of these:');
  program.press('ctrl-u');
  await program.waitFor('Press a key');
  program.press('3');
  await program.waitFor(/devsh> device import( |$)/m);
  program.press('ctrl-u');
  await program.waitFor('Press a key');
  program.press('4');
  await program.waitFor(/devsh> device add( |$)/m);
  program.type('fw1 10.0.0.5\r');
  await program.waitFor('Press a key');
  program.press('5');
  await program.waitFor(/› help/);
});

test('in the table, and once something was typed, the digits are no steps any more', async () => {
  const program = await startDevsh([]);
  await program.waitFor('Press a key');
  program.press('escape');
  await program.waitFor('No device is connected yet. Type one of these:');
  program.press(':');
  await program.waitFor('Press a key');
  program.type('x1');
  await program.waitFor(/devsh> x1$/m);
  await program.waitFor('Type one of these:');
});

test('what an inventory would bring stands above the question whether to take it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'devsh-import-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'devices.csv');
  await writeFile(file, 'name,address\nfw8,10.0.0.8\nfw9,10.0.0.9\n');
  const program = await startDevsh([]);
  await program.waitFor('Press a key');
  program.type(`device import '${file}'\r`);
  await program.waitFor(/fw8 +add +address 10\.0\.0\.8\n fw9 +add .*\n Write this to/);
  await program.waitFor('answer>');
  program.type('2\r');
  await program.waitFor('2 added');
  await program.waitFor((screen) => !screen.join('\n').includes('answer>'));
});
