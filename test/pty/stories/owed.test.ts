import { expect, test } from 'vitest';
import { answer, connect, goToTable, isQuiet, simulate } from '../devsh.ts';

test(
  'a leaver, two devices down: they come back, O and "owed settle" delete him there once',
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
    await program.waitFor('Type 2 to do them');
    await answer(program, '2');
    await program.waitFor('still owed on');
    await program.waitFor(/ owed 2 ·/);
    expect(deletions()).toEqual([1, 1, 0, 0]);

    down(false);
    await goToTable(program);
    program.type('D');
    await program.waitFor(/OWED/);
    // Connected again, they are no longer the first rows.
    await program.waitFor(/4 connected/);
    program.press('home');
    program.type('jj');
    await program.waitFor(/^▸ 127\.0\.0\.4:.* connected +1 /m);
    program.type('O');
    await program.waitFor('settles what run');
    await answer(program, 'y');
    await program.waitFor(/ owed 1 ·/);
    await program.waitFor(isQuiet);
    expect(deletions()).toEqual([1, 1, 1, 0]);

    program.type(':owed settle\r');
    await program.waitFor('settles what run');
    await answer(program, 'y');
    await program.waitFor((screen) => isQuiet(screen) && !/ owed \d/.test(screen[0] ?? ''));
    program.type('owed settle\r');
    await program.waitFor('nothing is owed');
    expect(deletions()).toEqual([1, 1, 1, 1]);
    for (const { users } of devices) {
      expect(users.map(({ username }) => username)).not.toContain('jdoe');
    }
  },
);
