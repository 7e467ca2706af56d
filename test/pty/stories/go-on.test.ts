import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ADMIN, answer, connect, isQuiet, simulate, startDevsh } from '../devsh.ts';
import { countedKeys } from './counted-keys.ts';

/** Folders that outlive one program, with an inventory in the group `lab`. */
async function home(devices: readonly { name: string; address: string }[]) {
  const folder = await mkdtemp(join(tmpdir(), 'devsh-go-on-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const env = {
    ...ADMIN,
    XDG_CONFIG_HOME: join(folder, 'config'),
    XDG_STATE_HOME: join(folder, 'state'),
  };
  const lines = devices.map(
    ({ name, address }) => `  - { name: ${name}, address: "${address}", groups: [lab] }\n`,
  );
  await mkdir(join(folder, 'config', 'devsh'), { recursive: true, mode: 0o700 });
  const text = `devices:\n${lines.join('')}groups:\n  lab: { label: PROD }\n`;
  await writeFile(join(folder, 'config', 'devsh', 'devices.yaml'), text, { mode: 0o600 });
  return env;
}

test('a roll-out is stopped and devsh is left: the next start offers to go on, which takes four keys, and ends well', async () => {
  const simulator = await simulate({ devices: 3 });
  const env = await home(simulator.devices);
  const program = await connect(simulator, { env, args: ['--timeout', '2'], cols: 120 });
  for (const device of simulator.devices) device.setFault('silence', true, { method: 'POST' });
  program.type('user add username=zed first_name=Zed lastname=Zulu lang=en\r');
  await program.waitFor('PROD: 3 steps on 3 devices. Type 3 to do them');
  await answer(program, '3');
  await expect.poll(() => simulator.devices[0]?.log.at(-1)?.method).toBe('POST');
  program.press('ctrl-c');
  await program.waitFor('1 failed · 2 skipped');
  await program.waitFor(isQuiet);
  program.press('ctrl-d');
  await program.exit;

  for (const device of simulator.devices) device.clearFaults();
  const next = await startDevsh([], { env, cols: 120, known: simulator.devices });
  // The first device did not respond to its request, the others were not reached.
  await next.waitFor(
    /^ +1 +resume +3 changes pending since (?:yesterday )?\d\d:\d\d on sim1, sim2/m,
  );
  await next.waitFor(/^ +2 +connect 127\S.* as in the last session, (?:yesterday )?\d\d:\d\d/m);
  await next.waitFor(/^ +3 +connect @lab +3 devices · PROD/m);
  await next.waitFor(/^ +4 +connect @all +all 3 of the inventory/m);
  const keys = countedKeys(next, 4);
  keys.press('1', 'enter');
  await next.waitFor('Type ');
  await next.waitFor('answer>');
  const count = /Type (\S+) to do/.exec(next.screen().join('\n'))?.[1] ?? '';
  keys.press(...Array.from(count), 'enter');
  const hasZed = () =>
    simulator.devices.every(({ users }) => users.some((one) => one.username === 'zed'));
  await expect.poll(hasZed, { timeout: 10_000 }).toBe(true);
  await next.waitFor(isQuiet);
  await next.waitFor(/^ +1 +connect 127/m);
  const text = next.screen().join('\n');
  expect(text).not.toContain('you selected no device');
  expect(text).not.toContain('error:');
  expect(text).not.toMatch(/^ +\d +resume/m);
  next.type('3\r');
  await next.waitFor('connected to 3 devices');
  await next.waitFor('devsh PROD · all 3>');
});

test('with nothing to go on with the first screen says what one can begin with', async () => {
  const env = await home([]);
  const program = await startDevsh([], { env });
  await program.waitFor(/^ +1 +demo/m);
});
