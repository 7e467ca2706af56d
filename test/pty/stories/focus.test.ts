import { describe, expect, test } from 'vitest';
import {
  ADMIN,
  answer,
  connect,
  ESCAPE,
  goToTable,
  isQuiet,
  shared,
  simulate,
  startDevsh,
  startOver,
} from '../devsh.ts';
import type { PtyProgram } from '../harness.ts';

async function startDemo(): Promise<PtyProgram> {
  const program = await startDevsh(['demo', '--devices', '2', '--users', '6'], { cols: 110 });
  await program.waitFor('connected to 2 devices');
  await program.waitFor(isQuiet);
  await goToTable(program);
  return program;
}

async function isInTable(program: PtyProgram): Promise<void> {
  await program.waitFor(/^▸users · 2 devices/m);
  await program.waitFor(': prompt · enter details');
}

/** What is typed in the table, and what then shows. */
const PLACES: readonly (readonly [string, RegExp])[] = [
  ['', /^▸users/m],
  ['D', /users › devices/],
  ['b', /users › resources/],
  ['c', /› user drift/],
  ['R', /no run yet/],
  ['m', /› messages/],
  ['?', /› keys/],
  ['\r', /users › admin/],
  ['?/esc', /search> esc/],
  ['/vi', /filter> vi/],
  ['*', /marked/],
  ['a', /ctrl-s run/],
  [':user del', /▸devsh all 2> user del/],
  // The prompt keeps a line that was left: Ctrl-U removes it.
  [':\x15use\t', /tab|↹ next/],
  [':\x15\x12use', /search '/],
  [':\x15help\r', /users › help/],
];

describe('in one session', () => {
  const demo = shared(startDemo, async (program) => {
    await startOver(program, { cols: 110 });
    await goToTable(program);
  });

  test('Esc pressed five times ends in the table from anywhere, and keys are keys there', async () => {
    const program = demo();
    for (const [keys, shown] of PLACES) {
      program.type(keys);
      await program.waitFor(shown);
      for (let times = 0; times < 5; times += 1) program.type(ESCAPE);
      await isInTable(program);
      program.type('/');
      await program.waitFor('▸filter>');
      program.type(ESCAPE);
      await isInTable(program);
    }
  });

  test('the half that gets the keys has a mark and its own footer, and the way out is in it', async () => {
    const program = demo();
    await program.waitFor(/^▸users[^]*^ devsh all 2>[^]*: prompt .* q leave/m);
    program.type(':');
    await program.waitFor(/^ users[^]*^▸devsh all 2>[^]*enter run .* ctrl-d leave/m);
    program.type('user set viewer ');
    await program.waitFor(/^ user set .*esc table/m);
  });

  test('on an empty prompt "/" and "?" act as in the table, and digits are typed', async () => {
    const program = demo();
    program.type(':/vi');
    await program.waitFor('▸filter> vi');
    program.type('\r');
    await program.waitFor(': prompt');
    program.type(':?');
    await program.waitFor(/› keys/);
    program.type(`${ESCAPE}:2`);
    await program.waitFor('▸devsh all 2> 2');
    program.type('/');
    await program.waitFor('▸devsh all 2> 2/');
  });

  test('words typed ahead stay at the prompt, and what is typed before a question was seen is dropped', async () => {
    const program = demo();
    program.type(':devices\rundo');
    await program.waitFor(/users › devices/);
    await program.waitFor('▸devsh all 2> undo');
    program.press('ctrl-c');
    program.type(`${ESCAPE}${ESCAPE}`);
    await isInTable(program);
    program.type('/viewer\rd2\r');
    await program.waitFor(
      'What was typed before this question was dropped. 2 steps on 2 devices. Type 2',
    );
    await program.waitFor(/filter: viewer \(1 /);
    await program.waitFor(/answer> *$/m);
    program.press('escape');
    await program.waitFor((screen) => !screen.join('\n').includes('answer>'));
    expect(program.screen().join('\n')).not.toContain('done');
  });

  test('Enter runs what is typed, not the ghost, the proposals or what a search has found', async () => {
    const program = demo();
    program.type(':user list viewer\r');
    await program.waitFor(/filter: viewer/);
    program.type('user list');
    await program.waitFor('> user list viewer');
    program.type('\r');
    await program.waitFor(/› users · 2 devices/);
    program.type('use\t');
    await program.waitFor(/^ +user +/m);
    program.type('\r');
    await program.waitFor('using sim1, sim2');
    program.press('ctrl-r');
    program.type('viewer\r');
    await program.waitFor(/> user list viewer$/m);
    expect(program.screen().join('\n')).not.toMatch(/filter: viewer/);
  });

  test('a word from elsewhere is answered with the command that does it', async () => {
    const program = demo();
    program.type(':rm viewer\r');
    await program.waitFor("did you mean 'user delete viewer'?");
  });
});

test('Ctrl-C clears the line that is typed, and the connecting goes on', async () => {
  const simulator = await simulate({ devices: 6, latencyMs: 300 });
  const addresses = simulator.devices.map(({ address }) => address);
  const program = await startDevsh(['connect', ...addresses, '--insecure'], { env: ADMIN });
  await program.waitFor('Ctrl-C cancels');
  program.type('user li');
  await program.waitFor('> user li');
  program.press('ctrl-c');
  await program.waitFor((screen) => !screen.join('\n').includes('user li'));
  await program.waitFor('connected to 6 devices');
});

test('Ctrl-C stops a write that runs, and the next line stays', async () => {
  const simulator = await simulate({ devices: 6, latencyMs: 150 });
  const program = await connect(simulator, { rows: 40 });
  program.type('user add username=zed first_name=Z lastname=Z lang=de\r');
  await program.waitFor('Type 6 to do them');
  await answer(program, '6');
  await program.waitFor(/roll-out · [1-4] of 6 devices/);
  program.type('user li');
  await program.waitFor('> user li');
  program.press('ctrl-c');
  await program.waitFor(/\d done · \d skipped/);
  await program.waitFor('▸devsh all 6> user li');
});

test('Ctrl-C twice at rest offers to leave', async () => {
  const program = await startDemo();
  program.press('ctrl-c');
  await program.waitFor('Ctrl-C again asks whether to leave');
  program.press('ctrl-c');
  await program.waitFor('Leave devsh?');
  await program.waitFor('answer>');
  program.type(ESCAPE);
  await isInTable(program);
  program.press('ctrl-c');
  await answer(program, 'y');
  expect((await program.exit).code).toBe(0);
});
