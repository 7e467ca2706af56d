import { describe, expect, test } from 'vitest';
import {
  ADMIN,
  answer,
  connect,
  goToTable,
  shared,
  simulate,
  startDevsh,
  startOver,
  type StartOptions,
} from './devsh.ts';
import type { PtyProgram } from './harness.ts';

const SIZES = [
  [40, 10],
  [80, 24],
  [120, 40],
  [200, 50],
] as const;

/** Four devices with a constant seed: names, users and differences are always equal. */
async function startFleet(options: StartOptions = {}): Promise<PtyProgram> {
  const { devices } = await simulate({ devices: 4, users: 6, profile: 'drf' });
  const rows = devices.map(
    ({ name, address }) => `  - {name: ${name}, address: "${address}", profile: drf}\n`,
  );
  const program = await startDevsh(['connect', '@all'], {
    ...options,
    known: devices,
    inventory: `devices:\n${rows.join('')}`,
    env: { ...ADMIN, ...options.env },
  });
  await program.waitFor('connected to 4 devices');
  await goToTable(program);
  // Every device is read: a comparison has nothing to wait for.
  await program.waitFor(/^▸. admin .*\ball\b/m);
  return program;
}

/** The screen with varying texts masked. */
function picture(program: PtyProgram): string {
  const lines = program.screen().map((line) =>
    line
      .replace(/:\d{5}\b/g, ':<PORT>')
      .replace(/\d+ s$/, '<TIME>')
      .replace(/(?<= )\d\d:\d\d(?= )/g, '<AT> ')
      .replace(/\b\d[\d.]* m?s +/g, (text) => '<TIME>'.padEnd(text.length)),
  );
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}

/** The start of the footer of each view: it is painted last. */
const FOOTERS: Readonly<Record<string, RegExp>> = {
  devices: /^ enter open/,
  drift: /^ enter details/,
  details: /^ esc back/,
  resources: /^ enter open/,
  help: /^ esc back/,
  plan: /^ enter answer/,
  'roll-out': /^ enter answer/,
  runs: /^ enter show/,
};

/** Compares the stable screen with a file. */
async function shows(program: PtyProgram, name: string, size: string): Promise<void> {
  await program.waitFor((screen) => {
    const isAtRest = !/Ctrl-C cancels|reading users: waiting/.test(screen.join('\n'));
    return isAtRest && FOOTERS[name]?.test(screen.at(-1) ?? '') === true;
  });
  await expect(picture(program)).toMatchFileSnapshot(`screens/${name}-${size}.txt`);
}

describe.each(SIZES)('at %sx%s', (cols, rows) => {
  const size = `${cols}x${rows}`;
  const session = shared(
    () => startFleet({ cols, rows }),
    async (program) => {
      await startOver(program, { cols, rows });
      await goToTable(program);
    },
  );

  test('its views', { timeout: 60_000 }, async () => {
    const program = session();

    program.press('D');
    await program.waitFor(/^▸● sim1 +connected/m);
    await shows(program, 'devices', size);
    program.press('escape');
    await program.waitFor(/^▸. admin .*\ball\b/m);

    program.press('c');
    // Different records come before missing ones.
    await program.waitFor(/^▸ +theo\.lhote/m);
    await shows(program, 'drift', size);
    program.press('f');
    program.press('G');
    await program.waitFor(/^▸ +viewer/m);
    program.press('f');
    await program.waitFor(/^▸ +ulrike\.vogel/m);
    program.press('g');
    await program.waitFor(/^▸ +theo\.lhote/m);
    program.press('enter');
    await program.waitFor(/› theo\.lhote/);
    // The life of the record is read when its details open.
    await program.waitFor(/at the first reading|of 25$/m);
    await shows(program, 'details', size);
    program.press('escape');
    await program.waitFor(/^▸ +theo\.lhote/m);
    program.press('escape');
    await program.waitFor(/^▸. admin .*\ball\b/m);

    program.press('b');
    await program.waitFor(/^▸ +user /m);
    await shows(program, 'resources', size);
    program.press('down');
    await program.waitFor(/^▸ +interface/m);
    program.press('enter');
    await program.waitFor(/resources › interfaces|… › interfaces/);
    await program.waitFor(/^▸. \S+ +\S+/m);

    program.press('?');
    await program.waitFor(/› keys/);
    // The keys of the view before come first.
    await program.waitFor('In the table');
    program.type('/devices\r');
    await program.waitFor(/'devices': 1 of/);
  });

  test('a roll-out from plan to journal', { timeout: 60_000 }, async () => {
    const program = session();
    program.press('?');
    await program.waitFor(/› keys/);
    await shows(program, 'help', size);
    program.press('escape');
    await program.waitFor(/^▸. admin .*\ball\b/m);

    program.press(':');
    await program.waitFor('enter run');
    program.type('user add username=zed first_name=Zed lastname=Zulu lang=en --canary 1\r');
    await program.waitFor('answer>');
    await shows(program, 'plan', size);
    program.type('4\r');
    // The roll-out waits for the question about the canary.
    await program.waitFor(/canary succeeded/);
    await program.waitFor('answer>');
    await shows(program, 'roll-out', size);
    await answer(program, '3');
    await program.waitFor(/✓ zed {2}added/);
    await program.waitFor('enter run');

    await goToTable(program);
    program.press('R');
    await program.waitFor(/› runs/);
    await program.waitFor(/^▸ .*ended/m);
    await shows(program, 'runs', size);
  });
});

