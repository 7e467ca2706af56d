import { expect, test } from 'vitest';
import { ADMIN, goToTable, isQuiet, simulate, startDevsh } from '../devsh.ts';
import type { PtyProgram } from '../harness.ts';
import type { Simulator } from '../../simulator/simulator.ts';
import { rounds } from '../../rounds.ts';

const MANY = rounds(1000, { least: 200 });

/** devsh connected to `simulator`, of which the first `unknown` devices have no pin. */
async function connecting(
  { devices }: Simulator,
  { unknown = 0, others = [] as readonly string[], ...size } = {},
): Promise<PtyProgram> {
  const known = devices.slice(unknown);
  const program = await startDevsh([], { cols: 120, rows: 35, ...size, known, env: ADMIN });
  await program.waitFor('devsh>');
  const addresses = devices.map(({ address }) => address);
  program.type(`connect ${[...others, ...addresses].join(' ')}\r`);
  await program.waitFor(/connected to \d+/, 60_000);
  await program.waitFor(isQuiet);
  return program;
}

/** The passwords of `count` devices, of which the last three want another one. */
function passwordsOf(count: number): string[] {
  return Array.from({ length: count }, (_, index) =>
    index < count - 3 ? 'admin-secret' : 'other',
  );
}

test('few devices stand by name, the one in trouble first', async () => {
  const simulator = await simulate({ devices: 3, faults: ['sim2:refuse'] });
  const program = await connecting(simulator);
  const [first, second, third] = simulator.devices.map(({ address }) => address);
  await program.waitFor(`✗ ${second ?? ''} refused   ● ${first ?? ''}   ● ${third ?? ''}`);

  await goToTable(program);
  program.press('tab');
  await program.waitFor(`[● ${first ?? ''}]`);
  program.press('tab');
  await program.waitFor(`[✗ ${second ?? ''} refused]`);
});

test('the list of devices opens at once while a line waits for a silent device', async () => {
  const simulator = await simulate({ devices: 2, faults: ['sim2:silence'] });
  const program = await startDevsh([], { known: simulator.devices, env: ADMIN });
  await program.waitFor('devsh>');
  program.type(`connect ${simulator.devices.map(({ address }) => address).join(' ')}\r`);
  await program.waitFor(/2 devices? read · \d+:? /);
  await goToTable(program);
  program.type('D');
  await program.waitFor(/^▸.*› devices · 2 devices, 1 connected, 1 connecting/m);
  expect(program.screen().join('\n')).toContain('Ctrl-C cancels');
});

test('many devices are a count, a bar and their causes; what failed is not drawn as reached', async () => {
  const simulator = await simulate({ devices: 60, users: 2, passwords: passwordsOf(60) });
  const program = await connecting(simulator, { unknown: 10, others: ['127.0.0.1:1'] });
  await program.waitFor('61 ━━━━━━━━✗✗ 47 ●  ✗ 10 certificate · 3 login · 1 refused: !');
  await program.waitFor('13 questions: F2');

  program.resize(40, 10);
  await program.waitFor('47/61 ●  ✗ 14   13 questions: F2');
});

test(
  `from ${MANY} devices to the three with a wrong login in four keys and a word`,
  { timeout: 120_000 },
  async () => {
    const simulator = await simulate({ devices: MANY, users: 1, passwords: passwordsOf(MANY) });
    const program = await connecting(simulator, { unknown: 60 });
    await program.waitFor(`${MANY - 63} ●  ✗ 60 certificate · 3 login: !`);

    program.press('escape');
    await program.waitFor('enter details');
    program.type('!');
    await program.waitFor(`'state!=connected': 63 of ${MANY}`);
    expect(program.screen()[1]).toContain('60 certificate, 3 login');
    program.type('!/login\r');
    await program.waitFor(`'login': 3 of ${MANY}`);
    const names = simulator.devices.slice(-3).map(({ address }) => address);
    const listed = program.screen().filter((line) => /^.✗.* login /.test(line));
    expect(listed.map((line) => line.slice(3).split(' ')[0])).toEqual(names);

    // The reason of the device under the cursor is whole, below the list.
    await program.waitFor(/the login was refused \(401/);
    program.press('escape');
    await program.waitFor(`${MANY} devices, ${MANY - 63} connected`);
    program.press('escape');
    await program.waitFor('enter details');
  },
);

test('in trouble without colours and in ASCII: signs and words say it', async () => {
  const simulator = await simulate({ devices: 2, faults: ['sim1:refuse'] });
  const [first] = simulator.devices.map(({ address }) => address);
  const known = simulator.devices;
  const env = { ...ADMIN, NO_COLOR: '1', DEVSH_THEME: 'ascii' };
  const args = ['connect', ...known.map(({ address }) => address)];
  const program = await startDevsh(args, { known, env });
  await program.waitFor(`x ${first ?? ''} refused`);
});
