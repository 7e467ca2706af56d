import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Simulator } from '../../simulator/simulator.ts';
import { ADMIN, answer, goToTable, isQuiet, simulate, startDevsh } from '../devsh.ts';
import type { PtyProgram } from '../harness.ts';
import { countedKeys } from './counted-keys.ts';

const WRONG = Array.from({ length: 32 }, () => 'AB').join(':');

/** Writes the fingerprints of the devices from `first` on; those in `changed` have another pin. */
async function fingerprintFile(
  { devices }: Simulator,
  { first = 0, changed = [] }: { first?: number; changed?: readonly number[] } = {},
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'devsh-seen-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const lines = devices.map(({ address, fingerprint }, index) =>
    index < first ? '' : `${address} ${changed.includes(index) ? WRONG : fingerprint}\n`,
  );
  await writeFile(join(folder, 'seen.tsv'), lines.join(''));
  return join(folder, 'seen.tsv');
}

/** devsh with pins for all devices from `first` on, connecting to all of them. */
async function connecting(
  simulator: Simulator,
  options: { first?: number; changed?: readonly number[] },
): Promise<PtyProgram> {
  const file = await fingerprintFile(simulator, options);
  const addresses = simulator.devices.map(({ address }) => address);
  const program = await startDevsh([], { cols: 120, rows: 35, env: ADMIN });
  await program.waitFor('devsh>');
  const pinned = addresses.slice(options.first ?? 0);
  program.type(`trust accept ${pinned.join(' ')} --fingerprints '${file}'\r`);
  await program.waitFor(/is pinned to|pinned \d+ devices/);
  await program.waitFor(isQuiet);
  program.type(`connect ${addresses.join(' ')}\r`);
  return program;
}

test('40 devices of which 12 are unknown and one wants another login leave the filter its keys', async () => {
  const passwords = Array.from({ length: 40 }, (_, index) =>
    index === 39 ? 'other' : 'admin-secret',
  );
  const simulator = await simulate({ devices: 40, users: 4, passwords });
  const program = await connecting(simulator, { first: 12 });
  await program.waitFor(/\d+ of \d+ devices/);
  await goToTable(program);
  program.type('/');
  await program.waitFor('enter keep');
  for (const key of 'username=viewer') {
    program.type(key);
    await program.waitFor((screen) => screen.join('\n').includes('filter'));
  }
  await program.waitFor('13 questions: F2');
  await program.waitFor(/filter: username=viewer/);
  await program.waitFor(isQuiet);
  expect(program.screen().join('\n')).not.toContain('answer>');
  // Nothing was sent to unaccepted devices.
  for (const { log } of simulator.devices.slice(0, 12)) expect(log).toEqual([]);

  program.press('enter');
  await program.waitFor('/ filter');
  program.press('f2');
  await program.waitFor('› questions · 13 questions');
  program.type('*');
  await program.waitFor(/13 marked/);
  program.press('enter');
  await program.waitFor('Type yes to trust and pin 12 certificates');
  await answer(program, 'yes');
  await program.waitFor('User name on');
  await answer(program, 'admin');
  await program.waitFor('Password of admin');
  await answer(program, 'wrong');
  await program.waitFor(/The login of admin was refused by/);
  await program.waitFor('(Enter: admin)');
  await answer(program, '');
  await program.waitFor('Password of admin');
  expect(program.screen().join('\n')).not.toContain('User name on');
  await answer(program, 'other');
  await program.waitFor('connected to 13 devices');
  // The list stays until a key, and the filter is as it was.
  await program.waitFor('no question is open');
  program.type('q');
  await program.waitFor(/^.users · .*filter: username=viewer/m);
  await program.waitFor(/40 devices/);
});

