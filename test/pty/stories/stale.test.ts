import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, inject, onTestFinished, test } from 'vitest';
import { ADMIN, connect, goToTable, simulate, startDevsh } from '../devsh.ts';

/** Three devices in a separate process, which can be stopped. */
async function startDevices() {
  const args = [
    inject('cli'),
    'simulator',
    '--devices',
    '3',
    '--users',
    '6',
    '--port',
    '0',
    '--json',
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(async () => {
    child.kill('SIGCONT');
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
  let text = '';
  child.stdout.setEncoding('utf8');
  for (;;) {
    const [chunk] = (await once(child.stdout, 'data')) as [string];
    text += chunk;
    const addresses = [...new Set(text.match(/127\.0\.0\.\d+:\d+/g))];
    const fingerprints = [...new Set(text.match(/(?<="fingerprint": ?")[^"]+/g))];
    if (addresses.length < 3 || fingerprints.length < 3) continue;
    const known = addresses.map((address, index) => ({
      address,
      fingerprint: fingerprints[index] ?? '',
    }));
    return { addresses, known, child };
  }
}

test('devices that stop while they are watched keep their records, with their age, until they are back', async () => {
  const { addresses, known, child } = await startDevices();
  const args = ['connect', ...addresses];
  const program = await startDevsh(args, { cols: 120, rows: 35, env: ADMIN, known });
  await program.waitFor('connected to 3 devices');
  program.type('user list --watch=0.3 --timeout 0.5\r');
  await program.waitFor(/3 devices · .*every 0.3 s/);
  await goToTable(program);
  expect(program.screen().join('\n')).toMatch(/^▸. admin .*\ball\b/m);

  child.kill('SIGSTOP');
  await program.waitFor(/0 of 3 devices read, 3 as of (?:yesterday )?\d\d:\d\d · 18 records/);
  await program.waitFor(/^▸. admin.* all +as of (?:yesterday )?\d\d:\d\d/m);
  expect(program.screen().join('\n')).not.toMatch(/nothing read|no records|waiting for/);

  child.kill('SIGCONT');
  await program.waitFor(/ 3 devices · \d+: \d same/);
  await program.waitFor((screen) => !screen.join('\n').includes('as of'));
});

test('a list that comes slowly tells how much of it has come, and comes to its end', async () => {
  const simulator = await simulate({ users: 3000 });
  const program = await connect(simulator, { cols: 120, rows: 35 });
  simulator.devices[0]?.setFault('body-in-pieces');
  program.type('user list --timeout 0.8\r');
  await program.waitFor(/… 127\S+: 0\.\d MB · Ctrl-C cancels/);
  await program.waitFor((screen) => !screen.join('\n').includes('Ctrl-C cancels'));
  await goToTable(program);
  program.press('r');
  await program.waitFor(/3000 records.* · 127\S+: 0\.\d MB/);
  await program.waitFor((screen) => !screen.join('\n').includes(' MB'));
  expect(program.screen().join('\n')).not.toContain('as of');
});
