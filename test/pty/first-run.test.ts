import { expect, test } from 'vitest';
import { startDevsh } from './devsh.ts';

test('with nothing set up one key opens the demo', async () => {
  const program = await startDevsh([]);
  await program.waitFor(/Press a key, or type the words:\n\n {3}1 {2}demo +three simulated/);
  await program.waitFor(/An inventory of your own goes to \S+\/config\/devsh\/devices\.yaml\./);
  await program.waitFor(
    /^ 1 demo · 2 connect · 3 import · 4 add a device · 5 commands · enter run/m,
  );
  program.press('1');
  await program.waitFor(/connected to 3 devices/);
  await program.waitFor(/^ users · 3 devices/m);
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
