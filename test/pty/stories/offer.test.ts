import { expect, test, vi } from 'vitest';
import { connect, simulate } from '../devsh.ts';

test('a pause proposes words; Enter takes none that was not chosen, and Esc closes them first', async () => {
  const simulator = await simulate({ devices: 1, users: 6 });
  const program = await connect(simulator);
  await program.waitFor(/ 6 records/);
  // How the device speaks is learned in the background.
  let requests = -1;
  await vi.waitUntil(
    () => {
      const before = requests;
      requests = simulator.devices[0]?.log.length ?? 0;
      return requests === before;
    },
    { interval: 400, timeout: 10_000 },
  );
  program.type('user ');
  await program.waitFor(/^ +delete +Delete/m);
  // Typing on narrows them.
  program.type('li');
  await program.waitFor((screen) => !/^ +delete +Delete/m.test(screen.join('\n')));
  await program.waitFor(/^ +list +Show/m);
  expect(simulator.devices[0]?.log).toHaveLength(requests);

  program.press('escape');
  await program.waitFor((screen) => !/^ +list +Show/m.test(screen.join('\n')));
  await program.waitFor(/^▸devsh .*> user li/m);
  program.type('x');
  program.press('backspace');
  await program.waitFor(/^ +list +Show/m);
  // Nothing is chosen: the line runs as it was typed.
  program.press('enter');
  await program.waitFor(/"li"/);

  program.press('ctrl-u');
  program.type('user ');
  await program.waitFor(/^ +delete +Delete/m);
  program.press('down');
  program.press('enter');
  await program.waitFor(/^▸devsh .*> user \w+ ?$/m);
  program.press('ctrl-u');
  program.type('quit');
  program.press('enter');
  await program.exit;
});

test('a single proposal goes into the line with one Tab, and the setting turns pauses off', async () => {
  const simulator = await simulate({ devices: 1, users: 6 });
  const program = await connect(simulator);
  program.type('user li');
  await program.waitFor(/^ +list +Show/m);
  program.press('tab');
  await program.waitFor(/^▸devsh .*> user list/m);
  program.press('ctrl-u');
  program.type('config set completeWhileTyping false\r');
  await program.waitFor(/completeWhileTyping/);
  program.type('user ');
  await program.waitFor(/^▸devsh .*> user/m);
  await expect(program.waitFor(/^ +delete +Delete/m, 800)).rejects.toThrow('not on the screen');
});
