import { expect, test } from 'vitest';
import { answer, connect, goToTable, simulate } from '../devsh.ts';
import type { PtyProgram } from '../harness.ts';

/** Clicks in the middle of a row of the screen, counted from 0. */
function click(program: PtyProgram, row: number): void {
  program.type(`\x1b[<0;20;${row + 1}M\x1b[<0;20;${row + 1}m`);
}

function rowOf(program: PtyProgram, text: string | RegExp): number {
  return program.screen().findIndex((line) => line.search(text) !== -1);
}

async function start(): Promise<PtyProgram> {
  const program = await connect(await simulate({ users: 40, devices: 2 }), { cols: 100, rows: 24 });
  await goToTable(program);
  expect(program.modes.mouseTrackingMode).toBe('none');
  program.press('f9');
  await program.waitFor('mouse on: to select text in the terminal hold Shift; f9 turns it off');
  expect(program.modes.mouseTrackingMode).toBe('vt200');
  return program;
}

test('a click moves the cursor, a second one opens the row, the wheel scrolls', async () => {
  const program = await start();
  const [name = ''] = /^.. ?(\S+)/.exec(program.screen()[6] ?? '')?.slice(1) ?? [];
  click(program, 6);
  await program.waitFor((screen) => screen[6]?.startsWith('▸') === true);
  click(program, 6);
  await program.waitFor(`› ${name}`);
  program.press('q');
  await program.waitFor((screen) => screen[6]?.startsWith('▸') === true);
  program.type('\x1b[<65;5;5M'.repeat(9));
  await program.waitFor((screen) => !screen[3]?.includes('admin'));
  program.type('\x1b[<64;5;5M'.repeat(12));
  await program.waitFor((screen) => screen[3]?.startsWith('▸') === true);
  // The prompt gets the focus by a click, and the table gets it back.
  click(program, rowOf(program, /^.devsh .*>/));
  await program.waitFor('enter run');
  click(program, 5);
  await program.waitFor(': prompt');
  await program.waitFor((screen) => screen[5]?.startsWith('▸') === true);
  program.press('D');
  await program.waitFor('enter open');
  click(program, 4);
  await program.waitFor((screen) => screen[4]?.startsWith('▸') === true);
  program.press('f9');
  await program.waitFor('mouse off');
  expect(program.modes.mouseTrackingMode).toBe('none');
});

test('a click answers no question, and leaving turns the mouse off', async () => {
  const program = await start();
  program.press('j');
  program.press('d');
  await program.waitFor('answer>');
  const lines = program.screen();
  for (const row of lines.keys()) click(program, row);
  program.type('\x1b[<65;5;5M');
  await answer(program, 'n');
  await program.waitFor(/cancelled|declined|nothing was sent|not confirmed/i);
  await program.waitFor(': prompt');
  program.press('q');
  await program.exit;
  expect(program.modes.mouseTrackingMode).toBe('none');
  expect(program.buffer).toBe('normal');
});

test('a click takes a proposal, goes to a field, opens its choices and takes one, and sends nothing', async () => {
  const simulator = await simulate({ users: 12, devices: 1, profile: 'documented' });
  const program = await connect(simulator, { cols: 100, rows: 24 });
  program.press('f9');
  await program.waitFor('mouse on');
  program.type('user ');
  program.press('tab');
  await program.waitFor(/^ +add +/m);
  click(program, rowOf(program, /^ +add +/));
  await program.waitFor(/^▸devsh .*> user add/m);
  program.press('ctrl-u');
  await goToTable(program);
  program.type('e');
  await program.waitFor(/^▸ First name/m);
  click(program, rowOf(program, /^ +Lang /));
  await program.waitFor(/^▸ Lang /m);
  click(program, rowOf(program, /^▸ Lang /));
  await program.waitFor(/^ +ja$/m);
  click(program, rowOf(program, /^ +ja$/));
  await program.waitFor(/^ ~Lang +ja/m);
  await program.waitFor(/user set \S+ lang=ja/);
  click(program, rowOf(program, /^ +Lastname /));
  await program.waitFor(/^▸ Lastname /m);
  click(program, rowOf(program, /› user set/));
  await program.waitFor(/^▸ › user set \S+ lang=ja/m);
  expect(program.screen().join('\n')).not.toContain('answer>');
  expect(
    simulator.devices[0]?.log.filter(({ method }) => !['GET', 'OPTIONS'].includes(method)),
  ).toEqual([]);
});

test('the editor has the terminal without the mouse', async () => {
  const simulator = await simulate();
  const program = await connect(simulator, {
    env: { EDITOR: `${process.execPath} -e "console.log('EDITING'); setTimeout(() => 0, 1e9)"` },
  });
  await goToTable(program);
  program.press('f9');
  await program.waitFor('mouse on');
  program.type('E');
  await program.waitFor('EDITING');
  expect(program.modes.mouseTrackingMode).toBe('none');
  program.kill('SIGTERM');
  await program.exit;
  expect(program.modes.mouseTrackingMode).toBe('none');
});
