import { expect, test } from 'vitest';
import { connect, goToTable, simulate } from '../devsh.ts';

/** The part of each line beside the table. */
function pane(screen: readonly string[]): string {
  return screen.flatMap((line) => line.split(/│ ?/).slice(1)).join('\n');
}

test('from 120 columns on, the details follow the cursor; p and a narrow screen take them away', async () => {
  const simulator = await simulate({ devices: 3, users: 6 });
  simulator.devices[2]?.putUser({ username: 'viewer', lang: 'de' });
  const program = await connect(simulator, { cols: 120, rows: 30 });
  await goToTable(program);
  await program.waitFor((screen) => /^admin · on all 3\n/.test(pane(screen)));
  program.press('G');
  // Two of three agree: the third is the odd one.
  await program.waitFor((screen) =>
    /^viewer · on all 3\n≠ lang +en +127\.0\.0\.2\S* 127\.0\.0\.3\S*\n +de +127\.0\.0\.4\S* ◂ odd/.test(
      pane(screen),
    ),
  );
  expect(pane(program.screen())).toMatch(/uuid +\(3 values\)/);

  program.press('p');
  await program.waitFor((screen) => pane(screen) === '');
  program.press('p');
  await program.waitFor((screen) => pane(screen).startsWith('viewer'));
  program.resize(119, 30);
  await program.waitFor((screen) => pane(screen) === '');
  program.press('p');
  await program.waitFor('details need 120 columns beside the table: Enter opens them');
  program.press('enter');
  await program.waitFor(/de +127\.0\.0\.4\S* ◂ odd/);
});
