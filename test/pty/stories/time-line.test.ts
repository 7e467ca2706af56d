import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Simulator } from '../../simulator/simulator.ts';
import { answer, connect, goToTable, simulate } from '../devsh.ts';
import type { PtyProgram } from '../harness.ts';

/** A state folder that several sessions share. */
async function stateFolder(): Promise<string> {
  const state = await mkdtemp(join(tmpdir(), 'devsh-state-'));
  onTestFinished(() => rm(state, { recursive: true, force: true }));
  return state;
}

/** A session that shows the table. */
async function look(simulator: Simulator, state: string): Promise<PtyProgram> {
  const program = await connect(simulator, { cols: 140, env: { XDG_STATE_HOME: state } });
  await goToTable(program);
  return program;
}

async function leave(program: PtyProgram): Promise<void> {
  program.press('q');
  await program.exit;
}

/** What another user does between two sessions. */
function changeBehind({ devices }: Simulator): void {
  for (const device of devices) {
    device.removeUser('eve');
    device.putUser({ username: 'bob', lang: 'it' });
  }
}

/** Two devices that both have bob and eve. */
async function twoDevices(): Promise<Simulator> {
  const simulator = await simulate({ devices: 2, users: 3 });
  for (const device of simulator.devices) {
    for (const username of ['bob', 'eve']) device.putUser({ username, lang: 'de' });
  }
  return simulator;
}

test('the time line shows what changed, before and after, and the way back', async () => {
  const simulator = await twoDevices();
  const state = await stateFolder();
  await leave(await look(simulator, state));
  changeBehind(simulator);

  const program = await look(simulator, state);
  program.press('T');
  await program.waitFor(/› changes · 4 changes in 2 rows/);
  await program.waitFor(/user eve no longer in the list +not by a run of this devsh/);
  program.type('/eve\r');
  await program.waitFor(/'eve': 1 of 2/);
  await program.waitFor(/^ u user restore eve --at \S+Z --on /m);
  program.press('enter');
  await program.waitFor(/^ user eve no longer in the list$/m);
  await program.waitFor(/username +eve/);

  program.press('u');
  await program.waitFor(/Type 2 to do/);
  await answer(program, '2');
  const holders = (): number =>
    simulator.devices.filter(({ users }) => users.some(({ username }) => username === 'eve'))
      .length;
  await expect.poll(holders, { timeout: 10_000 }).toBe(2);
}, 60_000);

test('the details of a record end with its life', async () => {
  const simulator = await twoDevices();
  const state = await stateFolder();
  await leave(await look(simulator, state));
  changeBehind(simulator);

  const program = await look(simulator, state);
  program.type('/bob\r');
  await program.waitFor(/^▸  ?bob /m);
  program.press('enter');
  await program.waitFor(/^ BETWEEN +ON +WHAT +BY$/m);
  await program.waitFor(/user bob: lang de → it +not by a run of this devsh/);
  await program.waitFor(/user bob there at the first reading/);
});
