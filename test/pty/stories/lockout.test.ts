import { expect, test } from 'vitest';
import { answer, connect, goToTable, isQuiet, simulate } from '../devsh.ts';

test(
  'L locks the account under the cursor out of twelve devices, two of them down, and says what is left',
  { timeout: 60_000 },
  async () => {
    const simulator = await simulate({ devices: 12, profile: 'generic-rest' });
    const { devices } = simulator;
    const program = await connect(simulator, { cols: 120, rows: 35 });
    devices[10]?.setFault('refuse');
    devices[11]?.setFault('refuse');
    devices[2]?.setFault('accept-and-forget');
    await goToTable(program);
    program.type('/viewer');
    program.press('enter');
    await program.waitFor(/▸.*viewer/);
    program.type('L');
    await program.waitFor(/account viewer: on 10 of 10 devices read/);
    await program.waitFor(/Type now to[\s│]+act on the[\s│]+others/);
    expect(devices.flatMap(({ log }) => log.filter(({ method }) => method === 'PATCH'))).toEqual(
      [],
    );
    await answer(program, 'now');
    await program.waitFor('open sessions and API tokens: not known to be ended');
    await program.waitFor('Type 10 to do them');
    await answer(program, '10');
    await program.waitFor(
      (screen) => isQuiet(screen) && screen.join(' ').includes('pending there'),
    );
    const screen = program.screen().join('\n');
    expect(screen).not.toContain('locked out');
    expect(screen).toContain('9 done · 3 not as planned');
    expect(screen).toContain('no effect - the device accepted it; nothing changed so far');
    expect(screen).toMatch(/not reached: 127\.0\.0\.12:\d+, 127\.0\.0\.13:\d+/);
    const active = devices.map(
      ({ users }) => users.find(({ username }) => username === 'viewer')?.is_active,
    );
    expect(active).toEqual(devices.map((_device, index) => [2, 10, 11].includes(index)));
  },
);

test('L where no field disables an account proposes to delete it, and sends nothing before the answer', async () => {
  const simulator = await simulate({ devices: 2, profile: 'documented' });
  const program = await connect(simulator, { cols: 110, rows: 30 });
  await goToTable(program);
  program.type('/viewer\r');
  await program.waitFor(/▸.*viewer/);
  program.type('L');
  await program.waitFor('Type 2 to DELETE:');
  const sent = () => simulator.devices.flatMap(({ log }) => log).map(({ method }) => method);
  expect(new Set(sent())).not.toContain('DELETE');
  program.press('escape');
  await program.waitFor(isQuiet);
  expect(sent()).not.toContain('DELETE');
  program.type('L');
  await answer(program, '2');
  await program.waitFor('✓ viewer  deleted');
  expect(sent().filter((method) => method === 'DELETE')).toHaveLength(2);
});
