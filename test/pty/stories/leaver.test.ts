import { expect, test } from 'vitest';
import { ADMIN, isQuiet, simulate, startDevsh } from '../devsh.ts';

/** One entry for each key of the story, from the prompt of the connected fleet on. */
const KEYS = ['escape', '/', 'a', 'l', 'i', 'c', 'e', 'enter', 'd', '1', '0', 'enter'];

test('a leaver on twelve devices, of which two are down, takes twelve keys; the two are named at the end', async () => {
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

  const [table, filter, plan, confirm] = [
    KEYS.slice(0, 1),
    KEYS.slice(1, 8),
    KEYS.slice(8, 9),
    KEYS.slice(9),
  ];
  const press = (keys: readonly string[]): void => {
    for (const key of keys)
      if (key.length === 1) program.type(key);
      else program.press(key);
  };
  press(table);
  await program.waitFor(': prompt');
  press(filter);
  await program.waitFor(/filter: alice/);
  await program.waitFor(/^▸ +alice /m);
  press(plan);
  await program.waitFor('10 steps on 10 of 12 devices, 2 not covered. Type 10 to do them');
  await program.waitFor('answer>');
  press(confirm);
  await program.waitFor(/✓ delete user alice: done on .* and 7 more/);
  await program.waitFor(isQuiet);
  // One line says what was done, and the next one what is pending, where, and how it goes on.
  const [first = '', second = ''] = down.map(({ address }) => address);
  await program.waitFor(`not covered: ${first}, ${second} (`);
  const [result, owed, ...others] =
    program
      .screen()
      .join('\n')
      .split('✓ delete')
      .at(-1)
      ?.split(/\n(?=\S| \S)/) ?? [];
  expect(result).toContain('done on');
  expect(owed).toMatch(/\(unreachable\) · pending there:\s+"resume \S+"\s+continues/);
  expect(others[0]).toContain('>');

  const holds = simulator.devices.map(({ users }) => users.some((one) => one.username === 'alice'));
  expect(holds).toEqual(simulator.devices.map((_, index) => index >= 10));
  expect(KEYS.length).toBeLessThanOrEqual(24);
});
