import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { connect, goToTable, isQuiet, simulate, startDevsh } from './devsh.ts';

/** A folder for the settings of one test. */
async function settings(values: object): Promise<{ XDG_CONFIG_HOME: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'devsh-keys-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, 'devsh'), { mode: 0o700 });
  await writeFile(join(folder, 'devsh', 'settings.json'), JSON.stringify(values), { mode: 0o600 });
  return { XDG_CONFIG_HOME: folder };
}

test('keys that cannot be are refused before the screen is taken', async () => {
  const alias = { key: 'd', place: 'table', run: 'user list' };
  const env = await settings({ aliases: { mine: alias } });
  const program = await startDevsh([], { env });
  const { code } = await program.exit;
  expect(program.raw()).toMatch(/settings\.json: the key d is both table\.delete/);
  expect(program.raw()).not.toContain('\x1b[?1049h');
  expect(code).toBe(1);
});

test('a key that does nothing now says why, and its hint is in brackets', async () => {
  const program = await startDevsh([]);
  await program.waitFor('devsh>');
  program.press('escape');
  await program.waitFor('(d delete)');
  program.type('d');
  await program.waitFor(/d \(delete\): no device is connected/);
});

test('read-only is said instead of a plan', async () => {
  const program = await connect(await simulate(), { args: ['--read-only'] });
  await goToTable(program);
  program.type('d');
  await program.waitFor(/d \(delete\): read-only: no changes are allowed/);
});

test('y copies through the terminal and a program of the desktop, and says which', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'devsh-copy-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'copied');
  const script = `#!/bin/sh\ncat > '${file}'\necho "$DEVSH_PASSWORD" >> '${file}'\n`;
  await writeFile(join(folder, 'wl-copy'), script, { mode: 0o755 });
  const program = await connect(await simulate(), {
    env: { PATH: `${folder}:${process.env['PATH'] ?? ''}`, WAYLAND_DISPLAY: 'wayland-0' },
  });
  await goToTable(program);
  program.type('/viewer\r');
  await program.waitFor(/filter: viewer \(1 /);
  program.type('y');
  await program.waitFor('copied 1 command by wl-copy and OSC 52, without uuid');
  const { readFile } = await import('node:fs/promises');
  const copied = await readFile(file, 'utf8');
  expect(copied).toMatch(/^user add .*username=viewer/);
  expect(copied).not.toMatch(/secret|token/i);
  const sent = /\x1b\]52;c;([^\x1b]+)/.exec(program.raw())?.[1] ?? '';
  expect(Buffer.from(sent, 'base64').toString()).toBe(copied.trimEnd());
});

test('while a line waits for a device, keys that look or select act at once; what waits is named', async () => {
  const simulator = await simulate({ devices: 3 });
  const program = await connect(simulator, { cols: 120, args: ['--timeout', '60'] });
  const [first, second] = simulator.devices;
  second?.setFault('silence');
  program.type('get /api/user/\r');
  await program.waitFor('Ctrl-C cancels');
  await goToTable(program);
  program.press('R');
  await program.waitFor('no run yet');
  program.press('tab');
  await program.waitFor(`devsh ${first?.address ?? ''}>`);
  expect(program.screen().join('\n')).toContain('Ctrl-C cancels');
  program.press('d');
  await program.waitFor('· then user delete admin');
  // A line that waits applies to the devices that the prompt names when its turn comes.
  program.press('shift-tab');
  await program.waitFor(/· then user delete admin\S* and 1 more ·/);
  expect(program.screen().join('\n')).toContain(`devsh ${first?.address ?? ''}>`);
  program.press('ctrl-c');
  await program.waitFor(/not run: user delete admin.*, use all/);
  await program.waitFor(isQuiet);
});
