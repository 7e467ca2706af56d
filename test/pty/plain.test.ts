import { expect, test, vi } from 'vitest';
import type { PtyProgram } from './harness.ts';
import { ADMIN, simulate, startDevsh } from './devsh.ts';

/** The output as text. `odd`: control sequences in it. */
function written(program: PtyProgram): { text: string; odd: string[] } {
  const raw = program.raw();
  return { text: raw, odd: raw.match(/(?![\r\n])\p{Cc}/gu) ?? [] };
}

async function startPlain(
  args: readonly string[],
  env: Record<string, string>,
  options: Parameters<typeof simulate>[0] = {},
) {
  const simulator = await simulate(options);
  const address = simulator.devices[0]?.address ?? '';
  const program = await startDevsh(['connect', address, ...args], {
    cols: 150,
    rows: 50,
    env: { ...ADMIN, ...env },
  });
  await program.waitFor('type yes to trust');
  program.type('yes\r');
  await program.waitFor(/devsh [^>]*> $/m);
  return { program, simulator };
}

test.each([
  ['TERM=dumb', [], { TERM: 'dumb' }],
  ['--plain', ['--plain'], { NO_COLOR: '1' }],
  ['a screen reader', [], { INK_SCREEN_READER: 'true', NO_COLOR: '1' }],
])('%s: a whole session is text and line ends, nothing else', async (_name, args, env) => {
  const { program, simulator } = await startPlain(args, env);
  program.type('user show vie\t');
  await program.waitFor('user show viewer');
  program.type('\r');
  await program.waitFor(/Reader\n[^]*> $/m);
  program.type('user add \t');
  await program.waitFor(/^ {2}lang=/m);
  program.type('username=eva first_name=Eva lastname=Ek lang=dexx');
  program.press('backspace');
  program.press('backspace');
  await program.waitFor(/lang=de$/m);
  program.type('\r');
  await program.waitFor(/1 to add[^]*: $/m);
  program.type('y\r');
  await program.waitFor(/1 done\n[^]*> $/m);
  program.press('up');
  await program.waitFor(/> user add username=eva.*\n?.*$/m);
  program.press('ctrl-u');
  program.type('nonsense\r');
  await program.waitFor(/there is no command "nonsense"[^]*> $/m);
  program.type('show');
  program.press('ctrl-r');
  await program.waitFor(/> user show viewer ?$/m);
  program.press('ctrl-c');
  await program.waitFor(/\^C\n[^]*> $/m);
  program.type('user list password=hunter2');
  await program.waitFor('password=•••••••');
  program.press('ctrl-c');
  await program.waitFor(/•\^C\n[^]*> $/m);
  program.press('ctrl-d');
  expect((await program.exit).code).toBe(2);
  const { text, odd } = written(program);
  expect(odd).toEqual([]);
  expect(text).not.toContain('hunter2');
  expect(simulator.devices[0]?.users.map(({ username }) => username)).toContain('eva');
});

test('several lines pasted at the plain prompt run only after a yes', async () => {
  const { program, simulator } = await startPlain(['--plain'], {});
  program.type('user delete viewer --yes\ruser delete noa.mizrahi --yes\r');
  await program.waitFor('Run these 2 lines one after the other?');
  program.type('n\r');
  await program.waitFor(/> $/m);
  expect(simulator.devices[0]?.log.map(({ method }) => method)).not.toContain('DELETE');
  program.type('devices\r');
  await program.waitFor('TRUST');
});

test('Ctrl-C ends a watch at the plain prompt, and the session goes on', async () => {
  const { program } = await startPlain(['--plain'], {});
  program.type('user list --watch=1\r');
  await program.waitFor('Ctrl-C stops it');
  program.press('ctrl-c');
  await program.waitFor(/Ctrl-C stops it\n[^]*> $/m);
  program.type('info\r');
  await program.waitFor('known-devices');
  expect(program.raw()).not.toContain('bug');
});

test('with nothing set up, the plain prompt says what to type; afterwards it does not', async () => {
  const program = await startDevsh(['--plain']);
  await program.waitFor(/^ {2}demo +three simulated devices/m);
  await program.waitFor('devices.yaml');
  program.type('demo\r');
  await program.waitFor(/devsh all 3> /);
  program.press('ctrl-d');
});

