import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { StoredLogin } from '../../src/credentials/store.ts';
import type { SimulatedDevice } from '../simulator/simulator.ts';
import { wordsOf } from '../main/devsh.ts';
import { type Program, startProgram, waitUntil } from '../main/process.ts';
import { ask } from '../simulator/ask.ts';
import { allText, escrowIn, OLD, PASSPHRASE, startRotation } from './fleet.ts';
import { rounds } from '../rounds.ts';

const KILLS = rounds(60, { variable: 'DEVSH_KILLS' });
const PER_FLEET = 20;

/** No login of the tests' own environment: it is the kept one that is rotated. */
const ENV = { DEVSH_USER: '', DEVSH_PASSWORD: '' };

/** Faults that a device may have during a rotation, by its place in the fleet. */
function trouble(device: SimulatedDevice, index: number): void {
  const write = { method: 'PATCH' };
  if (index % 10 === 2) device.setFault('store-and-drop', 1, write);
  if (index % 10 === 4) device.setFault('reset', 1, write);
  if (index % 10 === 5) device.setFault('store-late', 1, write);
  if (index % 10 === 7) device.setFault('password-refused', 1, write);
  if (index % 10 === 8) device.setFault('500-after-storing', 1, write);
}

/** Whether this password opens the device now, which logs it. */
async function opens(device: SimulatedDevice, username: string, password: string) {
  const code = Buffer.from(`${username}:${password}`).toString('base64');
  const answer = await ask(device, { as: null, headers: { Authorization: `Basic ${code}` } });
  return answer.status === 200;
}

/** What is kept of a device, and all that happened on it. */
function storyOf({ name, log, logins }: SimulatedDevice, kept: StoredLogin | undefined): string {
  const requests = log.map(({ at, method, path, status, body }) =>
    [at, method, path, status, body].join(' '),
  );
  return [name, JSON.stringify(kept), ...requests, JSON.stringify(logins)].join('\n');
}

async function rotateAndKill(kills: number): Promise<number> {
  const { devsh, devices, rotate, vault } = await startRotation({ devices: 50, latencyMs: 2 });
  for (const [index, device] of devices.entries()) trouble(device, index);
  const escrow = await escrowIn(devsh.folder);
  const output: string[] = [];
  const start = (line: string): Program => {
    const argv = [...wordsOf(line), '--passphrase-stdin', '--yes', '--concurrency', '4'];
    const program = startProgram(argv, devsh.folder, `${PASSPHRASE}\n`, ENV);
    void program.ended.then(({ stdout, stderr }) => output.push(stdout, stderr));
    return program;
  };
  /** The run of the rotation, once it is in the journal. */
  const runOf = async (): Promise<string | undefined> => {
    const { runs } = JSON.parse((await devsh('runs --json')).stdout) as {
      runs: { run: string; command?: string }[];
    };
    return runs.find(({ command }) => command?.startsWith('rotate') === true)?.run;
  };
  const writes = (): number =>
    devices.reduce(
      (sum, { log }) => sum + log.filter(({ method }) => method === 'PATCH').length,
      0,
    );

  let killed = 0;
  for (let round = 0; killed < kills; round += 1) {
    const run = await runOf();
    const program = start(
      run === undefined
        ? `rotate password admin --on @lab --generate --each ${escrow.replace('new', `new-${round}`)}`
        : `resume ${run}`,
    );
    // A second devsh writes to the same devices.
    const second = round % 4 === 2 ? start('user set viewer lang=fr --on @lab') : undefined;
    const until = writes() + Math.floor(Math.random() * 3);
    await waitUntil(() => writes() > until, program);
    await sleep(Math.random() * 60);
    program.child.kill('SIGKILL');
    second?.child.kill('SIGKILL');
    const { signal } = await program.ended;
    await second?.ended;
    if (signal === null) break; // it ended before the kill
    killed += 1;
  }
  for (const device of devices) device.clearFaults();
  const run = (await runOf()) ?? '';
  for (const line of [`resume ${run}`, `resume ${run}`, `retry ${run}`, 'resume']) {
    const { stdout, stderr } = await rotate(`${line} --concurrency 4`);
    output.push(stdout, stderr);
  }

  let rotated = 0;
  const secrets = new Set<string>([OLD]);
  for (const device of devices) {
    const kept = await vault.find(device.address, 'admin');
    const secret = kept?.secret ?? '';
    for (const { username, password } of device.logins)
      if (username === 'admin') secrets.add(password);
    expect(await opens(device, 'admin', secret), storyOf(device, kept)).toBe(true);
    if (secret === OLD) continue;
    rotated += 1;
    expect([device.name, await opens(device, 'admin', OLD)]).toEqual([device.name, false]);
    expect(device.logins.at(-1)).toMatchObject({ password: OLD, isAccepted: false });
  }
  expect(rotated).toBeGreaterThanOrEqual(0.95 * devices.length);
  const text = [...output, await allText(devsh.folder)].join('\n');
  for (const secret of secrets) expect(text.includes(secret)).toBe(false);
  return killed;
}

test(
  'a rotation of 50 devices that is killed at any moment leaves a login that works on each',
  { timeout: 60_000 + KILLS * 20_000 },
  async () => {
    let killed = 0;
    while (killed < KILLS) {
      const fleets = KILLS - killed > PER_FLEET ? 2 : 1;
      const each = Math.min(PER_FLEET, Math.ceil((KILLS - killed) / fleets));
      const kills = Array.from({ length: fleets }, () => rotateAndKill(each));
      for (const count of await Promise.all(kills)) killed += count;
    }
  },
);
