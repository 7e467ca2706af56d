import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Simulator } from '../../simulator/simulator.ts';
import { ADMIN, answer, connect, isQuiet, simulate, startDevsh } from '../devsh.ts';

const ADD = 'user add username=zed first_name=Zed lastname=Zulu lang=de';

function posts({ devices }: Simulator): number {
  return devices.flatMap(({ log }) => log.filter(({ method }) => method === 'POST')).length;
}

test(
  'a roll-out is paused, continued and stopped by key; "resume" does the rest, once',
  { timeout: 60_000 },
  async () => {
    const simulator = await simulate({ devices: 8, latencyMs: 250 });
    const program = await connect(simulator, { cols: 120, rows: 35 });
    program.type(`${ADD}\r`);
    await program.waitFor('Type 8 to do them');
    await answer(program, '8');
    await program.waitFor(/^ user add username=zed/m);
    await program.waitFor(/━+─+ {2}[1-3] done · 0 not as planned · \d left/);
    program.press('escape');
    await program.waitFor('p pause');
    program.type('p');
    await program.waitFor('PAUSED: p continues');
    // The step under way is finished, and no other one is sent.
    await program.waitFor(/PAUSED: p continues · [2-9] s/);
    const sent = posts(simulator);
    expect(program.screen()[1]).toMatch(new RegExp(`roll-out · ${sent} of 8`));
    await program.waitFor(/PAUSED: p continues · [4-9] s/);
    // Nothing else would show the pause.
    program.type('q');
    await program.waitFor('(esc back or q)');
    expect(posts(simulator)).toBe(sent);
    expect(sent).toBeLessThan(8);

    program.type('p');
    await expect.poll(() => posts(simulator)).toBeGreaterThan(sent);
    program.type('x');
    await program.waitFor(/stopped: the user ended the run early/);
    await program.waitFor(isQuiet);
    const done = posts(simulator);
    expect(done).toBeLessThan(8);
    program.press(':');
    await program.waitFor('enter run');
    program.type('resume\r');
    await answer(program, String(8 - done));
    await expect.poll(() => posts(simulator), { timeout: 10_000 }).toBe(8);
    for (const { log } of simulator.devices)
      expect(log.filter(({ method }) => method === 'POST')).toHaveLength(1);
  },
);

test(
  'a closed roll-out opens again with F3, also paused, and stays with its end until a key',
  { timeout: 60_000 },
  async () => {
    const simulator = await simulate({ devices: 6, latencyMs: 250 });
    const program = await connect(simulator, { cols: 120, rows: 35 });
    program.press('f3');
    await program.waitFor('no run on more than three devices yet');
    program.type(`${ADD}\r`);
    await answer(program, '6');
    await program.waitFor(/roll-out · [1-3] of 6 devices/);
    program.press('escape');
    await program.waitFor('p pause');
    program.type('q');
    await program.waitFor('F3 shows each device');
    expect(program.screen()[1]).not.toContain('roll-out');
    program.press('f3');
    await program.waitFor(/roll-out · [1-5] of 6 devices/);
    program.type('p');
    await program.waitFor('PAUSED: p continues');
    program.type('?');
    await program.waitFor('PAUSED: F3 shows each devi');
    program.press('f3');
    await program.waitFor('PAUSED: p continues');
    program.type('p');
    await program.waitFor('6 done · 0 not as planned · 0 left');
    await program.waitFor(/ended · \d/);
    program.type('q');
    await program.waitFor((screen) => screen[1]?.includes('roll-out') === false);
    // No step back leads to the ended run.
    for (let press = 0; press < 4; press += 1) {
      expect(program.screen()[1]).not.toContain('roll-out');
      program.press('escape');
      await program.waitFor(isQuiet);
    }
    expect(posts(simulator)).toBe(6);
  },
);

test(
  'x during the pause between two batches ends the run at once',
  { timeout: 60_000 },
  async () => {
    const simulator = await simulate({ devices: 5 });
    const program = await connect(simulator, { cols: 120, rows: 35 });
    program.type(`${ADD} --batch 1 --pause 50s\r`);
    await answer(program, '5');
    await program.waitFor(/roll-out · 1 of 5 devices/);
    program.press('escape');
    await program.waitFor('p pause');
    program.type('x');
    await program.waitFor('stopped: the user ended the run early', 8000);
    await program.waitFor('1 done · 4 skipped');
    expect(posts(simulator)).toBe(1);
  },
);

