import { expect, test } from 'vitest';
import { answer, connect, goToTable, isQuiet, simulate } from '../devsh.ts';
import { countedKeys } from './counted-keys.ts';

test('one field on three users takes nine keys and a value in the table, and changes nothing else', async () => {
  const simulator = await simulate({ devices: 1, profile: 'documented' });
  const program = await connect(simulator);
  await goToTable(program);
  const before = simulator.devices[0]?.users.map((user) => ({ ...user })) ?? [];
  const keys = countedKeys(program, 9);
  keys.press('space', 'space', 'space');
  await program.waitFor('[3 marked');
  keys.press('e');
  await program.waitFor(/user set 3 keys: \S+ \S+ \S+/);
  await program.waitFor(/First name .*mixed: /);
  keys.press('tab', 'tab');
  await program.waitFor(/▸ +Lang /);
  keys.value('fr');
  keys.press('ctrl-s');
  await program.waitFor('answer>');
  await program.waitFor(/3 to change|3 to set|Type 3/);
  // Only the question has the focus.
  const rows = program.screen();
  const looks = (text: string) =>
    program.cellStyle(
      rows.findIndex((row) => row.includes(text)),
      3,
    );
  expect(rows.some((row) => row.includes('› user set 3'))).toBe(false);
  expect(looks('answer>')?.bold).toBe(true);
  keys.press('3', 'enter');
  await program.waitFor((screen) => isQuiet(screen) && screen.join('\n').includes('done'));
  const after = simulator.devices[0]?.users ?? [];
  const changed = after.filter(
    (user, index) => JSON.stringify(user) !== JSON.stringify(before[index]),
  );
  expect(changed.map(({ lang }) => lang)).toEqual(['fr', 'fr', 'fr']);
  expect(after.map((user) => ({ ...user, lang: '' }))).toEqual(
    before.map((user) => ({ ...user, lang: '' })),
  );
});

test('marks behind a filter count, and are said', async () => {
  const simulator = await simulate({ devices: 2 });
  const program = await connect(simulator);
  await goToTable(program);
  program.press('space');
  program.type('/viewer');
  program.press('enter');
  program.press('space');
  await program.waitFor('2 marked = 4 records on 2 devices, 1 hidden by the filter');
  program.press('e');
  await program.waitFor('user set (1 hidden by the filter) 2 keys:');
  program.press('tab');
  program.press('tab');
  program.type('it');
  program.press('ctrl-s');
  await answer(program, '4');
  await program.waitFor((screen) => isQuiet(screen) && screen.join('\n').includes('done'));
  for (const { users } of simulator.devices)
    expect(users.filter(({ lang }) => lang === 'it').length).toBeGreaterThanOrEqual(2);
});