test('what is typed while a command runs waits unseen, and stands at the next prompt', async () => {
  const { program, simulator } = await startPlain(['--plain'], {}, { latencyMs: 800 });
  const [device] = simulator.devices;
  const before = device?.log.length ?? 0;
  const start = program.raw().length;
  program.type('get /api/user/\r');
  await vi.waitUntil(() => (device?.log.length ?? 0) > before, 10_000);
  program.type('hunter2');
  await program.waitFor(/> hunter2$/m);
  const [output = ''] = program.raw().slice(start).split('devsh ');
  expect(output).toContain('"username": "viewer"');
  expect(output).not.toContain('hunter2');
  program.press('ctrl-c');
  await program.waitFor(/> $/m);
  program.press('ctrl-d');
  await program.exit;
});

test('a yes that was typed before the question is no answer, and stands at the next prompt', async () => {
  const { program, simulator } = await startPlain(['--plain'], {}, { latencyMs: 300 });
  const [device] = simulator.devices;
  const before = device?.log.length ?? 0;
  program.type('user delete viewer\r');
  await vi.waitUntil(() => (device?.log.length ?? 0) > before, 10_000);
  program.type('y\rdevices\r');
  await program.waitFor('before this question is at the next prompt');
  program.press('enter');
  await program.waitFor(/> y$/m);
  program.press('enter');
  await program.waitFor('Run these 2 lines one after the other?');
  program.press('ctrl-c');
  await program.waitFor(/devsh [^>]*> $/m);
  expect(device?.users.map(({ username }) => username)).toContain('viewer');
});

test('a yes that was typed before the question of one command is dropped', async () => {
  const { devices } = await simulate({ latencyMs: 300 });
  const [device] = devices;
  const args = ['user', 'delete', 'viewer', '--on', device?.address ?? '', '--insecure'];
  const program = await startDevsh(args, { env: ADMIN });
  await vi.waitUntil(() => (device?.log.length ?? 0) > 0, 10_000);
  program.type('y\ry\r');
  await program.waitFor('dropped what was typed before');
  program.press('ctrl-c');
  expect((await program.exit).code).toBe(6);
  expect(device?.users.map(({ username }) => username)).toContain('viewer');
});

test('a yes that was typed before a certificate was shown trusts nothing', async () => {
  const simulator = await simulate();
  const address = simulator.devices[0]?.address ?? '';
  const program = await startDevsh(['connect', address, '--plain'], { cols: 150, env: ADMIN });
  program.type('yes\ryes\r');
  await program.waitFor('is at the next prompt');
  await program.waitFor('type yes to trust');
  expect(simulator.devices[0]?.log).toEqual([]);
  program.type('yes\r');
  await program.waitFor(/> yes$/m);
});

test('a password that was typed too early is dropped, and never shown', async () => {
  const simulator = await simulate();
  const address = simulator.devices[0]?.address ?? '';
  const program = await startDevsh(['connect', address, '--plain', '--insecure']);
  await program.waitFor('User name');
  program.type('admin\radmin-secret\r');
  await program.waitFor('dropped what was typed before');
  await program.waitFor('Password of admin');
  program.type('admin-secret\r');
  await program.waitFor(/8 records[^]*> $/m);
  expect(program.raw()).not.toContain('admin-secret');
});

test.each([
  ['with a terminal that can do all', {}],
  ['where only text is written', { TERM: 'dumb' }],
])('a password stays hidden after a Ctrl-Z that no shell answers, %s', async (_where, env) => {
  const simulator = await simulate();
  const address = simulator.devices[0]?.address ?? '';
  const program = await startDevsh(['login', address, '--user', 'admin', '--insecure'], {
    env: { NO_COLOR: '1', ...env },
  });
  await program.waitFor('Password of admin');
  const asked = (): number => program.raw().split('Password of admin').length;
  const before = asked();
  program.press('ctrl-z');
  await vi.waitUntil(() => asked() > before, 10_000);
  program.type('hunter2');
  program.press('ctrl-c');
  await program.exit;
  expect(program.raw()).not.toContain('hunter2');
});