test('a changed certificate is never among all: it is replaced by itself, or by a list of fingerprints', async () => {
  const simulator = await simulate({ devices: 5, users: 4 });
  const [first, second, third] = simulator.devices;
  const program = await connecting(simulator, { first: 1, changed: [1, 2] });
  await program.waitFor(/2 certificate CHANGED · 1 certificate: !  3 questions: F2/);
  await program.waitFor(isQuiet);
  program.press('f2');
  await program.waitFor('enter accept');
  // Both complete fingerprints of the device under the cursor.
  const shown = program.screen().join('').replace(/\s/g, '');
  expect(shown).toContain(WRONG);
  expect(shown).toContain(second?.fingerprint);
  // One below the other, so that a difference is seen.
  const starts = program.screen().flatMap((line) => {
    const at = line.search(/(?:[0-9A-F]{2}:){15}/);
    return at < 0 ? [] : [at];
  });
  expect(starts).toEqual(Array.from({ length: 4 }, () => starts[0]));
  program.press('space');
  await program.waitFor('a changed certificate cannot be marked');
  program.type('*');
  await program.waitFor(/1 marked/);
  program.press('enter');
  await program.waitFor(`the certificate of ${first?.address ?? ''}:`);
  await answer(program, 'yes');
  await program.waitFor('2 questions: F2');
  await program.waitFor(isQuiet);
  expect([second?.log, third?.log]).toEqual([[], []]);

  program.press('enter');
  await program.waitFor('┌ WARNING ─');
  await program.waitFor(`THE CERTIFICATE OF ${second?.address ?? ''} HAS CHANGED.`);
  await program.waitFor(/pinned \d{4}-\d\d-\d\d +AB:AB.*\n.*\n│ +presented now +(?!AB:AB)\w\w:/);
  // Enter alone means no.
  await answer(program, '');
  await program.waitFor('you did not confirm: nothing was changed');
  await program.waitFor(isQuiet);
  program.press('enter');
  await answer(program, 'yes');
  await program.waitFor('1 question: F2');
  await program.waitFor(isQuiet);

  const seen = await fingerprintFile(simulator);
  program.press('f');
  await program.waitFor(/> questions accept --fingerprints( |$)/m);
  program.type(`'${seen}'\r`);
  await program.waitFor((screen) => !screen.join('\n').includes('CHANGED'));
  await program.waitFor(/● 127\.0\.0\.2.*● 127\.0\.0\.3.*● 127\.0\.0\.4/);
});

test('four changed certificates take three keys and the file with their fingerprints', async () => {
  const simulator = await simulate({ devices: 4, users: 4 });
  const program = await connecting(simulator, { changed: [0, 1, 2, 3] });
  await program.waitFor('4 questions: F2');
  await program.waitFor(isQuiet);
  const seen = await fingerprintFile(simulator);
  for (const { log } of simulator.devices) expect(log).toEqual([]);
  const keys = countedKeys(program, 3);
  keys.press('f2');
  await program.waitFor('› questions · 4 questions');
  keys.press('f');
  await program.waitFor(/> questions accept --fingerprints( |$)/m);
  keys.value(`'${seen}'`);
  keys.press('enter');
  await program.waitFor('connected to 4 devices');
  await program.waitFor(([bar = '']) => !bar.includes('CHANGED'));
});

test('Esc leaves questions open, x declines them, and a yes that nobody asked for is no command', async () => {
  const simulator = await simulate({ devices: 2, users: 4 });
  const program = await connecting(simulator, { first: 1 });
  program.type('yes\r');
  await program.waitFor('1 question: F2');
  await program.waitFor('ignored "yes": no question is open');
  await program.waitFor(isQuiet);
  expect(program.screen().join('\n')).not.toContain('no command');
  expect(simulator.devices[0]?.log).toEqual([]);

  program.press('f2');
  await program.waitFor('› questions · 1 question');
  program.press('escape');
  await program.waitFor((screen) => !screen.join('\n').includes('› questions'));
  expect(program.screen()[0]).toContain('1 question: F2');
  program.resize(40, 10);
  await program.waitFor(/^ devsh.* 1 question: F2$/m);
  program.resize(120, 35);
  await program.waitFor(' 1 question: F2');

  program.press('f2');
  await program.waitFor('› questions · 1 question');
  program.press('x');
  await program.waitFor('declined: 127.0.0.2');
  await program.waitFor((screen) => !(screen[0] ?? '').includes('F2'));
  expect(simulator.devices[0]?.log).toEqual([]);
  await program.waitFor('0 questions');
  program.type('q');
  await program.waitFor((screen) => !screen.join('\n').includes('0 questions'));
  program.type(`connect ${simulator.devices[0]?.address ?? ''}\r`);
  await program.waitFor('1 question: F2');
});

