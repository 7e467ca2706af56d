import { expect, test } from 'vitest';
import { answer, connect, goToTable, isQuiet, simulate } from '../devsh.ts';
import type { PtyProgram } from '../harness.ts';

const ADD = 'user add username=zed first_name=Zed lastname=Zulu lang=en';

/** The names of the devices in the bar. */
function barOf(program: PtyProgram): string[] {
  const bar = program.screen()[0] ?? '';
  return Array.from(bar.matchAll(/127\.0\.0\.(\d)/g), ([, last = '']) => last);
}

/** Three devices with the second one selected, the focus in the table. */
async function secondOfThree() {
  const simulator = await simulate({ devices: 3 });
  const program = await connect(simulator, { cols: 120 });
  await goToTable(program);
  program.press('tab');
  await program.waitFor(/devsh 127\.0\.0\.2\S*>/);
  program.press('tab');
  await program.waitFor(/devsh 127\.0\.0\.3\S*>/);
  await program.waitFor(isQuiet);
  const posts = () =>
    simulator.devices.map(({ log }) => log.filter(({ method }) => method === 'POST').length);
  return { simulator, program, posts };
}

/** Types a write of one record at the prompt and confirms it. */
async function addZed(program: PtyProgram): Promise<void> {
  program.type(`${ADD}\r`);
  await program.waitFor(/add user zed on 127\.0\.0\.3\S*\? Type y/);
  await answer(program, 'y');
  await program.waitFor(/✓ zed {2}added/);
}

test('one of three is selected, another is connected again: the next write goes to the one', async () => {
  const { program, posts } = await secondOfThree();
  expect(barOf(program)).toEqual(['2', '3', '4']);
  program.type('D');
  await program.waitFor(/^ +DEVICE +STATE/m);
  program.type('r');
  await program.waitFor(/connected to 1 device/);
  await program.waitFor(isQuiet);
  expect(barOf(program)).toEqual(['2', '3', '4']);
  expect(program.screen().join('\n')).toMatch(/devsh 127\.0\.0\.3\S*>/);
  program.press('escape');
  await program.waitFor('d delete');
  program.type(':');
  await program.waitFor('enter run');
  await addZed(program);
  expect(posts()).toEqual([0, 1, 0]);
});

test('a device leaves and comes back: order, cursor and filter stay what they were', async () => {
  const { program, posts } = await secondOfThree();
  program.type('/lang=en\r');
  await program.waitFor(/filter: lang=en \(\d of/);
  program.press('down');
  await program.waitFor(/^▸. viewer/m);
  program.type(':');
  await program.waitFor('enter run');
  const [first = ''] = /127\.0\.0\.2\S*/.exec(program.screen()[0] ?? '') ?? [];
  program.type(`disconnect ${first}\r`);
  await program.waitFor(`disconnected from ${first}`);
  await program.waitFor(/^ devsh +\[● 127\.0\.0\.3\S*\] +● 127\.0\.0\.4/m);
  expect(program.screen().join('\n')).toMatch(/^▸. viewer/m);
  await program.waitFor(isQuiet);
  program.press('escape');
  await program.waitFor('d delete');
  program.press('tab');
  await program.waitFor(/devsh 127\.0\.0\.4\S*>/);
  program.press('shift-tab');
  await program.waitFor(/devsh 127\.0\.0\.3\S*>/);
  await program.waitFor(isQuiet);
  program.type(':');
  await program.waitFor('enter run');
  program.type(`connect ${first}\r`);
  await program.waitFor(/not selected: 127\.0\.0\.2\S*; the selection stays 127\.0\.0\.3/);
  await program.waitFor(isQuiet);
  expect(barOf(program)).toEqual(['2', '3', '4']);
  expect(program.screen().join('\n')).toMatch(/filter: lang=en \(2 of/);
  await addZed(program);
  expect(posts()).toEqual([0, 1, 0]);
});
