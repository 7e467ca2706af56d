import { expect, test } from 'vitest';
import { ADMIN, answer, connect, goToTable, simulate, startDevsh } from './devsh.ts';

test('connects after the fingerprint is accepted and the login is typed, hidden', async () => {
  const simulator = await simulate();
  const [device] = simulator.devices;
  const program = await startDevsh(['connect', device?.address ?? '']);

  await program.waitFor('Type yes to trust');
  // The fingerprint is shown in two lines.
  const shown = program.screen().join('').replace(/[\s│]/g, '');
  expect(shown).toContain(device?.fingerprint);
  expect(device?.log).toEqual([]);
  await answer(program, 'yes');
  await program.waitFor('User name on');
  await answer(program, 'admin');
  await program.waitFor('Password of admin');
  program.type('admin-secret');
  await program.waitFor('••••••••••••');
  program.type('\r');
  await program.waitFor('connected to 1 device');
  await program.waitFor('warning: this machine has no keychain: each session asks for the login');
  await program.waitFor(/● 127\.0\.0\.\d.*as admin · pinned · read-write/);
  program.press('escape');
  await program.waitFor(/viewer\s+Vic/);
  expect(program.raw()).not.toContain('admin-secret');
});

test('a wrong user name is said, and corrected; nothing is called proved by then', async () => {
  const simulator = await simulate();
  const program = await startDevsh(['connect', simulator.devices[0]?.address ?? '']);
  await program.waitFor('Type yes to trust');
  expect(program.screen().join('\n')).not.toContain('system CA');
  await answer(program, 'yes');
  await program.waitFor('User name on');
  await answer(program, 'amdin');
  await program.waitFor('Password of amdin');
  await answer(program, 'admin-secret');
  await program.waitFor(/The login of amdin was refused by 127\.0\.0\.2/);
  await program.waitFor(/User name on 127\S+ \(Enter: amdin\)/);
  await answer(program, 'admin');
  await program.waitFor('Password of admin');
  await answer(program, 'admin-secret');
  await program.waitFor('connected to 1 device');
});

test('a declined certificate leaves the device failed, with its reason in full, and sends nothing', async () => {
  const simulator = await simulate();
  const [device] = simulator.devices;
  const program = await startDevsh(['connect', device?.address ?? '']);
  await program.waitFor('Type yes to trust');
  program.press('escape');
  await program.waitFor('1 question: F2');
  await program.waitFor(/✗ 127\.0\.0\.\d\S* certificate/);
  expect(device?.log).toEqual([]);
});

test('two new devices, by their addresses alone: both certificates come first, and yes is no user name', async () => {
  const simulator = await simulate({ devices: 2 });
  const program = await startDevsh(simulator.devices.map(({ address }) => address));
  await program.waitFor('Type yes to trust and pin 2 certificates');
  await answer(program, 'yes');
  await program.waitFor(/User name on 127\.0\.0\.2\S+, 127\.0\.0\.3/);
  await answer(program, 'admin');
  await program.waitFor('Password of admin');
  await answer(program, 'admin-secret');
  await program.waitFor('connected to 2 devices');
});

test('an address typed on the first screen connects, and what is typed before the question is no answer', async () => {
  const simulator = await simulate();
  const [device] = simulator.devices;
  const program = await startDevsh([]);
  await program.waitFor('Type an address');
  program.type(`${device?.address ?? ''}\r`);
  await program.waitFor('┌ question ─');
  program.type('yes\r');
  await program.waitFor('What was typed before this question was dropped. Type yes to trust');
  expect(device?.log).toEqual([]);
  await answer(program, 'yes');
  await program.waitFor('User name on');
});

