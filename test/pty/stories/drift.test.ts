import { expect, test } from 'vitest';
import { connect, goToTable, simulate } from '../devsh.ts';

test('the odd one is made like the others in four keys, and the matrix shows it', async () => {
  const simulator = await simulate({ devices: 3, users: 0 });
  const [first, second, third] = simulator.devices;
  for (const device of [first, second, third])
    device?.putUser({ username: 'bob', first_name: 'Bob', lang: 'de' });
  second?.putUser({ username: 'bob', first_name: 'Bob', lang: 'en' });
  const program = await connect(simulator, { cols: 120 });
  await goToTable(program);
  await program.waitFor(/≠ bob .*en≠/);
  let keys = 0;
  const type = (key: string): void => {
    keys += 1;
    program.type(key);
  };
  type('c');
  await program.waitFor(/^▸ +bob +=\s*≠\s*=/m);
  await program.waitFor(/^ = set bob lang=de on 127\.0\.0\.3/m);
  type('=');
  await program.waitFor(/~ set user bob +127\.0\.0\.3\S* +lang: en -> de/);
  await program.waitFor('answer>');
  type('y');
  type('\r');
  await program.waitFor(/✓ bob {2}lang .* {2}127\.0\.0\.3/);
  // Compared again: bob is folded away, and the verdict stays in sight.
  await program.waitFor((screen) => !/^▸ +bob/m.test(screen.join('\n')));
  expect(program.screen().join('\n')).toMatch(/✓ bob {2}lang/);
  expect(keys).toBe(4);
  program.press('escape');
  await program.waitFor(/^.  bob .*\ball\b/m);
  expect(second?.users.find(({ username }) => username === 'bob')?.lang).toBe('de');
});

test('a device that was not read keeps the odd one from being called odd', async () => {
  const simulator = await simulate({ devices: 3, users: 0 });
  for (const [index, device] of simulator.devices.entries())
    device.putUser({ username: 'bob', first_name: 'Bob', lang: index === 1 ? 'en' : 'de' });
  const program = await connect(simulator, { cols: 120 });
  await goToTable(program);
  simulator.devices[2]?.setFault('accept-and-close');
  program.type('c');
  await program.waitFor(/^▸ +bob +≠\s*≠\s*\?/m);
  await program.waitFor('no majority');
  program.type('=');
  await program.waitFor(/= \(make alike\): no majority/);
});