test(
  'a device that another user changes during a pause is drift and gets no request',
  { timeout: 60_000 },
  async () => {
    const simulator = await simulate({ devices: 5, latencyMs: 250 });
    const program = await connect(simulator, { cols: 120, rows: 35 });
    program.type('user set viewer lang=de\r');
    await program.waitFor('Type 5 to do them');
    await answer(program, '5');
    await program.waitFor(/roll-out · [12] of 5 devices/);
    program.press('escape');
    await program.waitFor('p pause');
    program.type('p');
    await program.waitFor('PAUSED: p continues');
    await expect
      .poll(() => program.screen()[1])
      .toMatch(new RegExp(`roll-out · ${posts(simulator)} of 5`));
    const last = simulator.devices[4];
    const viewer = last?.users.find(({ username }) => username === 'viewer');
    expect(viewer).toMatchObject({ username: 'viewer' });
    Object.assign(viewer ?? {}, { lang: 'ja' });
    program.type('p');
    await program.waitFor(/1 drift/);
    expect(last?.log.filter(({ method }) => method === 'POST')).toEqual([]);
  },
);

test(
  'an unconfirmed change is undone although its run was stopped by key; its question closes',
  { timeout: 60_000 },
  async () => {
    const simulator = await simulate({ devices: 5, latencyMs: 250 });
    const folder = await mkdtemp(join(tmpdir(), 'devsh-roll-out-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const file = join(folder, 'set.json');
    await writeFile(file, '[{"set":"user","key":"viewer","fields":{"lang":"de"}}]');
    const program = await connect(simulator, { cols: 120, rows: 35 });
    const langs = () =>
      simulator.devices.map(
        ({ users }) => users.find(({ username }) => username === 'viewer')?.lang,
      );
    const before = langs();
    program.type(`apply '${file}' --confirm 3 --yes\r`);
    await program.waitFor(/roll-out · [12] of 5 devices/);
    program.press('escape');
    await program.waitFor('x stop after this device');
    program.type('x');
    await program.waitFor('Type keep within 3 s');
    expect(langs()).toContain('de');
    await program.waitFor('devsh undid run', 20_000);
    expect(langs()).toEqual(before);
    expect(program.screen().join('\n')).not.toContain('Type keep');
    // What was pending is so no more, so the line that continues it is gone.
    await program.waitFor('once undone, nothing of it is pending on');
    expect(program.screen().join('\n')).not.toContain('" continues');
  },
);

test('Ctrl-C in a roll-out is answered at once, before the request in flight has ended', async () => {
  const simulator = await simulate({ devices: 5, latencyMs: 400 });
  const program = await connect(simulator, { cols: 120, rows: 35 });
  program.type(`${ADD}\r`);
  await answer(program, '5');
  await program.waitFor(/roll-out · \d of 5 devices/);
  program.press('ctrl-c');
  await program.waitFor('stopping after the request in flight; Ctrl-C again does not wait for it');
  await program.waitFor(/error: cancelled/);
  expect(posts(simulator)).toBeLessThan(5);
});

test('a second Ctrl-C gives the screen back while a device keeps its request, and says what is open', async () => {
  const simulator = await simulate({ devices: 5 });
  const program = await connect(simulator, { cols: 120, rows: 35, args: ['--timeout', '4'] });
  program.type(`${ADD}\r`);
  await program.waitFor('answer>');
  simulator.devices[1]?.setFault('silence', true, { method: 'POST' });
  program.type('5\r');
  await expect.poll(() => simulator.devices[1]?.log.at(-1)?.method).toBe('POST');
  program.press('ctrl-c');
  await program.waitFor('Ctrl-C again does not wait for it');
  program.press('ctrl-c');
  await program.waitFor('not waiting for the request in flight: its result follows');
  await program.waitFor(/ended · \d/);
  await program.waitFor(/1 done · 1 failed · 3 skipped/);
  expect(posts(simulator)).toBe(2);
});

test('Ctrl-C while a device is read before the first write stops at once, and nothing was sent', async () => {
  const simulator = await simulate({ devices: 2 });
  const program = await connect(simulator, { cols: 120, rows: 35, args: ['--timeout', '60'] });
  program.type(`${ADD}\r`);
  await program.waitFor('answer>');
  const [first] = simulator.devices;
  const requests = first?.log.length;
  first?.setFault('silence');
  program.type('2\r');
  await expect.poll(() => first?.log.length).not.toBe(requests);
  program.press('ctrl-c');
  await program.waitFor('cancelled: nothing was sent');
  await program.waitFor(isQuiet);
  expect(posts(simulator)).toBe(0);

  const one = await startDevsh(
    [...ADD.split(' '), '--on', first?.address ?? '', '--timeout', '60'],
    {
      env: ADMIN,
      known: simulator.devices,
    },
  );
  first?.clearFaults();
  await one.waitFor('Type y');
  first?.setFault('silence');
  const asked = first?.log.length;
  one.type('y\r');
  await expect.poll(() => first?.log.length).not.toBe(asked);
  one.press('ctrl-c');
  await one.waitFor('cancelled: nothing was sent');
  expect(await one.exit).toMatchObject({ code: 130 });
  expect(posts(simulator)).toBe(0);
});

test('who is ended in a run says what was done, and how the rest goes on', async () => {
  const simulator = await simulate({ devices: 5 });
  const program = await connect(simulator, { cols: 120, rows: 35 });
  program.type(`${ADD}\r`);
  await program.waitFor('answer>');
  simulator.devices[2]?.setFault('silence');
  program.type('5\r');
  await program.waitFor(/roll-out · 2 of 5 devices/);
  program.kill('SIGTERM');
  expect(await program.exit).toMatchObject({ signal: 15 });
  const text = program.screen().join('\n');
  expect(text).toMatch(/In this session: 2 done\n {2}✓ zed {2}added /);
  expect(text).toContain('a run has not ended: "devsh resume" continues');
});

test('the terminal rings when a run of more than 10 s ends', { timeout: 60_000 }, async () => {
  const simulator = await simulate({ devices: 4, latencyMs: 900 });
  const program = await connect(simulator, { cols: 120, rows: 35 });
  program.type(`${ADD}\r`);
  await program.waitFor('Type 4 to do them');
  await answer(program, '4');
  await program.waitFor(/3 done · 0 not as planned · 1 left · .* · about \d+ s left/, 40_000);
  expect(program.raw()).not.toContain('\x07');
  await expect.poll(() => program.raw(), { timeout: 40_000 }).toContain('\x07');
});

test(
  'in a run keys open other views at once, a change says why it waits, and a late x does nothing',
  { timeout: 60_000 },
  async () => {
    const simulator = await simulate({ devices: 5, latencyMs: 500 });
    const program = await connect(simulator, { cols: 120, rows: 35 });
    program.type(`${ADD} --concurrency 1\r`);
    await answer(program, '5');
    await program.waitFor(/roll-out · [1-3] of 5 devices/);
    program.press('escape');
    await program.waitFor('p pause');
    // In two rows, once the rate is known.
    const isUnderWay = (screen: readonly string[]): boolean =>
      /F3 +shows +each +device/.test(screen.join(' '));
    for (const [key, label] of [
      ['q', isUnderWay],
      ['D', /users › devices · 5 devices/],
      ['q', isUnderWay],
      ['d', 'd (delete): not before the run has ended'],
      ['R', 'R (runs): not before the run has ended'],
      ['b', /^.users › resources · /m],
      ['q', isUnderWay],
    ] as const) {
      program.type(key);
      await program.waitFor(label);
      // What is left is said once.
      expect(program.screen().join(' ')).not.toMatch(/about .* left.*about .* left/);
    }
    program.press('f3');
    await program.waitFor('p pause');
    // Nobody knows when it ends: x comes too late, or ends the run.
    await program.waitFor(/ended · \d/);
    program.type('x');
    await program.waitFor(
      'x (stop after the devices under way; "resume" does the rest): the run has ended',
    );
    await program.waitFor(isQuiet);
    program.type('q');
    await program.waitFor((screen) => screen[1]?.includes('roll-out') === false);
    expect(program.screen()[1]).toMatch(/^.users ·/);
    expect(posts(simulator)).toBe(5);
  },
);
