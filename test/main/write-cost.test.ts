import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startFleet } from './devsh.ts';

/** The locks that are taken from now on: each becomes a file by a link to its draft. */
function takenLocks(): string[] {
  const { linkSync } = fs;
  const taken: string[] = [];
  fs.linkSync = (draft, name) => {
    linkSync(draft, name);
    taken.push(basename(String(name)));
  };
  syncBuiltinESMExports();
  onTestFinished(() => {
    fs.linkSync = linkSync;
    syncBuiltinESMExports();
  });
  return taken;
}

test('a write on a known device: three reads on one connection, the write on its own, one lock', async () => {
  const { devsh, devices } = await startFleet({ devices: 8 });
  const add = (name: string) =>
    devsh(
      `user add username=${name} first_name=B lastname=C lang=de --on sim* --yes --concurrency 8`,
    );
  // The first write learns how the devices speak.
  expect((await add('first')).exitCode).toBe(0);
  const before = devices.map(({ connections, log }) => ({ connections, requests: log.length }));
  const locks = takenLocks();
  expect((await add('zoe')).exitCode).toBe(0);
  for (const [index, { connections, log }] of devices.entries()) {
    const { connections: opened = 0, requests = 0 } = before[index] ?? {};
    expect(connections - opened).toBe(2);
    expect(log.slice(requests).map(({ method }) => method)).toEqual(['GET', 'GET', 'POST', 'GET']);
  }
  const ofDevices = locks.filter((name) => /^127\.|^\[?::1/.test(name));
  expect(ofDevices).toHaveLength(devices.length);
  expect(new Set(ofDevices).size).toBe(devices.length);
});
