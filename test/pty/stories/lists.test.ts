import { expect, test } from 'vitest';
import { goToTable, startDevsh } from '../devsh.ts';

test('a filter typed into the list of many devices is a filter, with every letter of it', async () => {
  const args = ['demo', '--devices', '40', '--users', '4'];
  const program = await startDevsh(args, { cols: 120, rows: 35 });
  await program.waitFor('connected to 40 devices');
  await goToTable(program);
  program.press('D');
  await program.waitFor(/^▸● sim1 +connected/m);
  program.type('/sim37w');
  await program.waitFor("'sim37w': 0 of 40");
  program.press('backspace');
  await program.waitFor(/'sim37': 1 of 40/);
  await program.waitFor(/^▸● sim37 +connected/m);
  expect(program.screen().join('\n')).not.toContain('every 5 s');
  program.press('enter');
  await program.waitFor(/^ enter open/m);
  program.press('enter');
  await program.waitFor(/devsh sim37>/);
});

test('a q too many after the one that closed a view does not leave devsh', async () => {
  const program = await startDevsh(['demo', '--devices', '2']);
  await program.waitFor('connected to 2 devices');
  await goToTable(program);
  program.press('D');
  await program.waitFor(/^▸.*› devices/m);
  program.press('q');
  program.press('q');
  await program.waitFor('the view was just closed: press it again to leave devsh');
  program.press('j');
  program.press('q');
  expect((await program.exit).code).toBe(0);
});
