import { expect, test } from 'vitest';
import { ADMIN, isQuiet, simulate, startDevsh } from '../devsh.ts';
import { countedKeys } from './counted-keys.ts';

test('a leaver on twelve devices, of which two are down, takes seven keys and a name; the two are named at the end', async () => {
  const simulator = await simulate({ devices: 12, users: 2 });
  for (const device of simulator.devices)
    device.putUser({ username: 'alice', first_name: 'Alice', lastname: 'Ardent', lang: 'de' });
  const down = simulator.devices.slice(10);
  for (const device of down) device.setFault('refuse');
  const program = await startDevsh([], {
    cols: 120,
    rows: 35,
    env: ADMIN,
    known: simulator.devices,
  });
  await program.waitFor('devsh>');
  program.type(`connect ${simulator.devices.map(({ address }) => address).join(' ')}\r`);
  await program.waitFor('connected to 10 of 12 devices');
  await program.waitFor(isQuiet);

  const keys = countedKeys(program, 7);
  keys.press('escape');
  await program.waitFor(': prompt');
  keys.press('/');
  keys.value('alice');
  keys.press('enter');
  await program.waitFor(/filter: alice/);
  await program.waitFor(/^▸ +alice /m);
  keys.press('d');
  await program.waitFor('10 steps on 10 of 12 devices, 2 not reached. Type 10 to DELETE');
  await program.waitFor('answer>');
  keys.press('1', '0', 'enter');
  await program.waitFor(/✓ alice {2}deleted {2}10 devices/);
  await program.waitFor(isQuiet);
  // One line says what was done, and the next one what is pending, where, and how it goes on.
  const [first = '', second = ''] = down.map(({ address }) => address);
  await program.waitFor(`not reached: ${first}, ${second}`);
  const [result, owed, ...others] =
    program
      .screen()
      .join('\n')
      .split('✓ alice')
      .at(-1)
      ?.split(/\n(?=\S| \S)/) ?? [];
  expect(result).toContain('deleted  10 devices');
  expect(owed).toMatch(/not reached: .* · pending there:\s+"resume \S+"\s+continues/);
  expect(others[0]).toContain('all 12 · 2 not connected>');

  const holds = simulator.devices.map(({ users }) => users.some((one) => one.username === 'alice'));
  expect(holds).toEqual(simulator.devices.map((_, index) => index >= 10));
});
