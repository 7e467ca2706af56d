import { describe, expect, test } from 'vitest';
import { answer, connect, goToTable, isQuiet, shared, simulate, startOver } from '../devsh.ts';
import type { PtyProgram } from '../harness.ts';

/** Types the fields of a new user, each over what stands there. */
async function fillIn(program: PtyProgram, ...[first, last, user]: string[]): Promise<void> {
  await program.waitFor(/▸.? *First name/);
  program.type(`${first}\r`);
  await program.waitFor(/▸.? *Lastname/);
  program.type(`${last}\r`);
  await program.waitFor(/▸.? *Username/);
  program.type(user ?? '');
  await program.waitFor(new RegExp(`Username \\* +\\[${user}`));
}

test(
  'a form closes when every device that was reached is done, and the roll-out stays until a key',
  { timeout: 60_000 },
  async () => {
    const simulator = await simulate({ devices: 6, latencyMs: 60 });
    const program = await connect(simulator, { cols: 110, rows: 30 });
    for (const device of simulator.devices.slice(4)) device.setFault('refuse');
    await goToTable(program);
    program.type('a');
    await fillIn(program, 'Dana', 'Ops', 'dana.ops');
    program.press('ctrl-s');
    await program.waitFor(/Type \d to/);
    await answer(program, '4');
    await program.waitFor(/roll-out · 6 of 6 devices/);
    await program.waitFor(/4 done · 2 not as planned · 0 left · ended/);
    await program.waitFor(isQuiet);
    expect(program.screen()[1]).toMatch(/^▸.*roll-out · 6 of 6 devices/);
    expect(program.screen().join('\n')).not.toMatch(/HTTPS port|API switched on/);
    // The keys of the run do nothing more, and nothing is typed into a form.
    program.type('x');
    await program.waitFor('the run has ended');
    program.type('q');
    await program.waitFor(/^▸users/m);
    await program.waitFor(/dana\.ops +Dana +Ops/);
    // The run can be looked at again.
    program.press('f3');
    await program.waitFor(/roll-out · 6 of 6 devices/);
    program.type('qa');
    await program.waitFor('nothing typed yet');
  },
);

test(
  'the counts of a roll-out and of the table are those of the run, whatever is read twice',
  { timeout: 60_000 },
  async () => {
    const simulator = await simulate({ devices: 5, users: 9, latencyMs: 60 });
    const program = await connect(simulator, { cols: 120, rows: 35 });
    // misaki.watanabe is on the first device only.
    const names = ['theo.lhote', 'misaki.watanabe', 'niamh.whitaker', 'daisuke.sato'];
    program.type(`user delete ${names.join(' ')}\r`);
    await program.waitFor('16 to delete');
    await answer(program, '16');
    await program.waitFor(/roll-out · 5 of 5 devices/);
    await program.waitFor(/5 done · 0 not as planned · 0 left · ended/);
    await program.waitFor(/✓ 127\.0\.0\.3/);
    expect(program.screen().join('\n')).not.toMatch(/= \S+ +unchanged/);
    program.press('escape');
    await program.waitFor('16 gone on 5 devices');
    // A change that moves a record out of the filter takes nothing away.
    program.press(':');
    await program.waitFor('enter run');
    program.type('user list viewer lang=en\r');
    await program.waitFor(/filter: viewer lang=en/);
    program.type('user set viewer lang=de --yes\r');
    await program.waitFor(/5 done · 0 not as planned · 0 left · ended/);
    program.press('escape');
    await program.waitFor('5 changed on 5 devices');
    await program.waitFor('no record matches the filter');
    expect(program.screen().join('\n')).not.toMatch(/\d gone/);
  },
);

describe('with two devices', () => {
  const session = shared(
    async () => connect(await simulate({ devices: 2 }), { cols: 110 }),
    (program) => startOver(program, { cols: 110 }),
  );

  test('q and Esc close what a typed line opened, and a refused line is replaced by the next one', async () => {
    const program = session();
    for (const line of ['help', 'devices', 'user list --drift', 'runs --help']) {
      for (const key of ['q', 'escape']) {
        if (key === 'q' && line !== 'help') {
          program.press(':');
          await program.waitFor('enter run');
        }
        program.type(`${line}\r`);
        await program.waitFor(/^ users › /m);
        program.press(key);
        await program.waitFor((screen) => /^[ ▸]users ·/m.test(screen.join('\n')));
        expect(program.screen().join('\n')).not.toMatch(/> q$/m);
      }
    }
    program.press(':');
    await program.waitFor('enter run');
    program.type('usr lst\r');
    await program.waitFor('did you mean');
    program.type('user list lang=en\r');
    await program.waitFor(/filter: lang=en/);
    // A line that only lacks something is continued.
    program.type('user show\r');
    await program.waitFor('user show needs KEY');
    program.type(' viewer\r');
    await program.waitFor(/users › .*user show viewer/);
  });

  test('an empty prompt lets arrows into the table, and a paste goes to the prompt', async () => {
    const program = session();
    for (const key of ['down', 'pagedown', 'escape']) {
      program.press(key);
      await program.waitFor(': prompt');
      await program.waitFor(/^▸users/m);
      program.press(':');
      await program.waitFor('enter run');
    }
    program.press('down');
    await program.waitFor(': prompt');
    program.paste('user delete viewer');
    await program.waitFor(/> user delete viewer$/m);
    expect(program.screen().join('\n')).not.toContain('answer>');
  });

  test('q alone closes the view once, and keys that follow it are a word', async () => {
    const program = session();
    program.type('help\r');
    await program.waitFor(/^ users › help/m);
    program.type('que\t');
    await program.waitFor(/> questions/);
    await program.waitFor(isQuiet);
    expect(program.screen().join('\n')).toMatch(/^ users › help/m);
    program.press('ctrl-u');
    program.paste('q');
    await program.waitFor(/> q$/m);
    await program.waitFor(isQuiet);
    expect(program.screen().join('\n')).toMatch(/^ users › help/m);
    program.press('ctrl-u');
    program.type('q\r');
    await program.waitFor('did you mean');
    expect(program.screen().join('\n')).toMatch(/^ users › help/m);
  });

  test('an old draft is announced, and the first letter replaces all of it', async () => {
    const program = session();
    await goToTable(program);
    program.type('a');
    await fillIn(program, 'Dana', 'Ops', 'dana.ops');
    program.press('escape');
    await program.waitFor(/^▸users/m);
    program.type('a');
    await program.waitFor('old draft: → keeps it, a letter or ctrl-u starts anew');
    await program.waitFor('username=dana.ops');
    // Only the name and the login: no last name that nobody typed.
    program.type('Fay\r\rfay.t');
    await program.waitFor('› user add first_name=Fay username=fay.t');
    expect(program.screen().join('\n')).not.toMatch(/old draft|Ops|dana/);
    // Who moves the cursor in it goes on with it.
    program.press('escape');
    await program.waitFor(/^▸users/m);
    program.type('a');
    await program.waitFor('old draft');
    program.press('right');
    program.type('e');
    await program.waitFor('› user add first_name=Faye username=fay.t');
  });

  test('a line that begins with q is typed over a view, too', async () => {
    const program = session();
    program.type('help\r');
    await program.waitFor(/^ users › help/m);
    program.type('questions\r');
    await program.waitFor('no question is open');
    program.type('quit\r');
    expect((await program.exit).code).toBe(0);
  });
});
