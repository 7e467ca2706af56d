import { describe, expect, test } from 'vitest';
import { serve } from '../device/server.ts';
import {
  ADMIN,
  answer,
  connect,
  goToTable,
  shared,
  simulate,
  startDevsh,
  startOver,
} from './devsh.ts';
import type { PtyProgram } from './harness.ts';

/** Opens the form for a new user on devices that report their fields. */
async function openForm(program: PtyProgram): Promise<void> {
  await goToTable(program);
  program.press('a');
  await program.waitFor('fields as the device reports them');
}

const drf = (): ReturnType<typeof simulate> => simulate({ profile: 'drf' });
const SPEAKS = { args: ['--profile', 'drf'] };

describe('users', () => {
  const session = shared(
    async () => {
      const simulator = await drf();
      return { simulator, program: await connect(simulator, SPEAKS) };
    },
    ({ program }) => startOver(program),
  );

  test('a adds a record by a form, with a choice picked by its name', async () => {
    const { simulator, program } = session();
    await openForm(program);
    await program.waitFor(/Modified .*read-only/);
    program.type('Carol\rClark\rcarol\r');
    await program.waitFor(/▸ +Lang/);
    program.type('ger');
    await program.waitFor(/de {2}German/);
    program.press('enter');
    await program.waitFor(/Lang \* +\[de · German/);
    // A boolean without a value is empty.
    await program.waitFor(/Is active +\[\(empty\)/);
    program.press('space');
    await program.waitFor(/Is active +\[yes/);
    program.press('space');
    await program.waitFor(/Is active +\[no/);
    program.press('enter');
    const command =
      'user add first_name=Carol lastname=Clark username=carol lang=de is_active=false';
    await program.waitFor(`▸ › ${command}`);
    program.press('enter');
    await program.waitFor('1 to add');
    await answer(program, 'y');
    await program.waitFor(/✓ carol {2}added/);
    await program.waitFor(/carol +Carol +Clark +de/);
    expect(simulator.devices[0]?.users).toContainEqual(
      expect.objectContaining({ username: 'carol', lang: 'de', is_active: false }),
    );
  });

  test('what the device refuses stands beside its field, and nothing typed is lost', async () => {
    const { program } = session();
    await openForm(program);
    program.type('Dora\rDay\rdora day');
    await program.waitFor(/~ Username \* +\[dora day/);
    program.press('ctrl-s');
    await program.waitFor('1 to add');
    await answer(program, 'y');
    await program.waitFor(/▸~ Username \* +\[dora day +\] ✗ Enter a valid/);
    await program.waitFor(/✗ dora day {2}add failed/);
    await program.waitFor(`› user add first_name=Dora lastname=Day username='dora day'`);
    program.press('ctrl-w');
    program.press('backspace');
    await program.waitFor((screen) => !screen.join('\n').includes('✗ Enter a valid'));
    program.press('ctrl-s');
    await answer(program, 'y');
    await program.waitFor(/✓ dora {2}added/);
    await program.waitFor(/dora +Dora +Day/);
  });

  test('e changes a record by a form; what is closed with Esc is still there the next time', async () => {
    const { program } = session();
    await goToTable(program);
    program.type('/viewer\re');
    await program.waitFor(/user set viewer · fields/);
    await program.waitFor(/▸ +First name +\[Vic/);
    program.type('toria');
    await program.waitFor('› user set viewer first_name=Victoria');
    program.press('escape');
    await program.waitFor(/viewer +Vic +Reader/);
    program.press('e');
    await program.waitFor(/▸~ First name +\[Victoria .*was Vic/);
    program.press('ctrl-s');
    await program.waitFor('first_name: Vic -> Victoria');
    await answer(program, 'y');
    await program.waitFor(/✓ viewer {2}/);
    await program.waitFor(/viewer +Victoria +Reader/);
  });

  test('a name that another record has is objected to in its field', async () => {
    const { program } = session();
    await goToTable(program);
    program.type('/viewer\re');
    await program.waitFor(/▸ +First name +\[Vic/);
    program.press('down');
    program.press('down');
    await program.waitFor(/▸ +Username \* +\[viewer/);
    program.press('ctrl-u');
    program.type('admin');
    program.press('ctrl-s');
    await program.waitFor(/▸~ Username \* +\[admin +\] ✗ taken by another user/);
  });

  test('what devsh itself would not send puts the cursor into its field, too', async () => {
    const { program } = session();
    await openForm(program);
    program.type('Doris\rDay\rdoris');
    await program.waitFor(/~ Username \* +\[doris/);
    program.type('\rxx');
    await program.waitFor(/Lang \* +\[xx/);
    // The second time confirms it, and the line says so.
    program.press('ctrl-s');
    await program.waitFor(/▸~ Lang \* +\[xx +\] ✗ not one of/);
    await program.waitFor('lang=xx --allow invalid');
    program.press('ctrl-s');
    await program.waitFor('1 to add');
    await answer(program, 'y');
    await program.waitFor(/✗ doris {2}add failed/);
    await program.waitFor(/▸~ Lang \* +\[xx +\] ✗ .*not a valid choice/);
  });
});

test('a form fits into 40 columns and 10 rows, and follows the screen', async () => {
  const program = await connect(await drf(), { ...SPEAKS, cols: 40, rows: 10 });
  await goToTable(program);
  program.press('a');
  await program.waitFor(/▸ +First name/);
  expect(program.cursor.isShown).toBe(true);
  program.type('Carol\r\r');
  await program.waitFor(/▸ +Username/);
  program.type('carol');
  await program.waitFor(/ › user add first_name=Carol/);
  program.resize(200, 50);
  await program.waitFor(/▸~ Username \* +\[carol +\] required · up to 150 characters/);
  program.press('escape');
  await program.waitFor(': prompt');
});

test('a device that tells nothing of its fields gets those that its records have', async () => {
  const simulator = await simulate({ profile: 'generic-rest' });
  const program = await connect(simulator, { args: ['--profile', 'generic-rest'] });
  await goToTable(program);
  program.press('a');
  await program.waitFor(/user add · fields seen in records/);
  await program.waitFor(/Username/);
  await program.waitFor(/Is active +\[\(empty\)/);
  expect(program.screen().join('\n')).not.toMatch(/^[▸ ]. +id\b/im);
  program.press('ctrl-s');
  await program.waitFor('nothing typed yet');
});

describe('interfaces', () => {
  const session = shared(
    async () => connect(await drf(), { ...SPEAKS, cols: 80, rows: 24 }),
    (program) => startOver(program, { cols: 80, rows: 24 }),
  );

  test('a part of a nested field is set at the prompt, in its type, and undo brings it back', async () => {
    const program = session();
    program.type('interface list\r');
    await program.waitFor(/interfaces · 1 device/);
    program.type('interface set eth0 ipv4.metric=7 addresses=\r');
    await program.waitFor(/->[\s│]+\[\],[\s│]+ipv4\.metric:[\s│]+3[\s│]+->[\s│]+7/);
    await answer(program, 'y');
    await program.waitFor(/✓ interface eth0 {2}/);
    program.type('undo\r');
    await program.waitFor(/ipv4\.metric:[\s│]+7[\s│]+->[\s│]+3/);
    await answer(program, 'y');
    await program.waitFor(/eth0 +1500 +true +10\.3\.0/);
  });

  test('a list and a nested field are edited as text, checked as typed, and only a part changes', async () => {
    const program = session();
    program.type('interface list\r');
    await program.waitFor(/interfaces · 1 device/);
    await goToTable(program);
    program.press('e');
    await program.waitFor(/▸ +Name \* +\[eth0/);
    for (let field = 0; field < 4; field += 1) program.press('down');
    await program.waitFor(/▸ +Addresses .*a, b, c or JSON/);
    program.press('ctrl-u');
    program.type('10.9.0.1/24, 10.9.0.2/24');
    await program.waitFor(/› interface set eth0 addresses='10.9.0.1\/24, 10.9.0.2\/24'/);
    program.press('down');
    await program.waitFor(/▸ +Ipv4 .*JSON, as \{/);
    program.press('backspace');
    await program.waitFor(/▸~ Ipv4 .*✗ not a JSON object/);
    program.press('backspace');
    program.type('7}');
    await program.waitFor((screen) => !screen.join('\n').includes('✗ no JSON'));
    program.press('ctrl-s');
    await program.waitFor(/ipv4\.metric:\s+3\s+-> 7/);
    await answer(program, 'y');
    await program.waitFor(/✓ interface eth0 {2}/);
  });
});

/** A device whose users have three booleans, several roles, and one of 300 zones. */
async function manyChoices(): Promise<string> {
  const field = (type: string, more: object = {}): object => ({
    type,
    required: false,
    read_only: false,
    ...more,
  });
  const choice = (value: string, name: string): object => ({ value, display_name: name });
  const zones = Array.from({ length: 300 }, (_, index) =>
    choice(`Z${index}`, `Zone ${index}, which has ${'a very long name '.repeat(8)}`),
  );
  const roles = [
    ['adm', 'Administrators'],
    ['ops', 'Operators'],
    ['view', 'Viewers'],
  ];
  const fields = {
    username: field('string', { required: true }),
    enabled: field('boolean'),
    roles: field('multiple choice', {
      choices: roles.map(([value = '', name = '']) => choice(value, name)),
    }),
    zone: field('choice', { choices: zones }),
  };
  const ann = { id: 1, username: 'ann', enabled: 'on', roles: ['view'], zone: 'Z7' };
  const { port } = await serve((request, response) => {
    response.setHeader('content-type', 'application/json');
    const isList = request.url === '/api/user/';
    const body = request.method === 'OPTIONS' ? { actions: { POST: fields } } : [ann];
    response.writeHead(isList ? 200 : 404).end(JSON.stringify(body));
  });
  return `127.0.0.1:${port}`;
}

test.each([
  [80, 24],
  [40, 10],
])(
  'at %i x %i several choices are marked, and one of 300 is found by its letters',
  async (cols, rows) => {
    const address = await manyChoices();
    const args = ['connect', address, '--insecure'];
    const program = await startDevsh(args, { cols, rows, env: ADMIN });
    await program.waitFor('connected to');
    await goToTable(program);
    await program.waitFor(/ann/);
    program.press('e');
    await program.waitFor(/field 5\/7|Enabled +\[yes/);
    for (let fields = 0; fields < 4; fields += 1) program.press('up');
    await program.waitFor(/▸ +username \* +\[ann/i);
    await program.waitFor(/enabled +\[yes/i);
    program.press('enter');
    program.press('space');
    await program.waitFor(/› user set ann enabled=off/);
    await program.waitFor(/enabled +\[no/i);
    program.press('enter');
    program.press('space');
    await program.waitFor(/\[x\] view/);
    program.type('op');
    program.press('space');
    await program.waitFor(/\[x\] ops/);
    program.press('enter');
    await program.waitFor(/▸ +zone/i);
    program.press('space');
    await program.waitFor(/Z7 +Zone 7/);
    expect(program.screen().every((line) => line.length <= cols)).toBe(true);
    await program.waitFor(/… \d+ more/);
    program.type('z29');
    await program.waitFor(/Z29 +Zone 29/);
    program.press('down');
    program.press('enter');
    await program.waitFor(/Z290/);
    for (let fields = 0; fields < 4; fields += 1) program.press('down');
    await program.waitFor(/▸ › user set ann/);
    const shown = program
      .screen()
      .join('')
      .replace(/[\s│└]+/g, '');
    expect(shown).toMatch(/enabled=offroles='op/);
  },
);
