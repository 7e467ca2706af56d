import { describe, expect, test } from 'vitest';
import { connect, goToTable, shared, simulate, startOver } from '../devsh.ts';

const LINE = /^.?devsh .*$/m;

describe('two devices', () => {
  const session = shared(
    async () => {
      const simulator = await simulate({ devices: 2, users: 6 });
      return { simulator, program: await connect(simulator) };
    },
    async ({ program }) => {
      await startOver(program);
      program.type('use all\r');
      await program.waitFor('devsh all 2>');
    },
  );

  test('a name and Enter typed in one go wait for what is looked up, and take the best match', async () => {
    const { simulator, program } = session();
    const address = simulator.devices[1]?.address ?? '';
    program.type(`\x0b${address}\r`);
    await program.waitFor(`devsh ${address}>`);
  });

  test('Ctrl-K finds keys, commands and devices by word, and Enter goes there', async () => {
    const { simulator, program } = session();
    const deletions = (): number =>
      simulator.devices.flatMap(({ log }) => log).filter(({ method }) => method === 'DELETE')
        .length;
    // On a typed line Ctrl-K cuts to its end.
    program.type('user list lang=de');
    await program.waitFor('user list lang=de');
    program.press('ctrl-a');
    program.press('ctrl-k');
    await program.waitFor((screen) => !screen.join('\n').includes('user list lang=de'));

    // On an empty prompt it opens the palette; what is typed ahead at once is a search, not keys.
    program.type('\x0brm');
    await program.waitFor(/go to> rm/);
    await program.waitFor(/^▸ +key +d +delete the marked/m);
    await program.waitFor(/^ +command +user delete/m);
    program.press('down');
    await program.waitFor(/^▸ +command +user delete/m);
    program.press('enter');
    await program.waitFor(/^▸devsh .*> user delete/m);
    expect(deletions()).toBe(0);

    // A key acts on the table, and asks as ever.
    program.press('ctrl-u');
    await program.waitFor(
      (screen) => !(LINE.exec(screen.join('\n'))?.[0] ?? '').includes('delete'),
    );
    program.type('\x0bmark all');
    await program.waitFor(/^▸ +key +\* /m);
    program.press('enter');
    await program.waitFor(/\[\d+ marked/);
    expect(program.screen().at(-1)).toContain(': prompt');

    // A device is selected.
    const address = simulator.devices[1]?.address ?? '';
    program.type(`\x0b${address}`);
    await program.waitFor(/^▸ +device/m);
    program.press('enter');
    await program.waitFor(`devsh ${address}>`);

    // Esc closes it, whatever is typed in it; nothing found says so.
    program.press('ctrl-k');
    program.type('zzzzzz');
    await program.waitFor("no match for 'zzzzzz'");
    program.press('enter');
    program.press('escape');
    await program.waitFor(': prompt');
    expect(deletions()).toBe(0);
  });
});

test('the palette fits a small screen, and says why a key does nothing now', async () => {
  const program = await connect(await simulate({ devices: 1 }), { cols: 40, rows: 10 });
  await goToTable(program);
  program.press('ctrl-k');
  program.type('next device');
  await program.waitFor(/^▸ +↹ +the next device/m);
  expect(program.screen().every((line) => line.length <= 40)).toBe(true);
  program.press('enter');
  await program.waitFor(/↹ \(device\): only one device is/);
});
