import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connect, goToTable, shared, simulate, startDevsh, startOver } from './devsh.ts';

describe('two devices', () => {
  const session = shared(
    async () => connect(await simulate({ devices: 2 })),
    (program) => startOver(program),
  );

  test('a resize lays the screen out anew, also through a size that is too small', async () => {
    const program = session();
    program.type('user sh');
    program.resize(200, 50);
    await program.waitFor(/DEVICE +NOTE/);
    program.resize(18, 9);
    await program.waitFor('devsh needs 40x10');
    program.resize(80, 24);
    await program.waitFor(/devsh all 2> user sh/);
    await program.waitFor(/2 devices · \d+: \d same/);
  });

  test('a colour ends where its word ends', async () => {
    const program = session();
    await program.waitFor(/● .*● .*as admin/);
    const bar = program.screen()[0] ?? '';
    expect(program.cellStyle(0, bar.indexOf('●'))).toMatchObject({ foreground: 114 });
    const gap = bar.indexOf('  ', bar.lastIndexOf('●'));
    expect(program.cellStyle(0, gap)).toMatchObject({ foreground: -1, dim: false });
    expect(program.cellStyle(0, bar.indexOf('as admin'))).toMatchObject({ foreground: 247 });
  });

  test('history is walked with the arrows and searched with Ctrl-R; a password is not in it', async () => {
    const program = session();
    program.type('user list lang=en\r');
    await program.waitFor('filter: lang=en');
    program.type('user list password=hunter2\r');
    await program.waitFor('no record has a field "password"');
    program.type('devices\r');
    await program.waitFor('› devices · 2 devices, 2 connected');
    program.press(':');
    await program.waitFor('enter run');
    program.press('up');
    await program.waitFor(/> devices$/m);
    program.press('up');
    await program.waitFor(/> user list lang=en$/m);
    program.press('ctrl-c');
    program.press('ctrl-r');
    program.type('lang');
    await program.waitFor(/search 'lang': user list lang=en/);
    program.press('enter');
    await program.waitFor(/> user list lang=en$/m);
    expect(program.screen().join('\n')).not.toContain('filter: lang=en');
    program.press('enter');
    await program.waitFor('filter: lang=en');
  });

  test('a terminal that reports a light background gets the light theme, and keeps a chosen one', async () => {
    const program = session();
    await program.waitFor(/● .*● .*as admin/);
    expect(program.raw()).toContain('\x1b]11;?\x1b\\');
    const sign = (): number | undefined =>
      program.cellStyle(0, (program.screen()[0] ?? '').indexOf('●'))?.foreground;
    expect(sign()).toBe(114);
    program.type('\x1b]11;rgb:fdfd/f6f6/e3e3\x1b\\');
    await program.waitFor(() => sign() === 22);
    // Nothing of the report was typed.
    expect(program.screen().join('\n')).not.toMatch(/rgb|11;/);
    program.type('config set theme dark\r');
    await program.waitFor(() => sign() === 114);
    program.type('config unset theme\r');
    await program.waitFor(() => sign() === 22);
  });
});

describe('the demo', () => {
  const session = shared(
    async () => {
      const program = await startDevsh(['demo', '--devices', '2']);
      await program.waitFor('connected to 2 devices');
      return program;
    },
    (program) => startOver(program),
  );

  test('a window that is resized and back again in no time is painted whole', async () => {
    const program = session();
    for (let time = 0; time < 10; time++) {
      program.resize(3, 2);
      program.resize(80, 24);
      await program.waitFor((screen) => {
        return screen[0]?.startsWith(' devsh') === true && screen.at(-1)?.includes('help') === true;
      });
    }
  });

  test('a theme that is chosen at the prompt shows at once', async () => {
    const program = session();
    const label = (): number | undefined => {
      const row = program.screen().findIndex((line) => line.startsWith('▸devsh all'));
      return program.cellStyle(row, 2)?.foreground;
    };
    expect(label()).toBe(117);
    program.type('config set theme light\r');
    await program.waitFor('theme is now light');
    await program.waitFor(() => label() === 25);
    program.type('config set theme ascii\r');
    await program.waitFor(/^ devsh +\* sim1/m);
    program.type('config unset theme\r');
    await program.waitFor(/^ devsh +● sim1/m);
  });
});

