import { expect, test } from 'vitest';
import { answer, connect, goToTable, isQuiet, simulate } from '../devsh.ts';

test(
  'a leaver, two devices down: they come back, O and "resume" delete him there once',
  { timeout: 60_000 },
  async () => {
    const { devices, ...simulator } = await simulate({ devices: 4 });
    for (const device of devices) {
      device.putUser({ username: 'jdoe', first_name: 'J', lastname: 'Doe', lang: 'de' });
    }
    const [third, fourth] = devices.slice(2);
    const deletions = (): number[] =>
      devices.map(({ log }) => log.filter(({ method }) => method === 'DELETE').length);
    const down = (isDown: boolean): void => {
      for (const device of [third, fourth]) device?.setFault('refuse', isDown);
    };
    down(true);
    const program = await connect({ ...simulator, devices }, { cols: 120, rows: 35 });
    program.type('user delete jdoe\r');
    await program.waitFor('Type 2 to DELETE');
    await answer(program, '2');
    await program.waitFor(/pending there:\s+"resume/);
    await program.waitFor(/ pending 2: \S+ \S+ ·/);
    expect(deletions()).toEqual([1, 1, 0, 0]);

    down(false);
    await goToTable(program);
    // The reading after the write may have come before the devices.
    program.type('r');
    await program.waitFor(isQuiet);
    program.type('D');
    await program.waitFor(/PENDING/);
    // Connected again, they are no longer the first rows.
    await program.waitFor(/4 connected/, 30_000);
    program.press('home');
    program.type('jj');
    await program.waitFor(/^▸● 127\.0\.0\.4:.* connected +1 /m);
    program.type('O');
    await program.waitFor('Type y to do it');
    await answer(program, 'y');
    await program.waitFor(/ pending 1: \S+ ·/);
    await program.waitFor(isQuiet);
    expect(deletions()).toEqual([1, 1, 1, 0]);

    program.type(':resume\r');
    await program.waitFor('Type y to do it');
    await answer(program, 'y');
    await program.waitFor((screen) => isQuiet(screen) && !/ pending \d/.test(screen[0] ?? ''));
    program.type('resume\r');
    await program.waitFor('nothing is pending');
    expect(deletions()).toEqual([1, 1, 1, 1]);
    for (const { users } of devices) {
      expect(users.map(({ username }) => username)).not.toContain('jdoe');
    }
  },
);

test(
  'a stolen account, two devices down: one comes back with another person of that name, who is asked about and left alone',
  { timeout: 60_000 },
  async () => {
    const simulator = await simulate({ devices: 5, profile: 'generic-rest', quirk: ['sessions'] });
    const { devices } = simulator;
    const [fourth, fifth] = devices.slice(3);
    const patches = (): number[] =>
      devices.map(({ log }) => log.filter(({ method }) => method === 'PATCH').length);
    const program = await connect(simulator, { cols: 120, rows: 35 });
    // A device that goes away before it is learned would get its writes in another format.
    const learned = (): number[] =>
      devices.map(({ log }) => log.filter(({ method }) => method === 'OPTIONS').length);
    await expect.poll(learned, { timeout: 10_000 }).toEqual([2, 2, 2, 2, 2]);
    for (const device of [fourth, fifth]) device?.setFault('refuse', true);
    await goToTable(program);
    program.type('/viewer');
    program.press('enter');
    await program.waitFor(/▸.*viewer/);
    program.type('L');
    await program.waitFor(/Type now to act[\s│]+on[\s│]+the[\s│]+others/);
    await answer(program, 'now');
    await program.waitFor('Type 3 to do them');
    await answer(program, '3');
    await program.waitFor(/pending there:\s+"resume/);
    await program.waitFor(/ pending 2: \S+ \S+ ·/);
    expect(patches()).toEqual([1, 1, 1, 0, 0]);

    for (const device of [fourth, fifth]) device?.setFault('refuse', false);
    const vera = { first_name: 'Vera', lastname: 'Else', email: 'vera.else@example.net' };
    fifth?.putUser({ username: 'viewer', ...vera, is_active: true });
    for (const [choice, expected] of [
      ['', [1, 1, 1, 1, 0]],
      ['1', [1, 1, 1, 1, 1]],
    ] as const) {
      program.type(':resume\r');
      await program.waitFor('Is this "viewer" the one that is meant?');
      await program.waitFor(/1 {2}\S+ {2}user viewer shows another person \(e-mail vera/);
      await answer(program, choice);
      await program.waitFor('Type y to do it');
      await answer(program, 'y');
      await expect.poll(patches, { timeout: 10_000 }).toEqual(expected);
      await program.waitFor(isQuiet);
    }
    await program.waitFor((screen) => isQuiet(screen) && !/ pending \d/.test(screen[0] ?? ''));
  },
);
