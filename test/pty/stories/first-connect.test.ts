import { test } from 'vitest';
import { simulate, startDevsh } from '../devsh.ts';
import { countedKeys } from './counted-keys.ts';

test('from the first start to the users of a new device takes seven keys, an address and a login', async () => {
  const simulator = await simulate();
  const program = await startDevsh([]);
  const keys = countedKeys(program, 7);
  await program.waitFor('Type an address');
  keys.value(simulator.devices[0]?.address ?? '');
  keys.press('enter');
  await program.waitFor('Type yes to trust');
  await program.waitFor('answer>');
  keys.press('y', 'e', 's', 'enter');
  await program.waitFor('User name on');
  await program.waitFor('answer>');
  keys.value('admin');
  keys.press('enter');
  await program.waitFor('Password of admin');
  await program.waitFor('answer>');
  keys.value('admin-secret');
  keys.press('enter');
  await program.waitFor('connected to 1 device');
  await program.waitFor(/viewer\s+Vic/);
});