describe('in one session', () => {
  const session = shared(startFleet, async (program) => {
    await startOver(program);
    program.type('connect @all\r');
    await program.waitFor('connected to 4 devices');
    program.type('use all\r');
    await program.waitFor('devsh all 4>');
    program.type('user list\r');
    await program.waitFor(/^ users · 4 devices · \d+: \d/m);
    await goToTable(program);
  });

  test('a text is searched with "/", and n and N go from line to line', async () => {
    const program = session();
    program.resize(100, 20);
    program.press(':');
    await program.waitFor('enter run');
    program.type('help user set\r');
    await program.waitFor('Usage: user set');
    // At the empty prompt.
    program.type('/FIELD=');
    await program.waitFor(/'FIELD=': 1 of \d/);
    program.press('enter');
    program.press('n');
    await program.waitFor(/'FIELD=': 2 of \d/);
    program.press('N');
    await program.waitFor(/'FIELD=': 1 of \d/);
    const row = program.screen().findIndex((line) => line.includes('Usage: user set'));
    const column = (program.screen()[row] ?? '').indexOf('FIELD=');
    expect(program.cellStyle(row, column)?.inverse).toBe(true);
    expect(program.cellStyle(row, 1)?.inverse).toBe(false);
    program.type('/nothing like it');
    await program.waitFor("'nothing like it' not found");
    program.press('escape');
    await program.waitFor((screen) => !screen.join('\n').includes('not found'));
    program.press('escape');
    await program.waitFor(/^▸users · /m);
  });

  test('the matrix has a cursor for devices, and Enter opens the details', async () => {
    const program = session();
    program.resize(60, 20);
    program.press('c');
    await program.waitFor(/^ +USERNAME +▾sim1 +sim2 +sim3 +sim4/m);
    await program.waitFor('theo.lhote on sim1: = same · lang fr');
    program.press('right');
    await program.waitFor(/^ +USERNAME +sim1 +▾sim2/m);
    await program.waitFor('theo.lhote on sim2: ≠ differs · lang it');
    program.press('left');
    await program.waitFor(/▾sim1/);
    program.press('enter');
    await program.waitFor(/user drift › theo\.lhote/);
  });

  test('a filtered table compares what it shows, and the comparison is done again with r', async () => {
    const program = session();
    program.press(':');
    await program.waitFor('enter run');
    program.type('user list theo\r');
    await program.waitFor(/filter: theo/);
    program.type('user list theo --drift\r');
    await program.waitFor(/^▸ +theo\.lhote +/m);
    await program.waitFor(/1 user on 4 devices: 0 the same on all, 1 differs/);
    program.press('tab');
    await program.waitFor('r again');
    program.press('r');
    await program.waitFor('› user list theo --drift');
    await program.waitFor(/^[ ▸]users › theo › user drift/m);
  });

  test('the output of a command takes no letters of the next one, and says where they go', async () => {
    const program = session();
    program.resize(80, 24);
    program.press(':');
    await program.waitFor('enter run');
    program.type('help user list\r');
    await program.waitFor(/^[ ▸]users › help user list/m);
    program.press('down');
    await program.waitFor('esc back or q');
    program.type('xyz');
    await program.waitFor('this key does nothing here; ":" goes to the prompt, "?" lists the keys');
    program.press(':');
    await program.waitFor('enter run');
    program.type(':resources\r');
    await program.waitFor(/^▸ +user/m);
  });

  test('a view that opens while the next line is typed does not take its letters', async () => {
    const program = session();
    program.resize(80, 24);
    program.press(':');
    await program.waitFor('enter run');
    program.type('help user list\ruser show vie');
    await program.waitFor(/^[ ▸]users › help user list/m);
    await program.waitFor('devsh all 4> user show vie');
    program.type('wer\r');
    await program.waitFor(/^[ ▸]users › user show viewer/m);
  });

  test('each step is named above, and Esc goes back step by step, to where the cursor was', async () => {
    const program = session();
    program.press('G');
    await program.waitFor(/^▸. viewer .*\ball\b/m);
    program.press('D');
    await program.waitFor(/^[ ▸]users › devices · 4 devices, 4 connected/m);
    program.press('down');
    await program.waitFor(/^▸. sim2/m);
    program.press('enter');
    await program.waitFor(/^[ ▸]devices › sim2 › users · 1 device · 6 records/m);
    program.press('enter');
    await program.waitFor(/^[ ▸]devices › sim2 › users › viewer/m);
    program.press('escape');
    await program.waitFor(/^[ ▸]devices › sim2 › users · /m);
    program.press('escape');
    await program.waitFor(/^▸. sim2/m);
    program.press('escape');
    await program.waitFor(/^[ ▸]sim2 › users · 1 device/m);
    const before = program.screen();
    program.press('escape');
    program.press('k');
    await program.waitFor((screen) => screen.join() !== before.join());
    expect(program.screen()[1]).toBe(before[1]);
  });

  test('what was written while another table was in sight shows in the one that comes back', async () => {
    const program = session();
    program.type('/viewer\r');
    await program.waitFor(/^▸. viewer +Vic .*\ball\b/m);
    program.press(':');
    await program.waitFor('enter run');
    program.type('user list lang=en\r');
    await program.waitFor(/filter: lang=en/);
    program.type('user set viewer first_name=Victoria --yes\r');
    await program.waitFor(/✓ viewer {2}first_name/);
    await program.waitFor(/ended · \d/);
    await goToTable(program);
    program.press('escape');
    await program.waitFor(/^▸. viewer +Victoria .*\ball\b/m);
  });

  test('from any view ":" goes to the prompt, and the view stays in sight', async () => {
    const program = session();
    program.press('D');
    await program.waitFor(/^▸. sim1/m);
    program.press(':');
    await program.waitFor('enter run');
    await program.waitFor(/^▸. sim1/m);
    program.type('disconnect sim4\r');
    await program.waitFor(/3 devices, 3 connected/);
    program.type('user list\r');
    await program.waitFor(/^[ ▸]devices › users · 3 devices/m);
  });

  test('a device of the list is disconnected and connected again', async () => {
    const program = session();
    program.press('D');
    await program.waitFor(/^▸. sim1/m);
    program.press('r');
    await program.waitFor('› connect sim1');
    await program.waitFor(/4 devices, 4 connected/);
    program.press('x');
    await program.waitFor(/3 devices, 3 connected/);
  });

  test('a table comes back with its filter, its order and its cursor', async () => {
    const program = session();
    program.type('/e\r');
    await program.waitFor(/filter: e/);
    program.press('j');
    program.press('s');
    await program.waitFor(/FIRST NAME ↑/);
    const before = program.screen().slice(1, 12);
    program.press(':');
    await program.waitFor('enter run');
    program.type('interface list\r');
    await program.waitFor(/^[ ▸]users › interfaces · 4 devices/m);
    program.type('user list\r');
    await program.waitFor(/^[ ▸]interfaces › users · .*filter: e/m);
    program.press('escape');
    await program.waitFor(': prompt');
    expect(program.screen().slice(2, 12)).toEqual(before.slice(1));
  });
});