test('who goes on with a filter is not called back for another password', async () => {
  const simulator = await simulate({
    devices: 2,
    users: 4,
    latencyMs: 400,
    passwords: ['other', 'admin-secret'],
  });
  const program = await connecting(simulator, {});
  await program.waitFor('1 question: F2');
  await program.waitFor(isQuiet);
  await goToTable(program);
  program.press('f2');
  await program.waitFor('› questions · 1 question');
  program.press('enter');
  await program.waitFor('User name on');
  await answer(program, 'admin');
  await program.waitFor('Password of admin');
  await answer(program, 'wrong');
  await program.waitFor('Ctrl-C cancels');
  program.press('q');
  program.type('/viewer');
  await program.waitFor('filter> viewer');
  await program.waitFor('1 question: F2');
  await program.waitFor(isQuiet);
  expect(program.screen().join('\n')).toContain('filter> viewer');

  program.press('enter');
  program.press('f2');
  await program.waitFor('› questions · 1 question');
  program.press('enter');
  await program.waitFor('(Enter: admin)');
  await answer(program, '');
  await program.waitFor('Password of admin');
  expect(program.screen().join('\n')).not.toContain('User name on');
});

test('a certificate is accepted while another device still keeps its line waiting', async () => {
  const simulator = await simulate({ devices: 2, users: 4 });
  simulator.devices[1]?.setFault('silence');
  const program = await connecting(simulator, { first: 1 });
  await program.waitFor('1 question: F2');
  const { address = '' } = simulator.devices[0] ?? {};
  program.type(`use ${address}\ruser list\r`);
  await program.waitFor(`· then use ${address} and 1 more ·`);
  program.press('f2');
  await program.waitFor('› questions · 1 question');
  program.press('enter');
  await program.waitFor(/Type yes to trust/);
  await answer(program, 'yes');
  await program.waitFor(/● 127\.0\.0\.2\S* +◌ 127\.0\.0\.3/);
  await program.waitFor('Ctrl-C cancels');
  expect(simulator.devices[0]?.log.length).toBeGreaterThan(0);

  // A line that waited names its devices, because the prompt has changed.
  await program.waitFor(`devsh ${address}> user list`, 20_000);
});

test('the list stays after the last answer, and the prompt below takes no key that was meant for it', async () => {
  const simulator = await simulate({ devices: 3, users: 4 });
  const program = await connecting(simulator, { first: 2 });
  await program.waitFor('2 questions: F2');
  await program.waitFor(isQuiet);
  program.type('disconnect all');
  program.press('f2');
  await program.waitFor('› questions · 2 questions');
  program.press('x');
  await program.waitFor(/^.users › questions · 1 question/m);
  program.press('x');
  await program.waitFor('no question is open');
  // A hurried hand declines once more, or accepts.
  program.press('x');
  await program.waitFor('x (decline): no question is open');
  program.press('enter');
  program.type('q');
  await program.waitFor((screen) => screen[1]?.includes('questions') === false);
  program.type('s');
  await program.waitFor('> disconnect alls');
  expect(simulator.devices[2]?.log.length).toBeGreaterThan(0);
});

test('on the smallest screen a fingerprint is shown whole or not at all', async () => {
  const simulator = await simulate({ devices: 4, users: 4 });
  const [first] = simulator.devices;
  const program = await connecting(simulator, { first: 1, changed: [1, 2] });
  await program.waitFor('3 questions: F2');
  await program.waitFor(isQuiet);
  program.press('f2');
  await program.waitFor('› questions · 3 questions');
  program.resize(40, 10);
  await program.waitFor(/^ +127\S+ +certificate$/m);
  const shown = (): string => program.screen().join('').replace(/\s/g, '');
  expect(shown()).not.toContain('AB:AB');
  program.press('end');
  await program.waitFor(/^▸ +127\S+ +certificate$/m);
  program.press('enter');
  await program.waitFor(/^ Type yes to trust and pin/m);
  // Above the question, without scrolling.
  expect(shown()).toContain(first?.fingerprint);
});