test('three devices with one down: the two others are shown, the third stands there with its reason', async () => {
  const simulator = await simulate({ devices: 3 });
  simulator.devices[1]?.setFault('refuse');
  const program = await connect(simulator);

  await program.waitFor('connected to 2 of 3 devices');
  await program.waitFor(/✗ 127\.0\.0\.3\S* refused/);
  await program.waitFor(/^ ✗ 127\.0\.0\.3\S*: .*refuses the connection/m);
  await program.waitFor(/2 of 3 devices read · \d+: \d same on 2 read/);

  simulator.devices[1]?.setFault('refuse', false);
  await goToTable(program);
  program.press('r');
  await program.waitFor(/ 3 devices · \d+: \d same/);
  await program.waitFor((screen) => !screen.join('\n').includes('✗'));
});

test('while a line waits it names the devices that have not responded, two of them and how many more', async () => {
  const simulator = await simulate({ devices: 5 });
  const addresses = simulator.devices.map(({ address }) => address);
  const silent = simulator.devices.slice(1, 4);
  for (const device of silent) device.setFault('silence');
  const program = await startDevsh(['connect', ...addresses, '--timeout', '60'], {
    cols: 120,
    known: simulator.devices,
    env: ADMIN,
  });
  const [, second, third, fourth] = addresses;
  await program.waitFor(`2/5 connecting: waiting for ${second ?? ''}, ${third ?? ''} and 1 more`);
  silent[0]?.setFault('silence', false);
  program.press('ctrl-c');
  await program.waitFor('error: cancelled');

  silent[1]?.setFault('silence', false);
  program.type('user list\r');
  await program.waitFor(`4/5 reading users: waiting for ${fourth ?? ''} ·`);
});

test('a certificate that changes while devsh learns in the background turns the device red at once', async () => {
  const simulator = await simulate({ devices: 2 });
  const [, second] = simulator.devices;
  second?.setFault('silence', true, { method: 'OPTIONS' });
  const program = await connect(simulator, { cols: 120 });
  await expect.poll(() => second?.log.at(-1)?.method).toBe('OPTIONS');
  second?.setFault('certificate-change');
  await program.waitFor(/✗ 127\.0\.0\.3\S* certificate CHANGED/);

  program.type('user list\r');
  await program.waitFor('THE CERTIFICATE HAS CHANGED');
  await program.waitFor(/1 of 2 devices read, 1 as of \S+ · 16 records/);
  await program.waitFor((screen) => !screen.join('\n').includes('Ctrl-C cancels'));
  expect(program.screen()[0]).toMatch(/✗ 127\.0\.0\.3\S* certificate CHANGED +● 127\.0\.0\.2/);
});

test('Ctrl-C in the middle of a slow write finishes the request and says what was not sent', async () => {
  const simulator = await simulate({ devices: 3 });
  const program = await connect(simulator, { args: ['--timeout', '2'] });
  for (const device of simulator.devices) device.setFault('silence', true, { method: 'POST' });

  program.type('user add username=zed first_name=Zed lastname=Zulu lang=en\r');
  await program.waitFor('Type 3 to do them');
  await answer(program, '3');
  await program.waitFor('Ctrl-C cancels');
  await expect.poll(() => simulator.devices[0]?.log.at(-1)?.method).toBe('POST');
  program.press('ctrl-c');
  await program.waitFor('stopping after the request in flight');
  // The line of those that were skipped gives way to what follows.
  await program.waitFor('1 failed · 2 skipped');
  await program.waitFor('the steps marked "skipped" were not sent');
  expect(simulator.devices[2]?.log.filter(({ method }) => method === 'POST')).toEqual([]);
});

test('a second Ctrl-C leaves the wait at once, and the prompt is usable', async () => {
  const simulator = await simulate();
  const program = await connect(simulator);
  simulator.devices[0]?.setFault('silence');
  program.type('get /api/user/ --timeout 60\r');
  await program.waitFor('Ctrl-C cancels');
  program.press('ctrl-c');
  program.press('ctrl-c');
  program.type('version?');
  await program.waitFor(/devsh.*> version\?/);
  await program.waitFor((screen) => !screen.join('\n').includes('Ctrl-C again'));
});
