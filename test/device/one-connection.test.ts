import { expect, onTestFinished, test } from 'vitest';
import { Credential } from '../../src/device/credential.ts';
import type { Device } from '../../src/device/device.ts';
import { startSimulator, type SimulatedDevice } from '../simulator/simulator.ts';
import { startFleet, writesOf } from '../main/devsh.ts';
import { deviceAt } from './server.ts';

async function simulated(): Promise<{ simulator: SimulatedDevice; device: Device }> {
  const started = await startSimulator({ users: 3 });
  onTestFinished(() => started.close());
  const [simulator] = started.devices;
  if (simulator === undefined) throw new Error('no device');
  const { host, port } = simulator;
  const credential = Credential.basic('admin', 'admin-secret');
  return { simulator, device: deviceAt({ port }, { address: { host, port }, credential }) };
}

const write = {
  method: 'POST',
  path: '/api/user/',
  form: [
    ['uuid', 'null'],
    ['username', 'zoe'],
    ['first_name', 'Zoe'],
    ['lastname', 'Zett'],
    ['lang', 'de'],
  ],
} as const;

test('a device that accepts one connection at a time is written to', async () => {
  const { devsh, device, writes } = await startFleet();
  device(1).setFault('one-connection');
  const fields = 'username=zoe lang=de first_name=Zoe lastname=Zett';
  const added = await devsh(`user add ${fields} --on sim1 --yes`);
  expect(added).toMatchObject({ exitCode: 0 });
  const set = await devsh('user set zoe lang=fr --on sim1 --yes');
  expect(set).toMatchObject({ exitCode: 0 });
  expect(await devsh('user delete zoe --on sim1 --yes')).toMatchObject({ exitCode: 0 });
  expect(writes()).toHaveLength(3);
});

test('a write that needs the only connection waits for reads under way, and later reads wait for it', async () => {
  const { simulator, device } = await simulated();
  simulator.setFault('one-connection');
  const reads = [device.list('user')];
  await device.list('user');
  reads.push(device.list('user'));
  const written = device.write(write);
  reads.push(device.list('user'));
  await expect(written).resolves.toMatchObject({ status: 201 });
  for (const { records } of await Promise.all(reads)) {
    expect(records.length).toBeGreaterThanOrEqual(3);
  }
  expect(writesOf(simulator)).toHaveLength(1);
});

test('a device that is down during a write is not taken for one with a single connection', async () => {
  const { simulator, device } = await simulated();
  await device.list('user');
  simulator.setFault('accept-and-close');
  await expect(device.write(write)).rejects.toMatchObject({ mayHaveArrived: false });
  expect(writesOf(simulator)).toHaveLength(0);
});