test('on 40x10 everything has its line, and what is less important is left out', async () => {
  const program = await connect(await simulate({ devices: 3 }), { cols: 40, rows: 10 });
  await program.waitFor('✓ connected to 3 devices');
  await program.waitFor(/^[ ▸]users.* \d+: \d/m);
  await program.waitFor(/^▸. admin .*\ball\b/m);
  const screen = program.screen();
  expect(screen[8]).toMatch(/^▸devsh all 3>/);
  expect(screen[9]).toMatch(/^ enter run/);
  program.type('user delete viewer\r');
  await program.waitFor(/Type 3 to\s+DELETE/);
  await program.waitFor('answer>');
  program.press('escape');
  await program.waitFor('you did not confirm');
});

test.each(['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT'] as const)(
  '%s leaves the terminal clean, and nothing of the demo',
  async (signal) => {
    const folder = await mkdtemp(join(tmpdir(), 'devsh-pty-tmp-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const program = await startDevsh(['demo'], { env: { TMPDIR: folder } });
    await program.waitFor('connected to 3 devices');
    expect(program.buffer).toBe('alternate');
    expect(await readdir(folder)).toHaveLength(1);
    program.kill(signal);
    expect((await program.exit).signal).toBe(constants.signals[signal]);
    expect(program.buffer).toBe('normal');
    expect(program.cursor.isShown).toBe(true);
    expect(program.modes.bracketedPasteMode).toBe(false);
    expect(await readdir(folder)).toEqual([]);
  },
);

test.each([
  ['NO_COLOR', { env: { NO_COLOR: '1' } }],
  ['--no-color', { args: ['--no-color'] }],
])('%s: no colour is written, states are words and signs', async (_name, options) => {
  const simulator = await simulate({ devices: 2 });
  simulator.devices[1]?.setFault('refuse');
  const program = await connect(simulator, options);
  await program.waitFor(/✗ 127\.0\.0\.3\S* refused/);
  await goToTable(program);
  program.press('down');
  await program.waitFor(': prompt');
  const colours = [...program.raw().matchAll(/\x1b\[([\d;]*)m/g)]
    .flatMap(([, codes = '']) => codes.split(';'))
    .filter((code) => /^(3\d|4\d|9\d|10\d)$/.test(code));
  expect(colours).toEqual([]);
});

test('keys that are typed faster than the program starts are all taken', async () => {
  const simulator = await simulate();
  const program = await startDevsh([]);
  await program.waitFor('Type an address or a number');
  program.type(
    `connect ${simulator.devices[0]?.address ?? ''} --user admin\x01\x05 --no\x17\x03help\r`,
  );
  await program.waitFor('the incident shell');
  program.type('quit\r');
  expect((await program.exit).code).toBe(0);
});

test('the demo starts with no settings and ends with q', async () => {
  const program = await startDevsh(['demo']);
  await program.waitFor('connected to 3 devices');
  await program.waitFor('● sim3');
  await goToTable(program);
  program.press('q');
  expect(await program.exit).toEqual({ code: 0, signal: 0 });
});

test('a locale without UTF-8 gets ASCII signs, unless the user has chosen a theme', async () => {
  const simulator = await simulate({ devices: 2 });
  const program = await connect(simulator, { env: { LANG: 'C' } });
  await program.waitFor(/^ devsh +\* .*\* .*as admin/m);
  expect(program.screen().join('\n')).not.toMatch(/[●▸·…]/);
  expect(program.cellStyle(0, (program.screen()[0] ?? '').indexOf('*'))?.foreground).toBe(114);
  program.type('config set theme dark\r');
  await program.waitFor(/^ devsh +● .*● /m);
});

test.each([
  ['among the messages', 1],
  ['in a view', 3],
])('a printed table %s is laid out anew for a narrower window', async (where, devices) => {
  const program = await connect(await simulate({ devices }), { cols: 160 });
  program.type('trust list\r');
  await program.waitFor(/SHA-256.*FIRST SEEN.*EXPIRES/);
  program.resize(90, 30);
  await program.waitFor((screen) => {
    const head = screen.findIndex((line) => line.includes('SHA-256'));
    const column = screen[head]?.indexOf('FIRST SEEN') ?? -1;
    return column > 0 && /^\d{4}-/.test(screen[head + 1]?.slice(column) ?? '');
  });
  const head = program.screen().findIndex((line) => line.includes('SHA-256'));
  // As the heads of every view.
  expect(program.cellStyle(head, 1)?.underline).toBe(where === 'in a view');
});