test('a list of resources that is short says why', async () => {
  const program = await startDevsh(['demo', '--devices', '2']);
  await program.waitFor('connected to 2 devices');
  program.type('resources\r');
  await program.waitFor(/^▸ +user/m);
  await program.waitFor('list only user');
});

test('the list of devices is watched: what fails shows without a key', async () => {
  const simulator = await simulate({ devices: 2 });
  const program = await connect(simulator);
  program.type('devices --watch=0.3\r');
  await program.waitFor(/2 devices, 2 connected · every 0.3 s/);
  simulator.devices[1]?.setFault('accept-and-close');
  await program.waitFor(/2 devices, 1 connected, 1 interrupted/);
  simulator.devices[1]?.clearFaults();
  await program.waitFor(/2 devices, 2 connected/);
  program.press('tab');
  await program.waitFor('enter open');
  program.press('w');
  await program.waitFor((screen) => !screen.join('\n').includes('every 0.3 s'));
});

test.each([
  ['in colours', {}, { same: 247, differs: 221, missing: 247 }],
  ['without colours', { NO_COLOR: '1' }, { same: -1, differs: -1, missing: -1 }],
])('the matrix says what differs by signs, and %s', async (_title, env, colours) => {
  const program = await startFleet({ env });
  program.press('c');
  await program.waitFor(/^▸ +theo\.lhote/m);
  program.press('down');
  await program.waitFor(/^▸ +anke\.weiss/m);
  await program.waitFor('enter details');
  const colourOf = (sign: string): number | undefined => {
    // The row under the cursor has one colour.
    const screen = program.screen();
    const row = screen.findIndex((line) => /^   \S+ .* [=≠·] /.test(line) && line.includes(sign));
    return program.cellStyle(row, (screen[row] ?? '').indexOf(sign))?.foreground;
  };
  expect({
    same: colourOf('='),
    differs: colourOf('≠'),
    missing: colourOf('·'),
  }).toEqual(colours);
});
