import { expect, test } from 'vitest';
import type { Simulator } from '../simulator/simulator.ts';
import { answer, connect, isQuiet, goToTable, simulate } from './devsh.ts';

const ADD = 'user add username=zed first_name=Zed lastname=Zulu lang=en';

const holders = (simulator: Simulator): number =>
  simulator.devices.filter(({ users }) => users.some(({ username }) => username === 'zed')).length;

test('a plan is shown folded, and device by device with Tab', async () => {
  const simulator = await simulate({ devices: 8 });
  const program = await connect(simulator, { rows: 18 });
  program.type(`${ADD}\r`);
  await program.waitFor(/\+ add user zed +127[^]*first_name=Zed[^]* and 5 more/);
  await program.waitFor('answer>');
  program.press('tab');
  await program.waitFor(/\+ add user zed +127\.0\.0\.2[^]*\+ add user zed +127\.0\.0\.3/);
  program.press('pagedown');
  await program.waitFor(/ lines (?!1-)\d+-\d+ of/);
  program.press('tab');
  await program.waitFor('8 to add');
  program.press('escape');
  await program.waitFor('you did not confirm');
  expect(holders(simulator)).toBe(0);
});

test('the canary is asked about, and a no stops the roll-out there', async () => {
  const simulator = await simulate({ devices: 5 });
  const program = await connect(simulator);
  program.type(`${ADD} --canary 1\r`);
  await program.waitFor('Type 5 to do them');
  await answer(program, '5');
  await program.waitFor(/The canary succeeded .* Type 4/);
  expect(holders(simulator)).toBe(1);
  await program.waitFor('answer>');
  program.press('escape');
  await program.waitFor('stopped after the canary');
  await program.waitFor(/pending[^]*"resume/);
  expect(holders(simulator)).toBe(1);
});

test('a roll-out is watched by device, cancelled with Ctrl-C, and resumed from the runs', async () => {
  const simulator = await simulate({ devices: 6, latencyMs: 250 });
  const program = await connect(simulator, { rows: 40 });
  program.type(`${ADD}\r`);
  await program.waitFor('Type 6 to do them');
  await answer(program, '6');
  await program.waitFor(/roll-out · [1-4] of 6 devices/);
  await program.waitFor(/· 127\.0\.0\.7/);
  program.press('ctrl-c');
  await program.waitFor(/pending[^]*"resume/);
  await program.waitFor(/\d done · \d skipped/);
  const sent = holders(simulator);
  expect(sent).toBeLessThan(6);

  await goToTable(program);
  program.press('R');
  await program.waitFor(/^▸.* stopped: cancelled .*user add username=zed/m);
  program.press('r');
  await program.waitFor(/Type \d to do/);
  await answer(program, String(6 - sent));
  await expect.poll(() => holders(simulator), { timeout: 20_000 }).toBe(6);
  const posts = simulator.devices.flatMap(({ log }) => log.filter((one) => one.method === 'POST'));
  expect(posts).toHaveLength(6);
  await program.waitFor((screen) => {
    const text = screen.join('\n');
    return isQuiet(screen) && (!text.includes('› roll-out') || /ended · \d/.test(text));
  });
  program.press('R');
  // The newest run is the one that continued it.
  await program.waitFor(/ended +6 done/);
  program.press('down');
  await program.waitFor(/^▸.* ended +6 done/m);
  program.press('enter');
  await program.waitFor(/✓ zed +added +127\.0\.0\.2[^]*127\.0\.0\.7/);
  program.press('p');
  await program.waitFor(/^ devsh run \d\S+\n ─+$/m);
  await program.waitFor(/^ DEVICE +ADDRESS +VERDICT +STEPS$/m);
  expect(program.screen().join('\n')).not.toMatch(/[|#]|\*\*/);
  const heading = program.screen().findIndex((line) => line.startsWith(' devsh run'));
  expect(program.cellStyle(heading, 2)?.bold).toBe(true);
});
