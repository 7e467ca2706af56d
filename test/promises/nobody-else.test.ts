import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { startFleet } from '../main/devsh.ts';
import { startProgram } from '../main/process.ts';

/** Preloaded into devsh: records its connections, DNS queries and child processes. */
const RECORDER = `
import { appendFileSync } from 'node:fs';
import net from 'node:net';
import dns from 'node:dns';
import dgram from 'node:dgram';
import child from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
const note = (what) => appendFileSync(process.env.RECORD, what + '\\n');
const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...args) {
  const [options] = Array.isArray(args[0]) ? args[0] : args;
  note('connect ' + (options.path ?? options.host + ':' + options.port));
  return connect.apply(this, args);
};
for (const target of [dns, dns.promises, dns.Resolver.prototype, dns.promises.Resolver.prototype]) {
  for (const name of Object.getOwnPropertyNames(target)) {
    if (!/^(lookup|resolve|reverse)/.test(name) || typeof target[name] !== 'function') continue;
    const asked = target[name];
    target[name] = function (...args) {
      // An IP address needs no DNS query.
      if (!net.isIP(String(args[0]))) note('dns ' + args[0]);
      return asked.apply(this, args);
    };
  }
}
const createSocket = dgram.createSocket;
dgram.createSocket = (...args) => (note('udp'), createSocket(...args));
for (const name of ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork']) {
  const start = child[name];
  child[name] = (...args) => (note('start ' + args[0]), start(...args));
}
globalThis.fetch = () => (note('fetch'), Promise.reject(new Error('no')));
syncBuiltinESMExports();
`;

test('devsh talks to the devices that you name, and to nobody else.', async () => {
  const { devsh, devices } = await startFleet({ devices: 3 });
  const recorder = join(devsh.folder, 'recorder.mjs');
  const record = join(devsh.folder, 'record');
  await writeFile(recorder, RECORDER);
  const env = {
    NODE_OPTIONS: `--import ${pathToFileURL(recorder).href}`,
    RECORD: record,
    // No keychain: this test is about the network.
    DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent',
  };
  const recorded = async (argv: string, input = ''): Promise<string[]> => {
    await writeFile(record, '');
    const { code, stderr } = await startProgram(argv.split(' '), devsh.folder, input, env).ended;
    expect([argv, code, stderr.includes('this is a bug')]).toEqual([argv, 0, false]);
    return (await readFile(record, 'utf8')).trim().split('\n');
  };

  const typed = 'user list\nuser set viewer lang=fr --yes\nresources\ntrust list\n';
  const named = devices.slice(0, 2).map(({ address }) => `connect ${address}`);
  for (const [line, input] of [
    ['user list --on sim1,sim2'],
    ['user add username=zoe lang=de --on sim1,sim2 --yes'],
    ['connect sim1 sim2', typed],
    ['doctor sim1 sim2'],
    ['login --check sim1 sim2'],
    ['trust scan sim1 sim2'],
  ] as const) {
    const called = new Set(await recorded(line, input));
    expect([line, [...called].filter((one) => !one.startsWith('start ')).sort()]).toEqual([
      line,
      named.sort(),
    ]);
    // devsh reads the keychain in a child process.
    const started = [...called].filter((one) => one.startsWith('start '));
    expect([line, started.filter((one) => one !== `start ${process.execPath}`)]).toEqual([
      line,
      [],
    ]);
  }
  for (const line of ['info', 'help', 'device list', 'trust list', 'runs', '--version']) {
    expect([line, await recorded(line)]).toEqual([line, ['']]);
  }
  expect(devices[2]?.log).toEqual([]);
});
