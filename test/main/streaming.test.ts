import { expect, test } from 'vitest';
import { startFleet } from './devsh.ts';
import { startProgram, waitUntil } from './process.ts';

/** The devices named in the lines that are complete so far. */
function devicesIn(text: string): (string | undefined)[] {
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line) => (JSON.parse(line) as { device?: string }).device);
}

test.each([
  ['user list viewer --on @lab', {}],
  ['get /api/user/ --on @lab', {}],
  ['user add username=zoe --on @lab --yes --concurrency 2', { method: 'POST' }],
  ['run -', {}],
] as const)(
  '%s --format jsonl: the line of a fast device is printed while a slow one is silent',
  async (line, scope) => {
    const { devsh, device } = await startFleet({ devices: 2 });
    device(1).setFault('silence', true, scope);
    const argv = [...line.split(' '), '--timeout', '60', '--format', 'jsonl'];
    const program = startProgram(argv, devsh.folder, 'user list viewer --on @lab --format jsonl\n');
    let text = '';
    program.child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await waitUntil(() => text.includes('\n'), program);
    expect(devicesIn(text)).toEqual(['sim2']);
    program.child.kill('SIGKILL');
    await program.ended;
  },
);
