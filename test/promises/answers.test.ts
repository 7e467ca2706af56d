import { expect, test } from 'vitest';
import { FAULTS, type FaultName } from '../simulator/faults.ts';
import { startSimulator } from '../simulator/simulator.ts';
import { ADMIN, makeDevsh, trust, type Run } from '../main/devsh.ts';
import { connect, simulate } from '../pty/devsh.ts';

const LIMIT_MS = 500;

/** Runs a line on a device with a fault, in each format. */
async function readFrom(
  name: FaultName,
  formats: readonly string[],
  line = 'user list',
): Promise<(Run & { name: string; elapsedMs: number })[]> {
  const ends: (() => Promise<void>)[] = [];
  try {
    const simulator = await startSimulator({ users: 5 });
    ends.push(() => simulator.close());
    const [device] = simulator.devices;
    if (device === undefined) throw new Error('no device');
    const devsh = await makeDevsh(ADMIN, (end) => ends.push(end));
    await trust(devsh, [device]);
    device.setFault(name);
    const runs = [];
    for (const format of formats) {
      const from = performance.now();
      const words = `${line} --on ${device.address} --timeout ${LIMIT_MS / 1000} --format ${format}`;
      const run = await devsh(words);
      runs.push({ ...run, name: `${name} ${format}`, elapsedMs: performance.now() - from });
    }
    return runs;
  } finally {
    for (const end of ends) await end();
  }
}

const FORMATS = ['table', 'json', 'jsonl', 'csv', 'yaml'] as const;
/** Control characters, and characters that change the direction of text. devsh writes line ends itself. */
const OBEYED = /[\0-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b-\u200f]/;

test('Nothing from a device reaches the terminal as a control character.', async () => {
  const hostile: FaultName[] = FAULTS.map(({ name }) => name).filter(
    (name) => /^text-|escapes|raw-control|nul-in/.test(name) && name !== 'text-huge',
  );
  expect(hostile.length).toBeGreaterThan(8);
  for (const name of hostile) {
    for (const line of ['user list', 'get /api/user/ --raw']) {
      for (const { stdout, stderr, name: what } of await readFrom(name, FORMATS, line)) {
        // A raw body keeps its bytes, but only in files and pipes.
        const isRaw = line.includes('--raw') && what.endsWith('table');
        const text = (isRaw ? '' : stdout) + stderr;
        // Tables for programs are separated by tabs.
        const seen = OBEYED.exec(text.replaceAll('\t', ''));
        expect([what, line, seen?.[0]]).toEqual([what, line, undefined]);
      }
    }
  }

  const simulator = await simulate();
  const program = await connect(simulator);
  for (const name of hostile) {
    simulator.devices[0]?.clearFaults();
    simulator.devices[0]?.setFault(name);
    program.type('user list\r');
    await program.waitFor('enter run');
    program.type('get /api/user/ --raw\r');
    await program.waitFor((screen) => !screen.join('\n').includes('Ctrl-C cancels'));
    // Escape closes the pager of a long output; at the prompt it would lead to the table.
    await program.waitFor(/enter run|close/);
    if (!program.screen().join('\n').includes('enter run')) program.press('escape');
    await program.waitFor('enter run');
  }
  const raw = program.raw();
  expect(raw).not.toMatch(
    /owned\u0007|\]52;|\u202e|\u2066|\u200b|\u009b|\u001b\[2J\u001b\[H\u001b\[31m/,
  );
});

test('Every answer ends, in time and in memory.', async () => {
  const endless: readonly FaultName[] = [
    'silence',
    'handshake-stall',
    'stalled-body',
    'slow-body',
    'endless-body',
    'headers-stall',
    'slow-headers',
    'endless-headers',
    'endless-hints',
    'gzip-bomb',
    'endless-gzip',
    'gzip-many-times',
    'chunk-huge',
    'huge-length',
    'trailer-flood',
    'page-loop',
    'page-endless',
    'redirect-loop',
    'deep-json',
    'deep-open',
    'long-number',
    '429-forever',
  ];
  // A body that still comes has ten times the limit of a silent one.
  const coming: readonly FaultName[] = ['endless-body', 'endless-gzip'];
  const before = process.memoryUsage.rss();
  let highest = before;
  const watch = setInterval(() => (highest = Math.max(highest, process.memoryUsage.rss())), 20);
  try {
    for (const name of endless) {
      for (const { stdout, elapsedMs, exitCode } of await readFrom(name, ['json'])) {
        const mostMs = (coming.includes(name) ? 10 : 1) * LIMIT_MS + 10_000;
        expect([name, elapsedMs < mostMs]).toEqual([name, true]);
        expect([name, exitCode]).not.toEqual([name, 70]);
        expect([name, JSON.parse(stdout)]).toMatchObject([name, { schema: 'devsh/1' }]);
      }
    }
  } finally {
    clearInterval(watch);
  }
  expect((highest - before) / 1024 / 1024).toBeLessThan(400);
});
